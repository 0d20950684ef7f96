/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
extern void Cblacs_pinfo(int *, int *);
extern void Cblacs_get(int, int, int *);
extern void Cblacs_gridinit(int *, const char *, int, int);
extern void Cblacs_gridinfo(int, int *, int *, int *, int *);
extern void Cblacs_gridexit(int);
extern int numroc_(int *, int *, int *, int *, int *);
extern void descinit_(int *, int *, int *, int *, int *, int *, int *, int *, int *, int *);
extern void pdgesv_(int *, int *, double *, int *, int *, int *, int *, double *, int *, int *,
                    int *, int *);
extern int indxl2g_(int *, int *, int *, int *, int *);
static double a_of(int i, int k)
{
    return i == k ? 10.0 + i % 3 : 1.0 / (1 + abs(i - k));
}
int main(int argc, char **argv)
{
    int rank, size, context, rows, columns, row, column, zero = 0, one = 1, n = 96, nb = 8,
                                                         info, dims[2] = {0, 0};
    MPI_Init(&argc, &argv);
    Cblacs_pinfo(&rank, &size);
    MPI_Dims_create(size, 2, dims);
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", dims[0], dims[1]);
    Cblacs_gridinfo(context, &rows, &columns, &row, &column);
    int mine = numroc_(&n, &nb, &row, &zero, &rows),
        cols = numroc_(&n, &nb, &column, &zero, &columns);
    int rhs = numroc_(&one, &nb, &column, &zero, &columns), lead = mine > 1 ? mine : 1;
    int desca[9], descb[9], *pivots = calloc((size_t)lead + nb, sizeof(int));
    descinit_(desca, &n, &n, &nb, &nb, &zero, &zero, &context, &lead, &info);
    descinit_(descb, &n, &one, &nb, &nb, &zero, &zero, &context, &lead, &info);
    double *a = calloc((size_t)lead * (cols + 1), sizeof(double)),
           *b = calloc((size_t)lead * 2, sizeof(double));
    for (int k = 0; k < cols; k++)
        for (int i = 0; i < mine; i++) {
            int li = i + 1, lk = k + 1;
            a[(size_t)k * lead + i] = a_of(indxl2g_(&li, &nb, &row, &zero, &rows) - 1,
                                           indxl2g_(&lk, &nb, &column, &zero, &columns) - 1);
        }
    for (int i = 0; i < mine && rhs > 0; i++) {
        int li = i + 1, g = indxl2g_(&li, &nb, &row, &zero, &rows) - 1;
        for (int k = 0; k < n; k++)
            b[i] += a_of(g, k) * (k + 1);
    }
    pdgesv_(&n, &one, a, &one, &one, desca, pivots, b, &one, &one, descb, &info);
    double error = 0, worst;
    for (int i = 0; i < mine && rhs > 0; i++) {
        int li = i + 1, g = indxl2g_(&li, &nb, &row, &zero, &rows) - 1;
        error = fmax(error, fabs(b[i] - (g + 1)));
    }
    MPI_Reduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("scalapack: %d ranks, info %d, %s\n", size, info,
               worst < 1e-9 ? "right" : "wrong");
    Cblacs_gridexit(context);
    MPI_Finalize();
    return 0;
}
