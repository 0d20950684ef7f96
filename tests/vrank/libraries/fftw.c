/* SPDX-License-Identifier: Apache-2.0 */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    const ptrdiff_t n = 64, m = 32;
    ptrdiff_t rows, first;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    fftw_mpi_init();
    ptrdiff_t all = fftw_mpi_local_size_2d(n, m, MPI_COMM_WORLD, &rows, &first);
    fftw_complex *data = fftw_alloc_complex((size_t)all + 1);
    fftw_plan there =
        fftw_mpi_plan_dft_2d(n, m, data, data, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_plan back =
        fftw_mpi_plan_dft_2d(n, m, data, data, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);
    for (ptrdiff_t i = 0; i < rows * m; i++) {
        data[i][0] = sin((double)(first * m + i));
        data[i][1] = 0;
    }
    fftw_execute(there);
    double first_value = rank == 0 ? data[0][0] : 0;
    fftw_execute(back);
    double error = 0, worst;
    for (ptrdiff_t i = 0; i < rows * m; i++)
        error = fmax(error, fabs(data[i][0] / (double)(n * m) - sin((double)(first * m + i))));
    MPI_Reduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("fftw: %d ranks, %s, sum %.9f\n", size, worst < 1e-12 ? "right" : "wrong",
               first_value);
    MPI_Finalize();
    return 0;
}
