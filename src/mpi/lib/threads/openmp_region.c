/* SPDX-License-Identifier: Apache-2.0 */
/* Regions, threads that the program creates itself, and the functions of libgomp: see openmp.h. */
#include "mpi/lib/threads/openmp.h"

#include "mpi/lib/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- thread-local variables ---- */

void *wl_omp_locals_copy(const struct wl_omp_thread *thread, uintptr_t *data,
                         struct wl_omp_words *before)
{
    size_t bytes = 0;
    const unsigned char *place = wl.port->thread_locals(thread->omp->rank->self, &bytes);
    uintptr_t end = (uintptr_t)thread->stack_end, begin = (uintptr_t)data;
    bool on_stack = begin > (uintptr_t)__builtin_frame_address(0) && begin < end;
    size_t most = on_stack ? (end - begin) / sizeof(uintptr_t) : 0;
    unsigned char *copy = NULL;

    before->n = place != NULL ? (uint32_t)(most < WL_OMP_WORDS ? most : WL_OMP_WORDS) : 0;
    for (uint32_t i = 0; i < before->n; i++) {
        before->word[i] = data[i];
        if (data[i] < (uintptr_t)place || data[i] - (uintptr_t)place >= bytes) {
            continue;
        }
        if (copy == NULL) {
            copy = wl_malloc(bytes);
            memcpy(copy, place, bytes);
        }
        data[i] = (uintptr_t)copy + (data[i] - (uintptr_t)place);
    }
    return copy;
}

/* The program may have changed words that were no addresses. */
static void restore_locals(uintptr_t *data, const struct wl_omp_words *before, const void *copy,
                           size_t bytes)
{
    for (uint32_t i = 0; i < before->n; i++) {
        if (data[i] >= (uintptr_t)copy && data[i] - (uintptr_t)copy < bytes) {
            data[i] = before->word[i];
        }
    }
}

/* ---- regions ---- */

/* A thread that has executed its part waits for tasks, and for the next region. */
static int64_t idle_ready(const struct wl_omp_thread *thread)
{
    const struct wl_omp *omp = thread->omp;
    const struct wl_omp_task *task = NULL;

    if (omp->region != thread->region) {
        return thread->number < omp->team.n && omp->active ? 0 : WL_OMP_NEVER;
    }
    task = omp->active ? wl_omp_task_any(thread) : NULL;
    return task != NULL ? wl_omp_task_ready(thread, task) : WL_OMP_NEVER;
}

static void join(struct wl_omp_thread *thread, struct wl_omp_work *work)
{
    struct wl_omp *omp = thread->omp;

    thread->region = omp->region;
    thread->team = &omp->team;
    thread->work = work;
    thread->works = work != NULL ? 1 : 0;
    thread->chunks = 0;
    thread->has_chunk = false;
    thread->clock = 0;
    thread->busy = 0;
    thread->fresh = 0;
}

static void work_for_ever(void *arg)
{
    struct wl_omp_thread *thread = arg;
    struct wl_omp *omp = thread->omp;

    thread->ready = NULL;
    thread->stack_end = __builtin_frame_address(0);
    for (;;) {
        join(thread, omp->team.begins_with);
        wl_omp_end(thread);
        omp->team.function(omp->team.data);
        (void)wl_omp_begin(NULL);
        omp->team.arrived++;
        while (omp->region == thread->region) {
            wl_omp_wait(thread, idle_ready);
            struct wl_omp_task *task =
                omp->region == thread->region ? wl_omp_task_any(thread) : NULL;
            if (task != NULL) {
                wl_omp_task_run(thread, task);
            }
        }
    }
}

static int64_t end_ready(const struct wl_omp_thread *thread)
{
    const struct wl_omp_task *task = wl_omp_task_any(thread);

    if (wl_omp_all_is_done(thread->team)) {
        return thread->clock;
    }
    return task != NULL ? wl_omp_task_ready(thread, task) : WL_OMP_NEVER;
}

/* The end of a region in its first thread: all others have ended, and all tasks. */
static void wait_for_all(struct wl_omp_thread *thread)
{
    struct wl_omp_team *team = thread->team;

    team->arrived++;
    while (!wl_omp_all_is_done(team)) {
        wl_omp_wait(thread, end_ready);
        struct wl_omp_task *task = wl_omp_task_any(thread);
        if (task != NULL) {
            wl_omp_task_run(thread, task);
        }
    }
}

static void make_threads(struct wl_omp *omp, uint32_t n)
{
    struct wf_port_rank *self = omp->rank->self;

    if (omp->threads[0]->context == NULL) {
        omp->threads[0]->context = wl.port->thread_new(self, NULL, NULL);
    }
    while (omp->n_threads < n) {
        struct wl_omp_thread *thread = wl_omp_thread_add(omp);
        thread->task = wl_omp_task_implicit();
        thread->ready = idle_ready;
        thread->context = wl.port->thread_new(self, work_for_ever, thread);
        if (thread->context == NULL) {
            wl_fatal(omp->rank, "there is no memory for the stack of thread %u",
                     thread->number);
        }
    }
}

/* What a thread has in the region that it leaves for an inner one. */
static void run_inside(struct wl_omp_thread *thread, struct wl_omp_team *team)
{
    wl_omp_end(thread);
    team->function(team->data);
    (void)wl_omp_begin(NULL);
    wait_for_all(thread);
    wl_omp_works_free(team);
}

/* A team begins, with this thread as its first. */
static void begin_team(struct wl_omp_thread *first, struct wl_omp_team team,
                       struct wl_omp_work *work)
{
    struct wl_omp *omp = first->omp;

    make_threads(omp, team.n);
    wl_omp_ticks_begin(omp);
    omp->team = team;
    omp->region++;
    omp->active = true;
    wl_omp_note_level(omp->rank);
    omp->start = 0;
    omp->posted = 0;
    omp->has_base = false;
    join(first, work);
    first->turn = ++omp->turns;
    omp->rank->self->computed = &first->fresh;
}

static void run_together(struct wl_omp_thread *thread, struct wl_omp_team team,
                         struct wl_omp_work *work)
{
    struct wl_omp *omp = thread->omp;
    struct wl_rank *rank = omp->rank;

    begin_team(thread, team, work);
    struct wl_omp_words words;
    void *copy = wl_omp_locals_copy(thread, team.data, &words);
    run_inside(thread, &omp->team);
    if (copy != NULL) {
        size_t bytes;
        (void)wl.port->thread_locals(rank->self, &bytes);
        restore_locals(team.data, &words, copy, bytes);
        free(copy);
    }
    wl_omp_settle(omp);
    rank->self->computed = NULL;
    omp->active = false;
    wl_omp_note_level(omp->rank);
    wl_omp_locks_forget(omp);
    const struct wf_op op = {.kind = WF_OP_COMPUTE,
                             .duration =
                                 wl_omp_scaled(omp->start - omp->posted, 1 / wl.port->scale)};
    if (op.duration > 0) {
        wl_post(rank, &op);
    }
}

/* ---- threads that the program creates ---- */

void wl_omp_phase_begin(struct wl_omp_thread *first)
{
    begin_team(first, (struct wl_omp_team){.n = 1, .active_level = 1}, NULL);
}

void wl_omp_phase_end(struct wl_omp_thread *first, int64_t busy, uint32_t n_threads)
{
    struct wl_omp *omp = first->omp;
    int64_t cores = wl.port->cores, end = first->clock, work = busy + first->busy;

    if (cores > 0 && cores < n_threads && (work + cores - 1) / cores > end) {
        end = (work + cores - 1) / cores;
    }
    omp->rank->self->computed = NULL;
    omp->active = false;
    wl_omp_note_level(omp->rank);
    wl_omp_locks_forget(omp);
    const struct wf_op op = {.kind = WF_OP_COMPUTE,
                             .duration = wl_omp_scaled(end - omp->posted, 1 / wl.port->scale)};
    if (op.duration > 0) {
        wl_post(omp->rank, &op);
    }
}

/* The first place of the list that is free. */
static uint32_t free_place(struct wl_omp *omp)
{
    uint32_t place = 0;

    while (place < omp->n_others && omp->others[place] != NULL) {
        place++;
    }
    if (place == omp->n_others) {
        omp->others =
            wl_realloc((void *)omp->others, ++omp->n_others, sizeof(struct wl_omp_thread *));
    }
    return place;
}

struct wl_omp_thread *wl_omp_other_new(struct wl_omp_thread *thread, void (*entry)(void *),
                                       void *arg)
{
    struct wl_omp *omp = thread->omp;
    struct wl_omp_thread *created = wl_calloc(1, sizeof(*created));
    uint32_t place = free_place(omp);

    omp->others[place] = created;
    created->omp = omp;
    created->team = &omp->team;
    created->other = place + 1;
    created->region = omp->region;
    created->clock = thread->clock;
    created->turn = ++omp->turns;
    created->task = wl_omp_task_implicit();
    created->context = wl.port->thread_new(omp->rank->self, entry, arg);
    if (created->context == NULL) {
        wl_omp_other_free(created);
        return NULL;
    }
    return created;
}

void wl_omp_other_free(struct wl_omp_thread *thread)
{
    thread->omp->others[thread->other - 1] = NULL;
    if (thread->context != NULL) {
        wl.port->thread_free(thread->context);
    }
    wl_omp_task_release(thread->task);
    free((void *)thread->specific);
    free(thread);
}

static uint32_t team_size(const struct wl_omp_thread *thread, unsigned asked)
{
    enum { MOST = 1024 };
    uint32_t n = asked > 0 ? asked : thread->omp->asked;

    return thread->team->active_level > 0 ? 1 : n < MOST ? n : MOST;
}

void wl_omp_region(struct wl_omp_thread *thread, void (*function)(void *), void *data,
                   unsigned asked, struct wl_omp_work *work)
{
    const struct wl_omp_thread before = *thread;
    uint32_t n = team_size(thread, asked);
    struct wl_omp_team team = {.n = n,
                               .outer = before.team,
                               .outer_number = before.number,
                               .level = before.team->level + 1,
                               .active_level = before.team->active_level + (n > 1 ? 1 : 0),
                               .works = work,
                               .begins_with = work,
                               .function = function,
                               .data = data};

    thread->task = wl_omp_task_implicit();
    if (n > 1) {
        run_together(thread, team, work);
    } else {
        thread->team = &team;
        thread->number = 0;
        thread->work = work;
        thread->works = work != NULL ? 1 : 0;
        thread->chunks = 0;
        thread->has_chunk = false;
        run_inside(thread, &team);
    }
    wl_omp_task_release(thread->task);
    thread->task = before.task;
    thread->team = before.team;
    thread->number = before.number;
    thread->work = before.work;
    thread->works = before.works;
    thread->chunks = before.chunks;
    thread->ordered_chunk = before.ordered_chunk;
    thread->has_chunk = before.has_chunk;
}

/* ---- the functions of libgomp ---- */

WL_OMP_ENTRY(parallel, wl_omp_region(thread, function, data, n, NULL), void (*function)(void *),
             void *data, unsigned n, unsigned flags)
WL_OMP_ENTRY(barrier, wl_omp_barrier(thread), void)

static bool barrier_cancel(void)
{
    barrier();
    return false;
}

/* Cancellation is off, as it is by default. */
static bool cancel(int which, bool does)
{
    return false;
}

static bool cancellation_point(int which)
{
    return false;
}

/* Functions that are not there end the program with their names. */
#define MISSING(X)                              \
    X(GOMP_doacross_post)                       \
    X(GOMP_doacross_ull_post)                   \
    X(GOMP_doacross_ull_wait)                   \
    X(GOMP_doacross_wait)                       \
    X(GOMP_loop_doacross_dynamic_start)         \
    X(GOMP_loop_doacross_guided_start)          \
    X(GOMP_loop_doacross_runtime_start)         \
    X(GOMP_loop_doacross_start)                 \
    X(GOMP_loop_doacross_static_start)          \
    X(GOMP_loop_ull_doacross_dynamic_start)     \
    X(GOMP_loop_ull_doacross_guided_start)      \
    X(GOMP_loop_ull_doacross_runtime_start)     \
    X(GOMP_loop_ull_doacross_start)             \
    X(GOMP_loop_ull_doacross_static_start)      \
    X(GOMP_parallel_end)                        \
    X(GOMP_parallel_loop_dynamic_start)         \
    X(GOMP_parallel_loop_guided_start)          \
    X(GOMP_parallel_loop_runtime_start)         \
    X(GOMP_parallel_loop_static_start)          \
    X(GOMP_parallel_reductions)                 \
    X(GOMP_parallel_sections_start)             \
    X(GOMP_parallel_start)                      \
    X(GOMP_task_reduction_remap)                \
    X(GOMP_taskgroup_reduction_register)        \
    X(GOMP_taskgroup_reduction_unregister)      \
    X(GOMP_workshare_task_reduction_unregister) \
    X(omp_fulfill_event)                        \
    X(thrd_create)

#define X(name)                                                                            \
    static void missing_##name(void)                                                       \
    {                                                                                      \
        const struct wl_omp_thread *thread = wl_omp_begin(NULL);                           \
                                                                                           \
        wl_fatal(thread->omp->rank,                                                        \
                 "the program calls " #name "(), which weft does not have; OpenMP of GCC " \
                 "without doacross loops, task reductions and detached tasks, and POSIX "  \
                 "threads are what programs can use");                                     \
    }
MISSING(X)
#undef X

/* Regions of Clang. Replaced unless the user asks for one thread, since its own library then
 * creates none. */
static void fork_call(void)
{
    const struct wl_omp_thread *thread = wl_omp_begin(NULL);

    wl_fatal(thread->omp->rank, "the program uses the OpenMP of Clang, which weft does not "
                                "have; compile it with GCC, or set OMP_NUM_THREADS=1");
}

const struct wl_replacement wl_omp_regions[] = {
    WL_REPLACE(__kmpc_fork_call, fork_call),
    WL_REPLACE(GOMP_parallel, parallel),
    WL_REPLACE(GOMP_barrier, barrier),
    WL_REPLACE(GOMP_barrier_cancel, barrier_cancel),
    WL_REPLACE(GOMP_cancel, cancel),
    WL_REPLACE(GOMP_cancellation_point, cancellation_point),
#define X(name) WL_REPLACE(name, missing_##name),
    MISSING(X)
#undef X
        WL_REPLACE_END,
};
