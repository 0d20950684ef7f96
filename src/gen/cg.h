/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_CG_H
#define WF_GEN_CG_H

/*
 * The communication of a conjugate gradient solver whose matrix is spread over a 2D grid of
 * ranks, after the benchmark CG of the NAS Parallel Benchmarks (Bailey et al., NAS report
 * RNR-94-007).
 *
 * The grid has a power of two of rows and as many columns or twice as many, and rows are ranks
 * that follow each other. If the number of ranks is no power of two, the first ranks, as many
 * as the next lower one, take part and the others have nothing to do.
 *
 * In each of 25 inner iterations of an iteration a rank multiplies its part of the matrix
 * (computes), adds up the product over its row by as many exchanges as the number of columns
 * has bits, exchanges it with the rank at the transposed place, and takes part in two
 * allreduces of 8 bytes in its row. All messages have n / columns numbers of 8 bytes.
 */

#include "gen/gen.h"

struct wf_cg_params {
    uint64_t n;
    uint64_t iterations;
    int64_t compute;
};

#endif
