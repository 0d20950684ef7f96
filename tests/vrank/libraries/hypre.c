/* SPDX-License-Identifier: Apache-2.0 */
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size;
    const HYPRE_Int n = 32;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    HYPRE_Init();
    HYPRE_BigInt all = n * n, lower = all * rank / size, upper = all * (rank + 1) / size - 1;
    HYPRE_IJMatrix a;
    HYPRE_IJVector b, x;
    HYPRE_ParCSRMatrix pa;
    HYPRE_ParVector pb, px;
    HYPRE_Solver amg, pcg;
    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, lower, upper, lower, upper, &a);
    HYPRE_IJMatrixSetObjectType(a, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(a);
    for (HYPRE_BigInt row = lower; row <= upper; row++) {
        HYPRE_BigInt columns[5];
        double values[5];
        HYPRE_Int k = 0;
        if (row >= n) {
            columns[k] = row - n;
            values[k++] = -1;
        }
        if (row % n > 0) {
            columns[k] = row - 1;
            values[k++] = -1;
        }
        columns[k] = row;
        values[k++] = 4;
        if (row % n < n - 1) {
            columns[k] = row + 1;
            values[k++] = -1;
        }
        if (row < all - n) {
            columns[k] = row + n;
            values[k++] = -1;
        }
        HYPRE_IJMatrixSetValues(a, 1, &k, &row, columns, values);
    }
    HYPRE_IJMatrixAssemble(a);
    HYPRE_IJMatrixGetObject(a, (void **)&pa);
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, lower, upper, &b);
    HYPRE_IJVectorSetObjectType(b, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(b);
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, lower, upper, &x);
    HYPRE_IJVectorSetObjectType(x, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(x);
    for (HYPRE_BigInt row = lower; row <= upper; row++) {
        double one = 1, zero = 0;
        HYPRE_IJVectorSetValues(b, 1, &row, &one);
        HYPRE_IJVectorSetValues(x, 1, &row, &zero);
    }
    HYPRE_IJVectorAssemble(b);
    HYPRE_IJVectorAssemble(x);
    HYPRE_IJVectorGetObject(b, (void **)&pb);
    HYPRE_IJVectorGetObject(x, (void **)&px);
    HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &pcg);
    HYPRE_PCGSetMaxIter(pcg, 100);
    HYPRE_PCGSetTol(pcg, 1e-9);
    HYPRE_PCGSetTwoNorm(pcg, 1);
    HYPRE_BoomerAMGCreate(&amg);
    HYPRE_BoomerAMGSetMaxIter(amg, 1);
    HYPRE_BoomerAMGSetTol(amg, 0);
    HYPRE_BoomerAMGSetCoarsenType(amg, 6);
    HYPRE_BoomerAMGSetRelaxType(amg, 6);
    HYPRE_PCGSetPrecond(pcg, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                        (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
    HYPRE_ParCSRPCGSetup(pcg, pa, pb, px);
    HYPRE_ParCSRPCGSolve(pcg, pa, pb, px);
    HYPRE_Int its;
    double norm;
    HYPRE_PCGGetNumIterations(pcg, &its);
    HYPRE_PCGGetFinalRelativeResidualNorm(pcg, &norm);
    if (rank == 0)
        printf("hypre: %d ranks, %d iterations, %s\n", size, (int)its,
               norm < 1e-9 ? "right" : "wrong");
    HYPRE_ParCSRPCGDestroy(pcg);
    HYPRE_BoomerAMGDestroy(amg);
    HYPRE_IJMatrixDestroy(a);
    HYPRE_IJVectorDestroy(b);
    HYPRE_IJVectorDestroy(x);
    HYPRE_Finalize();
    MPI_Finalize();
    return 0;
}
