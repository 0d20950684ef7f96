/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutexes, conditions, futexes, semaphores, barriers and other locks of POSIX threads. They are the
 * program's variables: their state is in the members that are zero in a static initializer of the C
 * library.
 */
#include "mpi/lib/libc/interpose.h"
#include "mpi/lib/threads/pthreads.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

/* ---- mutexes ---- */

enum { MAIN = 1 }; /* the owner of a mutex: the first thread, or the number of another one */

static int owner_here(void)
{
    const struct wl_rank *rank = wl_pthread_rank();

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
    wl_pthread_fail("a thread waits for a mutex that it has locked itself");
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
    if (!wl_pthread_is_alone()) {
        struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
        wl_omp_lock(thread, &mutex->__data.__lock);
        wl_omp_end(thread);
    } else if (mutex->__data.__lock != 0) {
        wl_pthread_fail("the program waits for a mutex that no thread will unlock");
    }
    mutex->__data.__lock = 1;
    take(mutex);
    return 0;
}

static int try_mutex(pthread_mutex_t *mutex)
{
    if (!wl_pthread_is_alone()) {
        wl_pthread_yield(); /* a program may try until it succeeds */
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
    if (wl_pthread_is_alone()) {
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

    if (!wl_pthread_is_alone()) {
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

    if (wl_pthread_is_alone() && limit < 0) {
        wl_pthread_fail("the program waits for a condition that no thread will signal");
    }
    mutex->__data.__count = 1;
    (void)unlock_mutex(mutex);
    bool woken = false;
    if (!wl_pthread_is_alone()) {
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

    if (wl_pthread_rank() == NULL || (command != WAIT && command != WAKE &&
                                      command != WAIT_BITSET && command != WAKE_BITSET)) {
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
    if (wl_pthread_is_alone()) {
        wl_pthread_fail("the program waits for a thread that does not exist");
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
    if (wl_pthread_is_alone()) {
        wl_pthread_fail(what);
    }
    struct wl_omp_thread *thread = wl_omp_begin(NULL);
    thread->wanted = place;
    wl_omp_wait(thread, ready);
    wl_omp_lock_seen(thread, place);
    wl_omp_end(thread);
}

static void note(const int *place)
{
    if (!wl_pthread_is_alone()) {
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
    (void)wl_pthread_yield();
    if (*(int *)(void *)semaphore > 0) {
        return semaphore_wait(semaphore);
    }
    errno = EAGAIN;
    return -1;
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
        if (!wl_pthread_is_alone()) {
            struct wl_omp_thread *thread = wl_omp_begin(NULL);
            wl_omp_lock_seen(thread, &own->generation);
            wl_omp_end(thread);
        }
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    if (!wl_pthread_is_alone()) {
        wl_omp_self()->wanted_number = (uint64_t)(unsigned)generation;
    }
    wait_for(&own->generation, generation_ready,
             "the program waits at a barrier for threads that do not exist");
    return 0;
}

/* Locks for readers and writers, and spin locks, whose first word is the number of readers, -1 for
 * a writer or the one who spins. In the C library a free spin lock is 1. */
static int64_t not_written_ready(const struct wl_omp_thread *thread)
{
    return *(const int *)thread->wanted >= 0 ? thread->clock : WL_OMP_NEVER;
}

static int64_t free_ready(const struct wl_omp_thread *thread)
{
    return *(const int *)thread->wanted == 0 ? thread->clock : WL_OMP_NEVER;
}

static const char nobody_unlocks[] = "the program waits for a lock that no thread will unlock";

static int read_lock(int *state)
{
    while (*state < 0) {
        wait_for(state, not_written_ready, nobody_unlocks);
    }
    ++*state;
    return 0;
}

static int write_lock(int *state)
{
    while (*state != 0) {
        wait_for(state, free_ready, nobody_unlocks);
    }
    *state = -1;
    return 0;
}

static int try_read_lock(int *state)
{
    (void)wl_pthread_yield();
    return *state < 0 ? EBUSY : read_lock(state);
}

static int try_write_lock(int *state)
{
    (void)wl_pthread_yield();
    return *state != 0 ? EBUSY : write_lock(state);
}

static int unlock_rw(int *state)
{
    *state -= *state < 0 ? -1 : 1;
    note(state);
    return 0;
}

static int spin_init(int *state)
{
    *state = 0;
    return 0;
}

static int spin_unlock(int *state)
{
    *state = 0;
    note(state);
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

static int do_nothing(void)
{
    return 0;
}

const struct wl_replacement wl_pthread_locks[] = {
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
    WL_REPLACE(pthread_rwlock_rdlock, read_lock),
    WL_REPLACE(pthread_rwlock_wrlock, write_lock),
    WL_REPLACE(pthread_rwlock_tryrdlock, try_read_lock),
    WL_REPLACE(pthread_rwlock_trywrlock, try_write_lock),
    WL_REPLACE(pthread_rwlock_unlock, unlock_rw),
    WL_REPLACE(pthread_spin_init, spin_init),
    WL_REPLACE(pthread_spin_lock, write_lock),
    WL_REPLACE(pthread_spin_trylock, try_write_lock),
    WL_REPLACE(pthread_spin_unlock, spin_unlock),
    WL_REPLACE(pthread_once, once),
    WL_REPLACE(sem_wait, semaphore_wait),
    WL_REPLACE(sem_trywait, semaphore_try),
    WL_REPLACE(sem_post, semaphore_post),
    WL_REPLACE(pthread_barrier_destroy, do_nothing),
    WL_REPLACE_END,
};
