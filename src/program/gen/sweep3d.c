/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wavefronts through a grid, as in discrete ordinates transport: the method of Koch, Baker
 * and Alcouffe ("Solution of the first-order form of the 3-D discrete ordinates equation on
 * a massively parallel processor", 1992), known from the benchmark Sweep3D.
 *
 * The ranks form a 2D grid, each with a column of cells. In each iteration eight sweeps
 * start one after the other at the corners of the grid, two at each of its four corners
 * (upwards and downwards). A sweep goes through `angle_blocks` * `k_blocks` blocks. For each
 * block a rank receives the inflow from its neighbours towards the corner, computes, and
 * sends the outflow to its two other neighbours. Ranks at the border have fewer neighbours.
 * The tag of a message is the number of its dimension.
 */
#include "program/gen/gen.h"
#include "program/gen/grid.h"
#include "program/gen/make.h"
#include "program/gen/vary.h"

#include <assert.h>
#include <string.h>

struct params {
    char *size; /* "8x4"; null or empty: as square as possible */
    uint64_t bytes;
    uint64_t k_blocks, angle_blocks;
    uint64_t iterations;
    int64_t compute;
    bool allreduce;
};

enum { N_OCTANTS = 8, ALLREDUCE_BYTES = 8 };

/* The steps of a block. */
enum { RECEIVE_X, RECEIVE_Y, COMPUTE, SEND_X, SEND_Y, N_STEPS };

struct sweep3d {
    struct wf_source source;
    uint32_t size[2];
    uint32_t n_blocks; /* per octant */
    struct params given;
};

/* The contents of the cursor. */
struct position {
    uint32_t iteration;
    uint32_t octant; /* N_OCTANTS: the allreduce */
    uint32_t block;
    uint32_t step;
};

WF_GEN_IS_CURSOR(struct position);

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, bytes, SIZE, .def = "12KiB",
                 .doc = "Size of a message: what flows out of a block through one face"),
    WF_PARAM_ROW(struct params, k_blocks, COUNT, .def = "10", .min = "1", .max = "65535",
                 .doc = "Number of blocks of planes in a column"),
    WF_PARAM_ROW(struct params, angle_blocks, COUNT, .def = "2", .min = "1", .max = "65535",
                 .doc = "Number of blocks of angles in an octant"),
    WF_PARAM_ROW(struct params, iterations, COUNT, .def = "1", .min = "0", .max = "4000000000",
                 .doc = "Number of sweeps of all eight octants"),
    WF_PARAM_ROW(struct params, compute, TIME, .def = "100us",
                 .doc = "Compute time of each block"),
    WF_PARAM_ROW(struct params, allreduce, BOOL, .def = "false",
                 .doc = "Whether each iteration ends with an allreduce of 8 bytes"),
    WF_PARAM_ROW(struct params, size, TEXT, .def = "",
                 .doc = "The grid of ranks, as in 8x4; by default as square as possible"),
    WF_PARAM_END,
};

static uint64_t count_messages(const struct sweep3d *sweep)
{
    uint64_t x = sweep->size[0], y = sweep->size[1];
    uint64_t per_block = (x - 1) * y + x * (y - 1);
    uint64_t per_iteration = wf_times_u64(per_block, (uint64_t)sweep->n_blocks * N_OCTANTS);

    if (sweep->given.allreduce) {
        per_iteration += wf_gen_log2_up(sweep->source.n_ranks) * x * y;
    }
    return wf_gen_expected(per_iteration, sweep->given.iterations);
}

static enum wf_status sweep3d_create(const void *params, uint32_t n_ranks,
                                     struct wf_source **out, struct wf_err *err)
{
    const struct params *given = params;
    uint64_t n_blocks = given->k_blocks * given->angle_blocks;
    uint32_t size[2] = {1, 1};
    WF_TRY(wf_gen_check_computing(wf_gen_sweep3d_ops.name, given->compute,
                                  wf_times_u64(given->iterations, N_OCTANTS * n_blocks), err));
    WF_TRY(wf_gen_grid_read(wf_gen_sweep3d_ops.name, given->size, n_ranks, 2, size, err));
    struct sweep3d *sweep = wf_gen_new(sizeof(*sweep), &wf_gen_sweep3d_ops, n_ranks, out);
    memcpy(sweep->size, size, sizeof(size));
    sweep->n_blocks = (uint32_t)n_blocks;
    sweep->given = *given;
    sweep->source.messages_expected = count_messages(sweep);
    return WF_OK;
}

/* The neighbour in a dimension, downstream or upstream in the sweep of this octant;
 * WF_PROC_NULL beyond the border. */
static uint32_t neighbor(const struct sweep3d *sweep, uint32_t rank, uint32_t octant,
                         uint32_t dim, bool downstream)
{
    uint32_t stride = dim == 0 ? 1 : sweep->size[0];
    uint32_t coord = rank / stride % sweep->size[dim];
    /* The two octants of a corner follow each other, so that one fills the pipeline for the
     * next. */
    bool sweeps_up = (octant >> (dim + 1) & 1U) == 0;

    if (sweeps_up == downstream) {
        return coord + 1 == sweep->size[dim] ? WF_PROC_NULL : rank + stride;
    }
    return coord == 0 ? WF_PROC_NULL : rank - stride;
}

/* Sets the op of a step of a block; false if there is no neighbour. */
static bool make_step(const struct sweep3d *sweep, uint32_t rank, const struct position *at,
                      struct wf_op *op)
{
    uint32_t dim = at->step == RECEIVE_X || at->step == SEND_X ? 0 : 1;
    uint32_t peer;

    if (at->step == COMPUTE) {
        wf_gen_make_compute(op, sweep->given.compute);
        return true;
    }
    peer = neighbor(sweep, rank, at->octant, dim, at->step > COMPUTE);
    if (at->step < COMPUTE) {
        wf_gen_make_recv(op, peer, (int32_t)dim, sweep->given.bytes);
    } else {
        wf_gen_make_send(op, peer, (int32_t)dim, sweep->given.bytes);
    }
    return peer != WF_PROC_NULL;
}

static void move_on(const struct sweep3d *sweep, struct position *at)
{
    if (at->octant < N_OCTANTS) {
        at->step = (at->step + 1) % N_STEPS;
        at->block += at->step == 0;
        if (at->block < sweep->n_blocks) {
            return;
        }
        at->block = 0;
    }
    at->octant++;
    if (at->octant == N_OCTANTS + (sweep->given.allreduce ? 1 : 0)) {
        at->octant = 0;
        at->iteration++;
    }
}

static bool sweep3d_next(const struct wf_source *source, uint32_t rank,
                         struct wf_cursor *cursor, struct wf_op *op)
{
    const struct sweep3d *sweep = (const struct sweep3d *)source;
    struct position at;
    bool made;

    assert(source->ops == &wf_gen_sweep3d_ops && rank < source->n_ranks);
    memcpy(&at, cursor->word, sizeof(at));
    do {
        if (at.iteration == sweep->given.iterations) {
            return false;
        }
        if (at.octant == N_OCTANTS) {
            wf_gen_make_collective(op, WF_OP_ALLREDUCE, ALLREDUCE_BYTES);
            made = true;
        } else {
            made = make_step(sweep, rank, &at, op);
        }
        move_on(sweep, &at);
    } while (!made);
    memcpy(cursor->word, &at, sizeof(at));
    return true;
}

WF_GENERATOR_OPS(sweep3d, "wavefronts from all corners of a 2D grid of ranks");
