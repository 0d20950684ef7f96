/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX threads of a program: user-level threads of the rank, as those of OpenMP are (openmp.h).
 * From the first pthread_create() until all threads have ended, the rank has several threads with
 * clocks of their own. They meet in the functions below, in the order of simulated time.
 *
 * Mutexes, conditions and the like are the program's variables: their state is in the members that
 * are zero in a static initializer of the C library. While a rank has one thread, the functions do
 * not enter the simulator.
 */
#include "mpilib/interpose.h"
#include "mpilib/memory.h"
#include "mpilib/openmp.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

/* ---- threads ---- */

struct wl_pthread {
    struct wl_pthread *next;
    struct wl_omp_thread *thread; /* null: its stack has been freed */
    void *(*start)(void *);
    void *arg, *result;
    bool ended, detached;
    int64_t end; /* its clock */
};

/* The threads of a rank. */
struct wl_pthreads {
    struct wl_pthread *first;
    uint32_t live;               /* that have not ended */
    uint32_t created;            /* in this phase */
    int64_t busy;                /* what those that have ended have computed */
    struct wl_omp_team *outside; /* the team of the main thread before */
    void (**destructors)(void *);
    bool *used; /* keys of thread-specific data */
    uint32_t n_keys;
};

enum { MAIN = 1 }; /* the owner of a mutex: the first thread, or the number of another one */

static struct wl_rank *rank_here(void)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    return self != NULL ? self->lib : NULL;
}

/* Whether the calling thread is the only one of its rank, or no rank's. */
static bool is_alone(void)
{
    const struct wl_rank *rank = rank_here();

    return rank == NULL || rank->omp == NULL || !rank->omp->active;
}

static _Noreturn void fail(const char *words)
{
    const struct wl_omp_thread *thread = wl_omp_begin(NULL);

    wl_fatal(thread->omp->rank, "%s", words);
}

static struct wl_pthreads *threads_of(struct wl_omp *omp)
{
    if (omp->pthreads == NULL) {
        omp->pthreads = wl_calloc(1, sizeof(*omp->pthreads));
    }
    return omp->pthreads;
}

static struct wl_pthread *find(const struct wl_omp *omp, pthread_t id)
{
    struct wl_pthread *own = omp->pthreads != NULL ? omp->pthreads->first : NULL;

    while (own != NULL && (pthread_t)own != id) {
        own = own->next;
    }
    return own;
}

static struct wl_pthread *running(const struct wl_omp *omp)
{
    struct wl_pthread *own = omp->pthreads != NULL ? omp->pthreads->first : NULL;

    while (own != NULL && own->thread != omp->running) {
        own = own->next;
    }
    return own;
}

static int64_t never_ready(const struct wl_omp_thread *thread)
{
    return WL_OMP_NEVER;
}

static void forget(struct wl_omp *omp, struct wl_pthread *gone)
{
    struct wl_pthread **link = &omp->pthreads->first;

    while (*link != gone) {
        link = &(*link)->next;
    }
    *link = gone->next;
    wl_omp_other_free(gone->thread);
    free(gone);
}

/* The main thread is the only one that is left: what happened is one compute op. */
static void end_phase(struct wl_omp_thread *thread)
{
    struct wl_pthreads *all = thread->omp->pthreads;

    if (all != NULL && all->live == 0 && all->outside != NULL && running(thread->omp) == NULL) {
        thread->team = all->outside;
        all->outside = NULL;
        wl_omp_phase_end(thread, all->busy, all->created + 1);
        for (struct wl_pthread *own = all->first; own != NULL;) {
            struct wl_pthread *next = own->next;
            if (own->detached) {
                forget(thread->omp, own);
            }
            own = next;
        }
    }
}

static void call_destructors(struct wl_omp_thread *thread)
{
    enum { TIMES = 4 };
    const struct wl_pthreads *all = threads_of(thread->omp);

    for (int again = 0; again < TIMES; again++) {
        for (uint32_t i = 0; i < thread->n_specific; i++) {
            void *value = thread->specific[i];
            thread->specific[i] = NULL;
            if (value != NULL && i < all->n_keys && all->used[i] &&
                all->destructors[i] != NULL) {
                all->destructors[i](value);
            }
        }
    }
}

static _Noreturn void end_thread(struct wl_pthread *own, void *result)
{
    call_destructors(own->thread);
    struct wl_omp_thread *thread = wl_omp_begin(NULL);
    struct wl_pthreads *all = thread->omp->pthreads;
    own->result = result;
    own->ended = true;
    own->end = thread->clock;
    all->busy += thread->busy;
    all->live--;
    wl_omp_wait(thread, never_ready);
    abort(); /* an ended thread never goes on */
}

static void run_thread(void *arg)
{
    struct wl_pthread *own = arg;

    own->thread->stack_end = __builtin_frame_address(0);
    wl_omp_end(own->thread);
    end_thread(own, own->start(own->arg));
}

static void begin_phase(struct wl_omp_thread *thread)
{
    struct wl_pthreads *all = threads_of(thread->omp);

    if (thread->omp->active && all->outside == NULL) {
        wl_fatal(thread->omp->rank, "the program calls pthread_create() in a region of OpenMP, "
                                    "which weft does not have");
    }
    if (!thread->omp->active) {
        all->outside = thread->team;
        all->created = 0;
        all->busy = 0;
        wl_omp_phase_begin(thread);
    }
}

static int create(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *),
                  void *arg)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
    struct wl_pthread *own = wl_calloc(1, sizeof(*own));
    int state = PTHREAD_CREATE_JOINABLE;

    end_phase(thread);
    begin_phase(thread);
    if (attributes != NULL) {
        (void)pthread_attr_getdetachstate(attributes, &state);
    }
    struct wl_pthreads *all = thread->omp->pthreads;
    *own = (struct wl_pthread){.next = all->first,
                               .start = start,
                               .arg = arg,
                               .detached = state == PTHREAD_CREATE_DETACHED};
    own->thread = wl_omp_other_new(thread, run_thread, own);
    if (own->thread == NULL) {
        free(own);
        end_phase(thread);
        wl_omp_end(thread);
        return EAGAIN;
    }
    all->first = own;
    all->live++;
    all->created++;
    *id = (pthread_t)own;
    wl_omp_end(thread);
    return 0;
}

static int64_t join_ready(const struct wl_omp_thread *thread)
{
    const struct wl_pthread *other = thread->wanted;

    return !other->ended                ? WL_OMP_NEVER
           : other->end > thread->clock ? other->end
                                        : thread->clock;
}

static int join(pthread_t id, void **result)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
    struct wl_pthread *other = find(thread->omp, id);
    int code = other == NULL ? ESRCH : other->detached ? EINVAL : 0;

    if (code == 0) {
        thread->wanted = other;
        if (thread->omp->active) {
            wl_omp_wait(thread, join_ready);
        }
        if (result != NULL) {
            *result = other->result;
        }
        forget(thread->omp, other);
        end_phase(thread);
    }
    wl_omp_end(thread);
    return code;
}

static int detach(pthread_t id)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
    struct wl_pthread *other = find(thread->omp, id);

    if (other != NULL) {
        other->detached = true;
    }
    wl_omp_end(thread);
    return other != NULL ? 0 : ESRCH;
}

static int64_t others_ended(const struct wl_omp_thread *thread)
{
    return thread->omp->pthreads->live == 0 ? thread->clock : WL_OMP_NEVER;
}

_Noreturn void __wrap_exit(int code);

static _Noreturn void exit_thread(void *result)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
    struct wl_pthread *own = running(thread->omp);

    wl_omp_end(thread);
    if (own != NULL) {
        end_thread(own, result);
    }
    if (!is_alone()) {
        (void)wl_omp_begin(NULL);
        wl_omp_wait(thread, others_ended);
        wl_omp_end(thread);
    }
    __wrap_exit(0);
}

static pthread_t self(void)
{
    const struct wl_rank *rank = rank_here();
    struct wl_pthread *own =
        rank != NULL && rank->omp != NULL && rank->omp->active ? running(rank->omp) : NULL;

    return own != NULL ? (pthread_t)own : pthread_self();
}

static int yield(void)
{
    if (!is_alone()) {
        struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
        wl_omp_let_go(thread, true);
        wl_omp_end(thread);
    }
    return 0;
}

/* Names and places of threads mean nothing here. */
static int do_nothing(void)
{
    return 0;
}

static void refuse_cancel(void)
{
    fail("the program cancels a thread or sends it a signal, which weft does not have");
}

/* ---- mutexes ---- */

static int owner_here(void)
{
    const struct wl_rank *rank = rank_here();

    return rank != NULL && rank->omp != NULL ? MAIN + (int)rank->omp->running->other : MAIN;
}

enum { KIND_MASK = 3 };

static int kind_of(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind & KIND_MASK;
}

static bool is_mine(const pthread_mutex_t *mutex)
{
    return mutex->__data.__lock != 0 && mutex->__data.__owner == owner_here();
}

static int lock_again(pthread_mutex_t *mutex)
{
    if (kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE) {
        mutex->__data.__count++;
        return 0;
    }
    if (kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK) {
        return EDEADLK;
    }
    fail("a thread waits for a mutex that it has locked itself");
}

static void take(pthread_mutex_t *mutex)
{
    mutex->__data.__owner = owner_here();
    mutex->__data.__count = 1;
}

static int lock_mutex(pthread_mutex_t *mutex)
{
    if (is_mine(mutex)) {
        return lock_again(mutex);
    }
    if (!is_alone()) {
        struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
        wl_omp_lock(thread, &mutex->__data.__lock);
        wl_omp_end(thread);
    } else if (mutex->__data.__lock != 0) {
        fail("the program waits for a mutex that no thread will unlock");
    }
    mutex->__data.__lock = 1;
    take(mutex);
    return 0;
}

static int try_mutex(pthread_mutex_t *mutex)
{
    if (!is_alone()) {
        yield(); /* a program may try until it succeeds */
    }
    if (mutex->__data.__lock == 0) {
        return lock_mutex(mutex);
    }
    if (is_mine(mutex) && kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE) {
        return lock_again(mutex);
    }
    return EBUSY;
}

static int unlock_mutex(pthread_mutex_t *mutex)
{
    if (kind_of(mutex) != PTHREAD_MUTEX_NORMAL && !is_mine(mutex)) {
        return EPERM;
    }
    if (mutex->__data.__count > 1) {
        mutex->__data.__count--;
        return 0;
    }
    mutex->__data.__owner = 0;
    mutex->__data.__count = 0;
    if (is_alone()) {
        mutex->__data.__lock = 0;
    } else {
        struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
        wl_omp_unlock(thread, &mutex->__data.__lock);
        wl_omp_end(thread);
    }
    return 0;
}

/* ---- waiting to be woken: conditions and futexes ---- */

static int64_t woken_ready(const struct wl_omp_thread *thread)
{
    return thread->woken ? thread->woken_at > thread->clock ? thread->woken_at : thread->clock
                         : thread->deadline;
}

/* Waits at most so many picoseconds, or for ever if negative. False if nobody woke the thread. */
static bool wait_at(const void *place, int64_t limit)
{
    struct wl_omp_thread *thread = wl_omp_begin(NULL);

    thread->wanted = place;
    thread->woken = false;
    thread->wanted_number = ++thread->omp->turns;
    thread->deadline = limit < 0 ? WL_OMP_NEVER : thread->clock + limit;
    wl_omp_wait(thread, woken_ready);
    bool woken = thread->woken;
    thread->woken = false;
    wl_omp_end(thread);
    return woken;
}

static bool waits_at(const struct wl_omp_thread *thread, const void *place)
{
    return thread->ready == woken_ready && thread->wanted == place && !thread->woken;
}

/* The thread that has waited there for longest. */
static struct wl_omp_thread *first_at(const struct wl_omp *omp, const void *place)
{
    struct wl_omp_thread *first = waits_at(omp->threads[0], place) ? omp->threads[0] : NULL;

    for (uint32_t i = 0; i < omp->n_others; i++) {
        struct wl_omp_thread *other = omp->others[i];
        if (other != NULL && waits_at(other, place) &&
            (first == NULL || other->wanted_number < first->wanted_number)) {
            first = other;
        }
    }
    return first;
}

static int wake(const void *place, int most)
{
    int n = 0;

    if (!is_alone()) {
        struct wl_omp_thread *thread = wl_omp_begin(NULL), *first = NULL;
        while (n < most && (first = first_at(thread->omp, place)) != NULL) {
            first->woken = true;
            first->woken_at = thread->clock;
            n++;
        }
        wl_omp_end(thread);
    }
    return n;
}

static int64_t until(clockid_t clock, const struct timespec *time)
{
    enum { NS_PS = 1000 };
    const int64_t s_ps = INT64_C(1000000000000);
    struct timespec now;

    (void)wl_libc_clock_gettime(clock, &now);
    int64_t left = (time->tv_sec - now.tv_sec) * s_ps + (time->tv_nsec - now.tv_nsec) * NS_PS;
    return left > 0 ? left : 0;
}

static int wait_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t limit)
{
    unsigned count = mutex->__data.__count;

    if (is_alone() && limit < 0) {
        fail("the program waits for a condition that no thread will signal");
    }
    mutex->__data.__count = 1;
    (void)unlock_mutex(mutex);
    bool woken = false;
    if (!is_alone()) {
        woken = wait_at(condition, limit);
    } else {
        const int64_t s_ps = INT64_C(1000000000000);
        const struct timespec time = {limit / s_ps, limit % s_ps / 1000};
        (void)wl_libc_nanosleep(&time, NULL);
    }
    (void)lock_mutex(mutex);
    mutex->__data.__count = count;
    return woken ? 0 : ETIMEDOUT;
}

static int cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return wait_condition(condition, mutex, -1);
}

static int cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                          const struct timespec *time)
{
    return wait_condition(condition, mutex, until(clock, time));
}

static int cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                          const struct timespec *time)
{
    enum { MONOTONIC = 2 }; /* as pthread_cond_init() has noted it */
    bool monotonic = (condition->__data.__wrefs & MONOTONIC) != 0;

    return cond_clockwait(condition, mutex, monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, time);
}

static int cond_signal(pthread_cond_t *condition)
{
    (void)wake(condition, 1);
    return 0;
}

static int cond_broadcast(pthread_cond_t *condition)
{
    (void)wake(condition, INT32_MAX);
    return 0;
}

bool wl_pthread_futex(int *place, int operation, int value, const struct timespec *time,
                      long *outcome)
{
    enum {
        WAIT = 0,
        WAKE = 1,
        WAIT_BITSET = 9,
        WAKE_BITSET = 10,
        COMMAND = 127,
        REALTIME = 256
    };
    int command = operation & COMMAND;

    if (rank_here() == NULL || (command != WAIT && command != WAKE && command != WAIT_BITSET &&
                                command != WAKE_BITSET)) {
        return false;
    }
    *outcome = 0;
    if (command == WAKE || command == WAKE_BITSET) {
        *outcome = wake(place, value);
        return true;
    }
    if (*place != value) {
        *outcome = -EAGAIN;
        return true;
    }
    if (is_alone()) {
        fail("the program waits for a thread that does not exist");
    }
    int64_t limit = -1;
    if (time != NULL && command == WAIT) {
        limit = time->tv_sec * INT64_C(1000000000000) + time->tv_nsec * INT64_C(1000);
    } else if (time != NULL) {
        limit = until((operation & REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, time);
    }
    *outcome = wait_at(place, limit) ? 0 : -ETIMEDOUT;
    return true;
}

/* ---- semaphores, barriers, locks for readers and writers, once ---- */

static int64_t positive_ready(const struct wl_omp_thread *thread)
{
    return *(const int *)thread->wanted > 0 ? thread->clock : WL_OMP_NEVER;
}

static void wait_for(const int *place, int64_t (*ready)(const struct wl_omp_thread *thread),
                     const char *what)
{
    if (is_alone()) {
        fail(what);
    }
    struct wl_omp_thread *thread = wl_omp_begin(NULL);
    thread->wanted = place;
    wl_omp_wait(thread, ready);
    wl_omp_lock_seen(thread, place);
    wl_omp_end(thread);
}

static void note(const int *place)
{
    if (!is_alone()) {
        struct wl_omp_thread *thread = wl_omp_begin(NULL);
        wl_omp_lock_released(thread, place);
        wl_omp_end(thread);
    }
}

static int semaphore_wait(sem_t *semaphore)
{
    int *value = (int *)(void *)semaphore;

    while (*value <= 0) {
        wait_for(value, positive_ready,
                 "the program waits for a semaphore that no thread posts");
    }
    --*value;
    return 0;
}

static int semaphore_try(sem_t *semaphore)
{
    int *value = (int *)(void *)semaphore;

    (void)yield();
    if (*value <= 0) {
        errno = EAGAIN;
        return -1;
    }
    --*value;
    return 0;
}

static int semaphore_post(sem_t *semaphore)
{
    int *value = (int *)(void *)semaphore;

    ++*value;
    note(value);
    return 0;
}

/* In the place of the C library's. */
struct barrier {
    int generation;
    unsigned all, arrived;
};

static int barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                        unsigned n)
{
    *(struct barrier *)(void *)barrier = (struct barrier){.all = n};
    return n > 0 ? 0 : EINVAL;
}

static int64_t generation_ready(const struct wl_omp_thread *thread)
{
    return *(const int *)thread->wanted != (int)thread->wanted_number ? thread->clock
                                                                      : WL_OMP_NEVER;
}

static int barrier_wait(pthread_barrier_t *barrier)
{
    struct barrier *own = (void *)barrier;
    int generation = own->generation;

    note(&own->generation);
    if (++own->arrived == own->all) {
        own->arrived = 0;
        own->generation++;
        if (!is_alone()) {
            struct wl_omp_thread *thread = wl_omp_begin(NULL);
            wl_omp_lock_seen(thread, &own->generation);
            wl_omp_end(thread);
        }
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    if (!is_alone()) {
        wl_omp_self()->wanted_number = (uint64_t)(unsigned)generation;
    }
    wait_for(&own->generation, generation_ready,
             "the program waits at a barrier for threads that do not exist");
    return 0;
}

/* The first word: the number of readers, or -1 for a writer. */
static int64_t not_written_ready(const struct wl_omp_thread *thread)
{
    return *(const int *)thread->wanted >= 0 ? thread->clock : WL_OMP_NEVER;
}

static int64_t free_ready(const struct wl_omp_thread *thread)
{
    return *(const int *)thread->wanted == 0 ? thread->clock : WL_OMP_NEVER;
}

static const char nobody_unlocks[] = "the program waits for a lock that no thread will unlock";

static int read_lock(pthread_rwlock_t *lock)
{
    int *state = (int *)(void *)lock;

    while (*state < 0) {
        wait_for(state, not_written_ready, nobody_unlocks);
    }
    ++*state;
    return 0;
}

static int write_lock(pthread_rwlock_t *lock)
{
    int *state = (int *)(void *)lock;

    while (*state != 0) {
        wait_for(state, free_ready, nobody_unlocks);
    }
    *state = -1;
    return 0;
}

static int try_read_lock(pthread_rwlock_t *lock)
{
    (void)yield();
    return *(int *)(void *)lock < 0 ? EBUSY : read_lock(lock);
}

static int try_write_lock(pthread_rwlock_t *lock)
{
    (void)yield();
    return *(int *)(void *)lock != 0 ? EBUSY : write_lock(lock);
}

static int unlock_rw(pthread_rwlock_t *lock)
{
    int *state = (int *)(void *)lock;

    *state -= *state < 0 ? -1 : 1;
    note(state);
    return 0;
}

/* A spin lock is free if it is 0; in the C library it is 1. */
static int spin_init(int *lock)
{
    *lock = 0;
    return 0;
}

static int spin_lock(int *lock)
{
    while (*lock != 0) {
        wait_for(lock, free_ready, nobody_unlocks);
    }
    *lock = 1;
    return 0;
}

static int spin_try(int *lock)
{
    (void)yield();
    return *lock != 0 ? EBUSY : spin_lock(lock);
}

static int spin_unlock(int *lock)
{
    *lock = 0;
    note(lock);
    return 0;
}

static int64_t done_ready(const struct wl_omp_thread *thread)
{
    enum { DONE = 2 };

    return *(const int *)thread->wanted == DONE ? thread->clock : WL_OMP_NEVER;
}

static int once(int *state, void (*function)(void))
{
    enum { BEGUN = 1, DONE = 2 };

    if (*state == 0) {
        *state = BEGUN;
        function();
        *state = DONE;
    } else if (*state != DONE) {
        wait_for(state, done_ready, "pthread_once() calls itself");
    }
    return 0;
}

/* ---- thread-specific data ---- */

static int key_create(pthread_key_t *key, void (*destructor)(void *))
{
    if (rank_here() == NULL) {
        return pthread_key_create(key, destructor);
    }
    struct wl_pthreads *all = threads_of(wl_omp_self()->omp);
    uint32_t place = 0;
    while (place < all->n_keys && all->used[place]) {
        place++;
    }
    if (place == all->n_keys) {
        uint32_t n = all->n_keys > 0 ? 2 * all->n_keys : 8;
        all->destructors = wl_realloc((void *)all->destructors, n, sizeof(*all->destructors));
        all->used = wl_realloc(all->used, n, sizeof(bool));
        memset(all->used + all->n_keys, 0, n - all->n_keys);
        all->n_keys = n;
    }
    all->used[place] = true;
    all->destructors[place] = destructor;
    *key = place;
    return 0;
}

static int key_delete(pthread_key_t key)
{
    if (rank_here() == NULL) {
        return pthread_key_delete(key);
    }
    struct wl_omp *omp = wl_omp_self()->omp;
    struct wl_pthreads *all = threads_of(omp);
    if (key >= all->n_keys || !all->used[key]) {
        return EINVAL;
    }
    all->used[key] = false;
    for (uint32_t i = 0; i < omp->n_threads + omp->n_others; i++) {
        struct wl_omp_thread *thread =
            i < omp->n_threads ? omp->threads[i] : omp->others[i - omp->n_threads];
        if (thread != NULL && key < thread->n_specific) {
            thread->specific[key] = NULL;
        }
    }
    return 0;
}

static void *get_specific(pthread_key_t key)
{
    if (rank_here() == NULL) {
        return pthread_getspecific(key);
    }
    const struct wl_omp_thread *thread = wl_omp_self();

    return key < thread->n_specific ? thread->specific[key] : NULL;
}

static int set_specific(pthread_key_t key, const void *value)
{
    if (rank_here() == NULL) {
        return pthread_setspecific(key, value);
    }
    struct wl_omp_thread *thread = wl_omp_self();
    const struct wl_pthreads *all = threads_of(thread->omp);
    if (key >= all->n_keys || !all->used[key]) {
        return EINVAL;
    }
    if (key >= thread->n_specific) {
        thread->specific =
            wl_realloc((void *)thread->specific, all->n_keys, sizeof(*thread->specific));
        memset((void *)(thread->specific + thread->n_specific), 0,
               (all->n_keys - thread->n_specific) * sizeof(*thread->specific));
        thread->n_specific = all->n_keys;
    }
    thread->specific[key] = (void *)(uintptr_t)value;
    return 0;
}

void wl_pthreads_free(struct wl_omp *omp)
{
    struct wl_pthreads *all = omp->pthreads;

    while (all != NULL && all->first != NULL) {
        struct wl_pthread *gone = all->first;
        all->first = gone->next;
        free(gone);
    }
    if (all != NULL) {
        free((void *)all->destructors);
        free(all->used);
        free(all);
    }
    omp->pthreads = NULL;
}

const struct wl_replacement wl_pthread_functions[] = {
    WL_REPLACE(pthread_create, create),
    WL_REPLACE(pthread_join, join),
    WL_REPLACE(pthread_detach, detach),
    WL_REPLACE(pthread_exit, exit_thread),
    WL_REPLACE(pthread_self, self),
    WL_REPLACE(pthread_yield, yield),
    WL_REPLACE(sched_yield, yield),
    WL_REPLACE(pthread_setname_np, do_nothing),
    WL_REPLACE(pthread_setaffinity_np, do_nothing),
    WL_REPLACE(pthread_setschedparam, do_nothing),
    WL_REPLACE(pthread_cancel, refuse_cancel),
    WL_REPLACE(pthread_kill, refuse_cancel),
    WL_REPLACE(pthread_mutex_lock, lock_mutex),
    WL_REPLACE(pthread_mutex_timedlock, lock_mutex),
    WL_REPLACE(pthread_mutex_clocklock, lock_mutex),
    WL_REPLACE(pthread_mutex_trylock, try_mutex),
    WL_REPLACE(pthread_mutex_unlock, unlock_mutex),
    WL_REPLACE(pthread_cond_wait, cond_wait),
    WL_REPLACE(pthread_cond_timedwait, cond_timedwait),
    WL_REPLACE(pthread_cond_clockwait, cond_clockwait),
    WL_REPLACE(pthread_cond_signal, cond_signal),
    WL_REPLACE(pthread_cond_broadcast, cond_broadcast),
    WL_REPLACE(pthread_barrier_init, barrier_init),
    WL_REPLACE(pthread_barrier_wait, barrier_wait),
    WL_REPLACE(pthread_barrier_destroy, do_nothing),
    WL_REPLACE(pthread_rwlock_rdlock, read_lock),
    WL_REPLACE(pthread_rwlock_wrlock, write_lock),
    WL_REPLACE(pthread_rwlock_tryrdlock, try_read_lock),
    WL_REPLACE(pthread_rwlock_trywrlock, try_write_lock),
    WL_REPLACE(pthread_rwlock_unlock, unlock_rw),
    WL_REPLACE(pthread_spin_init, spin_init),
    WL_REPLACE(pthread_spin_lock, spin_lock),
    WL_REPLACE(pthread_spin_trylock, spin_try),
    WL_REPLACE(pthread_spin_unlock, spin_unlock),
    WL_REPLACE(pthread_once, once),
    WL_REPLACE(pthread_key_create, key_create),
    WL_REPLACE(pthread_key_delete, key_delete),
    WL_REPLACE(pthread_getspecific, get_specific),
    WL_REPLACE(pthread_setspecific, set_specific),
    WL_REPLACE(sem_wait, semaphore_wait),
    WL_REPLACE(sem_trywait, semaphore_try),
    WL_REPLACE(sem_post, semaphore_post),
    WL_REPLACE_END,
};
