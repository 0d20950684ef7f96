/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LeanMD, molecular dynamics with a cut-off, driven by messages (Mehta, "LeanMD: a Charm++
 * framework for high performance molecular dynamics simulation on large parallel machines",
 * University of Illinois, 2004; Kale et al., "Migratable objects + active messages + adaptive
 * runtime = productivity + performance", 2012). One of the two programs with which TraceR was
 * evaluated (see model/ranks/tasks/pe.h, figure 7 there).
 *
 * Space is a grid of cells that hold atoms, periodic or with open boundaries. For each cell, and
 * for each pair of cells that are at most `kaway` apart in every dimension, there is a compute.
 * Cells near an open boundary have fewer of them. In each step every
 * cell sends its atoms to its computes; a compute with the atoms of both its cells computes the
 * forces between them and sends each cell its part; a cell that has all forces moves its atoms.
 *
 * Cells and computes are spread over the PEs separately, in blocks of consecutive numbers or in
 * turn. Computes are numbered by the first of their cells: with blocks, they are near it.
 *
 * A cell has between 1 - imbalance and 1 + imbalance times `atoms` atoms, which never change
 * cells. A compute takes `pair_time` for each pair of atoms within the cut-off, which is
 * `cutoff` times the extent of `kaway` cells. The share of these pairs is counted for atoms on
 * a lattice of 8x8x8 in each cell. A cell takes `atom_time` to move each of its atoms.
 *
 * The tasks of a PE: one for each of its cells, which sends the first atoms; then, for each
 * step, one for each of its computes and one for each of its cells.
 */
#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"
#include "program/gen/graphs.h"
#include "program/gen/grid.h"
#include "program/gen/vary.h"

#include <assert.h>
#include <stdlib.h>

enum { MAP_BLOCK, MAP_ROUND_ROBIN };

struct params {
    char *cells; /* "8x8x8" */
    uint64_t kaway;
    bool periodic;
    uint64_t atoms;
    double imbalance;
    double cutoff;
    uint64_t steps;
    int64_t pair_time, atom_time;
    uint64_t atom_bytes;
    int map; /* MAP_BLOCK, ... */
};

enum {
    KAWAY_MAX = 3,
    ROLES_MAX = (7 * 7 * 7 - 1) / 2 + 1,
    LATTICE = 8,      /* positions of atoms in a dimension of a cell */
    STREAM = 1280132, /* stream of the numbers of atoms; any number */
    CLASSES_MAX = 7 * 7 * 7,
};

/* With open boundaries: which computes the cells have. A cell's class is how far it is from the
 * boundaries, up to kaway. */
struct edges {
    uint8_t n_own[CLASSES_MAX];   /* computes that are numbered by a cell */
    uint8_t n_other[CLASSES_MAX]; /* computes that it takes part in as their second cell */
    uint8_t own[CLASSES_MAX][ROLES_MAX], other[CLASSES_MAX][ROLES_MAX]; /* their roles */
    uint8_t place[CLASSES_MAX][ROLES_MAX]; /* by role, where it is in `own` */
    uint32_t first[]; /* by cell: the number of its first compute; then the number of all */
};

struct leanmd {
    struct wf_graph graph;
    uint32_t size[3];
    uint32_t n_cells;
    uint32_t n_roles; /* computes of a cell: with itself, and with half of its neighbours */
    struct params given;
    uint32_t imbalance;          /* a share */
    int8_t offset[ROLES_MAX][3]; /* offset of the other cell */
    uint32_t within[ROLES_MAX];  /* share of the pairs of atoms within the cut-off */
    struct edges *edges;         /* null if the grid is periodic */
};

/* A compute: its first cell, and what it is to that cell. */
struct compute {
    uint32_t cell, role;
};

/* What a task does; stored in struct wf_task.own. */
struct job {
    uint32_t chare; /* a cell, or the number of a compute */
    uint32_t step;  /* step of a compute; for a cell, the step of the atoms that it sends */
    bool computes;
};

static const char *const map_names[] = {"block", "round_robin", NULL};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, cells, TEXT, .def = "8x8x8",
                 .doc = "Grid of cells, at least 2 * kaway + 1 in each dimension"),
    WF_PARAM_ROW(struct params, kaway, COUNT, .def = "1", .min = "1", .max = "3",
                 .doc = "How many cells away the other cell of a pair may be"),
    WF_PARAM_ROW(struct params, periodic, BOOL, .def = "true",
                 .doc = "Whether cells at opposite ends of the grid are neighbours"),
    WF_PARAM_ROW(struct params, atoms, COUNT, .def = "100", .min = "0", .max = "1000000",
                 .doc = "Atoms in a cell, on average"),
    WF_PARAM_ROW(
        struct params, imbalance, REAL, .def = "0.2", .min = "0", .max = "1",
        .doc = "How far the atoms of a cell may differ from the average, as a share of it"),
    WF_PARAM_ROW(struct params, cutoff, REAL, .def = "1", .min = "0", .max = "1",
                 .doc = "Distance up to which atoms interact, as a share of kaway cells"),
    WF_PARAM_ROW(struct params, steps, COUNT, .def = "3", .min = "0", .max = "4000000000",
                 .doc = "Number of time steps"),
    WF_PARAM_ROW(struct params, pair_time, TIME, .def = "10ns", .max = "1h",
                 .doc = "Compute time of each pair of atoms within the cut-off"),
    WF_PARAM_ROW(struct params, atom_time, TIME, .def = "50ns", .max = "1h",
                 .doc = "Compute time to move an atom"),
    WF_PARAM_ROW(struct params, atom_bytes, SIZE, .def = "24", .max = "1MiB",
                 .doc = "Bytes of an atom in a message, and of the force on it"),
    WF_PARAM_ROW(struct params, map, ENUM, .def = "block", .choices = map_names,
                 .doc = "How cells, and computes, are spread over PEs"),
    WF_PARAM_END,
};

static const struct leanmd *to_leanmd(const struct wf_graph *graph)
{
    return (const struct leanmd *)graph;
}

/* ---- which PE has what; `n` cells or computes are spread ---- */

static uint32_t n_computes(const struct leanmd *md)
{
    return md->edges == NULL ? md->n_cells * md->n_roles : md->edges->first[md->n_cells];
}

/* The first cell or compute of a block, rounded up: i then belongs to the PE i * n_pes / n. */
static uint32_t block_begin(const struct leanmd *md, uint32_t n, uint32_t pe)
{
    return (uint32_t)(((uint64_t)pe * n + md->graph.n_pes - 1) / md->graph.n_pes);
}

static uint32_t count_on(const struct leanmd *md, uint32_t n, uint32_t pe)
{
    if (md->given.map == MAP_BLOCK) {
        return block_begin(md, n, pe + 1) - block_begin(md, n, pe);
    }
    return pe < n ? (n - pe - 1) / md->graph.n_pes + 1 : 0;
}

static uint32_t number_on(const struct leanmd *md, uint32_t n, uint32_t pe, uint32_t i)
{
    return md->given.map == MAP_BLOCK ? block_begin(md, n, pe) + i : pe + i * md->graph.n_pes;
}

static uint32_t pe_of(const struct leanmd *md, uint32_t n, uint32_t number)
{
    return md->given.map == MAP_BLOCK ? (uint32_t)((uint64_t)number * md->graph.n_pes / n)
                                      : number % md->graph.n_pes;
}

static uint32_t index_on(const struct leanmd *md, uint32_t n, uint32_t pe, uint32_t number)
{
    return md->given.map == MAP_BLOCK ? number - block_begin(md, n, pe)
                                      : number / md->graph.n_pes;
}

/* ---- computes ---- */

static uint32_t class_of(const struct leanmd *md, uint32_t cell)
{
    uint32_t k = (uint32_t)md->given.kaway, stride = 1, out = 0;

    for (uint32_t d = 0; d < 3; d++) {
        uint32_t size = md->size[d], at = cell % size, above = size - 1 - at;

        cell /= size;
        out += stride * (at < k ? at : above < k ? 2 * k - above : k);
        stride *= 2 * k + 1;
    }
    return out;
}

static struct compute compute_of(const struct leanmd *md, uint32_t number)
{
    const struct edges *edges = md->edges;

    if (edges == NULL) {
        return (struct compute){number / md->n_roles, number % md->n_roles};
    }
    uint32_t low = 0;
    WF_BISECT_LAST(low, md->n_cells, middle, edges->first[middle] <= number);
    return (struct compute){low, edges->own[class_of(md, low)][number - edges->first[low]]};
}

static uint32_t number_of(const struct leanmd *md, struct compute compute)
{
    const struct edges *edges = md->edges;

    if (edges == NULL) {
        return compute.cell * md->n_roles + compute.role;
    }
    return edges->first[compute.cell] + edges->place[class_of(md, compute.cell)][compute.role];
}

/* ---- cells ---- */

static uint64_t atoms_of(const struct leanmd *md, uint32_t cell)
{
    return wf_gen_vary(md->given.atoms, md->imbalance, STREAM, cell);
}

/* The cell at `sign` times the offset of a role from a cell. */
static uint32_t neighbor(const struct leanmd *md, uint32_t cell, uint32_t role, int sign)
{
    uint32_t stride = 1, out = 0;

    for (uint32_t d = 0; d < 3; d++) {
        uint32_t size = md->size[d];
        uint32_t at = cell % size + size + (uint32_t)(sign * md->offset[role][d]);

        cell /= size;
        at -= at >= 2 * size ? 2 * size : at >= size ? size : 0;
        out += at * stride;
        stride *= size;
    }
    return out;
}

static int64_t time_of(uint64_t n, uint64_t share, int64_t each)
{
    uint64_t time = wf_gen_times_over(wf_times_u64(n, share), (uint64_t)each, WF_GEN_SHARE_ONE);

    return time > (uint64_t)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)time;
}

static int64_t compute_time(const struct leanmd *md, struct compute compute)
{
    uint64_t atoms = atoms_of(md, compute.cell);
    uint64_t pairs = compute.role == 0
                         ? atoms * (atoms > 0 ? atoms - 1 : 0) / 2
                         : atoms * atoms_of(md, neighbor(md, compute.cell, compute.role, 1));

    return time_of(pairs, md->within[compute.role], md->given.pair_time);
}

/* ---- tasks ---- */

static struct job job_of(const struct leanmd *md, uint32_t pe, uint32_t task)
{
    uint32_t cells = count_on(md, md->n_cells, pe);
    uint32_t computes = count_on(md, n_computes(md), pe);

    if (task < cells) {
        return (struct job){.chare = number_on(md, md->n_cells, pe, task), .step = 0};
    }

    assert(cells + computes > 0); /* otherwise the PE would have no tasks */
    uint32_t step = (task - cells) / (cells + computes);
    uint32_t i = (task - cells) % (cells + computes);
    if (i < computes) {
        return (struct job){number_on(md, n_computes(md), pe, i), step, true};
    }
    return (struct job){number_on(md, md->n_cells, pe, i - computes), step + 1, false};
}

static uint32_t leanmd_n_tasks(const struct wf_graph *graph, uint32_t pe)
{
    const struct leanmd *md = to_leanmd(graph);
    uint32_t cells = count_on(md, md->n_cells, pe);

    return cells + (uint32_t)md->given.steps * (cells + count_on(md, n_computes(md), pe));
}

static uint32_t leanmd_root(const struct wf_graph *graph, uint32_t pe, uint32_t from)
{
    const struct leanmd *md = to_leanmd(graph);

    return from < count_on(md, md->n_cells, pe) ? from : WF_NO_TASK;
}

/* The number of messages between a cell and its computes in a step, in one direction. */
static uint32_t messages_of_cell(const struct leanmd *md, uint32_t cell)
{
    if (md->edges == NULL) {
        return 2 * md->n_roles - 1;
    }
    uint32_t class = class_of(md, cell);
    return (uint32_t)md->edges->n_own[class] + md->edges->n_other[class];
}

static uint32_t messages_of_compute(struct compute compute)
{
    return compute.role == 0 ? 1 : 2;
}

static struct wf_task_needs leanmd_needs(const struct wf_graph *graph, uint32_t pe,
                                         uint32_t task)
{
    const struct leanmd *md = to_leanmd(graph);
    struct job job = job_of(md, pe, task);

    if (job.computes) {
        return (struct wf_task_needs){.messages =
                                          messages_of_compute(compute_of(md, job.chare))};
    }
    return (struct wf_task_needs){.messages =
                                      job.step == 0 ? 0 : messages_of_cell(md, job.chare)};
}

static void leanmd_task(const struct wf_graph *graph, uint32_t pe, uint32_t task,
                        struct wf_task *out)
{
    const struct leanmd *md = to_leanmd(graph);
    struct job job = job_of(md, pe, task);

    *out = (struct wf_task){
        .pe = pe, .number = task, .own = {job.chare, (uint64_t)job.step << 1 | job.computes}};
    if (job.computes) {
        struct compute compute = compute_of(md, job.chare);
        out->duration = compute_time(md, compute);
        out->n_sends = messages_of_compute(compute);
    } else {
        out->duration = job.step == 0 ? 0
                                      : time_of(atoms_of(md, job.chare), WF_GEN_SHARE_ONE,
                                                md->given.atom_time);
        out->n_sends =
            job.step < (uint32_t)md->given.steps ? messages_of_cell(md, job.chare) : 0;
    }
}

/* Sends the forces on the atoms of a cell to the cell's task that ends the step. */
static void send_forces(const struct leanmd *md, uint32_t cell, uint32_t step,
                        struct wf_task_send *out)
{
    uint32_t pe = pe_of(md, md->n_cells, cell);
    uint32_t cells = count_on(md, md->n_cells, pe);
    uint32_t computes = count_on(md, n_computes(md), pe);

    out->bytes = atoms_of(md, cell) * md->given.atom_bytes;
    out->pe = pe;
    out->id =
        cells + step * (cells + computes) + computes + index_on(md, md->n_cells, pe, cell);
}

/* Sends the atoms of a cell to the task of a compute in a step. */
static void send_atoms(const struct leanmd *md, uint32_t cell, uint32_t compute, uint32_t step,
                       struct wf_task_send *out)
{
    uint32_t pe = pe_of(md, n_computes(md), compute);
    uint32_t cells = count_on(md, md->n_cells, pe);
    uint32_t computes = count_on(md, n_computes(md), pe);

    out->bytes = atoms_of(md, cell) * md->given.atom_bytes;
    out->pe = pe;
    out->id = cells + step * (cells + computes) + index_on(md, n_computes(md), pe, compute);
}

/* The compute that the message `i` of a cell is for: its own come first, then those of the
 * cells before it. */
static struct compute compute_for(const struct leanmd *md, uint32_t cell, uint32_t i)
{
    uint32_t class = md->edges == NULL ? 0 : class_of(md, cell);
    uint32_t n_own = md->edges == NULL ? md->n_roles : md->edges->n_own[class];

    if (i < n_own) {
        return (struct compute){cell, md->edges == NULL ? i : md->edges->own[class][i]};
    }
    uint32_t role = md->edges == NULL ? i - n_own + 1 : md->edges->other[class][i - n_own];
    return (struct compute){neighbor(md, cell, role, -1), role};
}

/* All messages leave at the end of the task. */
static void leanmd_send(const struct wf_graph *graph, const struct wf_task *task, uint32_t i,
                        struct wf_task_send *out)
{
    const struct leanmd *md = to_leanmd(graph);
    uint32_t chare = (uint32_t)task->own[0], step = (uint32_t)(task->own[1] >> 1);

    *out = (struct wf_task_send){.offset = task->duration};
    if ((task->own[1] & 1) != 0) {
        struct compute compute = compute_of(md, chare);
        send_forces(md, i == 0 ? compute.cell : neighbor(md, compute.cell, compute.role, 1),
                    step, out);
        return;
    }
    send_atoms(md, chare, number_of(md, compute_for(md, chare, i)), step, out);
}

/* ---- making one ---- */

/* The share of pairs within the cut-off. In a dimension, LATTICE - |a| pairs of positions
 * have the difference a. Squares of distances are multiplied by 10^12, so that they are
 * whole numbers: the unit is a millionth of the distance between two positions. */
static uint32_t share_within(const int8_t *offset, uint64_t reach)
{
    enum { SIDE = 2 * LATTICE - 1 };
    uint64_t n = 0, all = (uint64_t)LATTICE * LATTICE * LATTICE;

    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const int step[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        uint64_t weight = 1, square = 0;

        for (int d = 0; d < 3; d++) {
            int a = step[d] - (LATTICE - 1);
            int distance = offset[d] * LATTICE + a;

            weight *= (uint64_t)(LATTICE - abs(a));
            square += (uint64_t)(distance * distance);
        }
        n += square * WF_GEN_SHARE_ONE * WF_GEN_SHARE_ONE <= reach * reach ? weight : 0;
    }
    return (uint32_t)(n * WF_GEN_SHARE_ONE / (all * all));
}

/* The roles: the cell itself, then half of its neighbours. */
static void set_roles(struct leanmd *md, int kaway, double cutoff)
{
    uint64_t reach = (uint64_t)wf_gen_share(cutoff) * (uint64_t)kaway * LATTICE;
    int side = 2 * kaway + 1, middle = (side * side * side - 1) / 2;

    for (int i = middle; i < side * side * side; i++) {
        int8_t *offset = md->offset[md->n_roles];

        offset[0] = (int8_t)(i % side - kaway);
        offset[1] = (int8_t)(i / side % side - kaway);
        offset[2] = (int8_t)(i / side / side - kaway);
        md->within[md->n_roles++] = share_within(offset, reach);
    }
}

/* Whether the cells of a class have a neighbour at `sign` times the offset of a role. */
static bool has_neighbor(const struct leanmd *md, uint32_t class, uint32_t role, int sign)
{
    int k = (int)md->given.kaway;

    for (uint32_t d = 0; d < 3; d++) {
        int at = (int)(class % (2 * (uint32_t)k + 1)), step = sign * md->offset[role][d];
        int below = at < k ? at : k, above = at > k ? 2 * k - at : k;

        class /= 2 * (uint32_t)k + 1;
        if (step > above || -step > below) {
            return false;
        }
    }
    return true;
}

static struct edges *make_edges(const struct leanmd *md)
{
    struct edges *edges =
        wf_xcalloc(1, sizeof(*edges) + ((size_t)md->n_cells + 1) * sizeof(edges->first[0]));
    uint32_t side = 2 * (uint32_t)md->given.kaway + 1;

    for (uint32_t class = 0; class < side * side * side; class ++) {
        for (uint32_t role = 0; role < md->n_roles; role++) {
            if (has_neighbor(md, class, role, 1)) {
                edges->place[class][role] = edges->n_own[class];
                edges->own[class][edges->n_own[class]++] = (uint8_t)role;
            }
            if (role > 0 && has_neighbor(md, class, role, -1)) {
                edges->other[class][edges->n_other[class]++] = (uint8_t)role;
            }
        }
    }
    for (uint32_t cell = 0; cell < md->n_cells; cell++) {
        edges->first[cell + 1] = edges->first[cell] + edges->n_own[class_of(md, cell)];
    }
    return edges;
}

static void leanmd_destroy(struct wf_graph *graph)
{
    struct leanmd *md = (struct leanmd *)graph;

    free(md->edges);
    free(md);
}

static enum wf_status read_cells(const char *text, uint64_t kaway, uint32_t *size,
                                 struct wf_err *err)
{
    uint64_t product, least = 2 * kaway + 1;

    if (!wf_gen_grid_parse(text, 3, size, &product)) {
        return wf_err_set(err, WF_EUSAGE, "gen:leanmd: cells: '%.64s' is no grid; write AxBxC",
                          text);
    }
    for (int d = 0; d < 3; d++) {
        if (size[d] < least) {
            return wf_err_set(err, WF_EUSAGE,
                              "gen:leanmd: cells: '%.64s' has a dimension of %u; with "
                              "kaway=%llu at least %llu are needed",
                              text, size[d], (unsigned long long)kaway,
                              (unsigned long long)least);
        }
    }
    if (product > UINT32_MAX / ROLES_MAX) {
        return wf_err_set(err, WF_ELIMIT, "gen:leanmd: cells: '%.64s' are too many; at most %u",
                          text, UINT32_MAX / (unsigned)ROLES_MAX);
    }
    return WF_OK;
}

static enum wf_status check_tasks(const struct leanmd *md, uint64_t steps, struct wf_err *err)
{
    uint64_t each = 2 + ((uint64_t)md->n_cells + n_computes(md)) / md->graph.n_pes;

    if (wf_times_u64(steps + 1, each) >= WF_NO_TASK) {
        return wf_err_set(err, WF_ELIMIT,
                          "gen:leanmd: a PE would have 2^32 tasks or more; ask for fewer steps "
                          "or cells, or more PEs");
    }
    return WF_OK;
}

static enum wf_status leanmd_create(const void *params, uint32_t n_pes, struct wf_graph **out,
                                    struct wf_err *err)
{
    const struct params *given = params;
    struct leanmd *md = wf_xcalloc(1, sizeof(*md));

    enum wf_status status = read_cells(given->cells, given->kaway, md->size, err);
    if (status == WF_OK) {
        md->graph = (struct wf_graph){.ops = &wf_gen_leanmd_ops, .n_pes = n_pes};
        md->n_cells = md->size[0] * md->size[1] * md->size[2];
        set_roles(md, (int)given->kaway, given->cutoff);
        md->given = *given;
        md->imbalance = wf_gen_share(given->imbalance);
        md->edges = given->periodic ? NULL : make_edges(md);
        status = check_tasks(md, given->steps, err);
    }
    if (status != WF_OK) {
        leanmd_destroy(&md->graph);
        return status;
    }

    uint64_t cells = md->n_cells, computes = n_computes(md);
    md->graph.tasks_expected = cells + wf_gen_expected(given->steps, cells + computes);
    md->graph.messages_expected = wf_gen_expected(given->steps, 2 * (2 * computes - cells));
    *out = &md->graph;
    return WF_OK;
}

const struct wf_graph_ops wf_gen_leanmd_ops = {
    .name = "leanmd",
    .summary = "molecular dynamics driven by messages: cells, and computes for their pairs",
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = leanmd_create,
    .destroy = leanmd_destroy,
    .n_tasks = leanmd_n_tasks,
    .root = leanmd_root,
    .needs = leanmd_needs,
    .task = leanmd_task,
    .send = leanmd_send,
};
