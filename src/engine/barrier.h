/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A barrier for the threads of one process. A waiting thread spins for a moment, then yields,
 * then sleeps, so that the thread it waits for gets a core. */

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

/* One step of a loop that waits. *spins is 0 at first and counts the steps. */
void wf_relax(uint32_t *spins);
