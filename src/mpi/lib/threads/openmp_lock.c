/* SPDX-License-Identifier: Apache-2.0 */
/* Locks, critical sections and atomic operations that the compiler cannot express. The state of
 * a lock is where libgomp has it: an int, 0 if it is free. */
#include "mpi/lib/memory.h"
#include "mpi/lib/threads/openmp.h"

#include <stdint.h>
#include <stdlib.h>

/* When a lock was last released in this region. */
struct wl_omp_lock {
    struct wl_omp_lock *next;
    const int *state;
    int64_t released;
};

enum { BUCKETS = 256 };

static struct wl_omp_lock **bucket_of(struct wl_omp *omp, const int *state)
{
    if (omp->locks == NULL) {
        omp->locks = wl_calloc(BUCKETS, sizeof(struct wl_omp_lock *));
    }
    return &omp->locks[((uintptr_t)state >> 4 ^ (uintptr_t)state >> 12) % BUCKETS];
}

static struct wl_omp_lock *find_lock(struct wl_omp *omp, const int *state)
{
    struct wl_omp_lock *lock = *bucket_of(omp, state);

    while (lock != NULL && lock->state != state) {
        lock = lock->next;
    }
    return lock;
}

void wl_omp_locks_forget(struct wl_omp *omp)
{
    for (int i = 0; omp->locks != NULL && i < BUCKETS; i++) {
        while (omp->locks[i] != NULL) {
            struct wl_omp_lock *lock = omp->locks[i];
            omp->locks[i] = lock->next;
            free(lock);
        }
    }
}

static int64_t lock_ready(const struct wl_omp_thread *thread)
{
    return *(const int *)thread->wanted == 0 ? thread->clock : WL_OMP_NEVER;
}

void wl_omp_lock_seen(struct wl_omp_thread *thread, const int *state)
{
    const struct wl_omp_lock *lock = thread->omp->active ? find_lock(thread->omp, state) : NULL;

    if (lock != NULL && lock->released > thread->clock) {
        thread->clock = lock->released;
    }
}

static void acquire(struct wl_omp_thread *thread, int *state)
{
    wl_omp_let_go(thread, false);
    while (*state != 0) {
        thread->wanted = state;
        wl_omp_wait(thread, lock_ready);
    }
    *state = 1;
    wl_omp_lock_seen(thread, state);
}

void wl_omp_lock_released(struct wl_omp_thread *thread, const int *state)
{
    if (thread->omp->active) {
        struct wl_omp_lock *lock = find_lock(thread->omp, state);
        if (lock == NULL) {
            struct wl_omp_lock **bucket = bucket_of(thread->omp, state);
            lock = wl_calloc(1, sizeof(*lock));
            lock->state = state;
            lock->next = *bucket;
            *bucket = lock;
        }
        lock->released = thread->clock > lock->released ? thread->clock : lock->released;
    }
}

static void release(struct wl_omp_thread *thread, int *state)
{
    *state = 0;
    wl_omp_lock_released(thread, state);
}

void wl_omp_lock(struct wl_omp_thread *thread, int *state)
{
    acquire(thread, state);
}

void wl_omp_unlock(struct wl_omp_thread *thread, int *state)
{
    release(thread, state);
}

WL_OMP_ENTRY(lock, acquire(thread, state), int *state)
WL_OMP_ENTRY(unlock, release(thread, state), int *state)

static int test_lock(int *state)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));

    wl_omp_let_go(thread, true); /* a program may test until it succeeds */
    int is_free = *state == 0;
    if (is_free) {
        acquire(thread, state);
    }
    wl_omp_end(thread);
    return is_free;
}

static void init_lock(int *state)
{
    *state = 0;
}

static void init_lock_hint(int *state, int hint)
{
    *state = 0;
}

static void destroy_lock(int *state)
{
}

/* ---- nested locks ---- */

struct nest {
    int state, count;
    const void *owner; /* a task */
};

static void init_nest(struct nest *nest)
{
    *nest = (struct nest){.state = 0};
}

static void init_nest_hint(struct nest *nest, int hint)
{
    init_nest(nest);
}

static void lock_nest(struct nest *nest)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));

    if (nest->owner != thread->task || nest->count == 0) {
        acquire(thread, &nest->state);
        nest->owner = thread->task;
    }
    nest->count++;
    wl_omp_end(thread);
}

static void unlock_nest(struct nest *nest)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));

    if (--nest->count == 0) {
        nest->owner = NULL;
        release(thread, &nest->state);
    }
    wl_omp_end(thread);
}

static int test_nest(struct nest *nest)
{
    struct wl_omp_thread *thread = wl_omp_begin(__builtin_return_address(0));
    bool mine = nest->count > 0 && nest->owner == thread->task;

    wl_omp_let_go(thread, true);
    if (!mine && nest->state == 0) {
        acquire(thread, &nest->state);
        nest->owner = thread->task;
        mine = true;
    }
    nest->count += mine ? 1 : 0;
    wl_omp_end(thread);
    return mine ? nest->count : 0;
}

static void destroy_nest(struct nest *nest)
{
}

/* Fortran's variable holds a pointer to a nested lock. */
static void init_nest_fortran(struct nest **nest)
{
    *nest = wl_calloc(1, sizeof(**nest));
}

static void destroy_nest_fortran(struct nest **nest)
{
    free(*nest);
    *nest = NULL;
}

static void lock_nest_fortran(struct nest **nest)
{
    lock_nest(*nest);
}

static void unlock_nest_fortran(struct nest **nest)
{
    unlock_nest(*nest);
}

static int test_nest_fortran(struct nest **nest)
{
    return test_nest(*nest);
}

/* ---- critical sections ---- */

/* The compiler provides a pointer for each name, null at first. */
WL_OMP_ENTRY(critical_name_start, acquire(thread, (int *)(void *)name), void **name)
WL_OMP_ENTRY(critical_name_end, release(thread, (int *)(void *)name), void **name)

WL_OMP_ENTRY(critical_start, acquire(thread, &thread->omp->critical), void)
WL_OMP_ENTRY(critical_end, release(thread, &thread->omp->critical), void)
WL_OMP_ENTRY(atomic_start, acquire(thread, &thread->omp->atomic), void)
WL_OMP_ENTRY(atomic_end, release(thread, &thread->omp->atomic), void)

const struct wl_replacement wl_omp_locks[] = {
    WL_REPLACE(GOMP_critical_start, critical_start),
    WL_REPLACE(GOMP_critical_end, critical_end),
    WL_REPLACE(GOMP_critical_name_start, critical_name_start),
    WL_REPLACE(GOMP_critical_name_end, critical_name_end),
    WL_REPLACE(GOMP_atomic_start, atomic_start),
    WL_REPLACE(GOMP_atomic_end, atomic_end),
    WL_REPLACE_BOTH(omp_init_lock, init_lock),
    WL_REPLACE_BOTH(omp_init_lock_with_hint, init_lock_hint),
    WL_REPLACE_BOTH(omp_destroy_lock, destroy_lock),
    WL_REPLACE_BOTH(omp_set_lock, lock),
    WL_REPLACE_BOTH(omp_unset_lock, unlock),
    WL_REPLACE_BOTH(omp_test_lock, test_lock),
    WL_REPLACE(omp_init_nest_lock, init_nest),
    WL_REPLACE(omp_init_nest_lock_, init_nest_fortran),
    WL_REPLACE(omp_init_nest_lock_with_hint, init_nest_hint),
    WL_REPLACE(omp_destroy_nest_lock, destroy_nest),
    WL_REPLACE(omp_destroy_nest_lock_, destroy_nest_fortran),
    WL_REPLACE(omp_set_nest_lock, lock_nest),
    WL_REPLACE(omp_set_nest_lock_, lock_nest_fortran),
    WL_REPLACE(omp_unset_nest_lock, unlock_nest),
    WL_REPLACE(omp_unset_nest_lock_, unlock_nest_fortran),
    WL_REPLACE(omp_test_nest_lock, test_nest),
    WL_REPLACE(omp_test_nest_lock_, test_nest_fortran),
    WL_REPLACE_END,
};
