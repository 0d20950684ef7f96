/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Fourier transform in three dimensions by pencils, as in the library P3DFFT (Pekurovsky,
 * SIAM J. Sci. Comput. 34, 2012). The ranks form a 2D grid. Each rank has a part of n * n *
 * n complex numbers that is complete in one dimension. In each iteration it transforms along
 * that dimension, exchanges with its row of the grid so that the next dimension is complete,
 * transforms along that, exchanges with its column, and transforms along the last dimension.
 *
 * An exchange is an alltoall of equal blocks, rounded up to whole complex numbers. It is on
 * communicator 1 (a row, which consists of consecutive ranks) or 2 (a column). Transposing back
 * is not simulated: for a program that works on the transform and goes back, use twice as many
 * iterations.
 */
#include "program/gen/gen.h"
#include "program/gen/grid.h"
#include "program/gen/make.h"
#include "program/gen/vary.h"

#include <assert.h>

struct params {
    char *size; /* "8x4"; null or empty: as square as possible */
    uint64_t n;
    uint64_t iterations;
    int64_t compute;
};

enum { COMPLEX_BYTES = 16 };

/* The steps of an iteration; communicators are numbered as the exchanges. */
enum { ALONG_X, ROW, ALONG_Y, COLUMN, ALONG_Z, N_STEPS };
enum { COMM_ROW = 1, COMM_COLUMN = 2 };

struct fft {
    struct wf_source source;
    uint32_t size[2];
    uint64_t bytes[2]; /* length of a block, in rows and in columns */
    struct params given;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, n, COUNT, .def = "256", .min = "1", .max = "1000000",
                 .doc = "Points in each of the three dimensions"),
    WF_PARAM_ROW(struct params, iterations, COUNT, .def = "1", .doc = "Number of transforms"),
    WF_PARAM_ROW(struct params, compute, TIME, .def = "1ms",
                 .doc = "Compute time of one dimension"),
    WF_PARAM_ROW(struct params, size, TEXT, .def = "",
                 .doc = "The grid of ranks, as in 8x4; by default as square as possible"),
    WF_PARAM_END,
};

static enum wf_status fft_create(const void *params, uint32_t n_ranks, struct wf_source **out,
                                 struct wf_err *err)
{
    const struct params *given = params;
    uint64_t points = given->n * given->n * given->n;
    uint32_t size[2] = {1, 1};
    WF_TRY(wf_gen_check_computing(wf_gen_fft_ops.name, given->compute,
                                  wf_times_u64(given->iterations, 3), err));
    WF_TRY(wf_gen_grid_read(wf_gen_fft_ops.name, given->size, n_ranks, 2, size, err));
    struct fft *fft = wf_gen_new(sizeof(*fft), &wf_gen_fft_ops, n_ranks, out);
    fft->given = *given;
    for (uint32_t d = 0; d < 2; d++) {
        fft->size[d] = size[d];
        fft->bytes[d] =
            COMPLEX_BYTES * wf_gen_times_over(points, 1, wf_times_u64(n_ranks, size[d]));
    }
    fft->source.messages_expected = wf_gen_expected(
        (uint64_t)n_ranks * ((uint64_t)size[0] + size[1] - 2), given->iterations);
    return WF_OK;
}

static bool fft_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                     struct wf_op *op)
{
    const struct fft *fft = (const struct fft *)source;
    uint64_t step = cursor->word[1];

    assert(source->ops == &wf_gen_fft_ops && rank < source->n_ranks);
    if (cursor->word[0] == fft->given.iterations) {
        return false;
    }
    if (step == ROW || step == COLUMN) {
        wf_gen_make_collective(op, WF_OP_ALLTOALL, fft->bytes[step == ROW ? 0 : 1]);
        op->comm = step == ROW ? COMM_ROW : COMM_COLUMN;
    } else {
        wf_gen_make_compute(op, fft->given.compute);
    }
    cursor->word[1] = (step + 1) % N_STEPS;
    cursor->word[0] += cursor->word[1] == 0;
    return true;
}

/* Every row has the number 1 and every column the number 2: no rank is in two rows or in two
 * columns. */
static bool fft_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                      struct wf_group *out)
{
    const struct fft *fft = (const struct fft *)source;
    uint32_t x = rank % fft->size[0], y = rank / fft->size[0];

    if (comm == WF_COMM_WORLD) {
        return wf_gen_make_group(out, comm, source->n_ranks, rank, 0, 1);
    }
    if (comm == COMM_ROW) {
        return wf_gen_make_group(out, comm, fft->size[0], x, rank - x, 1);
    }
    return comm == COMM_COLUMN &&
           wf_gen_make_group(out, comm, fft->size[1], y, x, fft->size[0]);
}

WF_GENERATOR_OPS(fft,
                 "3D Fourier transform: all-to-all in the rows and columns of a grid of ranks",
                 .group = fft_group);
