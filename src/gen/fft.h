/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_FFT_H
#define WF_GEN_FFT_H

/*
 * A Fourier transform in three dimensions by pencils (as of the library P3DFFT: Pekurovsky,
 * SIAM J. Sci. Comput. 34, 2012). The ranks form a 2D grid, each with the whole of one
 * dimension of its part of n * n * n complex numbers. In each iteration it transforms along
 * that dimension, exchanges with its row of the grid so that it has the next dimension whole,
 * transforms along that, exchanges with its column, and transforms along the last.
 *
 * An exchange is an alltoall of equal blocks, rounded up to a number, on communicator 1 (the
 * ranks that follow each other in a row) or 2 (a column). Transposing back is not simulated:
 * programs that work on the transform and go back do twice as many iterations.
 */

#include "gen/gen.h"

struct wf_fft_params {
    char *size; /* "8x4"; null or empty: as square as possible */
    uint64_t n;
    uint64_t iterations;
    int64_t compute;
};

#endif
