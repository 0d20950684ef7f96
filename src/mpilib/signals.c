/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that say what a rank has written to for the first time, or that it has crashed, are
 * the simulator's. Programs, and the run-time library of Fortran in their name, may believe
 * that they have set a handler for them. */
#include "mpilib/library.h"

#include <signal.h>

typedef void handler(int);

handler *__wrap_signal(int number, handler *function);
int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *old);

static bool is_simulators(int number)
{
    return wl.port != NULL && (number == SIGSEGV || number == SIGBUS || number == SIGFPE ||
                               number == SIGILL || number == SIGABRT);
}

handler *__wrap_signal(int number, handler *function)
{
    return is_simulators(number) ? SIG_DFL : signal(number, function);
}

int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    if (!is_simulators(number)) {
        return sigaction(number, action, old);
    }
    if (old != NULL) {
        *old = (struct sigaction){.sa_handler = SIG_DFL};
    }
    return 0;
}
