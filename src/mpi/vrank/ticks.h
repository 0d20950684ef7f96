/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A signal for this thread of the host each time it has used so much processor time. */

#include <stdint.h>

/* The number of the signal. */
int wf_vrank_ticks_signal(void);

/* The period in microseconds from now on. Nothing happens if the system has no such timers. */
void wf_vrank_ticks_set(uint32_t period_us);
