/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Places in the source of a program. */

#include <stddef.h>
#include <stdint.h>

enum { WF_SIM_PLACE_MAX = 256 };

/* Empty strings where something is not known. */
struct wf_sim_place {
    char function[WF_SIM_PLACE_MAX];
    char source[WF_SIM_PLACE_MAX]; /* file:line */
};

/* Finds `n` instructions of a program by their places in its file, of which 0 is unknown. Runs
 * addr2line, once for 64 instructions; without it nothing is known. Source lines are known of
 * programs that were built with -g. Does not fork(): a thread that has crashed may hold
 * locks. */
void wf_sim_places(const char *program, const uint64_t *instructions, size_t n,
                   struct wf_sim_place *out);
