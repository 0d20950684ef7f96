/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 2 does for ever what the argument says, or crashes. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile double sum;

static void compute(int allocate)
{
    for (;;) {
        char *bytes = allocate ? malloc(100) : NULL;

        sum += 1;
        free(bytes);
    }
}

static void crash(void)
{
    *(volatile int *)8 = 1; /* line 24 */
}

static void on_alarm(int number)
{
    sum += number;
}

int main(int argc, char **argv)
{
    int rank;

    signal(SIGTERM, SIG_IGN); /* weft decides */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2) {
        printf("ready\n");
        fflush(stdout);
        if (strcmp(argv[1], "compute") == 0) {
            compute(0);
        } else if (strcmp(argv[1], "allocate") == 0) {
            compute(1);
        } else if (strcmp(argv[1], "crash") == 0) {
            crash();
        } else if (strcmp(argv[1], "timer") == 0) {
            const struct itimerval often = {{0, 100}, {0, 100}};
            signal(SIGALRM, on_alarm);
            setitimer(ITIMER_REAL, &often, NULL); /* never stopped */
        } else {
            MPI_Send((void *)8, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
