/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/interrupt.h"

#include "base/status.h"
#include "base/temp.h"

#include <unistd.h>

/* The only variable that the signal handler uses. */
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    if (interrupted) {
        wf_temp_clean(); /* NOLINT(bugprone-signal-handler,cert-sig30-c): made for this */
        _exit(wf_status_exit_code(WF_EINTR));
    }
    interrupted = 1;
}

const volatile sig_atomic_t *wf_interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    return &interrupted;
}
