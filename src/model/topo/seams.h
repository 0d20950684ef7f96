/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Shortest paths in a twisted box by the seams that they pass.
 *
 * Cut the box open at all seams. A path is then a walk inside the box, interrupted by passages
 * of seams. The word of a path is the sequence of its passages; each letter is a dimension and
 * a direction. The letter i+ takes the coordinate of dimension i from its last value to its
 * first, for one hop, and shifts the coordinate of the target of i at no cost, whatever its
 * value. For a given word the dimensions are independent of each other: each needs some steps
 * to be at its end when its own letters come, and uses the shifts as they come. The distance is
 *
 *     minimum over words w of the sum over dimensions k of cost(k, w, from[k], to[k])
 *
 * and each cost is an entry of a small table. It remains to find the words that can be best.
 *
 * Order words by length, then by letters. Call a word needed if it is the first of the best
 * words for some pair of nodes. Every part of a needed word is itself needed: otherwise an
 * earlier word with the same ends and no higher cost could replace the part, which would give
 * an earlier whole word. So all needed words are found by appending letters to needed words,
 * as long as the result without its first letter is also needed, until none can be appended.
 *
 * A word is certainly not needed if for each pair some earlier word costs no more. To check
 * this without visiting all pairs, pairs are sorted into cells by the region of each of their
 * coordinates. Take the largest difference in cost between two words in each dimension: if
 * these add up to 0 or less, one word beats the other in the whole cell. Each cell keeps the
 * words that no other word beats, and a query looks only at the words of its cell.
 */

#include "model/topo/twist.h"

struct wf_topo_seams;

/* Returns null if the tables would take too many words, too much memory or too much time. */
struct wf_topo_seams *wf_topo_seams_create(const struct wf_topo_twist_shape *shape);
void wf_topo_seams_free(struct wf_topo_seams *seams);

/* The exact distance between places given by their coordinates. */
uint32_t wf_topo_seams_distance(const struct wf_topo_seams *seams, const uint32_t *from,
                                const uint32_t *to);
