/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Shortest paths in a twisted box by the seams that they pass.
 *
 * Cut the box open at all seams. A path is then a walk inside the box, interrupted by passages
 * of seams; the sequence of those, each a dimension and a direction, is the path's word. The
 * letter i+ takes the coordinate of dimension i from its last place to its first, for one hop,
 * and shifts that of the target of i at no cost, wherever it is. For a given word each
 * dimension is independent of the others: it needs some steps to be at the right place when its
 * own letters come, and uses the shifts as they come. The distance is therefore
 *
 *     minimum over words w of the sum over dimensions k of cost(k, w, from[k], to[k])
 *
 * and each cost is a row of a small table. What remains is to know which words can be the best.
 *
 * Order words by length, then by letters, and call a word needed if it is the first of the
 * best ones for some pair of nodes. Each piece of a needed word is itself needed: by an earlier
 * word at the same cost or less, from where the piece begins to where it ends, one could
 * replace it and get an earlier whole. So all needed words are found by appending letters to
 * words that are, as long as the result's tail is one too, until there is nothing to append.
 *
 * A word is certainly not needed if there is, for each pair, an earlier one that costs no
 * more. To see that without visiting all pairs, they are sorted into cells by the region of
 * each of their coordinates: if the differences of cost between two words, at most in each
 * dimension, add up to 0 or less, then one word beats the other in the whole cell. Each cell
 * keeps the words that it cannot dispense with, and a query looks at those of its cell only.
 */

#include "topo/twist.h"

struct wf_topo_seams;

/* Null if it would take too many words, too much memory or too much time. */
struct wf_topo_seams *wf_topo_seams_create(const struct wf_topo_twist_shape *shape);
void wf_topo_seams_free(struct wf_topo_seams *seams);

/* The exact distance between places given by their coordinates. */
uint32_t wf_topo_seams_distance(const struct wf_topo_seams *seams, const uint32_t *from,
                                const uint32_t *to);
