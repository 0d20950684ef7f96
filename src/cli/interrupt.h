/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>

/* From now on the first SIGINT or SIGTERM only sets the flag that is returned. A second signal
 * ends the process at once. */
const volatile sig_atomic_t *wf_interrupt_watch(void);
