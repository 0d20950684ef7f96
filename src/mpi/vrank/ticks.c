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

void wf_vrank_ticks_set(uint32_t period_us)
{
    static _Thread_local enum { UNKNOWN, NONE, THERE } state;
    static _Thread_local timer_t timer;
    static _Thread_local uint32_t current;
    struct sigevent event;

    if (state == UNKNOWN) {
        memset(&event, 0, sizeof(event));
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = wf_vrank_ticks_signal();
        event.sigev_notify_thread_id = gettid();
        state = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0 ? THERE : NONE;
    }
    if (state == THERE && current != period_us) {
        const struct timespec period = {.tv_sec = (time_t)(period_us / 1000000),
                                        .tv_nsec = (long)(period_us % 1000000) * 1000};
        const struct itimerspec setting = {.it_interval = period, .it_value = period};
        current = period_us;
        (void)timer_settime(timer, 0, &setting, NULL);
    }
}
