/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_SWEEP3D_H
#define WF_GEN_SWEEP3D_H

/*
 * Wavefronts through a grid, as in discrete ordinates transport: the method of Koch, Baker and
 * Alcouffe ("Solution of the first-order form of the 3-D discrete ordinates equation on a
 * massively parallel processor", 1992), known from the benchmark Sweep3D.
 *
 * The ranks form a 2D grid, each with a column of cells. In each iteration eight sweeps start
 * one after the other at the corners of the grid, two at each of its four corners (upwards and
 * downwards). A sweep goes through `angle_blocks` * `k_blocks` blocks: for each a rank receives
 * what flows in from the neighbours towards the corner, computes, and sends on what flows out
 * to the two others. Ranks at the border have fewer neighbours. Messages carry the number of
 * their dimension as tag.
 */

#include "gen/gen.h"

struct wf_sweep3d_params {
    char *size; /* "8x4"; null or empty: as square as possible */
    uint64_t bytes;
    uint64_t k_blocks, angle_blocks;
    uint64_t iterations;
    int64_t compute;
    bool allreduce;
};

#endif
