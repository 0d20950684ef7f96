/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_PIN_H
#define WF_ENGINE_PIN_H

#include <stdint.h>

/* Binds the calling thread to the `number`th core this process may use, counted around. Does
 * nothing where that is not possible: pinning is a hint. */
void wf_pin_thread(uint32_t number);

#endif
