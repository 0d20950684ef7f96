/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/hosts/barrier.h"
#include "engine/tuning.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void wf_barrier_init(struct wf_barrier *barrier, uint32_t n, size_t cores)
{
    atomic_init(&barrier->arrived, 0);
    atomic_init(&barrier->generation, 0);
    atomic_init(&barrier->sleeping, 0);
    barrier->n = n;
    barrier->spins_max = n <= cores ? WF_TUNE_SPINS_SLEEP : 0;
    atomic_init(&barrier->spins, barrier->spins_max);
}

/* True if it did not sleep. */
static bool spin(uint32_t *spins)
{
    if (++*spins < WF_TUNE_SPINS_YIELD) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        return true;
    }
    if (*spins < WF_TUNE_SPINS_SLEEP) {
        (void)sched_yield();
        return true;
    }
    return false;
}

void wf_relax(uint32_t *spins)
{
    if (!spin(spins)) {
        (void)nanosleep(&(struct timespec){.tv_nsec = WF_TUNE_SLEEP_NS}, NULL);
    }
}

/* Learns from whether spinning was enough: where other programs use the cores, or one thread has
 * most of the work, it rarely is, and takes the core from the thread that is waited for. */
static void learn(struct wf_barrier *barrier, uint32_t limit, bool enough)
{
    uint32_t next = enough ? limit + WF_TUNE_SPINS_STEP : limit / 2;

    next = next < barrier->spins_max ? next : barrier->spins_max;
    if (next != limit) {
        atomic_store_explicit(&barrier->spins, next, memory_order_relaxed);
    }
}

/* False if the last thread does not arrive soon. */
static bool spin_until(struct wf_barrier *barrier, uint32_t generation)
{
    uint32_t limit = atomic_load_explicit(&barrier->spins, memory_order_relaxed);
    uint32_t spins = 0;

    /* Tries a long time now and then, in case it is enough by now. */
    limit = generation % WF_TUNE_SPINS_TRIAL == 0 ? barrier->spins_max : limit;
    while (spins < limit && spin(&spins)) {
        if (atomic_load_explicit(&barrier->generation, memory_order_acquire) != generation) {
            learn(barrier, limit, true);
            return true;
        }
    }
    learn(barrier, limit, false);
    return false;
}

/* Sleeps until the last thread arrives. */
static void sleep_until(struct wf_barrier *barrier, uint32_t generation)
{
    (void)atomic_fetch_add(&barrier->sleeping, 1);
    while (atomic_load(&barrier->generation) == generation) {
        (void)syscall(SYS_futex, &barrier->generation, FUTEX_WAIT_PRIVATE, generation, NULL,
                      NULL, 0);
    }
    (void)atomic_fetch_sub(&barrier->sleeping, 1);
}

void wf_barrier_wait(struct wf_barrier *barrier)
{
    if (barrier->n == 1) {
        return;
    }

    uint32_t generation = atomic_load_explicit(&barrier->generation, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 ==
        barrier->n) {
        atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
        /* Both sequentially consistent: either this thread sees a sleeper, or the sleeper sees
         * the generation. */
        atomic_store(&barrier->generation, generation + 1);
        if (atomic_load(&barrier->sleeping) > 0) {
            (void)syscall(SYS_futex, &barrier->generation, FUTEX_WAKE_PRIVATE, INT_MAX, NULL,
                          NULL, 0);
        }
        return;
    }
    if (!spin_until(barrier, generation)) {
        sleep_until(barrier, generation);
    }
}
