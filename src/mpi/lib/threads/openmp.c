/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, barriers and time: see openmp.h. */
#include "mpi/lib/threads/openmp.h"

#include "mpi/lib/libc/clocks.h"
#include "mpi/lib/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- settings ---- */

static uint32_t number_from(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);
    char *end = NULL;
    unsigned long value = text != NULL ? strtoul(text, &end, 10) : 0;

    return text != NULL && end != text && value > 0 && value < UINT32_MAX ? (uint32_t)value
                                                                          : otherwise;
}

/* OMP_SCHEDULE: [modifier:]kind[,chunk] */
static void read_schedule(struct wl_omp *omp)
{
    static const char *const kinds[] = {"static", "dynamic", "guided", "auto"};
    const char *text = getenv("OMP_SCHEDULE");

    omp->schedule = WL_OMP_DYNAMIC;
    omp->chunk = 1;
    if (text == NULL) {
        return;
    }
    text = strchr(text, ':') != NULL ? strchr(text, ':') + 1 : text;
    for (uint32_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strncasecmp(text, kinds[i], strlen(kinds[i])) == 0) {
            const char *comma = strchr(text, ',');
            omp->schedule = i + 1;
            omp->chunk = comma != NULL            ? strtoul(comma + 1, NULL, 10)
                         : i + 1 == WL_OMP_STATIC ? 0
                                                  : 1;
        }
    }
}

struct wl_omp_thread *wl_omp_thread_add(struct wl_omp *omp)
{
    struct wl_omp_thread *thread = wl_calloc(1, sizeof(*thread));

    omp->threads =
        wl_realloc(omp->threads, omp->n_threads + (size_t)1, sizeof(struct wl_omp_thread *));
    thread->omp = omp;
    thread->number = omp->n_threads;
    omp->threads[omp->n_threads++] = thread;
    return thread;
}

static struct wl_omp *omp_new(struct wl_rank *rank)
{
    struct wl_omp *omp = wl_calloc(1, sizeof(*omp));
    uint32_t cores = wl.port->cores;

    omp->rank = rank;
    omp->initial.n = 1;
    omp->asked = number_from("OMP_NUM_THREADS", cores > 0 ? cores : 1);
    omp->levels = 1;
    read_schedule(omp);
    omp->running = wl_omp_thread_add(omp);
    omp->running->team = &omp->initial;
    omp->running->stack_end = rank->stack_end;
    omp->running->task = wl_omp_task_implicit();
    return omp;
}

/* A thread that has called exit(): its stack is in use while the rank is freed. */
struct wl_omp_left {
    struct wl_omp_left *next;
    void *context;
};

static void leave_stack(struct wl_omp_thread *thread)
{
    struct wl_omp_left *left = wl_malloc(sizeof(*left));

    left->context = thread->context;
    left->next = atomic_load(&wl.left);
    while (!atomic_compare_exchange_weak(&wl.left, &left->next, left)) {
    }
    thread->context = NULL;
}

void wl_omp_left_free(void)
{
    struct wl_omp_left *left = atomic_exchange(&wl.left, NULL);

    while (left != NULL) {
        struct wl_omp_left *next = left->next;
        wl.port->thread_free(left->context);
        free(left);
        left = next;
    }
}

void wl_omp_free(struct wl_rank *rank)
{
    struct wl_omp *omp = rank->omp;

    if (omp == NULL) {
        return;
    }
    wl_omp_locks_forget(omp);
    free(omp->locks);
    if (omp->running->stack_end != rank->stack_end && omp->running->context != NULL) {
        leave_stack(omp->running);
    }
    for (uint32_t i = 0; i < omp->n_threads; i++) {
        if (omp->threads[i]->context != NULL) {
            wl.port->thread_free(omp->threads[i]->context);
        }
        wl_omp_task_release(omp->threads[i]->task);
        free((void *)omp->threads[i]->specific);
        free(omp->threads[i]);
    }
    for (uint32_t i = 0; i < omp->n_others; i++) {
        if (omp->others[i] != NULL) {
            wl_omp_other_free(omp->others[i]);
        }
    }
    free((void *)omp->others);
    wl_pthreads_free(omp);
    wl_omp_works_free(&omp->initial);
    wl_omp_works_free(&omp->team);
    free(omp->threads);
    free(omp);
    rank->omp = NULL;
}

/* ---- entering and leaving ---- */

static void absorb(struct wl_omp_thread *thread)
{
    int64_t computed = wl_omp_scaled(thread->fresh, wl.port->scale);

    thread->clock += computed;
    thread->busy += computed;
    thread->fresh = 0;
}

struct wl_omp_thread *wl_omp_self(void)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;
    struct wl_rank *rank = self != NULL ? self->lib : NULL;

    if (rank == NULL) { /* reports the error */
        rank = wl_enter();
        wl_leave(rank);
    }
    if (rank->omp == NULL) {
        rank->omp = omp_new(rank);
    }
    return rank->omp->running;
}

struct wl_omp_thread *wl_omp_begin(const void *site)
{
    struct wl_rank *rank = wl_enter_from(site);

    (void)rank;
    struct wl_omp_thread *thread = wl_omp_self();
    thread->omp->entries++;
    absorb(thread);
    return thread;
}

void wl_omp_end(struct wl_omp_thread *thread)
{
    wl_leave(thread->omp->rank);
}

/* ---- choosing the thread that runs ---- */

static int64_t ready_at(const struct wl_omp_thread *thread)
{
    return thread->ready == NULL ? thread->clock : thread->ready(thread);
}

/* The thread that can go on first; of several, the one that has not run for longest. With `any_time` only that
 * counts. */
static struct wl_omp_thread *choose(const struct wl_omp *omp, bool any_time)
{
    struct wl_omp_thread *best = NULL;
    int64_t best_at = WL_OMP_NEVER;

    for (uint32_t i = 0; i < omp->n_threads + omp->n_others; i++) {
        struct wl_omp_thread *thread =
            i < omp->n_threads ? omp->threads[i] : omp->others[i - omp->n_threads];
        int64_t at = thread != NULL ? ready_at(thread) : WL_OMP_NEVER;
        at = any_time && at != WL_OMP_NEVER ? 0 : at;
        if (at != WL_OMP_NEVER &&
            (best == NULL || at < best_at || (at == best_at && thread->turn < best->turn))) {
            best = thread;
            best_at = at;
        }
    }
    return best;
}

static void switch_to(struct wl_omp_thread *thread)
{
    struct wl_omp *omp = thread->omp;
    struct wl_omp_thread *from = omp->running;
    struct wl_rank *rank = omp->rank;

    if (thread == from) {
        return;
    }
    from->function = rank->function;
    rank->function = thread->function;
    from->site = rank->site;
    rank->site = thread->site;
    omp->running = thread;
    thread->turn = ++omp->turns;
    rank->self->computed = &thread->fresh;
    wl.port->thread_switch(rank->self, from->context, thread->context);
}

void wl_omp_let_go(struct wl_omp_thread *thread, bool fair)
{
    struct wl_omp *omp = thread->omp;

    if (!omp->active) {
        return;
    }
    struct wl_omp_thread *first = choose(omp, false);
    if (first != thread && first != NULL && (fair || ready_at(first) < thread->clock)) {
        switch_to(first);
    }
}

void wl_omp_wait(struct wl_omp_thread *thread,
                 int64_t (*ready)(const struct wl_omp_thread *thread))
{
    struct wl_omp *omp = thread->omp;

    thread->ready = ready;
    struct wl_omp_thread *first = omp->active ? choose(omp, false) : thread;
    if (first == NULL || (first == thread && ready(thread) == WL_OMP_NEVER)) {
        wl_fatal(omp->rank, "all threads of the rank wait for each other");
    }
    switch_to(first);
    int64_t at = ready(thread);
    thread->clock = at > thread->clock ? at : thread->clock;
    thread->ready = NULL;
}

static int64_t completion_ready(const struct wl_omp_thread *thread)
{
    const struct wl_omp *omp = thread->omp;

    return omp->completions != thread->wanted_number ? omp->completed_at : WL_OMP_NEVER;
}

void wl_omp_completes(struct wl_rank *rank)
{
    struct wl_omp *omp = rank->omp;

    if (wl_omp_is_active(rank)) {
        absorb(omp->running);
        omp->completions++;
        omp->completed_at = omp->running->clock;
    }
}

bool wl_omp_wait_for_completion(struct wl_rank *rank)
{
    if (!wl_omp_is_active(rank)) {
        return false;
    }
    struct wl_omp_thread *thread = rank->omp->running;
    absorb(thread);
    thread->wanted_number = rank->omp->completions;
    wl_omp_wait(thread, completion_ready);
    return true;
}

/* ---- threads that do not call the run-time library ---- */

enum { LONG_TICK = 64000, SHORT_TICK = 100 }; /* microseconds */

void wl_omp_ticks_begin(struct wl_omp *omp)
{
    omp->period_us = omp->period_us > 0 ? omp->period_us : LONG_TICK;
    wl.port->ticks(omp->period_us);
}

/*
 * A thread may wait for a variable that another thread will set, in a loop of its own. So after
 * a tick without a call another thread goes on, also one that is later in simulated time: without compute
 * times, the loop takes none. Ticks are short once this has happened, and grow again while threads call.
 */
void wl_omp_tick(struct wf_port_rank *self)
{
    const struct wl_rank *rank = self->lib;
    struct wl_omp *omp = rank->omp;
    bool calls = omp->entries != omp->last_entries;

    omp->period_us = calls ? 2 * omp->period_us : SHORT_TICK;
    omp->period_us = omp->period_us < LONG_TICK ? omp->period_us : LONG_TICK;
    wl.port->ticks(omp->period_us);
    omp->last_entries = omp->entries;
    if (!calls) {
        struct wl_omp_thread *thread = wl_omp_begin(NULL);
        omp->last_entries = omp->entries;
        if (omp->active) {
            switch_to(choose(omp, true));
        }
        wl_omp_end(thread);
    }
}

/* ---- time ---- */

void wl_omp_settle(struct wl_omp *omp)
{
    int64_t cores = wl.port->cores, last = omp->start, work = 0;

    for (uint32_t i = 0; i < omp->team.n; i++) {
        const struct wl_omp_thread *thread = omp->threads[i];
        last = thread->clock > last ? thread->clock : last;
        work += thread->busy;
    }
    if (cores > 0 && cores < omp->team.n && omp->start + (work + cores - 1) / cores > last) {
        last = omp->start + (work + cores - 1) / cores;
    }
    for (uint32_t i = 0; i < omp->team.n; i++) {
        omp->threads[i]->clock = last;
        omp->threads[i]->busy = 0;
    }
    omp->start = last;
}

/* Brings the ops of the rank up to the thread's clock, or the thread to the ops. */
void wl_omp_catch_up(struct wl_omp_thread *thread)
{
    struct wl_omp *omp = thread->omp;
    struct wf_op op = {.kind = WF_OP_COMPUTE};

    if (thread->clock > omp->posted) {
        op.duration = wl_omp_scaled(thread->clock - omp->posted, 1 / wl.port->scale);
        omp->posted = thread->clock;
    }
    if (op.duration > 0 || !omp->has_base) {
        omp->base = wl_call_alone(omp->rank, &op)->clock - omp->posted;
        omp->has_base = true;
    }
    thread->clock = omp->posted;
}

const struct wf_port_answer *wl_omp_call_now(struct wl_omp_thread *thread,
                                             const struct wf_op *op)
{
    struct wl_omp *omp = thread->omp;

    wl_omp_catch_up(thread);
    const struct wf_port_answer *answer = wl_call_alone(omp->rank, op);
    omp->posted = answer->clock - omp->base;
    thread->clock = omp->posted;
    return answer;
}

void wl_omp_note_level(struct wl_rank *rank)
{
    rank->multiple = rank->thread_level == MPI_THREAD_MULTIPLE && wl_omp_is_active(rank);
}

void wl_omp_enter(struct wl_rank *rank)
{
    struct wl_omp_thread *thread = rank->omp->running;

    absorb(thread);
    wl_omp_let_go(thread, false);
}

/* An op with MPI_THREAD_MULTIPLE. The library computes while it waits for a lock of a window. */
static const struct wf_port_answer *call_multiple(struct wl_omp_thread *thread,
                                                  const struct wf_op *op)
{
    if (wl_omp_may_wait(op)) {
        return wl_omp_call_waiting(thread, op);
    }
    const struct wf_port_answer *answer = wl_omp_call_now(thread, op);
    if (op->kind == WF_OP_COMPUTE) {
        thread->answer = *answer;
        answer = &thread->answer;
        wl_omp_let_go(thread, false);
    }
    return answer;
}

const struct wf_port_answer *wl_omp_call(struct wl_rank *rank, const struct wf_op *op)
{
    struct wl_omp_thread *thread = rank->omp->running;

    if (thread->other != 0 && rank->thread_level < MPI_THREAD_SERIALIZED && rank->initialized) {
        wl_fatal(rank, "the program calls it in a thread that is not its first one; "
                       "MPI_Init_thread() with MPI_THREAD_SERIALIZED allows that");
    }
    absorb(thread);
    if (rank->thread_level == MPI_THREAD_MULTIPLE) {
        return call_multiple(thread, op);
    }
    wl_omp_let_go(thread, false);
    return wl_omp_call_now(thread, op);
}

int64_t wl_omp_now(struct wl_rank *rank)
{
    struct wl_omp *omp = rank->omp;
    struct wl_omp_thread *thread = omp->running;

    absorb(thread);
    if (!omp->has_base) {
        omp->base =
            wl_call_alone(rank, &(struct wf_op){.kind = WF_OP_COMPUTE})->clock - omp->posted;
        omp->has_base = true;
    }
    rank->same_times = wl_clock_count(rank->same_times, thread->clock - rank->last_time);
    thread->clock += wl_clock_pause(rank);
    rank->last_time = thread->clock;
    return omp->base + thread->clock;
}

void wl_omp_sleep(struct wl_rank *rank, int64_t picoseconds)
{
    struct wl_omp_thread *thread = rank->omp->running;

    absorb(thread);
    thread->clock += picoseconds;
    wl_omp_let_go(thread, false); /* it may wait for what another thread does */
}

/* ---- barriers ---- */

static int64_t barrier_ready(const struct wl_omp_thread *thread)
{
    const struct wl_omp_task *task = wl_omp_task_any(thread);

    if (thread->team->generation != thread->wanted_number || wl_omp_all_is_done(thread->team)) {
        return thread->clock;
    }
    return task != NULL ? wl_omp_task_ready(thread, task) : WL_OMP_NEVER;
}

void wl_omp_barrier(struct wl_omp_thread *thread)
{
    struct wl_omp_team *team = thread->team;
    uint64_t generation = team->generation;

    team->arrived++;
    while (team->generation == generation) {
        if (wl_omp_all_is_done(team)) {
            if (team == &thread->omp->team) {
                wl_omp_settle(thread->omp);
            }
            team->arrived = 0;
            team->generation++;
            break;
        }
        thread->wanted_number = generation;
        wl_omp_wait(thread, barrier_ready);
        struct wl_omp_task *task = wl_omp_task_any(thread);
        if (task != NULL && team->generation == generation) {
            wl_omp_task_run(thread, task);
        }
    }
}
