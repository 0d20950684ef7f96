/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is not linked with MPI, and a library with MPI that it loads: with -DLIBRARY. */
#include <stdio.h>
#ifdef LIBRARY
#include <mpi.h>

int work(void)
{
    int rank, size, from = -1, begun = 1;

    MPI_Initialized(&begun);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &from, 1, MPI_INT,
                 (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return begun == 0 && from == (rank + size - 1) % size ? 0 : 1;
}
#else
#include <dlfcn.h>

int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*work)(void) = library != NULL ? (int (*)(void))dlsym(library, "work") : NULL;

    if (argc < 2 || work == NULL) {
        printf("%s\n", dlerror());
        return 2;
    }
    return work();
}
#endif
