/* SPDX-License-Identifier: Apache-2.0 */
/* Multigrid, after the idea of the NAS benchmark MG: -div grad u = f on a cube that is spread
 * over the ranks, by V-cycles. On coarse grids ranks have little to compute and short messages.
 * usage: mg [points along the whole cube, a power of two] [cycles] [ns to compute a point] */
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/mark.h>

enum { DIMS = 3, LEVELS = 20, SMOOTHINGS = 2, COARSEST = 20 };

struct level {
    int n[DIMS];             /* own points */
    size_t step[DIMS];       /* from a point to the next one */
    double h2;               /* the square of the distance of points */
    double *u, *f, *r;       /* with a layer around them */
    MPI_Datatype face[DIMS]; /* a layer across each direction */
};

struct cube {
    MPI_Comm grid;
    int neighbours[2 * DIMS], place[DIMS], n_levels;
    double ns;
    struct level levels[LEVELS];
};

static size_t at(const struct level *level, int x, int y, int z)
{
    return (size_t)x * level->step[0] + (size_t)y * level->step[1] + (size_t)z;
}

static void computed(const struct cube *cube, const struct level *level)
{
    WEFT_COMPUTE((double)level->n[0] * level->n[1] * level->n[2] * cube->ns * 1e-9);
}

static void make_level(struct level *level, const int *n, double h)
{
    const int starts[DIMS] = {0, 0, 0}, sizes[DIMS] = {n[0] + 2, n[1] + 2, n[2] + 2};
    size_t all = (size_t)sizes[0] * (size_t)sizes[1] * (size_t)sizes[2];

    *level = (struct level){.h2 = h * h,
                            .step = {(size_t)sizes[1] * (size_t)sizes[2], (size_t)sizes[2], 1},
                            .u = calloc(all, sizeof(double)),
                            .f = calloc(all, sizeof(double)),
                            .r = calloc(all, sizeof(double))};
    for (int d = 0; d < DIMS; d++) {
        int part[DIMS] = {sizes[0], sizes[1], sizes[2]};
        level->n[d] = n[d];
        part[d] = 1;
        MPI_Type_create_subarray(DIMS, sizes, part, starts, MPI_ORDER_C, MPI_DOUBLE,
                                 &level->face[d]);
        MPI_Type_commit(&level->face[d]);
    }
}

static void set_up(struct cube *cube, int points)
{
    int size, dims[DIMS] = {0, 0, 0}, periods[DIMS] = {0, 0, 0}, n[DIMS], even = 1;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, DIMS, dims);
    MPI_Cart_create(MPI_COMM_WORLD, DIMS, dims, periods, 0, &cube->grid);
    MPI_Cart_get(cube->grid, DIMS, dims, periods, cube->place);
    for (int d = 0; d < DIMS; d++) {
        MPI_Cart_shift(cube->grid, d, 1, &cube->neighbours[2 * d],
                       &cube->neighbours[2 * d + 1]);
        n[d] = points / dims[d];
        if (n[d] * dims[d] != points || n[d] == 0) {
            fprintf(stderr, "mg: %d points on %d ranks\n", points, dims[d]);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    for (double h = 1.0 / points; even && cube->n_levels < LEVELS; h *= 2) {
        make_level(&cube->levels[cube->n_levels++], n, h);
        for (int d = 0; d < DIMS; d++) {
            even = even && n[d] % 2 == 0;
            n[d] /= 2;
        }
    }
}

/* Gets the neighbours' points next to the own ones; those across an edge or a corner come in
 * two or three steps. */
static void exchange(const struct cube *cube, const struct level *level, double *field)
{
    for (int d = 0; d < DIMS; d++) {
        int below = cube->neighbours[2 * d], above = cube->neighbours[2 * d + 1];
        const size_t step = level->step[d], last = (size_t)level->n[d] * step;
        MPI_Sendrecv(&field[last], 1, level->face[d], above, d, &field[0], 1, level->face[d],
                     below, d, cube->grid, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&field[step], 1, level->face[d], below, d, &field[last + step], 1,
                     level->face[d], above, d, cube->grid, MPI_STATUS_IGNORE);
    }
}

/* r = f - A u; returns the sum of squares. */
static double find_rest(struct cube *cube, struct level *level)
{
    const size_t a = level->step[0], b = level->step[1];
    double sum = 0;

    exchange(cube, level, level->u);
    for (int x = 1; x <= level->n[0]; x++) {
        for (int y = 1; y <= level->n[1]; y++) {
            for (int z = 1; z <= level->n[2]; z++) {
                size_t i = at(level, x, y, z);
                const double *u = &level->u[i];
                double around =
                    u[-(ptrdiff_t)a] + u[a] + u[-(ptrdiff_t)b] + u[b] + u[-1] + u[1];
                level->r[i] = level->f[i] - (6 * u[0] - around) / level->h2;
                sum += level->r[i] * level->r[i];
            }
        }
    }
    computed(cube, level);
    return sum;
}

static void smooth(struct cube *cube, struct level *level, int times)
{
    size_t all = level->step[0] * ((size_t)level->n[0] + 2);

    for (int k = 0; k < times; k++) {
        (void)find_rest(cube, level);
        for (size_t i = 0; i < all; i++) { /* around the own points the rest is 0 */
            level->u[i] += 0.8 * level->h2 / 6 * level->r[i];
        }
    }
}

/* Eight points become one: their rest is what is to be solved for there. */
static void restrict_to(struct cube *cube, const struct level *fine, struct level *coarse)
{
    for (int x = 1; x <= coarse->n[0]; x++) {
        for (int y = 1; y <= coarse->n[1]; y++) {
            for (int z = 1; z <= coarse->n[2]; z++) {
                const double *r = &fine->r[at(fine, 2 * x - 1, 2 * y - 1, 2 * z - 1)];
                const size_t a = fine->step[0], b = fine->step[1];
                size_t i = at(coarse, x, y, z);
                coarse->f[i] = 0.125 * (r[0] + r[1] + r[b] + r[b + 1] + r[a] + r[a + 1] +
                                        r[a + b] + r[a + b + 1]);
            }
        }
    }
    for (size_t i = 0; i < coarse->step[0] * ((size_t)coarse->n[0] + 2); i++) {
        coarse->u[i] = 0;
    }
    computed(cube, coarse);
}

/* Between the coarse point that a fine one is in and the nearest others, in all directions. */
static double between(const struct level *coarse, int x, int y, int z)
{
    const int at_fine[DIMS] = {x, y, z};
    size_t i = 0, to[DIMS];
    double sum = 0;

    for (int d = 0; d < DIMS; d++) {
        i += (size_t)((at_fine[d] + 1) / 2) * coarse->step[d];
        to[d] = at_fine[d] % 2 == 1 ? (size_t)0 - coarse->step[d] : coarse->step[d];
    }
    for (int corner = 0; corner < 8; corner++) {
        size_t k = i;
        double weight = 1;
        for (int d = 0; d < DIMS; d++) {
            k += corner >> d & 1 ? to[d] : 0;
            weight *= corner >> d & 1 ? 0.25 : 0.75;
        }
        sum += weight * coarse->u[k];
    }
    return sum;
}

static void add_from(struct cube *cube, struct level *fine, const struct level *coarse)
{
    exchange(cube, coarse, coarse->u);
    for (int x = 1; x <= fine->n[0]; x++) {
        for (int y = 1; y <= fine->n[1]; y++) {
            for (int z = 1; z <= fine->n[2]; z++) {
                fine->u[at(fine, x, y, z)] += between(coarse, x, y, z);
            }
        }
    }
    computed(cube, fine);
}

static void cycle(struct cube *cube)
{
    int last = cube->n_levels - 1;

    for (int l = 0; l < last; l++) {
        smooth(cube, &cube->levels[l], SMOOTHINGS);
        (void)find_rest(cube, &cube->levels[l]);
        restrict_to(cube, &cube->levels[l], &cube->levels[l + 1]);
    }
    smooth(cube, &cube->levels[last], COARSEST);
    for (int l = last - 1; l >= 0; l--) {
        add_from(cube, &cube->levels[l], &cube->levels[l + 1]);
        smooth(cube, &cube->levels[l], SMOOTHINGS);
    }
}

static double norm(struct cube *cube)
{
    double own = find_rest(cube, &cube->levels[0]), all = 0;

    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, cube->grid);
    return sqrt(all);
}

int main(int argc, char **argv)
{
    int rank, points = argc > 1 ? atoi(argv[1]) : 32, cycles = argc > 2 ? atoi(argv[2]) : 4;
    struct cube cube = {.ns = argc > 3 ? atof(argv[3]) : 5};

    MPI_Init(&argc, &argv);
    set_up(&cube, points);
    MPI_Comm_rank(cube.grid, &rank);
    struct level *finest = &cube.levels[0];
    for (int x = 1; x <= finest->n[0]; x++) { /* a sign for each part of the cube */
        for (int y = 1; y <= finest->n[1]; y++) {
            for (int z = 1; z <= finest->n[2]; z++) {
                int odd = (cube.place[0] * finest->n[0] + x - 1) * 4 / points +
                          (cube.place[1] * finest->n[1] + y - 1) * 4 / points;
                finest->f[at(finest, x, y, z)] = odd % 2 == 0 ? 1 : -1;
            }
        }
    }
    double before = norm(&cube), after = before;
    for (int i = 0; i < cycles; i++) {
        cycle(&cube);
        after = norm(&cube);
    }
    if (rank == 0) {
        printf("%d points cubed, %d levels, %d cycles: norm %.6f, then %.9f\n", points,
               cube.n_levels, cycles, before, after);
    }
    for (int l = 0; l < cube.n_levels; l++) {
        for (int d = 0; d < DIMS; d++) {
            MPI_Type_free(&cube.levels[l].face[d]);
        }
        free(cube.levels[l].u);
        free(cube.levels[l].f);
        free(cube.levels[l].r);
    }
    MPI_Comm_free(&cube.grid);
    MPI_Finalize();
    return 0;
}
