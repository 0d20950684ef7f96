/* SPDX-License-Identifier: Apache-2.0 */
#include <petscksp.h>
int main(int argc, char **argv)
{
    Mat a;
    Vec x, b, u;
    KSP ksp;
    PetscInt n = 24, from, to, its;
    PetscReal error;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &a));
    PetscCall(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
    PetscCall(MatSetFromOptions(a));
    PetscCall(MatSetUp(a));
    PetscCall(MatGetOwnershipRange(a, &from, &to));
    for (PetscInt row = from; row < to; row++) {
        PetscInt i = row / n, k = row % n;
        if (i > 0)
            PetscCall(MatSetValue(a, row, row - n, -1, INSERT_VALUES));
        if (i < n - 1)
            PetscCall(MatSetValue(a, row, row + n, -1, INSERT_VALUES));
        if (k > 0)
            PetscCall(MatSetValue(a, row, row - 1, -1, INSERT_VALUES));
        if (k < n - 1)
            PetscCall(MatSetValue(a, row, row + 1, -1, INSERT_VALUES));
        PetscCall(MatSetValue(a, row, row, 4, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(a, &u, &b));
    PetscCall(VecDuplicate(u, &x));
    PetscCall(VecSet(u, 1));
    PetscCall(MatMult(a, u, b));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, a, a));
    PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(VecAXPY(x, -1, u));
    PetscCall(VecNorm(x, NORM_2, &error));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "petsc: %d iterations, %s\n", (int)its,
                          error < 1e-6 ? "right" : "wrong"));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&u));
    PetscCall(MatDestroy(&a));
    PetscCall(PetscFinalize());
    return 0;
}
