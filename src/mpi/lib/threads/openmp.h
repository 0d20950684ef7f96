/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * OpenMP: a run-time library behind the interface of GCC's libgomp, whose functions it replaces
 * (interpose.h). The threads of a rank are user-level threads. One of them runs at a time; each
 * has a clock of its own. At every point where threads meet (barriers, locks, chunks of loops,
 * tasks, MPI), the thread with the lowest clock goes on, so that threads meet in the order of
 * simulated time. A barrier takes the time of the slowest thread, or of all their work divided
 * by the cores of the rank if there are more threads than cores.
 *
 *   openmp.c       threads, barriers, time
 *   openmp_region.c regions
 *   openmp_work.c  loops, sections, single, ordered
 *   openmp_lock.c  critical, atomic, locks
 *   openmp_task.c  tasks
 *   openmp_query.c omp_x() functions
 *   pthreads.c     threads that the program creates itself
 *   pthread_locks.c their mutexes, conditions and other locks
 *   thread_waits.c calls of MPI that wait, with MPI_THREAD_MULTIPLE
 *
 * A nested region has one thread. docs/dev/decisions/0013-threads.md has the reasons.
 */

#include "mpi/lib/libc/interpose_table.h"
#include "mpi/lib/library.h"

#include <time.h>

struct wl_omp_task;
struct wl_omp_work;

enum wl_omp_schedule {
    WL_OMP_STATIC = 1,
    WL_OMP_DYNAMIC,
    WL_OMP_GUIDED,
    WL_OMP_AUTO
}; /* omp_sched_t */

/* The threads that execute a region. */
struct wl_omp_team {
    uint32_t n;
    uint32_t level, active_level;
    struct wl_omp_team *outer; /* null: the program outside of regions */
    uint32_t outer_number;     /* of the thread in the outer team */
    uint32_t arrived;          /* at the barrier... */
    uint64_t generation;       /* ...which is the how manieth */
    struct wl_omp_work *works; /* work-sharing constructs that not all threads have left */
    struct wl_omp_task *first, *last; /* tasks that can begin */
    struct wl_omp_work *begins_with;  /* a construct, or null */
    uint64_t unfinished;              /* tasks that have not ended */
    uint32_t n_queued;
    void (*function)(void *);
    void *data;
};

#define WL_OMP_NEVER INT64_MAX

struct wl_omp_thread {
    struct wl_omp *omp;
    struct wl_omp_team *team;
    uint32_t number; /* in the team */
    struct wl_omp_task *task;
    struct wl_omp_work *work;
    uint64_t works;  /* work-sharing constructs that it has met in the region */
    uint64_t chunks; /* static loops: chunks it has had; ordered: the number of its chunk */
    uint64_t ordered_chunk;
    bool has_chunk;
    uint64_t region; /* that it takes or took part in */
    void *context;   /* of the simulator; null until there are several threads */
    int64_t fresh;   /* picoseconds computed since the thread last met the run-time library */
    int64_t clock;   /* picoseconds since the region began */
    int64_t busy;    /* part of it that was computing, since the last barrier */
    uint64_t turn;   /* when it was last chosen to run */
    /* While it waits: the time at which it can go on, WL_OMP_NEVER if it cannot yet. */
    int64_t (*ready)(const struct wl_omp_thread *thread);
    const void *wanted; /* for that function */
    uint64_t wanted_number;
    const void *stack_end;
    const char *function; /* of MPI, in which the thread is; or null */
    const void *site;     /* as in struct wl_rank */
    /* With MPI_THREAD_MULTIPLE (thread_waits.c): */
    const struct wf_op *wait; /* what it waits for in MPI; or null */
    int64_t look_at;          /* when it looks for the end of that... */
    uint32_t given;           /* ...of which this request is complete already... */
    bool has_given;           /* ...if this is set */
    struct wf_port_answer answer;
    /* Of POSIX threads (pthreads.c): */
    uint32_t other;   /* its place in the list of others plus 1; 0: it is not there */
    bool woken;       /* while it waits at a place: another thread has woken it... */
    int64_t woken_at; /* ...at this time; or nobody does until... */
    int64_t deadline; /* ...this time, WL_OMP_NEVER if it waits for ever */
    void **specific;  /* [n_specific] thread-specific data */
    uint32_t n_specific;
};

/* The OpenMP of a rank. */
struct wl_omp {
    struct wl_rank *rank;
    struct wl_omp_thread **threads;
    uint32_t n_threads;
    struct wl_omp_thread **others; /* threads that the program has created; some are null */
    uint32_t n_others;
    struct wl_pthreads *pthreads; /* null: there were never any */
    struct wl_omp_thread *running;
    uint64_t turns;
    struct wl_omp_team initial,
        team;          /* outside of regions; of the region with several threads */
    bool active;       /* there is such a region */
    uint64_t region;   /* its number */
    int64_t start;     /* when its last barrier ended, on the threads' clocks */
    int64_t posted;    /* the time up to which ops describe the region */
    int64_t base;      /* the simulated time of its beginning... */
    bool has_base;     /* ...if it was asked for */
    uint32_t asked;    /* threads for the next region */
    uint32_t schedule; /* of schedule(runtime) */
    uint64_t chunk;
    int dynamic, levels;
    uint64_t entries, last_entries; /* calls of the run-time library; at the last tick */
    uint32_t period_us;             /* of ticks */
    int critical, atomic;           /* the locks without a name */
    struct wl_omp_lock **locks;     /* hashed by address: when they were released */
    uint64_t completions;           /* see wl_omp_completes() */
    int64_t completed_at;           /* when the last one was */
};

/* Around every function that programs call. begin() returns the calling thread. */
struct wl_omp_thread *wl_omp_begin(const void *site);
void wl_omp_end(struct wl_omp_thread *thread);
/* Such a function that executes one statement as `thread`; after it come its parameters. */
#define WL_OMP_ENTRY(name, statement, ...)                                        \
    static void name(__VA_ARGS__)                                                 \
    {                                                                             \
        struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0)); \
                                                                                  \
        statement;                                                                \
        wl_omp_end(thread);                                                       \
    }
/* The calling thread, for functions that only look. */
struct wl_omp_thread *wl_omp_self(void);

void wl_omp_free(struct wl_rank *rank);
/* At the end of the run: frees the stacks on which ranks have ended. */
void wl_omp_left_free(void);

/* As in struct wf_port_library. */
void wl_omp_tick(struct wf_port_rank *self);

/* Lets threads that are earlier go first; with `fair` also those that are as early. */
void wl_omp_let_go(struct wl_omp_thread *thread, bool fair);
/* Others run until ready() returns a time, which the thread then has at least. */
void wl_omp_wait(struct wl_omp_thread *thread,
                 int64_t (*ready)(const struct wl_omp_thread *thread));
void wl_omp_barrier(struct wl_omp_thread *thread);
/* Executes the region. `work` is a construct that it begins with, or null. */
void wl_omp_region(struct wl_omp_thread *thread, void (*function)(void *), void *data,
                   unsigned asked, struct wl_omp_work *work);

/*
 * The compiler gives the address of a thread-local variable to other threads, to be copied
 * (copyin, copyprivate), in a struct of unknown size. All threads have their variables at one
 * address, so that such an address is replaced by that of a copy of the variables, which the
 * caller frees. `before` gets the original words. Null if there is no such address.
 */
enum { WL_OMP_WORDS = 64 };
struct wl_omp_words {
    uintptr_t word[WL_OMP_WORDS];
    uint32_t n;
};
void *wl_omp_locals_copy(const struct wl_omp_thread *thread, uintptr_t *data,
                         struct wl_omp_words *before);

/* openmp_work.c: frees a construct; for the end of regions. */
void wl_omp_works_free(struct wl_omp_team *team);
/* openmp_task.c: the first task that the thread may execute at a barrier; null if none. */
struct wl_omp_task *wl_omp_task_any(const struct wl_omp_thread *thread);
int64_t wl_omp_task_ready(const struct wl_omp_thread *thread, const struct wl_omp_task *task);
void wl_omp_task_run(struct wl_omp_thread *thread, struct wl_omp_task *task);
struct wl_omp_task *wl_omp_task_implicit(void);
void wl_omp_task_release(struct wl_omp_task *task);
/* openmp_lock.c: an int is a lock, 0 if it is free. */
void wl_omp_locks_forget(struct wl_omp *omp);
void wl_omp_lock(struct wl_omp_thread *thread, int *state);
void wl_omp_unlock(struct wl_omp_thread *thread, int *state);
/* For locks of other kinds: one is released now; the thread sees that, and has at least that
 * time. */
void wl_omp_lock_released(struct wl_omp_thread *thread, const int *state);
void wl_omp_lock_seen(struct wl_omp_thread *thread, const int *state);

/*
 * Threads that the program creates itself (pthreads.c). A phase is the time in which there are
 * any; it is like a region whose team is the first thread. wl_omp_phase_end() gets what the others have
 * computed and the number of all threads.
 */
void wl_omp_phase_begin(struct wl_omp_thread *first);
void wl_omp_phase_end(struct wl_omp_thread *first, int64_t busy, uint32_t n_threads);
/* A thread that calls entry(arg), which does not return, at the clock of the calling one. Null:
 * there is no memory for its stack. */
struct wl_omp_thread *wl_omp_other_new(struct wl_omp_thread *thread, void (*entry)(void *),
                                       void *arg);
void wl_omp_other_free(struct wl_omp_thread *thread);
/* pthreads.c */
void wl_pthreads_free(struct wl_omp *omp);
/* pthread_locks.c: does what the system call does, for threads of a rank. False if that is the system's business. */
bool wl_pthread_futex(int *place, int operation, int value, const struct timespec *time,
                      long *outcome);

/* The program itself completes what another thread may wait for: a generalized request, or a
 * partition of a send. */
void wl_omp_completes(struct wl_rank *rank);
/* The thread waits until another one has completed something. False if the rank has only one
 * thread. */
bool wl_omp_wait_for_completion(struct wl_rank *rank);

/* Called by the library for ranks in a region with several threads: an op of the thread, what
 * time it is for it, and sleeping. */
const struct wf_port_answer *wl_omp_call(struct wl_rank *rank, const struct wf_op *op);
int64_t wl_omp_now(struct wl_rank *rank);
void wl_omp_sleep(struct wl_rank *rank, int64_t picoseconds);
/* The thread level is known, or threads begin or end. */
void wl_omp_note_level(struct wl_rank *rank);
/* Brings the ops of the rank up to the thread's clock; likewise, then the op itself. */
void wl_omp_catch_up(struct wl_omp_thread *thread);
const struct wf_port_answer *wl_omp_call_now(struct wl_omp_thread *thread,
                                             const struct wf_op *op);
/* thread_waits.c: whether an op may wait for what another thread has to do; such an op, during
 * which other threads go on. */
bool wl_omp_may_wait(const struct wf_op *op);
const struct wf_port_answer *wl_omp_call_waiting(struct wl_omp_thread *thread,
                                                 const struct wf_op *op);
static inline bool wl_omp_is_active(const struct wl_rank *rank)
{
    return rank->omp != NULL && rank->omp->active;
}

/* Of openmp.c, for openmp_region.c. Adds a thread to those of the rank. */
struct wl_omp_thread *wl_omp_thread_add(struct wl_omp *omp);
/* All threads have arrived: a barrier ends when the slowest thread is there, and when the cores
 * have done the work of all. */
void wl_omp_settle(struct wl_omp *omp);
/* From now on threads that do not call the run-time library are interrupted (wl_omp_tick()). */
void wl_omp_ticks_begin(struct wl_omp *omp);
static inline bool wl_omp_all_is_done(const struct wl_omp_team *team)
{
    return team->arrived == team->n && team->unfinished == 0;
}
/* Clocks of threads are simulated time, and ops have the time before it is scaled. */
static inline int64_t wl_omp_scaled(int64_t picoseconds, double by)
{
    return by == 1 ? picoseconds : (int64_t)((double)picoseconds * by + 0.5);
}

/* The functions that are replaced. */
extern const struct wl_replacement wl_omp_regions[], wl_omp_works[], wl_omp_locks[],
    wl_omp_tasks[], wl_omp_queries[], wl_pthread_functions[], wl_pthread_locks[];
