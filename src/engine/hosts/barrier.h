/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A barrier for the threads of one process. A waiting thread spins for a moment, then yields,
 * then sleeps until the last one arrives. With fewer cores than threads it sleeps at once, so
 * that the threads it waits for get a core. */

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_barrier {
    alignas(64) _Atomic uint32_t arrived;
    alignas(64) _Atomic uint32_t generation; /* how often all have arrived */
    _Atomic uint32_t sleeping;
    uint32_t n;
    uint32_t spins_max;     /* before a thread sleeps... */
    _Atomic uint32_t spins; /* ...and how many have proved worth it */
};

void wf_barrier_init(struct wf_barrier *barrier, uint32_t n, size_t cores);
void wf_barrier_wait(struct wf_barrier *barrier);

/* One step of a loop that waits. *spins is 0 at first and counts the steps. */
void wf_relax(uint32_t *spins);
