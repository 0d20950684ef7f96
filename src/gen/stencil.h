/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_STENCIL_H
#define WF_GEN_STENCIL_H

/*
 * Halo exchanges in two, three and four dimensions, the skeleton of most grid codes.
 *
 * The ranks form a grid, periodic or not, as cubic as their number allows (gen/grid.h) unless
 * `size` says otherwise, numbered with the first and longest dimension varying fastest. In each
 * iteration a rank posts a receive from each of its neighbours, sends each of them a message,
 * waits for all of it, computes, and, if asked to, takes part in an allreduce.
 *
 * With `points` = faces the neighbours are those that differ by a step in one dimension (a
 * stencil of 5, 7 or 9 points), in the order +x -x +y -y ...; with `all`, those that differ in
 * several dimensions follow (9, 27 or 81 points). A message across a face has `bytes`. These
 * are the cells of a face of a block of equal sides, of `cell` bytes each: with L the largest
 * whole number for which cell * L^(dimensions - 1) is not above `bytes`, a message to a
 * neighbour that differs in k > 1 dimensions has cell * L^(dimensions - k) bytes, a corner a
 * single cell.
 *
 * A message carries the number of its direction as tag: in a periodic dimension of two ranks
 * both neighbours are the same rank, and two messages with different tags go there. In a
 * dimension of one rank the neighbour is the rank itself; a program would copy, and no message
 * is sent. Beyond the border of a grid that is not periodic there is nobody, and nothing is
 * sent either.
 *
 * With `imbalance` s a rank always computes for the same time, which is somewhere between 1 - s
 * and 1 + s times `compute`.
 */

#include "gen/gen.h"

struct wf_stencil_params {
    char *size; /* "4x4x2"; null or empty: as cubic as possible */
    int points; /* enum wf_stencil_points */
    bool periodic;
    uint64_t bytes;
    uint64_t cell;
    uint64_t iterations;
    int64_t compute;
    double imbalance;
    bool allreduce;
    uint64_t allreduce_bytes;
    bool markers;
};

enum wf_stencil_points { WF_STENCIL_FACES, WF_STENCIL_ALL };

#endif
