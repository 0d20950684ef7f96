/* SPDX-License-Identifier: Apache-2.0 */
#include "base/guard.h"
#include "run/program/program.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* Of the process whose runs take turns; a child of fork() has its own. */
static struct {
    pthread_mutex_t lock;
    pid_t taken; /* by this process; 0: by nobody */
} turn = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool take(void)
{
    (void)pthread_mutex_lock(&turn.lock);
    bool is_free = turn.taken != getpid();
    if (is_free) {
        turn.taken = getpid();
    }
    (void)pthread_mutex_unlock(&turn.lock);
    return is_free;
}

enum wf_status wf_program_take_turn(const volatile sig_atomic_t *stop, struct wf_err *err)
{
    const struct timespec pause = {.tv_nsec = 10000000};

    wf_guard_disarm();
    while (!take()) {
        if (wf_guard_is_nested()) {
            return wf_err_set(err, WF_EUSAGE,
                              "a program runs already: another one cannot run within the call "
                              "that runs it");
        }
        if (stop != NULL && *stop != 0) {
            return wf_err_set(err, WF_EINTR, "interrupted while another program ran");
        }
        (void)nanosleep(&pause, NULL);
    }
    return WF_OK;
}

void wf_program_end_turn(void)
{
    (void)pthread_mutex_lock(&turn.lock);
    turn.taken = 0;
    (void)pthread_mutex_unlock(&turn.lock);
}
