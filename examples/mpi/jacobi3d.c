/* SPDX-License-Identifier: Apache-2.0 */
/* Jacobi's method with seven points on a cube that is spread over the ranks: what does not need
 * the neighbours is computed while their faces are on the way.
 * usage: jacobi3d [points along the whole cube] [steps] [ns to compute a point]
 *                 [1: find the largest change of all ranks after each step] */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/mark.h>

enum { DIMS = 3, FACES = 2 * DIMS };

struct cube {
    MPI_Comm grid;
    int n[DIMS];             /* own points */
    int neighbours[FACES];   /* below and above, in each direction */
    MPI_Datatype face[DIMS]; /* a layer of points across it */
    size_t step[DIMS];       /* from a point to the next one */
    double *now, *next;      /* with a layer around them */
    double ns_per_point;
};

static size_t at(const struct cube *cube, int x, int y, int z)
{
    return (size_t)x * cube->step[0] + (size_t)y * cube->step[1] + (size_t)z;
}

static void make_faces(struct cube *cube)
{
    const int sizes[DIMS] = {cube->n[0] + 2, cube->n[1] + 2, cube->n[2] + 2};
    const int starts[DIMS] = {0, 0, 0};

    for (int d = 0; d < DIMS; d++) {
        int part[DIMS] = {cube->n[0], cube->n[1], cube->n[2]};
        part[d] = 1;
        MPI_Type_create_subarray(DIMS, sizes, part, starts, MPI_ORDER_C, MPI_DOUBLE,
                                 &cube->face[d]);
        MPI_Type_commit(&cube->face[d]);
    }
}

static void set_up(struct cube *cube, int points)
{
    int size, dims[DIMS] = {0, 0, 0}, periods[DIMS] = {0, 0, 0}, place[DIMS];

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, DIMS, dims);
    MPI_Cart_create(MPI_COMM_WORLD, DIMS, dims, periods, 0, &cube->grid);
    MPI_Cart_get(cube->grid, DIMS, dims, periods, place);
    for (int d = 0; d < DIMS; d++) {
        MPI_Cart_shift(cube->grid, d, 1, &cube->neighbours[2 * d],
                       &cube->neighbours[2 * d + 1]);
        cube->n[d] = points * (place[d] + 1) / dims[d] - points * place[d] / dims[d];
    }
    cube->step[2] = 1;
    cube->step[1] = (size_t)cube->n[2] + 2;
    cube->step[0] = ((size_t)cube->n[1] + 2) * cube->step[1];
    size_t all = ((size_t)cube->n[0] + 2) * cube->step[0];
    cube->now = calloc(all, sizeof(double));
    cube->next = calloc(all, sizeof(double));
    make_faces(cube);
    for (size_t i = 0; place[0] == 0 && i < cube->step[0]; i++) { /* one side is hot */
        cube->now[i] = cube->next[i] = 100;
    }
}

/* Where the layer next to a face begins: that which is sent, or that which comes from outside.
 */
static double *layer(const struct cube *cube, int face, int outside)
{
    int d = face / 2, begin[DIMS] = {1, 1, 1};

    begin[d] = face % 2 == 0 ? 1 - outside : cube->n[d] + outside;
    return &cube->now[at(cube, begin[0], begin[1], begin[2])];
}

static void begin_exchange(const struct cube *cube, MPI_Request *requests)
{
    for (int face = 0; face < FACES; face++) {
        MPI_Irecv(layer(cube, face, 1), 1, cube->face[face / 2], cube->neighbours[face],
                  face ^ 1, cube->grid, &requests[face]);
    }
    for (int face = 0; face < FACES; face++) {
        MPI_Isend(layer(cube, face, 0), 1, cube->face[face / 2], cube->neighbours[face], face,
                  cube->grid, &requests[FACES + face]);
    }
}

/* Points from `from` up to and without `to`; returns the largest change. */
static double relax(struct cube *cube, const int *from, const int *to)
{
    double change = 0;

    for (int x = from[0]; x < to[0]; x++) {
        for (int y = from[1]; y < to[1]; y++) {
            const double *in = &cube->now[at(cube, x, y, 0)];
            double *out = &cube->next[at(cube, x, y, 0)];
            const size_t a = cube->step[0], b = cube->step[1];
            for (int z = from[2]; z < to[2]; z++) {
                double value = (in[(size_t)z - a] + in[(size_t)z + a] + in[(size_t)z - b] +
                                in[(size_t)z + b] + in[z - 1] + in[z + 1]) /
                               6;
                double moved = fabs(value - in[z]);
                change = moved > change ? moved : change; /* fmax() would be a call */
                out[z] = value;
            }
        }
    }
    double points = 1;
    for (int d = 0; d < DIMS; d++) {
        points *= to[d] > from[d] ? to[d] - from[d] : 0;
    }
    WEFT_COMPUTE(points * cube->ns_per_point * 1e-9);
    return change;
}

/* The points next to a face, each in one of them only. */
static double relax_faces(struct cube *cube)
{
    double change = 0;
    int from[DIMS] = {1, 1, 1}, to[DIMS] = {cube->n[0] + 1, cube->n[1] + 1, cube->n[2] + 1};

    for (int d = 0; d < DIMS; d++) {
        const int first = from[d], last = to[d];
        to[d] = first + 1 < last ? first + 1 : last;
        change = fmax(change, relax(cube, from, to));
        from[d] = last - 1 > to[d] ? last - 1 : to[d];
        to[d] = last;
        change = fmax(change, relax(cube, from, to));
        from[d] = first + 1;
        to[d] = last - 1;
    }
    return change;
}

static double make_step(struct cube *cube)
{
    const int from[DIMS] = {2, 2, 2}, to[DIMS] = {cube->n[0], cube->n[1], cube->n[2]};
    MPI_Request requests[2 * FACES];

    begin_exchange(cube, requests);
    double change = relax(cube, from, to);
    MPI_Waitall(2 * FACES, requests, MPI_STATUSES_IGNORE);
    change = fmax(change, relax_faces(cube));
    double *old = cube->now;
    cube->now = cube->next;
    cube->next = old;
    return change;
}

static double sum_of(const struct cube *cube)
{
    double sum = 0;

    for (int x = 1; x <= cube->n[0]; x++) {
        for (int y = 1; y <= cube->n[1]; y++) {
            for (int z = 1; z <= cube->n[2]; z++) {
                sum += cube->now[at(cube, x, y, z)];
            }
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    int rank, points = argc > 1 ? atoi(argv[1]) : 32, steps = argc > 2 ? atoi(argv[2]) : 10;
    double change = 0, own[1], all[1], most = 0;
    struct cube cube = {.ns_per_point = argc > 3 ? atof(argv[3]) : 5};
    int meets = argc > 4 && atoi(argv[4]) != 0;

    MPI_Init(&argc, &argv);
    set_up(&cube, points);
    MPI_Comm_rank(cube.grid, &rank);
    MPI_Barrier(cube.grid);
    double begin = MPI_Wtime();
    for (int i = 0; i < steps; i++) {
        change = make_step(&cube);
        if (meets) {
            MPI_Allreduce(&change, &most, 1, MPI_DOUBLE, MPI_MAX, cube.grid);
        }
    }
    MPI_Barrier(cube.grid);
    double seconds = MPI_Wtime() - begin;
    own[0] = sum_of(&cube);
    MPI_Reduce(&change, &most, 1, MPI_DOUBLE, MPI_MAX, 0, cube.grid);
    MPI_Reduce(own, all, 1, MPI_DOUBLE, MPI_SUM, 0, cube.grid);
    if (rank == 0) {
        printf("%d points cubed, %d steps: last change %.9f, sum %.6f\n", points, steps, most,
               all[0]);
        fprintf(stderr, "%.9f seconds\n", seconds);
    }
    for (int d = 0; d < DIMS; d++) {
        MPI_Type_free(&cube.face[d]);
    }
    MPI_Comm_free(&cube.grid);
    free(cube.now);
    free(cube.next);
    MPI_Finalize();
    return 0;
}
