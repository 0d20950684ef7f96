/* SPDX-License-Identifier: Apache-2.0 */
/* Molecular dynamics driven by messages, as LeanMD does it: cells of atoms, and an object for
 * each pair of cells next to each other that computes their forces. Nobody waits for anything
 * in particular: a rank does what the next message is for. The atoms are only counted. usage:
 * leanmd [cells along the cube] [steps] [atoms of a cell] */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/mark.h>

enum { PAIRS = 14, FORCES = 27, BYTES_PER_ATOM = 24 };

static const double pair_seconds = 1e-9, atom_seconds = 50e-9;

/* What goes from an object to another; the atoms' bytes follow. */
struct note {
    int64_t to;   /* a cell, or behind all cells a pair */
    int64_t from; /* a cell: 0 or 1, which one of a pair */
    uint64_t value;
    int64_t atoms;
};

struct cell {
    uint64_t value, forces;
    int heard, step;
};

struct pair {
    uint64_t values[2];
    int64_t atoms[2];
    int heard;
};

struct world {
    int rank, size, side, steps, average, n_cells;
    struct cell *cells; /* all, of which this rank's are used */
    struct pair *pairs; /* likewise */
    MPI_Request *requests;
    void **buffers;
    int n_sent, room;
    struct note *own; /* notes to objects of this rank: first in, first out */
    size_t own_first, own_end, own_room;
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Denser in the middle of the cube, so that the work is uneven. */
static int64_t atoms_of(const struct world *world, int cell)
{
    int side = world->side, x = cell % side, y = cell / side % side, z = cell / side / side;
    int inside = x >= side / 4 && x < side - side / 4 && y >= side / 4 && y < side - side / 4 &&
                 z >= side / 4 && z < side - side / 4;

    return inside ? world->average * 3 / 2 : world->average;
}

static int rank_of(const struct world *world, int64_t object)
{
    if (object < world->n_cells) {
        return (int)(object * world->size / world->n_cells);
    }
    return (int)((object - world->n_cells) * world->size / (PAIRS * (int64_t)world->n_cells));
}

/* The cell at an offset of -1, 0 or 1 in each direction: `way` is 0 to 26, 13 the cell itself.
 */
static int next_to(const struct world *world, int cell, int way)
{
    int side = world->side;
    int x = (cell % side + way % 3 - 1 + side) % side;
    int y = (cell / side % side + way / 3 % 3 - 1 + side) % side;
    int z = (cell / side / side + way / 9 - 1 + side) % side;

    return (z * side + y) * side + x;
}

/* The object for the cell and its neighbour that way; *place says which of both the cell is. */
static int64_t pair_of(const struct world *world, int cell, int way, int *place)
{
    *place = way < FORCES / 2;
    if (*place == 0) {
        return world->n_cells + (int64_t)cell * PAIRS + (way - FORCES / 2);
    }
    return world->n_cells + (int64_t)next_to(world, cell, way) * PAIRS + (FORCES / 2 - way);
}

static void keep(struct world *world, const struct note *note)
{
    if (world->own_end == world->own_room) {
        world->own_room = 2 * world->own_room + 64;
        world->own = realloc(world->own, world->own_room * sizeof(*world->own));
    }
    world->own[world->own_end++] = *note;
}

static void tell(struct world *world, const struct note *note)
{
    int to = rank_of(world, note->to);

    if (to == world->rank) {
        keep(world, note);
        return;
    }
    if (world->n_sent == world->room) {
        world->room = 2 * world->room + 64;
        world->requests =
            realloc(world->requests, (size_t)world->room * sizeof(*world->requests));
        world->buffers = realloc(world->buffers, (size_t)world->room * sizeof(void *));
    }
    int bytes = (int)(sizeof(*note) + (size_t)note->atoms * BYTES_PER_ATOM);
    void *buffer = calloc(1, (size_t)bytes);
    memcpy(buffer, note, sizeof(*note));
    world->buffers[world->n_sent] = buffer;
    MPI_Isend(buffer, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD, &world->requests[world->n_sent]);
    world->n_sent++;
}

/* The positions of a cell's atoms go to all of its pairs. */
static void begin_step(struct world *world, int cell)
{
    for (int way = 0; way < FORCES; way++) {
        int place;
        struct note note = {.to = pair_of(world, cell, way, &place),
                            .from = place,
                            .value = world->cells[cell].value,
                            .atoms = atoms_of(world, cell)};
        tell(world, &note);
    }
}

static void hear_pair(struct world *world, const struct note *note)
{
    int64_t index = note->to - world->n_cells;
    struct pair *pair = &world->pairs[index];
    int cell = (int)(index / PAIRS), way = (int)(index % PAIRS) + FORCES / 2;
    int both = way != FORCES / 2; /* a cell with itself hears of one only */

    pair->values[note->from] = note->value;
    pair->atoms[note->from] = note->atoms;
    if (++pair->heard <= both) {
        return;
    }
    pair->heard = 0;
    double work =
        (double)pair->atoms[0] * (both ? (double)pair->atoms[1] : (double)pair->atoms[0] / 2);
    WEFT_COMPUTE(work * pair_seconds);
    struct note force = {.to = cell,
                         .value = mix(pair->values[0] + (both ? mix(pair->values[1]) : 0)),
                         .atoms = pair->atoms[0]};
    tell(world, &force);
    if (both) {
        force.to = next_to(world, cell, way);
        force.atoms = pair->atoms[1];
        tell(world, &force);
    }
}

static void hear_cell(struct world *world, const struct note *note)
{
    struct cell *cell = &world->cells[note->to];

    cell->forces += note->value;
    if (++cell->heard < FORCES) {
        return;
    }
    WEFT_COMPUTE((double)atoms_of(world, (int)note->to) * atom_seconds);
    cell->value = mix(cell->value + cell->forces);
    cell->forces = 0;
    cell->heard = 0;
    if (++cell->step < world->steps) {
        begin_step(world, (int)note->to);
    }
}

/* How many notes will come from other ranks in a step: one each way for every pair of a cell.
 */
static int64_t count_notes(const struct world *world)
{
    int64_t n = 0;

    for (int cell = 0; cell < world->n_cells; cell++) {
        for (int way = 0; way < FORCES; way++) {
            int place, here = rank_of(world, cell);
            int there = rank_of(world, pair_of(world, cell, way, &place));
            n += here != there && (here == world->rank || there == world->rank);
        }
    }
    return n;
}

static void run(struct world *world)
{
    int64_t left = world->steps * count_notes(world);
    int most = (int)(sizeof(struct note)) + 2 * world->average * BYTES_PER_ATOM;
    struct note *in = malloc((size_t)most);

    for (int cell = 0; cell < world->n_cells; cell++) {
        if (rank_of(world, cell) == world->rank) {
            begin_step(world, cell);
        }
    }
    while (left > 0 || world->own_first < world->own_end) {
        struct note note;
        if (world->own_first < world->own_end) {
            note = world->own[world->own_first++];
        } else {
            world->own_first = world->own_end = 0;
            MPI_Recv(in, most, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            note = *in;
            left--;
        }
        (note.to < world->n_cells ? hear_cell : hear_pair)(world, &note);
    }
    free(in);
    MPI_Waitall(world->n_sent, world->requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < world->n_sent; i++) {
        free(world->buffers[i]);
    }
}

int main(int argc, char **argv)
{
    struct world world = {.side = argc > 1 ? atoi(argv[1]) : 6,
                          .steps = argc > 2 ? atoi(argv[2]) : 3,
                          .average = argc > 3 ? atoi(argv[3]) : 100};
    uint64_t sum = 0, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    world.n_cells = world.side * world.side * world.side;
    world.cells = calloc((size_t)world.n_cells, sizeof(struct cell));
    world.pairs = calloc((size_t)world.n_cells * PAIRS, sizeof(struct pair));
    for (int cell = 0; cell < world.n_cells; cell++) {
        world.cells[cell].value = mix((uint64_t)cell + 1);
    }
    run(&world);
    for (int cell = 0; cell < world.n_cells; cell++) {
        sum += rank_of(&world, cell) == world.rank ? world.cells[cell].value : 0;
    }
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world.rank == 0) {
        printf("%d cells, %d steps: checksum %016llx\n", world.n_cells, world.steps,
               (unsigned long long)all);
    }
    free(world.cells);
    free(world.pairs);
    free(world.requests);
    free(world.buffers);
    free(world.own);
    MPI_Finalize();
    return 0;
}
