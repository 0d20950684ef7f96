/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * weft run --labels: each line that a rank writes to the standard output begins with the rank.
 * A line appears when it is complete, so that lines of different ranks never mix; an incomplete
 * line appears when its rank ends. There is one such object at a time, because it replaces
 * stdout.
 */

#include <stdbool.h>
#include <stdint.h>

struct wf_vrank_labels;

/* Replaces stdout. Called before the program is loaded. who(), called in the thread that
 * writes, returns false if no rank is running there. */
struct wf_vrank_labels *wf_vrank_labels_new(uint32_t n_ranks, bool (*who)(uint32_t *rank));
/* Writes incomplete lines and restores stdout. Null is allowed. */
void wf_vrank_labels_free(struct wf_vrank_labels *labels);

/* The rank has ended: writes its incomplete line. Null is allowed. */
void wf_vrank_labels_ended(struct wf_vrank_labels *labels, uint32_t rank);

/* This process is a child that a rank has created: its lines get no labels. Null is allowed. */
void wf_vrank_labels_in_child(struct wf_vrank_labels *labels);
