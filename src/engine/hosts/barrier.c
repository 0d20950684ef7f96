/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/hosts/barrier.h"

#include "base/clock.h"
#include "base/guard.h"
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
    atomic_init(&barrier->rest_begun, 0);
    barrier->measure =
        (struct wf_barrier_measure){.wall = wf_clock_wall(), .cpu = wf_clock_cpu()};
    barrier->n = n;
    barrier->spins_max = n <= cores ? WF_TUNE_SPINS_BARRIER : 0;
    atomic_init(&barrier->shared_until, 0);
}

static void spin(uint32_t spins)
{
    if (spins >= WF_TUNE_SPINS_YIELD) {
        (void)sched_yield();
        return;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

void wf_relax(uint32_t *spins)
{
    if (++*spins < WF_TUNE_SPINS_SLEEP) {
        spin(*spins);
    } else {
        wf_guard_check();
        (void)nanosleep(&(struct timespec){.tv_nsec = WF_TUNE_SLEEP_NS}, NULL);
    }
}

bool wf_barrier_is_shared(const struct wf_barrier *barrier)
{
    int64_t until = atomic_load_explicit(&barrier->shared_until, memory_order_relaxed);

    return until > 0 && wf_clock_coarse_ns() < until;
}

/* How long until it is asked again whether the cores are free: that takes a while of spinning which helps
 * nobody, so each time that they are not the pause is twice as long. */
static int64_t pause_after(int64_t pause_ns, bool shared)
{
    const int64_t least = WF_TUNE_SHARED_MS * INT64_C(1000000);
    const int64_t most = WF_TUNE_SHARED_MAX_MS * INT64_C(1000000);

    if (!shared) {
        return 0;
    }
    return pause_ns == 0 ? least : pause_ns < most ? 2 * pause_ns : most;
}

static void measure(struct wf_barrier *barrier)
{
    struct wf_barrier_measure *last = &barrier->measure;
    struct wf_barrier_measure now = {.wall = wf_clock_wall(), .pause_ns = last->pause_ns};
    double wall = now.wall - last->wall;

    if (wall * 1000 < WF_TUNE_SHARED_MEASURE_MS || wf_barrier_is_shared(barrier)) {
        return;
    }
    now.cpu = wf_clock_cpu();
    if (atomic_load(&barrier->shared_until) > 0) {
        /* The threads slept until now: that says nothing about the cores. */
        atomic_store(&barrier->shared_until, 0);
    } else {
        double ours = wall + (wall - last->rested) * (barrier->n - 1);
        bool shared = (now.cpu - last->cpu) * 100 < ours * WF_TUNE_SHARED_BELOW;
        now.pause_ns = pause_after(last->pause_ns, shared);
        if (shared) {
            atomic_store(&barrier->shared_until, wf_clock_coarse_ns() + now.pause_ns);
        }
    }
    *last = now;
}

/* False if the last thread does not arrive soon. */
static bool spin_until(struct wf_barrier *barrier, uint32_t generation)
{
    bool shared = atomic_load_explicit(&barrier->shared_until, memory_order_relaxed) > 0;
    uint32_t limit = shared ? WF_TUNE_SPINS_SHARED : barrier->spins_max;

    for (uint32_t i = 0; i < limit; i++) {
        spin(i);
        if (atomic_load_explicit(&barrier->generation, memory_order_acquire) != generation) {
            return true;
        }
    }
    return false;
}

/* Sleeps until the last thread arrives, or none will. */
static void sleep_until(struct wf_barrier *barrier, uint32_t generation)
{
    const struct timespec look = {.tv_nsec = 100000000};

    (void)atomic_fetch_add(&barrier->sleeping, 1);
    while (atomic_load(&barrier->generation) == generation) {
        (void)syscall(SYS_futex, &barrier->generation, FUTEX_WAIT_PRIVATE, generation, &look,
                      NULL, 0);
        wf_guard_check();
    }
    (void)atomic_fetch_sub(&barrier->sleeping, 1);
}

/* True if this thread arrived last, and the others go on. Otherwise it waits for the end of *generation. */
static bool arrive(struct wf_barrier *barrier, uint32_t *generation)
{
    *generation = atomic_load_explicit(&barrier->generation, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 <
        barrier->n) {
        return false;
    }
    if (atomic_load_explicit(&barrier->rest_begun, memory_order_relaxed) > 0) {
        barrier->measure.rested += wf_clock_wall() - atomic_exchange(&barrier->rest_begun, 0);
    }
    if (barrier->spins_max > 0 && *generation % WF_TUNE_SHARED_MEETINGS == 0) {
        measure(barrier);
    }
    atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
    /* Both sequentially consistent: either this thread sees a sleeper, or the sleeper sees
     * the generation. */
    atomic_store(&barrier->generation, *generation + 1);
    if (atomic_load(&barrier->sleeping) > 0) {
        (void)syscall(SYS_futex, &barrier->generation, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL,
                      0);
    }
    return true;
}

void wf_barrier_wait(struct wf_barrier *barrier)
{
    uint32_t generation;

    if (barrier->n > 1 && !arrive(barrier, &generation) && !spin_until(barrier, generation)) {
        sleep_until(barrier, generation);
    }
}

void wf_barrier_rest(struct wf_barrier *barrier)
{
    uint32_t generation;

    if (barrier->n > 1) {
        atomic_store(&barrier->rest_begun, wf_clock_wall());
        if (!arrive(barrier, &generation)) {
            sleep_until(barrier, generation);
        }
    }
}
