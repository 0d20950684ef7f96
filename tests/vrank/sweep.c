/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep of discrete ordinates over a grid (KBA): ranks are a grid of columns, octants begin at its
 * corners, and blocks of planes go from rank to rank in a pipeline. In integers, so that the result
 * does not depend on the order of sums. Threads divide the angles: in regions between the calls of
 * MPI, in one region whose first thread communicates, as tasks that communicate one at a time, and
 * with messages of their own. */
#include <mpi.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X = 4, Y = 3, Z = 8, PLANES = 2, BLOCKS = Z / PLANES, ANGLES = 12, OCTANTS = 8 };
enum { MODULUS = 1000003 };

/* What flows into a block at its faces, for one angle. */
struct faces {
    int64_t x[PLANES][Y], y[PLANES][X], z[Y][X];
};

static int rank, size, dims[2], at[2];
static MPI_Comm grid;
static int64_t flux[Z][Y][X];
static struct faces faces[ANGLES];

static int64_t source_of(int z, int y, int x)
{
    return ((at[0] * X + x) * 31 + (at[1] * Y + y) * 17 + z * 7) % 101;
}

/* One angle of a block of an octant, whose three bits are the directions. */
static void sweep_block(int octant, int block, int angle)
{
    struct faces *in = &faces[angle];

    for (int k = 0; k < PLANES; k++) {
        int plane = block * PLANES + k, z = octant & 4 ? Z - 1 - plane : plane;
        for (int j = 0; j < Y; j++) {
            int y = octant & 2 ? Y - 1 - j : j;
            for (int i = 0; i < X; i++) {
                int x = octant & 1 ? X - 1 - i : i;
                int64_t psi = (source_of(z, y, x) + 3 * in->x[k][y] + 5 * in->y[k][x] +
                               7 * in->z[y][x] + angle * 11) %
                              MODULUS;
                in->x[k][y] = in->y[k][x] = in->z[y][x] = psi;
#pragma omp atomic
                flux[z][y][x] += psi * (angle + 1);
            }
        }
    }
}

/* The rank from which an octant comes in a dimension, and to which it goes. */
static void neighbors(int octant, int dimension, int *from, int *to)
{
    int step = octant >> dimension & 1 ? -1 : 1;

    MPI_Cart_shift(grid, dimension, step, from, to);
}

static int64_t *face_of(int angle, int dimension)
{
    return dimension == 0 ? &faces[angle].x[0][0] : &faces[angle].y[0][0];
}

static int face_size(int dimension)
{
    return PLANES * (dimension == 0 ? Y : X);
}

/* The faces of some angles come in one message for each dimension. */
static void receive(int octant, int first, int n, int tag)
{
    int64_t buffer[ANGLES * PLANES * X];

    for (int d = 0; d < 2; d++) {
        int from, to, count = face_size(d);
        neighbors(octant, d, &from, &to);
        memset(buffer, 0, sizeof(buffer));
        MPI_Recv(buffer, n * count, MPI_INT64_T, from, 2 * tag + d, grid, MPI_STATUS_IGNORE);
        for (int a = 0; a < n; a++) {
            memcpy(face_of(first + a, d), buffer + a * count, (size_t)count * sizeof(int64_t));
        }
    }
}

static void send(int octant, int first, int n, int tag)
{
    int64_t buffers[2][ANGLES * PLANES * X];
    MPI_Request requests[2];

    for (int d = 0; d < 2; d++) {
        int from, to, count = face_size(d);
        neighbors(octant, d, &from, &to);
        for (int a = 0; a < n; a++) {
            memcpy(buffers[d] + a * count, face_of(first + a, d),
                   (size_t)count * sizeof(int64_t));
        }
        MPI_Isend(buffers[d], n * count, MPI_INT64_T, to, 2 * tag + d, grid, &requests[d]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void begin_octant(int first, int n)
{
    for (int a = first; a < first + n; a++) {
        memset(faces[a].z, 0, sizeof(faces[a].z));
    }
}

/* Regions between the calls. */
static void regions(void)
{
    for (int octant = 0; octant < OCTANTS; octant++) {
        begin_octant(0, ANGLES);
        for (int block = 0; block < BLOCKS; block++) {
            receive(octant, 0, ANGLES, 0);
#pragma omp parallel for schedule(dynamic)
            for (int a = 0; a < ANGLES; a++) {
                sweep_block(octant, block, a);
            }
            send(octant, 0, ANGLES, 0);
        }
    }
}

/* One region: the first thread communicates, the others wait for it. */
static void one_region(void)
{
#pragma omp parallel
    for (int octant = 0; octant < OCTANTS; octant++) {
        for (int block = 0; block < BLOCKS; block++) {
#pragma omp master
            {
                if (block == 0) {
                    begin_octant(0, ANGLES);
                }
                receive(octant, 0, ANGLES, 0);
            }
#pragma omp barrier
#pragma omp for schedule(static, 1)
            for (int a = 0; a < ANGLES; a++) {
                sweep_block(octant, block, a);
            }
#pragma omp master
            send(octant, 0, ANGLES, 0);
#pragma omp barrier
        }
    }
}

/* Tasks: angles of a block depend on what was received, and what is sent on all of them. */
static void tasks(void)
{
    char ready = 0;

#pragma omp parallel
#pragma omp single
    for (int octant = 0; octant < OCTANTS; octant++) {
        for (int block = 0; block < BLOCKS; block++) {
#pragma omp task depend(out : ready)
            {
                if (block == 0) {
                    begin_octant(0, ANGLES);
                }
                receive(octant, 0, ANGLES, 0);
            }
#pragma omp task depend(inout : ready)
#pragma omp taskloop grainsize(2)
            for (int a = 0; a < ANGLES; a++) {
                sweep_block(octant, block, a);
            }
#pragma omp task depend(in : ready)
            send(octant, 0, ANGLES, 0);
        }
    }
}

/* Each thread sweeps its own angles, with messages of its own. */
static void own_messages(void)
{
    enum { GROUPS = 4, GROUP = ANGLES / GROUPS };

#pragma omp parallel for schedule(static, 1) num_threads(GROUPS)
    for (int group = 0; group < GROUPS; group++) {
        for (int octant = 0; octant < OCTANTS; octant++) {
            begin_octant(group * GROUP, GROUP);
            for (int block = 0; block < BLOCKS; block++) {
                receive(octant, group * GROUP, GROUP, group);
                for (int a = 0; a < GROUP; a++) {
                    sweep_block(octant, block, group * GROUP + a);
                }
                send(octant, group * GROUP, GROUP, group);
            }
        }
    }
}

static void tell(const char *what, void (*sweep)(void))
{
    int64_t sum = 0, all = 0;

    memset(flux, 0, sizeof(flux));
    sweep();
    for (int i = 0; i < Z * Y * X; i++) {
        sum += (&flux[0][0][0])[i] % MODULUS * (i + 1);
    }
    sum *= rank + 1;
    MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, grid);
    if (rank == 0) {
        printf("%s: %lld\n", what, (long long)all);
    }
}

int main(int argc, char **argv)
{
    const int periodic[2] = {0, 0};
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, at);
    tell("regions", regions);
    tell("one region", one_region);
    tell("tasks", tasks);
    if (provided == MPI_THREAD_MULTIPLE) {
        tell("own messages", own_messages);
    }
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
