/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX threads of a program: user-level threads of the rank, as those of OpenMP are (openmp.h).
 * From the first pthread_create() until all threads have ended, the rank has several threads with
 * clocks of their own. They meet in these functions and in those of pthread_locks.c, in the order of
 * simulated time. While a rank has one thread, the functions do not enter the simulator.
 */
#include "mpi/lib/threads/pthreads.h"

#include "mpi/lib/memory.h"

#include <errno.h>
#include <pthread.h>
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

static struct wl_pthreads *threads_of(struct wl_omp *omp)
{
    if (omp->pthreads == NULL) {
        omp->pthreads = wl_calloc(1, sizeof(*omp->pthreads));
    }
    return omp->pthreads;
}

static struct wl_pthread *find_thread(const struct wl_omp *omp, pthread_t id)
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
    struct wl_pthread *other = find_thread(thread->omp, id);
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
    struct wl_pthread *other = find_thread(thread->omp, id);

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
    if (!wl_pthread_is_alone()) {
        (void)wl_omp_begin(NULL);
        wl_omp_wait(thread, others_ended);
        wl_omp_end(thread);
    }
    __wrap_exit(0);
}

static pthread_t self(void)
{
    const struct wl_rank *rank = wl_pthread_rank();
    struct wl_pthread *own =
        rank != NULL && rank->omp != NULL && rank->omp->active ? running(rank->omp) : NULL;

    return own != NULL ? (pthread_t)own : pthread_self();
}

int wl_pthread_yield(void)
{
    if (!wl_pthread_is_alone()) {
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
    wl_pthread_fail(
        "the program cancels a thread or sends it a signal, which weft does not have");
}

/* ---- thread-specific data ---- */

static int key_create(pthread_key_t *key, void (*destructor)(void *))
{
    if (wl_pthread_rank() == NULL) {
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
    if (wl_pthread_rank() == NULL) {
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
    if (wl_pthread_rank() == NULL) {
        return pthread_getspecific(key);
    }
    const struct wl_omp_thread *thread = wl_omp_self();

    return key < thread->n_specific ? thread->specific[key] : NULL;
}

static int set_specific(pthread_key_t key, const void *value)
{
    if (wl_pthread_rank() == NULL) {
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
    WL_REPLACE(pthread_yield, wl_pthread_yield),
    WL_REPLACE(sched_yield, wl_pthread_yield),
    WL_REPLACE(pthread_setname_np, do_nothing),
    WL_REPLACE(pthread_setaffinity_np, do_nothing),
    WL_REPLACE(pthread_setschedparam, do_nothing),
    WL_REPLACE(pthread_cancel, refuse_cancel),
    WL_REPLACE(pthread_kill, refuse_cancel),
    WL_REPLACE(pthread_key_create, key_create),
    WL_REPLACE(pthread_key_delete, key_delete),
    WL_REPLACE(pthread_getspecific, get_specific),
    WL_REPLACE(pthread_setspecific, set_specific),
    WL_REPLACE_END,
};
