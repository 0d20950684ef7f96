/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/ticks.h"

#include <signal.h>
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
enum { SYSTEM_TICK_US = 4000 };

static _Thread_local struct {
    bool begun, there;
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
    return timer_create(clock, &event, timer) == 0;
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
    if (!mine.begun) {
        mine.begun = true;
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

void wf_vrank_ticks_passed(void)
{
    mine.wall_us = 2 * mine.wall_us < SYSTEM_TICK_US ? 2 * mine.wall_us : 0;
    if (mine.wall_us > 0) {
        start(mine.wall, mine.wall_us, false);
    }
}
