/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/ticks.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

int wf_vrank_ticks_signal(void)
{
    return SIGRTMAX - 3; /* see wf_vrank_crash_watch() */
}

/* Timers of processor time are exact to a tick of the system, 4 ms or more; shorter periods are of wall time. */
enum { SYSTEM_TICK_US = 4000, TIMERS_MAX = 2048 };

/* Of all threads, which may have ended since. */
static struct {
    timer_t timer;
    bool there;
} made[TIMERS_MAX];
static _Atomic uint32_t n_made;
static _Atomic uint32_t n_programs = 1;

static _Thread_local struct {
    uint32_t program; /* for which the timers were made */
    bool there;
    timer_t processor, wall;
    uint32_t period_us, wall_us; /* of each; 0: it does not run */
} mine;

static bool create(clockid_t clock, timer_t *timer)
{
    struct sigevent event;

    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = wf_vrank_ticks_signal();
    event.sigev_notify_thread_id = gettid();
    uint32_t i = atomic_fetch_add(&n_made, 1);
    if (i >= TIMERS_MAX || timer_create(clock, &event, timer) != 0) {
        return false;
    }
    made[i].timer = *timer;
    made[i].there = true;
    return true;
}

static void start(timer_t timer, uint32_t period_us, bool again)
{
    const struct timespec period = {.tv_sec = (time_t)(period_us / 1000000),
                                    .tv_nsec = (long)(period_us % 1000000) * 1000};
    const struct itimerspec setting = {.it_interval = again ? period : (struct timespec){0},
                                       .it_value = period};

    (void)timer_settime(timer, 0, &setting, NULL);
}

void wf_vrank_ticks_set(uint32_t period_us)
{
    uint32_t program = atomic_load_explicit(&n_programs, memory_order_relaxed);

    if (mine.program != program) {
        memset(&mine, 0, sizeof(mine));
        mine.program = program;
        mine.there = create(CLOCK_THREAD_CPUTIME_ID, &mine.processor) &&
                     create(CLOCK_MONOTONIC, &mine.wall);
    }
    uint32_t lasting = period_us > SYSTEM_TICK_US ? period_us : SYSTEM_TICK_US;
    if (mine.there && mine.period_us != lasting) {
        mine.period_us = lasting;
        start(mine.processor, lasting, true);
    }
    mine.wall_us = mine.there && period_us < SYSTEM_TICK_US ? period_us : 0;
    if (mine.wall_us > 0) {
        start(mine.wall, period_us, false);
    }
}

void wf_vrank_ticks_end(void)
{
    for (uint32_t i = 0; i < TIMERS_MAX && i < atomic_load(&n_made); i++) {
        if (made[i].there) {
            (void)timer_delete(made[i].timer);
            made[i].there = false;
        }
    }
    atomic_store(&n_made, 0);
    atomic_fetch_add(&n_programs, 1);
}

void wf_vrank_ticks_passed(void)
{
    mine.wall_us = 2 * mine.wall_us < SYSTEM_TICK_US ? 2 * mine.wall_us : 0;
    if (mine.wall_us > 0) {
        start(mine.wall, mine.wall_us, false);
    }
}
