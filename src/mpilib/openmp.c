/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, regions, barriers and time: see openmp.h. */
#include "mpilib/openmp.h"

#include "mpilib/clocks.h"
#include "mpilib/memory.h"

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

static struct wl_omp_thread *add_thread(struct wl_omp *omp)
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
    omp->running = add_thread(omp);
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

/* Clocks of threads are simulated time, and ops have the time before it is scaled. */
static int64_t scaled(int64_t picoseconds, double by)
{
    return by == 1 ? picoseconds : (int64_t)((double)picoseconds * by + 0.5);
}

static void absorb(struct wl_omp_thread *thread)
{
    int64_t computed = scaled(thread->fresh, wl.port->scale);

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

/* The thread that can go on first; of several, the one that has not run for longest. */
static struct wl_omp_thread *earliest(const struct wl_omp *omp)
{
    struct wl_omp_thread *best = NULL;
    int64_t best_at = WL_OMP_NEVER;

    for (uint32_t i = 0; i < omp->n_threads + omp->n_others; i++) {
        struct wl_omp_thread *thread =
            i < omp->n_threads ? omp->threads[i] : omp->others[i - omp->n_threads];
        int64_t at = thread != NULL ? ready_at(thread) : WL_OMP_NEVER;
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
    struct wl_omp_thread *first = earliest(omp);
    if (first != thread && first != NULL && (fair || ready_at(first) < thread->clock)) {
        switch_to(first);
    }
}

void wl_omp_wait(struct wl_omp_thread *thread,
                 int64_t (*ready)(const struct wl_omp_thread *thread))
{
    struct wl_omp *omp = thread->omp;

    thread->ready = ready;
    struct wl_omp_thread *first = omp->active ? earliest(omp) : thread;
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

enum { LONG_TICK = 64000, SHORT_TICK = 4000 }; /* microseconds */

/*
 * A thread may wait for a variable that another thread will set, in a loop of its own. So after
 * a tick without a call another thread goes on. Ticks are short once this has happened, and
 * grow again while threads call.
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
        wl_omp_let_go(thread, true);
        wl_omp_end(thread);
    }
}

/* ---- time ---- */

/* All threads have arrived: a barrier ends when the slowest thread is there, and when the cores
 * have done the work of all. */
static void settle(struct wl_omp *omp)
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
        op.duration = scaled(thread->clock - omp->posted, 1 / wl.port->scale);
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

static bool all_is_done(const struct wl_omp_team *team)
{
    return team->arrived == team->n && team->unfinished == 0;
}

static int64_t barrier_ready(const struct wl_omp_thread *thread)
{
    const struct wl_omp_task *task = wl_omp_task_any(thread);

    if (thread->team->generation != thread->wanted_number || all_is_done(thread->team)) {
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
        if (all_is_done(team)) {
            if (team == &thread->omp->team) {
                settle(thread->omp);
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

    if (all_is_done(thread->team)) {
        return thread->clock;
    }
    return task != NULL ? wl_omp_task_ready(thread, task) : WL_OMP_NEVER;
}

/* The end of a region in its first thread: all others have ended, and all tasks. */
static void wait_for_all(struct wl_omp_thread *thread)
{
    struct wl_omp_team *team = thread->team;

    team->arrived++;
    while (!all_is_done(team)) {
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
        struct wl_omp_thread *thread = add_thread(omp);
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

static void run_together(struct wl_omp_thread *thread, struct wl_omp_team team,
                         struct wl_omp_work *work)
{
    struct wl_omp *omp = thread->omp;
    struct wl_rank *rank = omp->rank;

    make_threads(omp, team.n);
    omp->period_us = omp->period_us > 0 ? omp->period_us : LONG_TICK;
    wl.port->ticks(omp->period_us);
    omp->team = team;
    omp->region++;
    omp->active = true;
    wl_omp_note_level(omp->rank);
    omp->start = 0;
    omp->posted = 0;
    omp->has_base = false;
    join(thread, work);
    thread->turn = ++omp->turns;
    rank->self->computed = &thread->fresh;
    struct wl_omp_words words;
    void *copy = wl_omp_locals_copy(thread, team.data, &words);
    run_inside(thread, &omp->team);
    if (copy != NULL) {
        size_t bytes;
        (void)wl.port->thread_locals(rank->self, &bytes);
        restore_locals(team.data, &words, copy, bytes);
        free(copy);
    }
    settle(omp);
    rank->self->computed = NULL;
    omp->active = false;
    wl_omp_note_level(omp->rank);
    wl_omp_locks_forget(omp);
    const struct wf_op op = {.kind = WF_OP_COMPUTE,
                             .duration = scaled(omp->start - omp->posted, 1 / wl.port->scale)};
    if (op.duration > 0) {
        wl_post(rank, &op);
    }
}

/* ---- threads that the program creates ---- */

void wl_omp_phase_begin(struct wl_omp_thread *first)
{
    struct wl_omp *omp = first->omp;

    make_threads(omp, 1);
    omp->period_us = omp->period_us > 0 ? omp->period_us : LONG_TICK;
    wl.port->ticks(omp->period_us);
    omp->team = (struct wl_omp_team){.n = 1, .active_level = 1};
    omp->region++;
    omp->active = true;
    wl_omp_note_level(omp->rank);
    omp->start = 0;
    omp->posted = 0;
    omp->has_base = false;
    join(first, NULL);
    first->turn = ++omp->turns;
    omp->rank->self->computed = &first->fresh;
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
                             .duration = scaled(end - omp->posted, 1 / wl.port->scale)};
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

static void parallel(void (*function)(void *), void *data, unsigned n, unsigned flags)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));

    wl_omp_region(thread, function, data, n, NULL);
    wl_omp_end(thread);
}

static void barrier(void)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));

    wl_omp_barrier(thread);
    wl_omp_end(thread);
}

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
