/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_BT_H
#define WF_GEN_BT_H

/*
 * A solver that works by lines along each dimension in turn, after the benchmark BT of the NAS
 * Parallel Benchmarks and its multi-partition of the grid (Bailey et al., NAS report
 * RNR-94-007; Naik, IBM Systems Journal 34, 1995).
 *
 * The ranks form a periodic 2D grid, and q is the longer of its sides. Each has q cells of
 * (n / q)^3 points, so placed that when all ranks go through their cells in the order of a
 * dimension, each works all the time and passes on to the same neighbour: along x and y to the
 * next in a row or column, along z to the next on a diagonal. The benchmark itself runs on
 * square numbers of ranks; here any grid will do.
 *
 * In each iteration a rank exchanges two layers of five numbers a point with its six neighbours
 * and computes; then for each of three dimensions goes through q cells forwards and q cells
 * backwards, computing, passing on 30 numbers and, backwards, 5 numbers for each point of a
 * face. Computing is spread evenly over these seven parts and over the cells of a part. Where a
 * side of the grid is 1 the neighbour is the rank itself, and nothing is sent.
 */

#include "gen/gen.h"

struct wf_bt_params {
    char *size; /* "8x4"; null or empty: as square as possible */
    uint64_t n;
    uint64_t iterations;
    int64_t compute;
};

#endif
