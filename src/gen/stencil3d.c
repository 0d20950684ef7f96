/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/stencil3d.h"

#include "base/mem.h"
#include "base/units.h"
#include "gen/grid.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { N_DIRECTIONS = 6, ALLREDUCE_BYTES = 8 };

struct stencil3d {
    struct wf_source source;
    struct wf_stencil3d_params params;
    uint32_t size[3];
    uint32_t stride[3]; /* distance in ranks of one step up */
    uint32_t n_neighbors;
    uint32_t n_steps;                 /* ops in an iteration */
    uint32_t direction[N_DIRECTIONS]; /* of each neighbour: 2 * dimension + (0 up, 1 down) */
};

/* What the cursor's words mean. */
struct position {
    uint32_t iteration;
    uint32_t step;     /* in the iteration */
    uint32_t coord[3]; /* of the rank; not known before its first op */
    uint32_t started;
};

_Static_assert(sizeof(struct position) == sizeof(struct wf_cursor), "a position is a cursor");

static const struct wf_param params_table[] = {
    {.name = "bytes",
     .type = WF_PARAM_SIZE,
     .offset = offsetof(struct wf_stencil3d_params, bytes),
     .def = "128KiB",
     .doc = "Size of the message to each neighbour"},
    {.name = "iterations",
     .type = WF_PARAM_COUNT,
     .offset = offsetof(struct wf_stencil3d_params, iterations),
     .def = "3",
     .min = "0",
     .max = "4000000000",
     .doc = "Number of exchanges"},
    {.name = "compute",
     .type = WF_PARAM_TIME,
     .offset = offsetof(struct wf_stencil3d_params, compute),
     .def = "1ms",
     .doc = "Computing after each exchange"},
    {.name = "allreduce",
     .type = WF_PARAM_BOOL,
     .offset = offsetof(struct wf_stencil3d_params, allreduce),
     .def = "false",
     .doc = "Whether each iteration ends with an allreduce of 8 bytes"},
    WF_PARAM_END,
};

static uint32_t log2_up(uint32_t n)
{
    uint32_t bits = 0;

    while ((UINT64_C(1) << bits) < n) {
        bits++;
    }
    return bits;
}

static uint64_t count_messages(const struct stencil3d *stencil)
{
    uint64_t each = stencil->n_neighbors;

    if (stencil->params.allreduce) {
        each += log2_up(stencil->source.n_ranks);
    }
    uint64_t per_iteration = each * stencil->source.n_ranks;
    if (per_iteration != 0 && stencil->params.iterations > UINT64_MAX / per_iteration) {
        return 0;
    }
    return per_iteration * stencil->params.iterations;
}

static enum wf_status stencil3d_create(const void *params, uint32_t n_ranks,
                                       struct wf_source **out, struct wf_err *err)
{
    const struct wf_stencil3d_params *given = params;
    uint64_t iterations = given->iterations;

    if (given->compute > 0 && iterations > (uint64_t)(WF_TIME_MAX / given->compute)) {
        return wf_err_set(err, WF_ELIMIT,
                          "stencil3d: %llu iterations compute for longer than the 106 days "
                          "that simulated time can hold",
                          (unsigned long long)iterations);
    }

    struct stencil3d *stencil = wf_xcalloc(1, sizeof(*stencil));
    uint32_t stride = 1;

    stencil->source = (struct wf_source){.ops = &wf_stencil3d_ops, .n_ranks = n_ranks};
    stencil->params = *given;
    wf_grid_factor3(n_ranks, stencil->size);
    for (uint32_t d = 0; d < 3; d++) {
        stencil->stride[d] = stride;
        stride *= stencil->size[d];
        if (stencil->size[d] > 1) {
            stencil->direction[stencil->n_neighbors++] = 2 * d;
            stencil->direction[stencil->n_neighbors++] = 2 * d + 1;
        }
    }
    stencil->n_steps = 2 * stencil->n_neighbors + 2 + (given->allreduce ? 1 : 0);
    stencil->source.messages_expected = count_messages(stencil);
    *out = &stencil->source;
    return WF_OK;
}

static void stencil3d_destroy(struct wf_source *source)
{
    free(source);
}

static uint32_t neighbor(const struct stencil3d *stencil, uint32_t rank, const uint32_t *coord,
                         uint32_t direction)
{
    uint32_t dim = direction / 2;
    uint32_t wrap = stencil->stride[dim] * (stencil->size[dim] - 1);

    if (direction % 2 == 0) {
        return coord[dim] + 1 == stencil->size[dim] ? rank - wrap : rank + stencil->stride[dim];
    }
    return coord[dim] == 0 ? rank + wrap : rank - stencil->stride[dim];
}

static void start(const struct stencil3d *stencil, uint32_t rank, struct position *at)
{
    for (uint32_t d = 0; d < 3; d++) {
        at->coord[d] = rank / stencil->stride[d] % stencil->size[d];
    }
    at->started = 1;
}

/* The op of one step of an iteration: receives, sends, wait, compute, allreduce. */
static struct wf_op op_of_step(const struct stencil3d *stencil, uint32_t rank,
                               const struct position *at)
{
    uint32_t n = stencil->n_neighbors;
    struct wf_op op = {.comm = WF_COMM_WORLD, .bytes = stencil->params.bytes};

    if (at->step < 2 * n) {
        bool receives = at->step < n;
        uint32_t direction = stencil->direction[receives ? at->step : at->step - n];
        op.kind = receives ? WF_OP_IRECV : WF_OP_ISEND;
        op.peer = neighbor(stencil, rank, at->coord, direction);
        /* What comes from above was sent downwards. */
        op.tag = (int32_t)(receives ? direction ^ 1U : direction);
        op.request = at->step;
    } else if (at->step == 2 * n) {
        op.kind = WF_OP_WAITALL;
        op.count = 2 * n;
    } else if (at->step == 2 * n + 1) {
        op.kind = WF_OP_COMPUTE;
        op.duration = stencil->params.compute;
    } else {
        op.kind = WF_OP_ALLREDUCE;
        op.bytes = ALLREDUCE_BYTES;
    }
    return op;
}

static bool stencil3d_next(const struct wf_source *source, uint32_t rank,
                           struct wf_cursor *cursor, struct wf_op *op)
{
    const struct stencil3d *stencil = (const struct stencil3d *)source;
    struct position at;

    assert(source->ops == &wf_stencil3d_ops && rank < source->n_ranks);
    memcpy(&at, cursor, sizeof(at));
    if (at.iteration == stencil->params.iterations) {
        return false;
    }
    if (at.started == 0) {
        start(stencil, rank, &at);
    }
    *op = op_of_step(stencil, rank, &at);
    if (++at.step == stencil->n_steps) {
        at.step = 0;
        at.iteration++;
    }
    memcpy(cursor, &at, sizeof(at));
    return true;
}

const struct wf_source_ops wf_stencil3d_ops = {
    .name = "stencil3d",
    .summary = "halo exchange with six neighbours on a periodic 3D grid",
    .params = params_table,
    .params_size = sizeof(struct wf_stencil3d_params),
    .create = stencil3d_create,
    .destroy = stencil3d_destroy,
    .next = stencil3d_next,
};
