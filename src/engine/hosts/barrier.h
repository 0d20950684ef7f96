/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A barrier for the threads of one process. A waiting thread spins for a moment, then yields,
 * then sleeps until the last one arrives. With fewer cores than threads it sleeps at once, so
 * that the threads it waits for get a core; and where other programs use the cores it sleeps soon.
 *
 * That they do is measured by the time of the processor: threads that execute or spin have all of the wall
 * time, unless something else has their cores. How long a wait took cannot tell, since a thread that was
 * woken is late by itself: threads that began to sleep would sleep at each window from then on. */

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
    uint32_t spins_max; /* before a thread sleeps */
    /* What the thread that arrives last measures, from time to time. */
    struct wf_barrier_measure {
        double wall, cpu; /* when it began */
        double rested;    /* wall time in which all but one slept on purpose */
        int64_t
            pause_ns; /* the last one, until it was asked again whether the cores are free */
    } measure;
    _Atomic double rest_begun;
    _Atomic int64_t shared_until; /* by the coarse clock; 0: the cores are ours */
};

void wf_barrier_init(struct wf_barrier *barrier, uint32_t n, size_t cores);
void wf_barrier_wait(struct wf_barrier *barrier);
/* The same for threads that wait for another one's work: they sleep at once. */
void wf_barrier_rest(struct wf_barrier *barrier);
/* Whether other programs use the cores of these threads. */
bool wf_barrier_is_shared(const struct wf_barrier *barrier);

/* One step of a loop that waits. *spins is 0 at first and counts the steps. */
void wf_relax(uint32_t *spins);
