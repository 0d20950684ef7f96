/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_BARRIER_H
#define WF_ENGINE_BARRIER_H

/* Threads of one process wait for each other. Spins for a moment, then yields: a machine that
 * is shared must not be burnt by waiting. */

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

struct wf_barrier {
    alignas(64) _Atomic uint32_t arrived;
    alignas(64) _Atomic uint32_t turn;
    uint32_t n;
};

void wf_barrier_init(struct wf_barrier *barrier, uint32_t n);
void wf_barrier_wait(struct wf_barrier *barrier);

/* One step of a wait loop: `spins` counts from 0. */
void wf_relax(uint32_t *spins);

#endif
