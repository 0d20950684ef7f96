/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A solver that works along lines of each dimension in turn, after the benchmark BT of the
 * NAS Parallel Benchmarks and its multi-partition of the grid (Bailey et al., NAS report
 * RNR-94-007; Naik, IBM Systems Journal 34, 1995).
 *
 * The ranks form a periodic 2D grid, and q is the longer of its sides. Each rank has q cells
 * of (n / q)^3 points. The cells are placed such that, when all ranks go through their cells
 * in the order of a dimension, every rank is always busy and always sends to the same
 * neighbour: along x and y to the next rank in a row or column, along z to the next on a
 * diagonal. The benchmark itself runs on square numbers of ranks; here any grid is allowed.
 *
 * In each iteration a rank exchanges two layers of five numbers per point with its six
 * neighbours and computes. Then, for each of the three dimensions, it goes through q cells
 * forwards and q cells backwards; it computes and sends 30 numbers forwards and 5 numbers
 * backwards for each point of a face. The computing time is spread evenly over these seven
 * parts and over the cells of a part. If a side of the grid is 1, the neighbour is the rank
 * itself, and nothing is sent.
 */

#include "program/gen/gen.h"
#include "program/gen/grid.h"
#include "program/gen/make.h"
#include "program/gen/vary.h"

#include <assert.h>
#include <string.h>

struct params {
    char *size; /* "8x4"; null or empty: as square as possible */
    uint64_t n;
    uint64_t iterations;
    int64_t compute;
};

enum { N_DIMS = 3, N_DIRECTIONS = 2 * N_DIMS, NUMBER_BYTES = 8 };
enum { FACE_NUMBERS = 10, FORWARD_NUMBERS = 30, BACKWARD_NUMBERS = 5 };

/* The parts of an iteration: the faces, then each dimension up and down. */
enum { FACES, N_PARTS = 1 + N_DIRECTIONS };

/* The steps of a cell. */
enum { RECEIVE, SEND, WAIT, COMPUTE, N_STEPS };

struct bt {
    struct wf_source source;
    uint32_t size[2];
    uint32_t n_cells;
    uint32_t n_iterations;
    uint64_t face_bytes, forward_bytes, backward_bytes;
    int64_t compute; /* in one part */
};

/* The contents of the cursor. */
struct position {
    uint32_t iteration;
    uint32_t part;
    uint32_t cell;
    uint32_t step; /* step of the cell, or of the faces */
};

WF_GEN_IS_CURSOR(struct position);

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, n, COUNT, .def = "102", .min = "1", .max = "1000000",
                 .doc = "Points in each of the three dimensions"),
    WF_PARAM_ROW(struct params, iterations, COUNT, .def = "3", .max = "4000000000",
                 .doc = "Number of time steps"),
    WF_PARAM_ROW(struct params, compute, TIME, .def = "10ms",
                 .doc = "Compute time of a time step"),
    WF_PARAM_ROW(struct params, size, TEXT, .def = "",
                 .doc = "The grid of ranks, as in 8x8; by default as square as possible"),
    WF_PARAM_END,
};

static uint32_t around(uint32_t x, uint32_t size, bool up)
{
    if (up) {
        return x + 1 == size ? 0 : x + 1;
    }
    return x == 0 ? size - 1 : x - 1;
}

static uint32_t neighbor(const struct bt *bt, uint32_t rank, uint32_t direction)
{
    uint32_t nx = bt->size[0], ny = bt->size[1];
    uint32_t x = rank % nx, y = rank / nx;
    bool up = direction % 2 == 0;

    if (direction / 2 != 1) {
        x = around(x, nx, up);
    }
    if (direction / 2 != 0) {
        y = around(y, ny, up);
    }
    return y * nx + x;
}

static void count_messages(struct bt *bt)
{
    uint64_t n = 0;

    for (uint32_t direction = 0; direction < N_DIRECTIONS; direction++) {
        n += neighbor(bt, 0, direction) != 0 ? bt->n_cells : 0; /* all ranks are alike */
    }
    bt->source.messages_expected = wf_gen_expected(n * bt->source.n_ranks, bt->n_iterations);
}

static enum wf_status bt_create(const void *params, uint32_t n_ranks, struct wf_source **out,
                                struct wf_err *err)
{
    const struct params *given = params;
    uint32_t size[2] = {1, 1};
    WF_TRY(wf_gen_check_computing(wf_gen_bt_ops.name, given->compute, given->iterations, err));
    WF_TRY(wf_gen_grid_read(wf_gen_bt_ops.name, given->size, n_ranks, 2, size, err));
    struct bt *bt = wf_gen_new(sizeof(*bt), &wf_gen_bt_ops, n_ranks, out);
    uint32_t q = size[0] > size[1] ? size[0] : size[1];
    uint64_t side = wf_gen_times_over(given->n, 1, q);

    memcpy(bt->size, size, sizeof(size));
    bt->n_cells = q;
    bt->n_iterations = (uint32_t)given->iterations;
    bt->face_bytes = wf_times_u64(side * side * FACE_NUMBERS * NUMBER_BYTES, q);
    bt->forward_bytes = side * side * FORWARD_NUMBERS * NUMBER_BYTES;
    bt->backward_bytes = side * side * BACKWARD_NUMBERS * NUMBER_BYTES;
    bt->compute = given->compute / N_PARTS;
    count_messages(bt);
    return WF_OK;
}

/* Sets the op of a step of the faces; false if the neighbour is the rank itself. */
static bool make_face(const struct bt *bt, uint32_t rank, uint32_t step, struct wf_op *op)
{
    if (step == 2 * N_DIRECTIONS) {
        wf_gen_make_waitall(op, 2 * N_DIRECTIONS);
        return true;
    }
    if (step > 2 * N_DIRECTIONS) {
        wf_gen_make_compute(op, bt->compute);
        return true;
    }
    uint32_t direction = step % N_DIRECTIONS;
    uint32_t peer = neighbor(bt, rank, direction);
    if (step < N_DIRECTIONS) {
        /* A message from above was sent downwards. */
        wf_gen_make_irecv(op, peer, (int32_t)(direction ^ 1U), bt->face_bytes, step);
    } else {
        wf_gen_make_isend(op, peer, (int32_t)direction, bt->face_bytes, step);
    }
    return peer != rank;
}

/* Sets the op of a step of a cell in this direction; false if there is none. Nothing arrives
 * before the first cell. */
static bool make_cell(const struct bt *bt, uint32_t rank, const struct position *at,
                      struct wf_op *op)
{
    uint32_t direction = at->part - 1;
    uint32_t to = neighbor(bt, rank, direction);
    uint64_t bytes = direction % 2 == 0 ? bt->forward_bytes : bt->backward_bytes;
    int32_t tag = (int32_t)(N_DIRECTIONS + direction);

    if (at->step == COMPUTE) {
        wf_gen_make_compute(op, bt->compute / bt->n_cells);
        return true;
    }
    if (at->step == RECEIVE) {
        wf_gen_make_irecv(op, neighbor(bt, rank, direction ^ 1U), tag, bytes, 0);
    } else if (at->step == SEND) {
        wf_gen_make_isend(op, to, tag, bytes, 1);
    } else {
        wf_gen_make_waitall(op, 2);
    }
    return at->cell > 0 && to != rank;
}

static void move_on(const struct bt *bt, struct position *at)
{
    uint32_t n_steps = at->part == FACES ? 2 * N_DIRECTIONS + 2 : N_STEPS;
    uint32_t n_cells = at->part == FACES ? 1 : bt->n_cells;

    if (++at->step < n_steps) {
        return;
    }
    at->step = 0;
    if (++at->cell < n_cells) {
        return;
    }
    at->cell = 0;
    at->part = (at->part + 1) % N_PARTS;
    at->iteration += at->part == 0;
}

static bool bt_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                    struct wf_op *op)
{
    const struct bt *bt = (const struct bt *)source;
    struct position at;
    bool made;

    assert(source->ops == &wf_gen_bt_ops && rank < source->n_ranks);
    memcpy(&at, cursor->word, sizeof(at));
    if (at.iteration == bt->n_iterations) {
        return false;
    }
    /* Every part ends with computing, so this loop stays within the iteration. */
    do {
        made =
            at.part == FACES ? make_face(bt, rank, at.step, op) : make_cell(bt, rank, &at, op);
        move_on(bt, &at);
    } while (!made);
    memcpy(cursor->word, &at, sizeof(at));
    return true;
}

WF_GENERATOR_OPS(bt, "line solver: faces, then passes along each dimension of a periodic grid");
