/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRAFFIC_PATTERN_FILE_H
#define WF_TRAFFIC_PATTERN_FILE_H

/*
 * Files of numbers that say how often what happens: lines of whole numbers, the last of which
 * is a weight, between blanks; what follows a # is a comment.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Destinations of each node with their weights. */
struct wf_matrix;

/* Reads lines `from to weight` for nodes below `n`. Mistakes are WF_EINVAL with the line; the
 * caller owns *out. */
WF_NODISCARD
enum wf_status wf_matrix_read(const char *path, uint32_t n, struct wf_matrix **out,
                              struct wf_err *err);
void wf_matrix_free(struct wf_matrix *matrix); /* null is allowed */

/* The destination that a random number stands for; -1 if the node sends nothing. */
int64_t wf_matrix_choose(const struct wf_matrix *matrix, uint32_t node, uint64_t random);

/* Values with weights, for example sizes. */
struct wf_weights {
    uint64_t *values, *up_to; /* up_to[i]: the sum of the first i + 1 weights */
    size_t n;
};

/* Reads lines `value weight`. Likewise. */
WF_NODISCARD
enum wf_status wf_weights_read(const char *path, struct wf_weights *out, struct wf_err *err);
void wf_weights_free(struct wf_weights *weights);
uint64_t wf_weights_choose(const struct wf_weights *weights, uint64_t random);
double wf_weights_mean(const struct wf_weights *weights);

#endif
