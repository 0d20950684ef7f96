/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Files with weights: lines of whole numbers separated by blanks; the last number is a
 * weight. A # begins a comment.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Destinations of each node with their weights. */
struct wf_traffic_matrix;

/* Reads lines `from to weight` for nodes below `n`. Errors are WF_EINVAL with the line
 * number; the caller owns *out. */
enum wf_status wf_traffic_matrix_read(const char *path, uint32_t n,
                                      struct wf_traffic_matrix **out, struct wf_err *err);
void wf_traffic_matrix_free(struct wf_traffic_matrix *matrix); /* null is allowed */

/* The destination for a random number; -1 if the node sends nothing. */
int64_t wf_traffic_matrix_choose(const struct wf_traffic_matrix *matrix, uint32_t node,
                                 uint64_t random);

/* Values with weights, for example sizes. */
struct wf_traffic_weights {
    uint64_t *values, *up_to; /* up_to[i]: the sum of the first i + 1 weights */
    size_t n;
};

/* Reads lines `value weight`, at least one; all weights may be 0. Errors are WF_EINVAL with
 * the line number; the caller releases *out. */
enum wf_status wf_traffic_weights_read(const char *path, struct wf_traffic_weights *out,
                                       struct wf_err *err);
void wf_traffic_weights_free(struct wf_traffic_weights *weights);
uint64_t wf_traffic_weights_choose(const struct wf_traffic_weights *weights, uint64_t random);
double wf_traffic_weights_mean(const struct wf_traffic_weights *weights);
