/* SPDX-License-Identifier: Apache-2.0 */
/* Regions that ranks meet in different order, and one that the last rank has alone: their names
 * are in the result. */
#include <weft/mark.h>

static const char *const names[] = {"read", "solve", "exchange", "write"};

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3; i++) {
        const char *name = names[(rank + i) % 4];
        weft_region_begin(name);
        MPI_Barrier(MPI_COMM_WORLD);
        weft_region_end(name);
    }
    if (rank == size - 1) {
        weft_region_begin("finish");
        weft_region_end("finish");
    }
    MPI_Finalize();
    return 0;
}
