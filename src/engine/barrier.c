/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/barrier.h"

#include <sched.h>
#include <time.h>

/* Spins for a few microseconds, then yields, then sleeps: with more threads than cores, the
 * thread that the others wait for must get a core. */
enum { SPINS_BEFORE_YIELD = 512, SPINS_BEFORE_SLEEP = 1024, SLEEP_NS = 20000 };

void wf_barrier_init(struct wf_barrier *barrier, uint32_t n)
{
    atomic_init(&barrier->arrived, 0);
    atomic_init(&barrier->turn, 0);
    barrier->n = n;
}

void wf_relax(uint32_t *spins)
{
    if (++*spins < SPINS_BEFORE_YIELD) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        return;
    }
    if (*spins < SPINS_BEFORE_SLEEP) {
        (void)sched_yield();
        return;
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
}

void wf_barrier_wait(struct wf_barrier *barrier)
{
    if (barrier->n == 1) {
        return;
    }

    uint32_t turn = atomic_load_explicit(&barrier->turn, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 ==
        barrier->n) {
        atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&barrier->turn, turn + 1, memory_order_release);
        return;
    }
    uint32_t spins = 0;
    while (atomic_load_explicit(&barrier->turn, memory_order_acquire) == turn) {
        wf_relax(&spins);
    }
}
