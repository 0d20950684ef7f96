/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_MEMORY_WATCH_H
#define WF_VRANK_MEMORY_WATCH_H

/*
 * How much memory a program's ranks will take nobody knows before they run. So that a run that
 * takes too much ends with words and not by the system's hand, somebody looks now and then.
 */

#include <stdbool.h>
#include <stdint.h>

struct wf_vrank_memory {
    uint64_t left, all; /* bytes of memory */
};

/* Counts `steps` of this thread, and looks once in a while; true if memory is short. `room` is
 * set then. */
bool wf_vrank_memory_short(uint32_t steps, struct wf_vrank_memory *room);

/* What the system can still give. False if it does not tell. */
bool wf_vrank_memory_read(struct wf_vrank_memory *room);

#endif
