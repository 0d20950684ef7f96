/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Molecular dynamics driven by messages, as LeanMD does it (BigSim, section 6): cells of atoms,
 * and an object for each pair of cells that are at most `kaway` apart, which computes their
 * forces. Nobody waits for anything in particular: a processor does what the next message is
 * for. The atoms are only counted. It is the program that gen:leanmd generates, with the same
 * numbers of atoms, times and messages, and can also balance the load.
 *
 * usage: leanmd [cells along the cube] [steps] [atoms of a cell] [name=value]...
 *
 *   kaway=1         how many cells away the other cell of a pair may be
 *   imbalance=20    how far the atoms of a cell may differ from the average, in percent
 *   dense=0         how many more atoms the cells in the middle of the cube have, in percent
 *   balance=none    load balancing of the pairs: none, greedy or refine...
 *   period=1        ...after so many steps
 *   periodic=1      0: cells at opposite ends of the cube are no neighbours (not with balance)
 *   time=0          1: print when the last step ended
 *
 * As on 8,192 processors of the paper: leanmd 23 2 3 kaway=3
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/mark.h>
#define WEFT_TASK_IMPLEMENT
#include <weft/task.h>

enum { KAWAY_MAX = 3, ROLES_MAX = (7 * 7 * 7 + 1) / 2, BYTES_PER_ATOM = 24, LATTICE = 8 };
enum { MILLION = 1000000 };
static const int64_t PAIR_PS = 10000, ATOM_PS = 50000;

/* Methods of cells and of pairs. */
enum { CELL_BEGIN, CELL_FORCES, CELL_CHECKSUM, CELL_TIME };
enum { PAIR_ATOMS };

struct cell {
    uint64_t value, forces;
    int heard, step;
};

struct pair {
    uint64_t values[2];
    int heard, step;
};

/* The atoms of a cell, or the forces on them. */
struct note {
    uint64_t value;
    int place; /* which cell of the pair it is from */
};

/* What is the same for all objects of a processor. */
static struct {
    long side, steps, average, kaway, imbalance, dense, period, prints_time, periodic;
    int n_roles;
    int offset[ROLES_MAX][3];
    uint64_t within[ROLES_MAX]; /* millionths of the pairs of atoms within the cut-off */
    uint32_t *first;            /* by cell: its first pair, with open boundaries */
    int cells, pairs;           /* arrays */
    uint64_t checksum;
} md = {.side = 6,
        .steps = 3,
        .average = 100,
        .kaway = 1,
        .imbalance = 20,
        .period = 1,
        .periodic = 1};

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The same numbers as those of gen:leanmd. */
static int64_t atoms_of(long cell)
{
    const uint64_t golden = 0x9e3779b97f4a7c15u, seed = 0x77656674, stream = 1280132;
    uint64_t reach = (uint64_t)md.average * (uint64_t)md.imbalance / 100;
    uint64_t random = mix(mix(seed + (stream + 1) * golden) + ((uint64_t)cell + 1) * golden);

    long side = md.side, x = cell % side, y = cell / side % side, z = cell / side / side;
    int inside = x >= side / 4 && x < side - side / 4 && y >= side / 4 && y < side - side / 4 &&
                 z >= side / 4 && z < side - side / 4;
    /* The upper half of the product of two numbers of 64 bits, of which one is small. */
    uint64_t below = ((random >> 32) * (2 * reach + 1) +
                      (((random & UINT32_MAX) * (2 * reach + 1)) >> 32)) >>
                     32;
    int64_t atoms = (int64_t)((uint64_t)md.average - reach + below);

    return atoms + (inside ? atoms * md.dense / 100 : 0);
}

/* The cell at `sign` times the offset of a role; the grid is periodic. */
static long neighbor(long cell, int role, int sign)
{
    long out = 0, stride = 1;

    for (int d = 0; d < 3; d++) {
        long at = (cell % md.side + md.side + sign * md.offset[role][d]) % md.side;
        cell /= md.side;
        out += at * stride;
        stride *= md.side;
    }
    return out;
}

/* Whether there is such a cell. */
static int has_neighbor(long cell, int role, int sign)
{
    for (int d = 0; d < 3; d++) {
        long at = cell % md.side + sign * md.offset[role][d];
        cell /= md.side;
        if (at < 0 || at >= md.side) {
            return md.periodic != 0;
        }
    }
    return 1;
}

/* In how many pairs a cell is. */
static int pairs_of(long cell)
{
    int n = 1;

    for (int role = 1; role < md.n_roles; role++) {
        n += has_neighbor(cell, role, 1) + has_neighbor(cell, role, -1);
    }
    return n;
}

/* The pairs are numbered by their first cells. With open boundaries some do not exist: a table
 * then has the number of each cell's first pair, and of all pairs. */
static void number_pairs(long n_cells)
{
    md.first = calloc((size_t)n_cells + 1, sizeof(*md.first));
    for (long cell = 0; cell < n_cells; cell++) {
        md.first[cell + 1] = md.first[cell];
        for (int role = 0; role < md.n_roles; role++) {
            md.first[cell + 1] += (uint32_t)has_neighbor(cell, role, 1);
        }
    }
}

static long pair_number(long cell, int role)
{
    if (md.periodic) {
        return cell * md.n_roles + role;
    }
    long number = md.first[cell];
    for (int before = 0; before < role; before++) {
        number += has_neighbor(cell, before, 1);
    }
    return number;
}

static long pair_cell(long number, int *role)
{
    if (md.periodic) {
        *role = (int)(number % md.n_roles);
        return number / md.n_roles;
    }
    long low = 0, high = md.side * md.side * md.side; /* first[low] <= number < first[high] */
    while (high - low > 1) {
        long middle = (low + high) / 2;
        *(md.first[middle] <= number ? &low : &high) = middle;
    }
    for (*role = 0; pair_number(low, *role) < number || !has_neighbor(low, *role, 1);) {
        ++*role;
    }
    return low;
}

/* Millionths of the pairs of atoms, on a lattice in each cell, that are within `kaway` cells. */
static uint64_t share_within(const int *offset)
{
    enum { SIDE = 2 * LATTICE - 1 };
    const long reach = md.kaway * LATTICE;
    uint64_t n = 0, all = LATTICE * LATTICE * LATTICE;

    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const int step[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        uint64_t weight = 1;
        long square = 0;
        for (int d = 0; d < 3; d++) {
            int a = step[d] - (LATTICE - 1);
            long distance = offset[d] * LATTICE + a;
            weight *= (uint64_t)(LATTICE - abs(a));
            square += distance * distance;
        }
        n += square <= reach * reach ? weight : 0;
    }
    return n * MILLION / (all * all);
}

/* Offsets that differ in their order and signs have the same share. */
static void set_roles(void)
{
    uint64_t known[KAWAY_MAX + 1][KAWAY_MAX + 1][KAWAY_MAX + 1] = {{{0}}};
    int side = (int)(2 * md.kaway + 1), n = side * side * side;

    for (int i = (n - 1) / 2; i < n; i++) {
        int *offset = md.offset[md.n_roles];
        offset[0] = i % side - (int)md.kaway;
        offset[1] = i / side % side - (int)md.kaway;
        offset[2] = i / side / side - (int)md.kaway;
        uint64_t *share = &known[abs(offset[0])][abs(offset[1])][abs(offset[2])];
        *share = *share > 0 ? *share : share_within(offset) + 1;
        md.within[md.n_roles++] = *share - 1;
    }
}

/* Takes `each` picoseconds for so many millionths. */
static void compute(uint64_t millionths, int64_t each)
{
    uint64_t ps = millionths / MILLION * (uint64_t)each +
                  (millionths % MILLION * (uint64_t)each + MILLION - 1) / MILLION;

    WEFT_COMPUTE(((double)ps + 0.25) * 1e-12); /* so that no picosecond is lost */
}

/* The positions of a cell's atoms go to all pairs that it belongs to. */
static void cell_begin(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                       size_t size)
{
    const struct cell *cell = self->state;
    size_t bytes = (size_t)atoms_of(self->index) * BYTES_PER_ATOM;

    (void)data;
    (void)size;
    for (int i = 0; i < 2 * md.n_roles - 1; i++) {
        int second = i >= md.n_roles, role = second ? i - md.n_roles + 1 : i;
        long owner = second ? neighbor(self->index, role, -1) : self->index;
        struct note note = {cell->value, second};
        if (!has_neighbor(self->index, role, second ? -1 : 1)) {
            continue;
        }
        weft_send_long(tasks,
                       (struct weft_target){md.pairs, pair_number(owner, role), PAIR_ATOMS},
                       &note, sizeof(note), bytes);
    }
}

static void cell_end(struct weft_tasks *tasks, struct weft_object *self)
{
    const struct cell *cell = self->state;
    double now = MPI_Wtime();

    weft_contribute(tasks, self, &cell->value, 1, WEFT_SUM_UINT64,
                    (struct weft_target){md.cells, 0, CELL_CHECKSUM});
    weft_contribute(tasks, self, &now, 1, WEFT_MAX_DOUBLE,
                    (struct weft_target){md.cells, 0, CELL_TIME});
}

static void cell_forces(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                        size_t size)
{
    struct cell *cell = self->state;
    const struct note *note = data;

    (void)size;
    cell->forces += note->value;
    if (++cell->heard < (md.periodic ? 2 * md.n_roles - 1 : pairs_of(self->index))) {
        return;
    }
    compute((uint64_t)atoms_of(self->index) * MILLION, ATOM_PS);
    cell->value = mix(cell->value + cell->forces);
    cell->forces = 0;
    cell->heard = 0;
    if (++cell->step < md.steps) {
        cell_begin(tasks, self, NULL, 0);
    } else {
        cell_end(tasks, self);
    }
}

static void cell_checksum(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                          size_t size)
{
    (void)tasks;
    (void)self;
    memcpy(&md.checksum, data, size);
}

/* The last reduction: the program ends. */
static void cell_time(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                      size_t size)
{
    double time;

    (void)self;
    memcpy(&time, data, size);
    printf("%ld cells, %ld steps: checksum %016llx\n", md.side * md.side * md.side, md.steps,
           (unsigned long long)md.checksum);
    if (md.prints_time) {
        printf("the last step ended at %.12f s\n", time);
    }
    weft_stop(tasks);
}

static void cell_create(struct weft_tasks *tasks, struct weft_object *self)
{
    (void)tasks;
    ((struct cell *)self->state)->value = mix((uint64_t)self->index + 1);
}

static void send_forces(struct weft_tasks *tasks, long cell, uint64_t value)
{
    const struct note note = {value, 0};

    weft_send_long(tasks, (struct weft_target){md.cells, cell, CELL_FORCES}, &note,
                   sizeof(note), (size_t)atoms_of(cell) * BYTES_PER_ATOM);
}

static void pair_atoms(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                       size_t size)
{
    struct pair *pair = self->state;
    const struct note *note = data;
    int role;
    long cell = pair_cell(self->index, &role);
    int both = role > 0;

    (void)size;
    pair->values[note->place] = note->value;
    if (++pair->heard <= both) {
        return;
    }
    pair->heard = 0;
    long other = neighbor(cell, role, 1);
    int64_t atoms = atoms_of(cell);
    int64_t n = both ? atoms * atoms_of(other) : atoms * (atoms > 0 ? atoms - 1 : 0) / 2;
    compute((uint64_t)n * md.within[role], PAIR_PS);
    uint64_t force = mix(pair->values[0] + (both ? mix(pair->values[1]) : 0));
    send_forces(tasks, cell, force);
    if (both) {
        send_forces(tasks, other, force);
    }
    if (++pair->step % md.period == 0 && pair->step < md.steps) {
        weft_sync(tasks, self, -1);
    }
}

static enum weft_strategy read_arguments(int argc, char **argv)
{
    long *const numbers[] = {&md.side, &md.steps, &md.average};
    static const char *const strategies[] = {"none", "greedy", "refine"};
    static const char *const names[] = {"kaway",  "imbalance", "dense",
                                        "period", "time",      "periodic"};
    long *const values[] = {&md.kaway,  &md.imbalance,   &md.dense,
                            &md.period, &md.prints_time, &md.periodic};
    enum weft_strategy strategy = WEFT_BALANCE_NONE;

    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        if (value == NULL && i <= 3) {
            *numbers[i - 1] = strtol(argv[i], NULL, 10);
        }
        for (int k = 0; value != NULL && k < 6; k++) {
            size_t length = strlen(names[k]);
            if (strncmp(argv[i], names[k], length) == 0 && argv[i][length] == '=') {
                *values[k] = strtol(value + 1, NULL, 10);
            }
        }
        for (int k = 0; value != NULL && k < 3 && strncmp(argv[i], "balance=", 8) == 0; k++) {
            strategy = strcmp(value + 1, strategies[k]) == 0 ? (enum weft_strategy)k : strategy;
        }
    }
    return strategy;
}

int main(int argc, char **argv)
{
    static const weft_method cell_methods[] = {cell_begin, cell_forces, cell_checksum,
                                               cell_time};
    static const weft_method pair_methods[] = {pair_atoms};
    static const struct weft_class cell_class = {.state_bytes = sizeof(struct cell),
                                                 .methods = cell_methods,
                                                 .n_methods = 4,
                                                 .create = cell_create};
    static const struct weft_class pair_class = {.state_bytes = sizeof(struct pair),
                                                 .methods = pair_methods,
                                                 .n_methods = 1,
                                                 .balanced = 1};

    MPI_Init(&argc, &argv);
    enum weft_strategy strategy = read_arguments(argc, argv);
    if (md.kaway < 1 || md.kaway > KAWAY_MAX || md.side < 2 * md.kaway + 1 || md.steps < 1 ||
        md.period < 1 || md.imbalance < 0 || md.imbalance > 100 || md.dense < 0 ||
        (!md.periodic && strategy != WEFT_BALANCE_NONE)) {
        fprintf(stderr,
                "leanmd: kaway is 1 to 3, there are at least 2 * kaway + 1 cells, and load "
                "balancing needs a periodic cube\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    set_roles();
    long n = md.side * md.side * md.side;
    struct weft_tasks *tasks =
        weft_tasks_new(MPI_COMM_WORLD, (size_t)md.average * 3 * BYTES_PER_ATOM + 128);
    weft_balance(tasks, strategy);
    md.cells = weft_array_new(tasks, &cell_class, n, WEFT_MAP_BLOCK);
    if (!md.periodic) {
        number_pairs(n);
    }
    md.pairs = weft_array_new(tasks, &pair_class,
                              md.periodic ? n * md.n_roles : (long)md.first[n], WEFT_MAP_BLOCK);
    weft_start(tasks, md.cells, CELL_BEGIN, -1);
    weft_tasks_run(tasks);
    if (strategy != WEFT_BALANCE_NONE && weft_processor(tasks) == 0) {
        struct weft_balance_report report = weft_balance_result(tasks);
        printf("balanced %ld times, %ld moves; the last time from %.2f to %.2f of the mean\n",
               report.rounds, report.moved, report.most / report.mean,
               report.expected / report.mean);
    }
    weft_tasks_free(tasks);
    free(md.first);
    MPI_Finalize();
    return 0;
}
