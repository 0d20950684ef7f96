/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Halo exchanges in two, three and four dimensions, the skeleton of most grid codes.
 *
 * The ranks form a grid, periodic or not, as cubic as their number allows (program/gen/grid.h)
 * unless `size` is given. They are numbered with the first and longest dimension varying
 * fastest. In each iteration a rank posts a receive from each of its neighbours, sends each
 * of them a message, waits for all these messages, computes and, if the user asked for it,
 * takes part in an allreduce.
 *
 * With `points` = faces the neighbours are the ranks one step away in one dimension (a
 * stencil of 5, 7 or 9 points), in the order +x -x +y -y ...; with `all`, the ranks one step
 * away in several dimensions follow (9, 27 or 81 points). A message across a face has
 * `bytes` bytes: the cells, of `cell` bytes each, of one face of a block with equal sides.
 * Let L be the largest integer for which cell * L^(dimensions - 1) is not above `bytes`. A
 * message to a neighbour that differs in k > 1 dimensions has cell * L^(dimensions - k)
 * bytes; a corner is a single cell.
 *
 * The tag of a message is the number of its direction. In a periodic dimension of two ranks
 * both neighbours are the same rank, which gets two messages with different tags. In a
 * dimension of one rank the neighbour is the rank itself; a program would copy the data, so
 * no message is sent. No message is sent across the border of a grid that is not periodic.
 *
 * With `imbalance` s a rank always computes for the same time, between 1 - s and 1 + s times
 * `compute`.
 */
#include "base/mem.h"
#include "program/gen/gen.h"
#include "program/gen/grid.h"
#include "program/gen/make.h"
#include "program/gen/vary.h"

#include <assert.h>
#include <string.h>

struct params {
    char *size; /* "4x4x2"; null or empty: as cubic as possible */
    int points; /* POINTS_FACES, ... */
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

enum { POINTS_FACES, POINTS_ALL };

enum { DIMS_MAX = WF_GEN_GRID_DIMS_MAX, NEIGHBORS_MAX = 80, TAIL_MAX = 4 };

struct direction {
    uint64_t bytes;
    /* The dimension, if the direction is along one only; then from the coordinate `edge` one adds
     * `wrap` to the rank, from others `stride`, both modulo 2^32. */
    uint32_t dim, edge, wrap, stride;
    int8_t step[DIMS_MAX];
};

struct stencil {
    struct wf_source source;
    uint32_t n_dims;
    uint32_t n_iterations;
    uint32_t n_steps; /* steps in an iteration */
    uint32_t head;    /* steps before the first receive */
    uint32_t n_neighbors;
    bool simple; /* periodic, with neighbours across faces only */
    bool periodic;
    uint32_t size[DIMS_MAX];
    uint32_t stride[DIMS_MAX]; /* difference of ranks for one step up */
    int64_t compute;
    uint32_t imbalance; /* a share */
    uint64_t allreduce_bytes;
    enum wf_op_kind tail[TAIL_MAX];             /* ops that follow the messages */
    struct direction directions[NEIGHBORS_MAX]; /* the opposite of i is i ^ 1 */
};

/* The contents of the cursor. */
struct position {
    uint32_t iteration;
    uint32_t step;            /* step in the iteration */
    uint32_t coord[DIMS_MAX]; /* coordinates of the rank; unknown before its first op */
};

WF_GEN_IS_CURSOR(struct position);

static const char *const points_names[] = {"faces", "all", NULL};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, bytes, SIZE, .def = "128KiB",
                 .doc = "Size of the message to each neighbour"),
    WF_PARAM_ROW(struct params, iterations, COUNT, .def = "3", .min = "0", .max = "4000000000",
                 .doc = "Number of exchanges"),
    WF_PARAM_ROW(struct params, compute, TIME, .def = "1ms",
                 .doc = "Compute time after each exchange"),
    WF_PARAM_ROW(struct params, allreduce, BOOL, .def = "false",
                 .doc = "Whether each iteration ends with an allreduce"),
    WF_PARAM_ROW(struct params, allreduce_bytes, SIZE, .def = "8",
                 .doc = "Size of the allreduce"),
    WF_PARAM_ROW(struct params, size, TEXT, .def = "",
                 .doc = "The grid of ranks, as in 8x4x4; by default as cubic as possible"),
    WF_PARAM_ROW(struct params, periodic, BOOL, .def = "true",
                 .doc = "Whether the last rank of a row is a neighbour of the first"),
    WF_PARAM_ROW(struct params, points, ENUM, .def = "faces", .choices = points_names,
                 .doc = "Which ranks are neighbours: across faces only, or across edges and "
                        "corners as well"),
    WF_PARAM_ROW(struct params, cell, SIZE, .def = "8", .min = "1",
                 .doc = "Bytes of a cell, from which the sizes of edges and corners follow"),
    WF_PARAM_ROW(
        struct params, imbalance, REAL, .def = "0", .min = "0", .max = "1",
        .doc =
            "How far the compute time of a rank may differ from the average, as a share of it"),
    WF_PARAM_ROW(struct params, markers, BOOL, .def = "false",
                 .doc = "Whether iterations are marked"),
    WF_PARAM_END,
};

/* cell * side^exponent, or any number above `limit` if it is larger than that. */
static uint64_t cells(uint64_t cell, uint64_t side, uint32_t exponent, uint64_t limit)
{
    uint64_t bytes = cell;

    for (uint32_t i = 0; i < exponent && bytes <= limit; i++) {
        bytes = wf_times_u64(bytes, side);
    }
    return bytes;
}

/* The side of the largest block whose face has at most `bytes` bytes. */
static uint64_t side_of(uint32_t n_dims, uint64_t cell, uint64_t bytes)
{
    uint64_t low = 1, high = bytes / cell; /* the side is from low to high, if above 1 */

    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (cells(cell, middle, n_dims - 1, bytes) <= bytes) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Decodes a direction, whose steps are the digits of `code` in base 3; 2 stands for -1.
 * Returns the number of dimensions in which it moves; 0 if it does not move, or if its
 * opposite comes first. */
static uint32_t decode(const struct stencil *stencil, uint32_t code, int8_t *step)
{
    uint32_t n_steps = 0, last = 0;

    memset(step, 0, DIMS_MAX);
    for (uint32_t d = 0; d < DIMS_MAX; d++, code /= 3) {
        last = code % 3 != 0 ? code % 3 : last;
        n_steps += code % 3 != 0;
        step[d] = (int8_t)(code % 3 == 2 ? -1 : (int)(code % 3));
        if (step[d] != 0 && stencil->size[d] == 1) {
            return 0;
        }
    }
    return last == 1 ? n_steps : 0;
}

static void add_pair(struct stencil *stencil, const int8_t *step, uint64_t bytes)
{
    struct direction *up = &stencil->directions[stencil->n_neighbors];
    struct direction *down = up + 1;

    up->bytes = bytes;
    for (uint32_t d = 0; d < stencil->n_dims; d++) {
        up->step[d] = step[d];
        down->step[d] = (int8_t)-step[d];
        up->dim = step[d] != 0 ? d : up->dim;
    }
    down->bytes = bytes;
    down->dim = up->dim;

    uint32_t stride = stencil->stride[up->dim], size = stencil->size[up->dim];
    up->edge = size - 1;
    up->stride = stride;
    up->wrap = (uint32_t)0 - stride * (size - 1);
    down->edge = 0;
    down->stride = (uint32_t)0 - stride;
    down->wrap = stride * (size - 1);
    stencil->n_neighbors += 2;
}

static void find_directions(struct stencil *stencil, const struct params *given)
{
    uint32_t most = given->points == POINTS_ALL ? stencil->n_dims : 1;
    uint64_t side = most > 1 ? side_of(stencil->n_dims, given->cell, given->bytes) : 1;
    int8_t step[DIMS_MAX];

    for (uint32_t k = 1; k <= most; k++) {
        uint64_t bytes = k == 1 ? given->bytes
                                : cells(given->cell, side, stencil->n_dims - k, UINT64_MAX - 1);
        for (uint32_t code = 1; code <= NEIGHBORS_MAX; code++) {
            if (decode(stencil, code, step) == k) {
                add_pair(stencil, step, bytes);
            }
        }
    }
}

static uint64_t messages_of_iteration(const struct stencil *stencil)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < stencil->n_neighbors; i++) {
        uint64_t senders = 1;
        for (uint32_t d = 0; d < stencil->n_dims; d++) {
            bool border = !stencil->periodic && stencil->directions[i].step[d] != 0;
            senders *= stencil->size[d] - (border ? 1 : 0);
        }
        n += senders;
    }
    return n;
}

/* The order of an iteration: [marker], receives, sends, and the tail. */
static void plan_steps(struct stencil *stencil, const struct params *given)
{
    uint32_t n = 0;

    stencil->tail[n++] = WF_OP_WAITALL;
    stencil->tail[n++] = WF_OP_COMPUTE;
    if (given->allreduce) {
        stencil->tail[n++] = WF_OP_ALLREDUCE;
    }
    if (given->markers) {
        stencil->tail[n++] = WF_OP_ITERATION_END;
    }
    stencil->head = given->markers ? 1 : 0;
    stencil->n_steps = stencil->head + 2 * stencil->n_neighbors + n;
}

static enum wf_status stencil_create(const struct wf_source_ops *ops, uint32_t n_dims,
                                     const struct params *given, uint32_t n_ranks,
                                     struct wf_source **out, struct wf_err *err)
{
    uint32_t size[DIMS_MAX] = {1, 1, 1, 1};
    WF_TRY(wf_gen_check_computing(ops->name, given->compute,
                                  given->iterations * (given->imbalance > 0 ? 2 : 1), err));
    WF_TRY(wf_gen_grid_read(ops->name, given->size, n_ranks, n_dims, size, err));

    struct stencil *stencil = wf_xcalloc(1, sizeof(*stencil));
    uint32_t stride = 1;

    stencil->source = (struct wf_source){.ops = ops, .n_ranks = n_ranks};
    stencil->n_dims = n_dims;
    stencil->n_iterations = (uint32_t)given->iterations;
    stencil->periodic = given->periodic;
    stencil->simple = given->periodic && given->points == POINTS_FACES;
    stencil->compute = given->compute;
    stencil->imbalance = wf_gen_share(given->imbalance);
    stencil->allreduce_bytes = given->allreduce_bytes;
    for (uint32_t d = 0; d < DIMS_MAX; d++) {
        stencil->size[d] = size[d];
        stencil->stride[d] = stride;
        stride *= size[d];
    }
    find_directions(stencil, given);
    plan_steps(stencil, given);
    uint64_t reductions = given->allreduce ? wf_gen_log2_up(n_ranks) * (uint64_t)n_ranks : 0;
    stencil->source.messages_expected =
        wf_gen_expected(messages_of_iteration(stencil) + reductions, given->iterations);
    *out = &stencil->source;
    return WF_OK;
}

/* The rank one step along a dimension; WF_PROC_NULL beyond the border. */
static inline uint32_t step_along(const struct stencil *stencil, uint32_t rank, uint32_t coord,
                                  uint32_t dim, bool up)
{
    uint32_t stride = stencil->stride[dim];

    if (coord != (up ? stencil->size[dim] - 1 : 0)) {
        return up ? rank + stride : rank - stride;
    }
    if (!stencil->periodic) {
        return WF_PROC_NULL;
    }
    uint32_t wrap = stride * (stencil->size[dim] - 1);
    return up ? rank - wrap : rank + wrap;
}

static uint32_t neighbor(const struct stencil *stencil, uint32_t rank, const uint32_t *coord,
                         const struct direction *direction)
{
    for (uint32_t d = 0; d < stencil->n_dims && rank != WF_PROC_NULL; d++) {
        if (direction->step[d] != 0) {
            rank = step_along(stencil, rank, coord[d], d, direction->step[d] > 0);
        }
    }
    return rank;
}

/* The receive or send number `i` of an iteration; false if there is no neighbour.
 */
static inline bool make_message(const struct stencil *stencil, uint32_t rank,
                                const uint32_t *coord, uint32_t i, struct wf_op *op)
{
    bool receives = i < stencil->n_neighbors;
    uint32_t number = receives ? i : i - stencil->n_neighbors;
    const struct direction *direction = &stencil->directions[number];
    uint32_t peer;

    if (stencil->simple) {
        peer = rank +
               (coord[direction->dim] == direction->edge ? direction->wrap : direction->stride);
    } else {
        peer = neighbor(stencil, rank, coord, direction);
    }
    if (receives) {
        /* A message from above was sent downwards. */
        wf_gen_make_irecv(op, peer, (int32_t)(number ^ 1U), direction->bytes, i);
    } else {
        wf_gen_make_isend(op, peer, (int32_t)number, direction->bytes, i);
    }
    return peer != WF_PROC_NULL;
}

static void make_other(const struct stencil *stencil, uint32_t rank, enum wf_op_kind kind,
                       struct wf_op *op)
{
    if (kind == WF_OP_WAITALL) {
        wf_gen_make_waitall(op, 2 * stencil->n_neighbors);
    } else if (kind == WF_OP_COMPUTE) {
        int64_t time = stencil->compute;
        if (stencil->imbalance > 0) {
            time = (int64_t)wf_gen_vary((uint64_t)time, stencil->imbalance, 0, rank);
        }
        wf_gen_make_compute(op, time);
    } else if (kind == WF_OP_ALLREDUCE) {
        wf_gen_make_collective(op, kind, stencil->allreduce_bytes);
    } else {
        wf_gen_make_marker(op, kind);
    }
}

/* stencil_next() in general. Not inlined: it would make the common case slower. */
__attribute__((noinline)) static bool any_next(const struct stencil *stencil, uint32_t rank,
                                               struct wf_cursor *cursor, struct wf_op *op)
{
    uint32_t n_messages = 2 * stencil->n_neighbors;
    unsigned char *words = (unsigned char *)cursor->word;
    struct position at;
    bool made = true;

    memcpy(&at, words, sizeof(at));
    if (at.iteration == stencil->n_iterations) {
        return false;
    }
    if (at.iteration == 0 && at.step == 0) {
        for (uint32_t d = 0; d < stencil->n_dims; d++) {
            at.coord[d] = rank / stencil->stride[d] % stencil->size[d];
        }
        memcpy(words + offsetof(struct position, coord), at.coord, sizeof(at.coord));
    }
    do {
        uint32_t i = at.step++ - stencil->head;
        if (i < n_messages) {
            made = make_message(stencil, rank, at.coord, i, op);
        } else {
            bool begins = at.step <= stencil->head;
            enum wf_op_kind kind =
                begins ? WF_OP_ITERATION_BEGIN : stencil->tail[i - n_messages];
            make_other(stencil, rank, kind, op);
            made = true;
        }
    } while (!made);
    if (at.step == stencil->n_steps) {
        at.step = 0;
        at.iteration++;
    }
    memcpy(words + offsetof(struct position, iteration), &at.iteration, sizeof(at.iteration));
    memcpy(words + offsetof(struct position, step), &at.step, sizeof(at.step));
    return true;
}

/* Nearly all ops are messages to and from neighbours across faces of a periodic grid, which needs
 * no more of the position than the step and a coordinate. */
static bool stencil_next(const struct wf_source *source, uint32_t rank,
                         struct wf_cursor *cursor, struct wf_op *op)
{
    const struct stencil *stencil = (const struct stencil *)source;
    unsigned char *words = (unsigned char *)cursor->word;
    uint32_t n = stencil->n_neighbors, step, coord;

    assert(rank < source->n_ranks);
    memcpy(&step, words + offsetof(struct position, step), sizeof(step));
    uint32_t i = step - stencil->head;
    if (!stencil->simple || step == 0 || i >= 2 * n) {
        return any_next(stencil, rank, cursor, op);
    }
    const struct direction *direction = &stencil->directions[i < n ? i : i - n];
    memcpy(&coord, words + offsetof(struct position, coord) + direction->dim * sizeof(uint32_t),
           sizeof(coord));
    uint32_t peer = rank + (coord == direction->edge ? direction->wrap : direction->stride);
    if (i < n) {
        wf_gen_make_irecv(op, peer, (int32_t)(i ^ 1U), direction->bytes, i);
    } else {
        wf_gen_make_isend(op, peer, (int32_t)(i - n), direction->bytes, i);
    }
    step++; /* not the last step: others follow the messages */
    memcpy(words + offsetof(struct position, step), &step, sizeof(step));
    return true;
}

#define STENCIL(id, n_dims, about)                                                    \
    static enum wf_status id##_create(const void *params, uint32_t n_ranks,           \
                                      struct wf_source **out, struct wf_err *err)     \
    {                                                                                 \
        return stencil_create(&wf_gen_##id##_ops, n_dims, params, n_ranks, out, err); \
    }                                                                                 \
    const struct wf_source_ops wf_gen_##id##_ops = {                                  \
        .name = #id,                                                                  \
        .summary = (about),                                                           \
        .params = params_table,                                                       \
        .params_size = sizeof(struct params),                                         \
        .create = id##_create,                                                        \
        .next = stencil_next,                                                         \
    }

STENCIL(stencil2d, 2, "halo exchange on a 2D grid");
STENCIL(stencil3d, 3, "halo exchange on a 3D grid");
STENCIL(stencil4d, 4, "halo exchange on a 4D grid");
