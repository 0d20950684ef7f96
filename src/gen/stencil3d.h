/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_STENCIL3D_H
#define WF_GEN_STENCIL3D_H

/*
 * A halo exchange in three dimensions, the skeleton of most grid codes.
 *
 * The ranks form a periodic grid, as cubic as their number allows (gen/grid.h), numbered with
 * the first and longest dimension varying fastest. In each iteration a rank posts a receive
 * from each of its neighbours, sends each of them a message, waits for all of it, computes,
 * and, if asked to, takes part in an allreduce of 8 bytes.
 *
 * Neighbours are taken in the order +x -x +y -y +z -z, and a message carries the number of its
 * direction as tag: in a dimension of two ranks both neighbours are the same rank, and two
 * messages with different tags go there. In a dimension of one rank the neighbour is the rank
 * itself; a program would copy, and no message is sent.
 */

#include "trace/source.h"

struct wf_stencil3d_params {
    uint64_t bytes;
    uint64_t iterations;
    int64_t compute;
    bool allreduce;
};

extern const struct wf_source_ops wf_stencil3d_ops;

#endif
