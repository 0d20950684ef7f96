/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_OUTPUT_LABELS_H
#define WF_VRANK_OUTPUT_LABELS_H

/*
 * What ranks write to the standard output, with the rank before each line. A line appears when
 * it is whole, so that lines of different ranks never mix; the rest of a line when its rank
 * ends.
 *
 * The standard output is the process's, so that there is one of this at a time.
 */

#include <stdbool.h>
#include <stdint.h>

struct wf_vrank_labels;

/* Takes the place of stdout, before the program is loaded: what it keeps of stdout is this. In
 * the thread that writes, `who` says whether it is a rank and which one. */
struct wf_vrank_labels *wf_vrank_labels_new(uint32_t n_ranks, bool (*who)(uint32_t *rank));
/* Writes what is left, and gives stdout back. Null is allowed. */
void wf_vrank_labels_free(struct wf_vrank_labels *labels);

/* The rank will write no more. Null is allowed. */
void wf_vrank_labels_ended(struct wf_vrank_labels *labels, uint32_t rank);

#endif
