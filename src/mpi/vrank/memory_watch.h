/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How much memory the ranks of a program will use is not known before they run. This watches
 * the memory of the host, so that a run that uses too much ends with a message. */

#include <stdbool.h>
#include <stdint.h>

struct wf_vrank_memory {
    uint64_t left, all; /* bytes of the host */
};

/* Counts `steps` of this thread, and reads the memory that is left once in many steps. Returns
 * true and sets *memory if it is short. */
bool wf_vrank_memory_short(uint32_t steps, struct wf_vrank_memory *memory);
