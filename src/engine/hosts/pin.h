/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Moves the calling thread, the `number`th of `n`, to a core of its own once, without binding
 * it. Systems tend to start a thread on the core of its parent, and may leave two threads that
 * wait for each other on one core for seconds. Does nothing if there are too few cores. */
void wf_place_thread(uint32_t number, uint32_t n);

/* Binds the calling thread, the `number`th of `n`, to a core of its own. Does nothing if there
 * are fewer cores than threads, or if the system does not allow it. */
void wf_pin_thread(uint32_t number, uint32_t n);
