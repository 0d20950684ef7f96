/* SPDX-License-Identifier: Apache-2.0 */
/* Miniature applications after published descriptions, in integers, so that the result does not
 * depend on the order of sums: an algebraic multigrid cycle with irregular neighbors and fewer
 * ranks on coarse levels, particles in cells, a sparse exchange with nonblocking consensus, the
 * SUMMA matrix product, a stencil in memory that the ranks of a node share, a breadth-first search,
 * and a checkpoint that other ranks read. */
#include "report.h"

#include <stddef.h>
#include <stdint.h>

static int rank, size;

static void *list_of(size_t n, size_t each)
{
    void *list = calloc(n > 0 ? n : 1, each);

    if (list == NULL) {
        abort();
    }
    return list;
}

/* A hash, for data that every rank can compute. */
static uint32_t mixed(uint32_t a, uint32_t b)
{
    uint32_t x = a * 2654435761u ^ (b + 0x9e3779b9u);

    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

static void say_sum(const char *what, int64_t own, MPI_Comm comm)
{
    int64_t sum = 0;

    MPI_Allreduce(&own, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
    say("%s: %lld of %lld", what, (long long)own, (long long)sum);
}

/* ---- multigrid ---- */

enum { FIRST_ROWS = 24, LEVELS = 5 };

/* A level: a part of the rows on each of its ranks, and the neighbors whose rows they need. */
struct level {
    MPI_Comm comm, graph;
    int rank, size, rows;
    int n_sources, n_destinations;
    int *sources, *destinations, *from, *to;
    int64_t *x, *halo;
};

/* Whether rank i of a level needs rows of rank k, and how many. */
static int needs(int level, int i, int k, int rows)
{
    uint32_t drawn = mixed((uint32_t)(level * 1000 + i), (uint32_t)k);

    return i == k || drawn % 3 != 0 ? 0 : 1 + (int)(drawn / 3 % (uint32_t)rows);
}

static int list_neighbors(const struct level *own, int number, int out, int *ranks, int *counts)
{
    int n = 0;

    for (int k = 0; k < own->size; k++) {
        int rows = out ? needs(number, k, own->rank, own->rows)
                       : needs(number, own->rank, k, own->rows);
        if (rows > 0) {
            ranks[n] = k;
            counts[n++] = rows;
        }
    }
    return n;
}

static void make_level(struct level *level, int number, MPI_Comm comm, int rows)
{
    level->comm = comm;
    level->rows = rows;
    MPI_Comm_rank(comm, &level->rank);
    MPI_Comm_size(comm, &level->size);
    size_t n = (size_t)level->size;
    level->sources = list_of(n, sizeof(int));
    level->destinations = list_of(n, sizeof(int));
    level->from = list_of(n, sizeof(int));
    level->to = list_of(n, sizeof(int));
    level->n_sources = list_neighbors(level, number, 0, level->sources, level->from);
    level->n_destinations = list_neighbors(level, number, 1, level->destinations, level->to);
    level->x = list_of((size_t)rows, sizeof(int64_t));
    level->halo = list_of(n * (size_t)rows, sizeof(int64_t));
    MPI_Dist_graph_create_adjacent(comm, level->n_sources, level->sources, level->from,
                                   level->n_destinations, level->destinations, level->to,
                                   MPI_INFO_NULL, 0, &level->graph);
}

static void free_level(struct level *level)
{
    free(level->sources);
    free(level->destinations);
    free(level->from);
    free(level->to);
    free(level->x);
    free(level->halo);
    MPI_Comm_free(&level->graph);
    MPI_Comm_free(&level->comm);
}

/* Each rank sends its first rows to whom they are needed by, and sums what comes. */
static void smooth(struct level *level)
{
    int *at = list_of((size_t)level->size, sizeof(int));
    int *zero = list_of((size_t)level->size, sizeof(int));
    int all = 0;
    MPI_Request request;

    for (int i = 0; i < level->n_sources; i++) {
        at[i] = all;
        all += level->from[i];
    }
    MPI_Ineighbor_alltoallv(level->x, level->to, zero, MPI_INT64_T, level->halo, level->from,
                            at, MPI_INT64_T, level->graph, &request);
    int64_t own = 0;
    for (int i = 0; i < level->rows; i++) {
        own += level->x[i];
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < all; i++) {
        own += (i + 1) * level->halo[i];
    }
    for (int i = 0; i < level->rows; i++) {
        level->x[i] = (level->x[i] * 3 + own + i) % 1000003;
    }
    free(at);
    free(zero);
}

/* Pairs of ranks put their rows together on the first of them: returns the communicator of the
 * next level, MPI_COMM_NULL on the others. */
static MPI_Comm coarsen(const struct level *fine)
{
    MPI_Comm comm;

    MPI_Comm_split(fine->comm, fine->rank % 2 == 0 ? 0 : MPI_UNDEFINED, fine->rank, &comm);
    return comm;
}

/* Half of the rows of each of the two. */
static void restrict_rows(struct level *fine, struct level *coarse)
{
    int half = fine->rows / 2, first = fine->rank % 2 == 0;
    int partner = first ? fine->rank + 1 : fine->rank - 1;

    partner = partner < fine->size ? partner : MPI_PROC_NULL;
    MPI_Datatype every_other;
    MPI_Type_vector(half, 1, 2, MPI_INT64_T, &every_other);
    MPI_Type_commit(&every_other);
    if (first) {
        for (int i = 0; i < half; i++) {
            coarse->x[i] = fine->x[2 * i];
        }
        MPI_Recv(coarse->x + half, half, MPI_INT64_T, partner, 3, fine->comm,
                 MPI_STATUS_IGNORE);
    } else {
        MPI_Ssend(fine->x, 1, every_other, partner, 3, fine->comm);
    }
    MPI_Type_free(&every_other);
}

static void prolong_rows(struct level *fine, const struct level *coarse)
{
    int half = fine->rows / 2, first = fine->rank % 2 == 0;
    int partner = first ? fine->rank + 1 : fine->rank - 1;
    int64_t *got = list_of((size_t)half, sizeof(int64_t));

    partner = partner < fine->size ? partner : MPI_PROC_NULL;
    if (first) {
        MPI_Send(coarse->x + half, half, MPI_INT64_T, partner, 4, fine->comm);
        memcpy(got, coarse->x, (size_t)half * sizeof(int64_t));
    } else {
        MPI_Recv(got, half, MPI_INT64_T, partner, 4, fine->comm, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < half; i++) {
        fine->x[2 * i] += got[i];
        fine->x[2 * i + 1] -= got[i] / 2;
    }
    free(got);
}

static void cycle(struct level *fine, int number)
{
    smooth(fine);
    if (number + 1 < LEVELS && fine->size > 1) {
        MPI_Comm comm = coarsen(fine);
        struct level coarse;
        if (comm != MPI_COMM_NULL) {
            make_level(&coarse, number + 1, comm, fine->rows);
        }
        restrict_rows(fine, &coarse);
        if (comm != MPI_COMM_NULL) {
            cycle(&coarse, number + 1);
        }
        prolong_rows(fine, &coarse);
        if (comm != MPI_COMM_NULL) {
            free_level(&coarse);
        }
    }
    smooth(fine);
}

static void multigrid(void)
{
    struct level first;
    MPI_Comm comm;
    int64_t sum = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    make_level(&first, 0, comm, FIRST_ROWS);
    for (int i = 0; i < FIRST_ROWS; i++) {
        first.x[i] = (int64_t)(mixed((uint32_t)rank, (uint32_t)i) % 1000);
    }
    for (int i = 0; i < 3; i++) {
        cycle(&first, 0);
    }
    for (int i = 0; i < FIRST_ROWS; i++) {
        sum += (i + 1) * first.x[i];
    }
    say_sum("multigrid", sum, comm);
    free_level(&first);
}

/* ---- particles in cells ---- */

enum { CELLS = 16, PARTICLES = 60, PIC_STEPS = 5, SCALE = 1024 };

struct particle {
    int64_t at; /* in the whole domain, fixed point */
    int32_t speed;
    int16_t weight;
};

/* Moves particles to the ranks that have their cells. Returns how many there are now. */
static int migrate(struct particle **own, int n, MPI_Datatype type)
{
    int *counts = list_of(4 * (size_t)size, sizeof(int));
    int *in = counts + size, *to = counts + 2 * size, *from = counts + 3 * size;
    struct particle *out = list_of((size_t)n, sizeof(struct particle));

    for (int i = 0; i < n; i++) {
        counts[(*own)[i].at / (CELLS * SCALE)]++;
    }
    MPI_Alltoall(counts, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    int arriving = in[0];
    for (int i = 1; i < size; i++) {
        to[i] = to[i - 1] + counts[i - 1];
        from[i] = from[i - 1] + in[i - 1];
        arriving += in[i];
    }
    for (int i = 0; i < n; i++) {
        out[to[(*own)[i].at / (CELLS * SCALE)]++] = (*own)[i];
    }
    for (int i = 0; i < size; i++) {
        to[i] -= counts[i];
    }
    free(*own);
    *own = list_of((size_t)arriving, sizeof(struct particle));
    MPI_Alltoallv(out, counts, to, type, *own, in, from, type, MPI_COMM_WORLD);
    free(out);
    free(counts);
    return arriving;
}

/* Adds the charge of each particle to its cell and the next one, which may be another rank's. */
static void deposit(const struct particle *own, int n, MPI_Win win)
{
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < n; i++) {
        int64_t cell = own[i].at / SCALE, part = own[i].at % SCALE;
        int64_t charges[2] = {own[i].weight * (SCALE - part), own[i].weight * part};
        for (int k = 0; k < 2; k++) {
            int64_t place = (cell + k) % ((int64_t)CELLS * size);
            MPI_Accumulate(&charges[k], 1, MPI_INT64_T, (int)(place / CELLS), place % CELLS, 1,
                           MPI_INT64_T, MPI_SUM, win);
        }
        MPI_Win_flush_local_all(win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void push(struct particle *own, int n, const int64_t *charge)
{
    int64_t whole = (int64_t)CELLS * SCALE * size;

    for (int i = 0; i < n; i++) {
        int64_t field = charge[own[i].at / SCALE % CELLS] / SCALE;
        own[i].speed = (int32_t)((own[i].speed + field) % (4 * CELLS * SCALE));
        own[i].at = ((own[i].at + own[i].speed) % whole + whole) % whole;
    }
}

static MPI_Datatype particle_type(void)
{
    const int lengths[] = {1, 1, 1};
    const MPI_Aint places[] = {offsetof(struct particle, at), offsetof(struct particle, speed),
                               offsetof(struct particle, weight)};
    const MPI_Datatype types[] = {MPI_INT64_T, MPI_INT32_T, MPI_INT16_T};
    MPI_Datatype members, type;

    MPI_Type_create_struct(3, lengths, places, types, &members);
    MPI_Type_create_resized(members, 0, sizeof(struct particle), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&members);
    return type;
}

static void particles(void)
{
    struct particle *own = list_of(PARTICLES, sizeof(struct particle));
    MPI_Datatype type = particle_type();
    int64_t *charge, sum = 0;
    int n = PARTICLES;
    MPI_Win win;

    MPI_Win_allocate(CELLS * sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &charge, &win);
    for (int i = 0; i < n; i++) {
        uint32_t drawn = mixed((uint32_t)(rank + 7), (uint32_t)i);
        own[i].at = drawn % (uint32_t)(CELLS * SCALE * size);
        own[i].speed = (int32_t)(drawn % 4096) - 2048;
        own[i].weight = (int16_t)(1 + drawn % 5);
    }
    for (int step = 0; step < PIC_STEPS; step++) {
        n = migrate(&own, n, type);
        memset(charge, 0, CELLS * sizeof(int64_t));
        MPI_Barrier(MPI_COMM_WORLD);
        deposit(own, n, win);
        push(own, n, charge);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < n; i++) {
        sum += own[i].at % 997 * own[i].weight;
    }
    say_sum("particles", sum, MPI_COMM_WORLD);
    say_sum("their number", n, MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Type_free(&type);
    free(own);
}

/* ---- sparse exchange with nonblocking consensus ---- */

/* Nobody knows who sends to him: synchronous sends tell when all have arrived, and a barrier when
 * that is so for all. */
static void consensus(void)
{
    MPI_Request sends[8], barrier = MPI_REQUEST_NULL;
    int n = (int)(mixed((uint32_t)rank, 99) % 6), values[8], done = 0, began = 0, got = 0;
    int64_t sum = 0;

    for (int i = 0; i < n; i++) {
        values[i] = rank * 100 + i;
        MPI_Issend(&values[i], 1, MPI_INT,
                   (int)(mixed((uint32_t)rank, (uint32_t)i) % (uint32_t)size), 9,
                   MPI_COMM_WORLD, &sends[i]);
    }
    while (!done) {
        MPI_Message message;
        MPI_Status status;
        int there, value, sent;
        MPI_Improbe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &there, &message, &status);
        if (there) {
            MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
            sum += value + 1000 * status.MPI_SOURCE;
            got++;
        }
        if (began) {
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        } else {
            MPI_Testall(n, sends, &sent, MPI_STATUSES_IGNORE);
            if (sent) {
                MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
                began = 1;
            }
        }
    }
    say("consensus: %d sent, %d got, %lld", n, got, (long long)sum);
}

/* ---- SUMMA ---- */

enum { BLOCK = 6 };

static void multiply(const int64_t *a, const int64_t *b, int64_t *c)
{
    for (int i = 0; i < BLOCK; i++) {
        for (int k = 0; k < BLOCK; k++) {
            for (int j = 0; j < BLOCK; j++) {
                c[i * BLOCK + j] += a[i * BLOCK + k] * b[k * BLOCK + j];
            }
        }
    }
}

/* The panels of the next step are on their way while those of this one are multiplied. */
static void summa(void)
{
    enum { BYTES = BLOCK * BLOCK * sizeof(int64_t) };
    const int periodic[2] = {0, 0}, along_row[2] = {0, 1}, along_column[2] = {1, 0};
    int dims[2] = {0, 0}, at[2], side = 1;
    int64_t a[BLOCK * BLOCK], b[BLOCK * BLOCK], c[BLOCK * BLOCK] = {0}, sum = 0;
    int64_t panels[2][2][BLOCK * BLOCK];
    MPI_Request requests[2][2];
    MPI_Comm part, grid, row, column;

    while ((side + 1) * (side + 1) <= size) {
        side++;
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank < side * side ? 0 : MPI_UNDEFINED, -rank, &part);
    if (part == MPI_COMM_NULL) {
        return;
    }
    dims[0] = dims[1] = side;
    MPI_Cart_create(part, 2, dims, periodic, 1, &grid);
    MPI_Comm_rank(grid, &dims[0]);
    MPI_Cart_coords(grid, dims[0], 2, at);
    MPI_Cart_sub(grid, along_row, &row);
    MPI_Cart_sub(grid, along_column, &column);
    for (int i = 0; i < BLOCK * BLOCK; i++) {
        a[i] = mixed((uint32_t)(at[0] * side + at[1]), (uint32_t)i) % 10;
        b[i] = mixed((uint32_t)i, (uint32_t)(at[0] * side + at[1])) % 10;
    }
    for (int k = 0; k <= side; k++) {
        if (k < side) {
            int64_t(*to)[BLOCK * BLOCK] = panels[k % 2];
            memcpy(to[0], a, BYTES);
            memcpy(to[1], b, BYTES);
            MPI_Ibcast(to[0], BLOCK * BLOCK, MPI_INT64_T, k, row, &requests[k % 2][0]);
            MPI_Ibcast(to[1], BLOCK * BLOCK, MPI_INT64_T, k, column, &requests[k % 2][1]);
        }
        if (k > 0) {
            MPI_Waitall(2, requests[(k - 1) % 2], MPI_STATUSES_IGNORE);
            multiply(panels[(k - 1) % 2][0], panels[(k - 1) % 2][1], c);
        }
    }
    for (int i = 0; i < BLOCK * BLOCK; i++) {
        sum += c[i] * (i + 1);
    }
    say_sum("summa", sum, grid);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&part);
}

/* ---- a stencil in shared memory ---- */

enum { POINTS = 10, SWEEPS = 7 };

/* The edge of the neighbor on that side: in memory if it is on the node, else in a message. */
static int64_t *edge_of(MPI_Win win, MPI_Group all, MPI_Group node, int neighbor, int place)
{
    int local = MPI_UNDEFINED, unit;
    MPI_Aint bytes;
    int64_t *base = NULL;

    if (neighbor >= 0 && neighbor < size) {
        MPI_Group_translate_ranks(all, 1, &neighbor, node, &local);
    }
    if (local != MPI_UNDEFINED) {
        MPI_Win_shared_query(win, local, &bytes, &unit, &base);
        base += place;
    }
    return base;
}

static void shared_stencil(void)
{
    MPI_Comm node;
    MPI_Group all, on_node;
    MPI_Win win;
    int64_t *own, next[POINTS], sum = 0, edges[2];

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(node, &on_node);
    MPI_Win_allocate_shared(POINTS * sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, node,
                            &own, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i < POINTS; i++) {
        own[i] = mixed((uint32_t)rank, (uint32_t)(i + 50)) % 1000;
    }
    const int sides[2] = {rank - 1, rank + 1};
    int64_t *in_memory[2] = {edge_of(win, all, on_node, sides[0], POINTS - 1),
                             edge_of(win, all, on_node, sides[1], 0)};
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                                   MPI_REQUEST_NULL};
        MPI_Win_sync(win);
        MPI_Barrier(node);
        MPI_Win_sync(win);
        for (int k = 0; k < 2; k++) {
            edges[k] = in_memory[k] != NULL ? *in_memory[k] : 0;
            if (in_memory[k] == NULL && sides[k] >= 0 && sides[k] < size) {
                MPI_Irecv(&edges[k], 1, MPI_INT64_T, sides[k], 5, MPI_COMM_WORLD, &requests[k]);
                MPI_Isend(&own[k == 0 ? 0 : POINTS - 1], 1, MPI_INT64_T, sides[k], 5,
                          MPI_COMM_WORLD, &requests[2 + k]);
            }
        }
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < POINTS; i++) {
            int64_t left = i > 0 ? own[i - 1] : edges[0];
            int64_t right = i + 1 < POINTS ? own[i + 1] : edges[1];
            next[i] = (left + 2 * own[i] + right) % 100003;
        }
        MPI_Barrier(node);
        memcpy(own, next, sizeof(next));
    }
    for (int i = 0; i < POINTS; i++) {
        sum += own[i] * (i + 1);
    }
    MPI_Win_unlock_all(win);
    say_sum("shared stencil", sum, MPI_COMM_WORLD);
    MPI_Group_free(&all);
    MPI_Group_free(&on_node);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

/* ---- breadth-first search ---- */

enum { VERTICES = 40, DEGREE = 3 };

/* Vertices are claimed by compare-and-swap in the memory of their rank; those that are found new
 * are put into a queue there. All of a level are visited before the next one. */
static void search(void)
{
    int *memory, fresh = 1, level = 0;
    int64_t sum = 0;
    MPI_Win win;

    MPI_Win_allocate(2 * VERTICES * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &win);
    int *depth = memory;
    for (int i = 0; i < 2 * VERTICES; i++) {
        memory[i] = -1;
    }
    depth[0] = rank == 0 ? 0 : -1;
    MPI_Barrier(MPI_COMM_WORLD);
    for (; fresh > 0; level++) {
        int found = 0, next = level + 1, none = -1, before;
        MPI_Win_lock_all(0, win);
        for (int v = 0; v < VERTICES; v++) {
            for (int e = 0; depth[v] == level && e < DEGREE; e++) {
                uint32_t to = mixed((uint32_t)(rank * VERTICES + v), (uint32_t)e) %
                              (uint32_t)(VERTICES * size);
                MPI_Compare_and_swap(&next, &none, &before, MPI_INT, (int)(to / VERTICES),
                                     to % VERTICES, win);
                MPI_Win_flush((int)(to / VERTICES), win);
                found += before == -1;
            }
        }
        MPI_Win_unlock_all(win);
        MPI_Allreduce(&found, &fresh, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    for (int v = 0; v < VERTICES; v++) {
        sum += (int64_t)(v + 1) * depth[v];
    }
    say("search: %d levels", level);
    say_sum("depths", sum, MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

/* ---- checkpoint ---- */

enum { EDGE = 12 };

/* Blocks of columns are written, and blocks of rows are read. */
static void checkpoint(void)
{
    static const char name[] = "miniapps.data";
    int width = EDGE, sizes[2] = {EDGE * size, EDGE * size};
    int columns[2] = {EDGE * size, width}, rows[2] = {width, EDGE * size};
    int from_column[2] = {0, rank * width}, from_row[2] = {rank * width, 0};
    size_t n = (size_t)(EDGE * size * EDGE);
    int *out = list_of(n, sizeof(int)), *in = list_of(n, sizeof(int)), wrong = 0;
    MPI_Datatype by_column, by_row;
    MPI_File file;

    MPI_Type_create_subarray(2, sizes, columns, from_column, MPI_ORDER_C, MPI_INT, &by_column);
    MPI_Type_create_subarray(2, sizes, rows, from_row, MPI_ORDER_C, MPI_INT, &by_row);
    MPI_Type_commit(&by_column);
    MPI_Type_commit(&by_row);
    for (int i = 0; i < EDGE * size; i++) {
        for (int k = 0; k < width; k++) {
            out[i * width + k] = i * 1000 + rank * width + k;
        }
    }
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 64, MPI_INT, by_column, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, out, (int)n, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(file, 64, MPI_INT, by_row, "native", MPI_INFO_NULL);
    MPI_File_read_all(file, in, (int)n, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < width; i++) {
        for (int k = 0; k < EDGE * size; k++) {
            wrong += in[i * EDGE * size + k] != (rank * width + i) * 1000 + k;
        }
    }
    say("checkpoint: %d wrong", wrong);
    MPI_File_close(&file);
    if (rank == 0) {
        MPI_File_delete(name, MPI_INFO_NULL);
    }
    MPI_Type_free(&by_column);
    MPI_Type_free(&by_row);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    multigrid();
    particles();
    consensus();
    summa();
    shared_stencil();
    search();
    checkpoint();
    say_all();
    return 0;
}
