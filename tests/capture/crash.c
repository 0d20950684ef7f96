/* SPDX-License-Identifier: Apache-2.0 */
/* Ends badly, on rank 1, after many messages of ranks to themselves: crash how. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "none";
    int n = argc > 2 ? atoi(argv[2]) : 20000;
    int rank, in, out = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && strcmp(how, "full") == 0) {
        const struct rlimit little = {65536, 65536};
        setrlimit(RLIMIT_FSIZE, &little);
    }
    for (int i = 0; i < n; i++) {
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
        out = in + 1;
    }
    if (rank == 0) {
        printf("%d\n", out == n);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && strcmp(how, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 9);
    } else if (rank == 1 && strcmp(how, "segv") == 0) {
        raise(SIGSEGV);
    } else if (rank == 1 && strcmp(how, "kill") == 0) {
        raise(SIGKILL);
    } else if (rank == 1 && strcmp(how, "exit") == 0) {
        exit(7);
    }
    if (strcmp(how, "none") != 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
