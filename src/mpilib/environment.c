/* SPDX-License-Identifier: Apache-2.0 */
/* Time, names and memory. */
#include "mpilib/library.h"
#include "mpilib/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/mark.h>

/* Programs that wait for a time to come would wait for ever if computing took none: looking at
 * the clock more often than any other program does takes time. */
double MPI_Wtime(void)
{
    enum { OFTEN = 1000, LOOK_PS = 1000000 };
    struct wl_rank *rank = wl_enter();
    const struct wf_op op = {.kind = WF_OP_COMPUTE,
                             .duration = rank->same_times > OFTEN ? LOOK_PS : 0};
    int64_t time = wl_call(rank, &op)->clock;

    rank->same_times = time - rank->last_time <= op.duration ? rank->same_times + 1 : 0;
    rank->last_time = time;
    wl_leave(rank);
    return (double)time * 1e-12;
}

double MPI_Wtick(void)
{
    return 1e-12;
}

/* Each rank is a node of its own. */
int MPI_Get_processor_name(char *name, int *length)
{
    struct wl_rank *rank = wl_enter();

    *length = snprintf(name, MPI_MAX_PROCESSOR_NAME, "node%u", rank->self->rank);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Get_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int MPI_Get_library_version(char *version, int *length)
{
    *length = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "weft, virtual ranks");
    return MPI_SUCCESS;
}

int MPI_Query_thread(int *provided)
{
    struct wl_rank *rank = wl_enter();

    *provided = rank->thread_level;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Is_thread_main(int *flag)
{
    *flag = 1;
    return MPI_SUCCESS;
}

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    (void)info;
    *(void **)baseptr = wl_malloc((size_t)size);
    return MPI_SUCCESS;
}

int MPI_Free_mem(void *base)
{
    free(base);
    return MPI_SUCCESS;
}

/* ---- marks: what weft/mark.h calls ---- */

static void mark(enum wf_op_kind kind, const char *region, uint64_t value)
{
    struct wl_rank *rank = wl_enter();
    const struct wf_op op = {
        .kind = kind,
        .tag = region != NULL ? (int32_t)wl.port->name(rank->self, true, region) : 0,
        .bytes = value};

    wl_post(rank, &op);
    wl_leave(rank);
}

/* What the program says of how long it computes. */
static void compute(double seconds)
{
    struct wl_rank *rank = wl_enter();

    if (seconds > 0) {
        wl.port->compute(rank->self, (int64_t)(seconds * 1e12));
    }
    wl_leave(rank);
}

static void numbered_region(int level)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "pcontrol %d", level > 0 ? level : -level);
    mark(level > 0 ? WF_OP_REGION_BEGIN : WF_OP_REGION_END, name, 0);
}

static void control(int level, va_list ap)
{
    switch (level) {
    case WEFT_MARK_REGION_BEGIN:
        mark(WF_OP_REGION_BEGIN, va_arg(ap, const char *), 0);
        break;
    case WEFT_MARK_REGION_END:
        mark(WF_OP_REGION_END, va_arg(ap, const char *), 0);
        break;
    case WEFT_MARK_ITERATION_BEGIN:
        mark(WF_OP_ITERATION_BEGIN, NULL, 0);
        break;
    case WEFT_MARK_ITERATION_END:
        mark(WF_OP_ITERATION_END, NULL, 0);
        break;
    case WEFT_MARK_COMPUTE:
        compute(va_arg(ap, double));
        break;
    default:
        if (level != 0) {
            numbered_region(level);
        }
        break;
    }
}

int MPI_Pcontrol(const int level, ...)
{
    va_list ap;

    va_start(ap, level);
    control(level, ap);
    va_end(ap);
    return MPI_SUCCESS;
}

int PMPI_Pcontrol(const int level, ...)
{
    va_list ap;

    va_start(ap, level);
    control(level, ap);
    va_end(ap);
    return MPI_SUCCESS;
}
