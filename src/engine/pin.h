/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_PIN_H
#define WF_ENGINE_PIN_H

#include <stdint.h>

/* Moves the calling thread, the `number`th of `n`, to a core away from the others', and leaves
 * it free to go elsewhere. The system tends to start threads where their parent runs, and may
 * leave two that wait for each other there for seconds. Does nothing if there are too few
 * cores. */
void wf_place_thread(uint32_t number, uint32_t n);

/* Binds the calling thread, the `number`th of `n`, to a core of its own. Does nothing where
 * that is not possible, or where there are fewer cores than threads: pinning is a hint. */
void wf_pin_thread(uint32_t number, uint32_t n);

#endif
