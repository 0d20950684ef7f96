/* SPDX-License-Identifier: Apache-2.0 */
/* Conjugate gradients: -u'' + u = f on a line that is spread over the ranks.
 * usage: cg [points of each rank] */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, n;

static double dot(const double *a, const double *b)
{
    double own = 0, all = 0;

    for (int i = 1; i <= n; i++) {
        own += a[i] * b[i];
    }
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* out = A x; x has a place for a neighbour's value at both ends. */
static void multiply(double *x, double *out)
{
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

    x[0] = x[n + 1] = 0;
    MPI_Sendrecv(&x[n], 1, MPI_DOUBLE, right, 0, &x[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&x[1], 1, MPI_DOUBLE, left, 1, &x[n + 1], 1, MPI_DOUBLE, right, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= n; i++) {
        out[i] = 3 * x[i] - x[i - 1] - x[i + 1];
    }
}

int main(int argc, char **argv)
{
    n = argc > 1 ? atoi(argv[1]) : 64;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    size_t room = (size_t)n + 2;
    double *x = calloc(room, sizeof(double)), *r = calloc(room, sizeof(double));
    double *p = calloc(room, sizeof(double)), *q = calloc(room, sizeof(double));
    double *truth = calloc(room, sizeof(double)), error = 0, worst = 0;

    for (int i = 1; i <= n; i++) {
        truth[i] = (rank * 31 + i * 7) % 11 - 5;
    }
    multiply(truth, r);
    for (int i = 1; i <= n; i++) {
        p[i] = r[i];
    }
    double rr = dot(r, r);
    for (int k = 0; k < 60; k++) { /* well conditioned: the same number of steps at any size */
        multiply(p, q);
        double alpha = rr / dot(p, q), before = rr;
        for (int i = 1; i <= n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        rr = dot(r, r);
        for (int i = 1; i <= n && rr > 0; i++) {
            p[i] = r[i] + rr / before * p[i];
        }
        if (rr < 1e-24) {
            break;
        }
    }
    for (int i = 1; i <= n; i++) {
        error = fmax(error, fabs(x[i] - truth[i]));
    }
    MPI_Reduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d unknowns on %d ranks: %s, x[1] = %.6f\n", n * size, size,
               worst < 1e-9 ? "solved" : "NOT solved", x[1]);
    }
    free(x);
    free(r);
    free(p);
    free(q);
    free(truth);
    MPI_Finalize();
    return 0;
}
