/* SPDX-License-Identifier: Apache-2.0 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { ROWS = 4, COLUMNS = 8 };
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t all[2] = {(hsize_t)size * ROWS, COLUMNS}, from[2] = {(hsize_t)rank * ROWS, 0},
            own[2] = {ROWS, COLUMNS};
    hid_t space = H5Screate_simple(2, all, NULL), memory = H5Screate_simple(2, own, NULL);
    hid_t set = H5Dcreate2(file, "values", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    double data[ROWS][COLUMNS], back[ROWS][COLUMNS];
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++)
            data[i][k] = rank * 100 + i * COLUMNS + k;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, own, NULL);
    herr_t e = H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, data);
    H5Dclose(set);
    H5Fclose(file);
    /* every rank reads the rows of the next one, independently */
    file = H5Fopen(argv[1], H5F_ACC_RDONLY, access);
    set = H5Dopen2(file, "values", H5P_DEFAULT);
    int next = (rank + 1) % size;
    from[0] = (hsize_t)next * ROWS;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, own, NULL);
    e |= H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, back);
    int wrong = e < 0;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++)
            wrong += back[i][k] != next * 100 + i * COLUMNS + k;
    H5Dclose(set);
    H5Fclose(file);
    H5Pclose(access);
    H5Pclose(transfer);
    int sum;
    MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("hdf5: %d ranks, %d wrong\n", size, sum);
    MPI_Finalize();
    return 0;
}
