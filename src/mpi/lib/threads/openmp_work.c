/* SPDX-License-Identifier: Apache-2.0 */
/* Work-sharing constructs: loops, sections, single; and what is ordered in loops. */
#include "mpi/lib/memory.h"
#include "mpi/lib/threads/openmp.h"

#include <stdlib.h>
#include <string.h>

/* One construct, as all threads of a team meet it. Iterations are numbered from 0; sections are
 * iterations of a loop. */
struct wl_omp_work {
    struct wl_omp_work *next;
    uint64_t number; /* in the region */
    uint32_t left;   /* threads that have left it */
    uint32_t schedule;
    uint64_t n, at, chunk; /* iterations; those that are given away; a chunk */
    uint64_t start, step;  /* of the loop's variable, modulo 2^64 */
    bool is_ordered;
    uint64_t given, ordered; /* chunks given away; the chunk whose turn it is... */
    int64_t ordered_at;      /* ...and when the one before ended its turn */
    void *copied;            /* copyprivate: what the other threads get... */
    void *locals;            /* ...and thread-local variables in it */
    struct wl_omp_words words;
    void *memory; /* shared by the threads, for lastprivate and the like */
};

/* ---- constructs ---- */

static struct wl_omp_work *work_new(struct wl_omp_team *team, uint64_t number)
{
    struct wl_omp_work *work = wl_calloc(1, sizeof(*work));

    work->number = number;
    work->next = team->works;
    team->works = work;
    return work;
}

/* The next construct that the thread meets; *is_first if no other thread has met it. */
static struct wl_omp_work *meet(struct wl_omp_thread *thread, bool *is_first)
{
    uint64_t number = ++thread->works;
    struct wl_omp_work *work = thread->team->works;

    while (work != NULL && work->number != number) {
        work = work->next;
    }
    *is_first = work == NULL;
    thread->work = work != NULL ? work : work_new(thread->team, number);
    thread->chunks = 0;
    thread->has_chunk = false;
    return thread->work;
}

static void free_work(struct wl_omp_work *work)
{
    free(work->memory);
    free(work->locals);
    free(work);
}

static void leave(struct wl_omp_thread *thread)
{
    struct wl_omp_work *work = thread->work;
    struct wl_omp_work **at = &thread->team->works;

    thread->work = NULL;
    if (work == NULL || ++work->left < thread->team->n) {
        return;
    }
    while (*at != work) {
        at = &(*at)->next;
    }
    *at = work->next;
    free_work(work);
}

void wl_omp_works_free(struct wl_omp_team *team)
{
    while (team->works != NULL) {
        struct wl_omp_work *work = team->works;
        team->works = work->next;
        free_work(work);
    }
}

/* ---- chunks ---- */

static bool static_chunk(struct wl_omp_thread *thread, const struct wl_omp_work *work,
                         uint64_t *from, uint64_t *to)
{
    uint64_t threads = thread->team->n, number = thread->number;

    if (work->chunk == 0) { /* one block each; the first ones get one more */
        uint64_t each = work->n / threads, larger = work->n % threads;
        *from = number * each + (number < larger ? number : larger);
        *to = *from + each + (number < larger ? 1 : 0);
        thread->ordered_chunk = number;
        return thread->chunks++ == 0 && *to > *from;
    }
    uint64_t chunk = thread->chunks++ * threads + number;
    uint64_t chunks = work->n / work->chunk + (work->n % work->chunk > 0 ? 1 : 0);
    *from = chunk * work->chunk;
    *to = work->n - *from > work->chunk ? *from + work->chunk : work->n;
    thread->ordered_chunk = chunk;
    return chunk < chunks;
}

static bool shared_chunk(struct wl_omp_thread *thread, struct wl_omp_work *work, uint64_t *from,
                         uint64_t *to)
{
    wl_omp_let_go(thread, true);
    uint64_t left = work->n - work->at, n = work->chunk > 0 ? work->chunk : 1;
    if (work->schedule == WL_OMP_GUIDED) {
        uint64_t share = left / thread->team->n + (left % thread->team->n > 0 ? 1 : 0);
        n = share > n ? share : n;
    }
    *from = work->at;
    *to = work->at + (n < left ? n : left);
    work->at = *to;
    if (left > 0) {
        thread->ordered_chunk = work->given++;
    }
    return left > 0;
}

static int64_t ordered_ready(const struct wl_omp_thread *thread)
{
    const struct wl_omp_work *work = thread->work;

    return work->ordered == thread->ordered_chunk ? work->ordered_at : WL_OMP_NEVER;
}

/* Passes the turn to the next chunk, when it is this one's turn. */
static void end_chunk(struct wl_omp_thread *thread)
{
    struct wl_omp_work *work = thread->work;

    if (work != NULL && work->is_ordered && thread->has_chunk) {
        int64_t clock = thread->clock;
        wl_omp_wait(thread, ordered_ready);
        work->ordered++;
        work->ordered_at = work->ordered_at > clock ? work->ordered_at : clock;
        thread->has_chunk = false;
    }
}

static bool next_chunk(struct wl_omp_thread *thread, uint64_t *from, uint64_t *to)
{
    struct wl_omp_work *work = thread->work;

    end_chunk(thread);
    thread->has_chunk = work->schedule == WL_OMP_STATIC ? static_chunk(thread, work, from, to)
                                                        : shared_chunk(thread, work, from, to);
    if (thread->has_chunk) {
        *from = work->start + *from * work->step;
        *to = work->start + *to * work->step;
    }
    return thread->has_chunk;
}

/* ---- loops ---- */

struct loop {
    uint64_t n, start, step, chunk;
    uint32_t schedule;
    bool is_ordered;
};

static struct loop signed_loop(long start, long end, long step)
{
    struct loop loop = {.start = (uint64_t)start, .step = (uint64_t)step};

    if (step > 0 && start < end) {
        loop.n = ((uint64_t)end - (uint64_t)start + (uint64_t)step - 1) / (uint64_t)step;
    } else if (step < 0 && start > end) {
        uint64_t down = 0 - (uint64_t)step;
        loop.n = ((uint64_t)start - (uint64_t)end + down - 1) / down;
    }
    return loop;
}

static struct loop unsigned_loop(bool up, uint64_t start, uint64_t end, uint64_t step)
{
    struct loop loop = {.start = start, .step = step};

    if (up && start < end) {
        loop.n = (end - start - 1) / step + 1;
    } else if (!up && start > end) {
        loop.n = (start - end - 1) / (0 - step) + 1;
    }
    return loop;
}

static void set_loop(const struct wl_omp *omp, struct wl_omp_work *work,
                     const struct loop *loop)
{
    bool at_run_time = loop->schedule == 0;
    uint32_t schedule = at_run_time ? omp->schedule : loop->schedule;

    work->n = loop->n;
    work->start = loop->start;
    work->step = loop->step;
    work->schedule = schedule == WL_OMP_AUTO ? WL_OMP_STATIC : schedule;
    work->chunk = at_run_time ? omp->chunk : loop->chunk;
    work->is_ordered = loop->is_ordered;
}

static struct wl_omp_work *meet_loop(struct wl_omp_thread *thread, const struct loop *loop)
{
    bool is_first;
    struct wl_omp_work *work = meet(thread, &is_first);

    if (is_first) {
        set_loop(thread->omp, work, loop);
    }
    return work;
}

static bool start_loop(const struct loop *loop, uint64_t *from, uint64_t *to, const void *site)
{
    struct wl_omp_thread *thread = wl_omp_begin(site);

    (void)meet_loop(thread, loop);
    bool found = next_chunk(thread, from, to);
    wl_omp_end(thread);
    return found;
}

static bool next(uint64_t *from, uint64_t *to, const void *site)
{
    struct wl_omp_thread *thread = wl_omp_begin(site);
    bool found = next_chunk(thread, from, to);

    wl_omp_end(thread);
    return found;
}

static bool loop_next(long *from, long *to)
{
    return next((uint64_t *)from, (uint64_t *)to, __builtin_return_address(0));
}

static bool loop_ull_next(unsigned long long *from, unsigned long long *to)
{
    return next((uint64_t *)from, (uint64_t *)to, __builtin_return_address(0));
}

/* GOMP_loop_x_start(), GOMP_loop_ordered_x_start() and the same for unsigned variables;
 * GOMP_parallel_loop_x(). The schedule of run time, 0, has no chunk among its arguments. */
#define SIGNED        long start, long end, long step
#define UNSIGNED      bool up, uint64_t start, uint64_t end, uint64_t step
#define SIGNED_LOOP   signed_loop(start, end, step)
#define UNSIGNED_LOOP unsigned_loop(up, start, end, step)
#define A_CHUNK(type) , type chunk
#define NO_CHUNK(type)

/* NOLINTBEGIN(bugprone-macro-parentheses): types and lists of parameters */
#define START(name, sign, type, chunk_, kind, size, ordered)       \
    static bool name(sign chunk_(type), type *from, type *to)      \
    {                                                              \
        struct loop loop = sign##_LOOP;                            \
        loop.schedule = (kind);                                    \
        loop.chunk = (uint64_t)(size);                             \
        loop.is_ordered = (ordered);                               \
        return start_loop(&loop, (uint64_t *)from, (uint64_t *)to, \
                          __builtin_return_address(0));            \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

#define STARTS(name, kind, chunk_, size)                                                \
    START(name##_start, SIGNED, long, chunk_, kind, size, false)                        \
    START(name##_ordered_start, SIGNED, long, chunk_, kind, size, true)                 \
    START(name##_ull_start, UNSIGNED, uint64_t, chunk_, kind, size, false)              \
    START(name##_ull_ordered_start, UNSIGNED, uint64_t, chunk_, kind, size, true)       \
    static void name##_parallel(void (*function)(void *), void *data, unsigned threads, \
                                SIGNED chunk_(long), unsigned flags)                    \
    {                                                                                   \
        struct loop loop = SIGNED_LOOP;                                                 \
        loop.schedule = (kind);                                                         \
        loop.chunk = (uint64_t)(size);                                                  \
        parallel_loop(function, data, threads, &loop, __builtin_return_address(0));     \
    }

static void parallel_loop(void (*function)(void *), void *data, unsigned threads,
                          const struct loop *loop, const void *site)
{
    struct wl_omp_thread *thread = wl_omp_begin(site);
    struct wl_omp_team none = {.works = NULL};
    struct wl_omp_work *work = work_new(&none, 1);

    set_loop(thread->omp, work, loop);
    wl_omp_region(thread, function, data, threads, work);
    wl_omp_end(thread);
}

STARTS(static, WL_OMP_STATIC, A_CHUNK, chunk)
STARTS(dynamic, WL_OMP_DYNAMIC, A_CHUNK, chunk)
STARTS(guided, WL_OMP_GUIDED, A_CHUNK, chunk)
STARTS(runtime, 0, NO_CHUNK, 0)

/* ---- constructs with memory that their threads share ---- */

/* `memory` points to the size and becomes the address. */
static void share(struct wl_omp_thread *thread, uintptr_t *reductions, void **memory)
{
    struct wl_omp_work *work = thread->work;

    if (reductions != NULL) {
        wl_fatal(thread->omp->rank, "weft does not have reductions over tasks (OpenMP)");
    }
    if (memory != NULL) {
        if (work->memory == NULL) {
            work->memory = wl_calloc(1, (size_t)(uintptr_t)*memory);
        }
        *memory = work->memory;
    }
}

static bool start_general(struct loop loop, uint64_t *from, uint64_t *to, uintptr_t *reductions,
                          void **memory)
{
    struct wl_omp_thread *thread = wl_omp_begin(NULL);

    (void)meet_loop(thread, &loop);
    share(thread, reductions, memory);
    bool found = from == NULL || next_chunk(thread, from, to);
    wl_omp_end(thread);
    return found;
}

enum { KIND = 7 }; /* the schedule in an argument of these functions */

/* NOLINTBEGIN(bugprone-macro-parentheses): types and lists of parameters */
#define START_GENERAL(name, sign, type, ordered)                                               \
    static bool name(sign, long sort, type chunk, type *from, type *to, uintptr_t *reductions, \
                     void **memory)                                                            \
    {                                                                                          \
        struct loop loop = sign##_LOOP;                                                        \
        loop.schedule = (uint32_t)sort & KIND;                                                 \
        loop.chunk = (uint64_t)chunk;                                                          \
        loop.is_ordered = (ordered);                                                           \
        return start_general(loop, (uint64_t *)from, (uint64_t *)to, reductions, memory);      \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

START_GENERAL(loop_start, SIGNED, long, false)
START_GENERAL(loop_ordered_start, SIGNED, long, true)
START_GENERAL(loop_ull_start, UNSIGNED, uint64_t, false)
START_GENERAL(loop_ull_ordered_start, UNSIGNED, uint64_t, true)

/* ---- the end of constructs ---- */

static void end_nowait(void)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));

    end_chunk(thread);
    leave(thread);
    wl_omp_end(thread);
}

static void end_wait(void)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));

    end_chunk(thread);
    leave(thread);
    wl_omp_barrier(thread);
    wl_omp_end(thread);
}

static bool end_cancel(void)
{
    end_wait();
    return false;
}

/* ---- ordered ---- */

static void ordered_start(void)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));

    if (thread->work != NULL && thread->work->is_ordered && thread->has_chunk) {
        wl_omp_wait(thread, ordered_ready);
    }
    wl_omp_end(thread);
}

static void ordered_end(void)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));

    if (thread->work != NULL && thread->work->ordered_at < thread->clock) {
        thread->work->ordered_at = thread->clock;
    }
    wl_omp_end(thread);
}

/* ---- sections: iterations from 1 ---- */

static struct loop sections_loop(unsigned n)
{
    return (struct loop){.n = n, .start = 1, .step = 1, .chunk = 1, .schedule = WL_OMP_DYNAMIC};
}

static unsigned next_section(struct wl_omp_thread *thread)
{
    uint64_t from = 0, to = 0;

    return next_chunk(thread, &from, &to) ? (unsigned)from : 0;
}

static unsigned start_sections(unsigned n, uintptr_t *reductions, void **memory,
                               const void *site)
{
    struct wl_omp_thread *thread = wl_omp_begin(site);
    const struct loop loop = sections_loop(n);

    (void)meet_loop(thread, &loop);
    share(thread, reductions, memory);
    unsigned section = next_section(thread);
    wl_omp_end(thread);
    return section;
}

static unsigned sections_start(unsigned n)
{
    return start_sections(n, NULL, NULL, __builtin_return_address(0));
}

static unsigned sections2_start(unsigned n, uintptr_t *reductions, void **memory)
{
    return start_sections(n, reductions, memory, __builtin_return_address(0));
}

static unsigned sections_next(void)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
    unsigned section = next_section(thread);

    wl_omp_end(thread);
    return section;
}

static void sections_parallel(void (*function)(void *), void *data, unsigned threads,
                              unsigned n, unsigned flags)
{
    const struct loop loop = sections_loop(n);

    parallel_loop(function, data, threads, &loop, __builtin_return_address(0));
}

/* ---- single and scope ---- */

static bool single_start(void)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
    bool is_first;

    wl_omp_let_go(thread, false);
    (void)meet(thread, &is_first);
    leave(thread);
    wl_omp_end(thread);
    return is_first;
}

static void *single_copy_start(void)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
    bool is_first;
    void *copied = NULL;

    wl_omp_let_go(thread, false);
    (void)meet(thread, &is_first);
    if (!is_first) {
        wl_omp_barrier(thread);
        copied = thread->work->copied;
        leave(thread);
    }
    wl_omp_end(thread);
    return copied;
}

static void single_copy_end(void *data)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));

    struct wl_omp_work *work = thread->work;
    work->locals = wl_omp_locals_copy(thread, data, &work->words);
    work->copied = data;
    if (work->locals != NULL) { /* others get a copy of the struct, too */
        struct wl_omp_words before = work->words;
        memcpy(work->words.word, data, before.n * sizeof(uintptr_t));
        memcpy(data, before.word, before.n * sizeof(uintptr_t));
        work->copied = work->words.word;
    }
    wl_omp_barrier(thread);
    leave(thread);
    wl_omp_end(thread);
}

static void scope_start(uintptr_t *reductions)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
    bool is_first;

    (void)meet(thread, &is_first);
    share(thread, reductions, NULL);
    leave(thread);
    wl_omp_end(thread);
}

#define LOOPS(kind, in)                                           \
    WL_REPLACE(GOMP_loop_##kind##_start, in##_start),             \
        WL_REPLACE(GOMP_loop_##kind##_next, loop_next),           \
        WL_REPLACE(GOMP_loop_ull_##kind##_start, in##_ull_start), \
        WL_REPLACE(GOMP_loop_ull_##kind##_next, loop_ull_next),   \
        WL_REPLACE(GOMP_parallel_loop_##kind, in##_parallel)
#define ORDERED(kind)                                                               \
    WL_REPLACE(GOMP_loop_ordered_##kind##_start, kind##_ordered_start),             \
        WL_REPLACE(GOMP_loop_ordered_##kind##_next, loop_next),                     \
        WL_REPLACE(GOMP_loop_ull_ordered_##kind##_start, kind##_ull_ordered_start), \
        WL_REPLACE(GOMP_loop_ull_ordered_##kind##_next, loop_ull_next)

const struct wl_replacement wl_omp_works[] = {
    LOOPS(static, static),
    LOOPS(dynamic, dynamic),
    LOOPS(guided, guided),
    LOOPS(runtime, runtime),
    LOOPS(nonmonotonic_dynamic, dynamic),
    LOOPS(nonmonotonic_guided, guided),
    LOOPS(nonmonotonic_runtime, runtime),
    LOOPS(maybe_nonmonotonic_runtime, runtime),
    ORDERED(static),
    ORDERED(dynamic),
    ORDERED(guided),
    ORDERED(runtime),
    WL_REPLACE(GOMP_loop_start, loop_start),
    WL_REPLACE(GOMP_loop_ordered_start, loop_ordered_start),
    WL_REPLACE(GOMP_loop_ull_start, loop_ull_start),
    WL_REPLACE(GOMP_loop_ull_ordered_start, loop_ull_ordered_start),
    WL_REPLACE(GOMP_loop_end, end_wait),
    WL_REPLACE(GOMP_loop_end_nowait, end_nowait),
    WL_REPLACE(GOMP_loop_end_cancel, end_cancel),
    WL_REPLACE(GOMP_ordered_start, ordered_start),
    WL_REPLACE(GOMP_ordered_end, ordered_end),
    WL_REPLACE(GOMP_sections_start, sections_start),
    WL_REPLACE(GOMP_sections2_start, sections2_start),
    WL_REPLACE(GOMP_sections_next, sections_next),
    WL_REPLACE(GOMP_sections_end, end_wait),
    WL_REPLACE(GOMP_sections_end_nowait, end_nowait),
    WL_REPLACE(GOMP_sections_end_cancel, end_cancel),
    WL_REPLACE(GOMP_parallel_sections, sections_parallel),
    WL_REPLACE(GOMP_single_start, single_start),
    WL_REPLACE(GOMP_single_copy_start, single_copy_start),
    WL_REPLACE(GOMP_single_copy_end, single_copy_end),
    WL_REPLACE(GOMP_scope_start, scope_start),
    WL_REPLACE_END,
};
