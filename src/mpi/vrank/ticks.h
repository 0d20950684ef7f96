/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A signal for this thread of the host each time it has used so much processor time. Short periods are of wall
 * time, since the system does not measure them otherwise, and end by themselves outside of programs. */

#include <stdint.h>

/* The number of the signal. */
int wf_vrank_ticks_signal(void);

/* The period in microseconds from now on. Nothing happens if the system has no such timers. */
void wf_vrank_ticks_set(uint32_t period_us);
/* In the handler of each signal, first: the next one comes later, unless the period is set again. */
void wf_vrank_ticks_passed(void);
/* The program is over: there are no more signals, for no thread. */
void wf_vrank_ticks_end(void);
