/* SPDX-License-Identifier: Apache-2.0 */
/* The functions omp_x() that ask and set. Those of Fortran end in an underscore and take
 * pointers; some have a second form for integers of 8 bytes. */
#include "mpi/lib/libc/interpose.h"
#include "mpi/lib/threads/openmp.h"

static int get_thread_num(void)
{
    return (int)wl_omp_self()->number;
}

static int get_num_threads(void)
{
    return (int)wl_omp_self()->team->n;
}

static int get_max_threads(void)
{
    return (int)wl_omp_self()->omp->asked;
}

static int get_num_procs(void)
{
    return wl.port != NULL && wl.port->cores > 0 ? (int)wl.port->cores : 1;
}

static int get_thread_limit(void)
{
    return INT32_MAX;
}

static int in_parallel(void)
{
    return wl_omp_self()->team->active_level > 0;
}

static void set_num_threads(int n)
{
    wl_omp_self()->omp->asked = n > 0 ? (uint32_t)n : 1;
}

static int get_dynamic(void)
{
    return wl_omp_self()->omp->dynamic;
}

static void set_dynamic(int yes)
{
    wl_omp_self()->omp->dynamic = yes != 0;
}

/* ---- levels: inner regions have one thread ---- */

static int get_nested(void)
{
    return 0;
}

static void ignore(const void *value)
{
}

static int get_max_active_levels(void)
{
    return 1;
}

static int get_level(void)
{
    return (int)wl_omp_self()->team->level;
}

static int get_active_level(void)
{
    return (int)wl_omp_self()->team->active_level;
}

/* The team at a level, and the number in it of the ancestor of the thread; null if the level
 * does not exist. */
static const struct wl_omp_team *team_at(int level, uint32_t *number)
{
    const struct wl_omp_thread *thread = wl_omp_self();
    const struct wl_omp_team *team = thread->team;

    *number = thread->number;
    if (level < 0 || (uint32_t)level > team->level) {
        return NULL;
    }
    while (team->level > (uint32_t)level) {
        *number = team->outer_number;
        team = team->outer;
    }
    return team;
}

static int get_ancestor_thread_num(int level)
{
    uint32_t number;

    return team_at(level, &number) != NULL ? (int)number : -1;
}

static int get_team_size(int level)
{
    uint32_t number;
    const struct wl_omp_team *team = team_at(level, &number);

    return team != NULL ? (int)team->n : -1;
}

/* ---- schedules ---- */

static void set_schedule(unsigned kind, int chunk)
{
    enum { KIND = 7 };
    struct wl_omp *omp = wl_omp_self()->omp;

    if ((kind & KIND) >= WL_OMP_STATIC && (kind & KIND) <= WL_OMP_AUTO) {
        omp->schedule = kind & KIND;
        omp->chunk = chunk > 0 ? (uint64_t)chunk : omp->schedule == WL_OMP_STATIC ? 0 : 1;
    }
}

static void get_schedule(unsigned *kind, int *chunk)
{
    const struct wl_omp *omp = wl_omp_self()->omp;

    *kind = omp->schedule;
    *chunk = (int)omp->chunk;
}

static void set_schedule_fortran(const unsigned *kind, const int *chunk)
{
    set_schedule(*kind, *chunk);
}

static void set_schedule_8(const unsigned *kind, const int64_t *chunk)
{
    set_schedule(*kind, (int)*chunk);
}

static void get_schedule_8(unsigned *kind, int64_t *chunk)
{
    int small;

    get_schedule(kind, &small);
    *chunk = small;
}

/* ---- time ---- */

static double get_wtime(void)
{
    struct timespec now;

    (void)wl_libc_clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double get_wtick(void)
{
    return 1e-9;
}

/* The forms of Fortran, for integers of 4 and of 8 bytes. */
#define FORMS(type, returns, by)           \
    static type by##_fortran(const int *n) \
    {                                      \
        returns by(*n);                    \
    }                                      \
    static type by##_8(const int64_t *n)   \
    {                                      \
        returns by((int)*n);               \
    }

FORMS(int, return, get_ancestor_thread_num)
FORMS(int, return, get_team_size)
FORMS(void, , set_num_threads)
FORMS(void, , set_dynamic)

#define THREE(name, by) \
    WL_REPLACE(name, by), WL_REPLACE(name##_, by##_fortran), WL_REPLACE(name##_8_, by##_8)

const struct wl_replacement wl_omp_queries[] = {
    WL_REPLACE_BOTH(omp_get_thread_num, get_thread_num),
    WL_REPLACE_BOTH(omp_get_num_threads, get_num_threads),
    WL_REPLACE_BOTH(omp_get_max_threads, get_max_threads),
    WL_REPLACE_BOTH(omp_get_num_procs, get_num_procs),
    WL_REPLACE_BOTH(omp_get_thread_limit, get_thread_limit),
    WL_REPLACE_BOTH(omp_in_parallel, in_parallel),
    THREE(omp_set_num_threads, set_num_threads),
    WL_REPLACE_BOTH(omp_get_dynamic, get_dynamic),
    THREE(omp_set_dynamic, set_dynamic),
    WL_REPLACE_BOTH(omp_get_nested, get_nested),
    WL_REPLACE_BOTH(omp_set_nested, ignore),
    WL_REPLACE(omp_set_nested_8_, ignore),
    WL_REPLACE_BOTH(omp_get_max_active_levels, get_max_active_levels),
    WL_REPLACE_BOTH(omp_get_supported_active_levels, get_max_active_levels),
    WL_REPLACE_BOTH(omp_set_max_active_levels, ignore),
    WL_REPLACE(omp_set_max_active_levels_8_, ignore),
    WL_REPLACE_BOTH(omp_get_level, get_level),
    WL_REPLACE_BOTH(omp_get_active_level, get_active_level),
    THREE(omp_get_ancestor_thread_num, get_ancestor_thread_num),
    THREE(omp_get_team_size, get_team_size),
    THREE(omp_set_schedule, set_schedule),
    WL_REPLACE_BOTH(omp_get_schedule, get_schedule),
    WL_REPLACE(omp_get_schedule_8_, get_schedule_8),
    WL_REPLACE_BOTH(omp_get_wtime, get_wtime),
    WL_REPLACE_BOTH(omp_get_wtick, get_wtick),
    WL_REPLACE_END,
};
