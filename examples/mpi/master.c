/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 0 hands out work to whoever asks: the number of primes in ranges. usage: master [tasks]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_ASK, TAG_WORK, TAG_END, RANGE = 500 };

static int is_prime(int n)
{
    for (int i = 2; i * i <= n; i++) {
        if (n % i == 0) {
            return 0;
        }
    }
    return n > 1;
}

static void lead(int workers, int tasks)
{
    long sum = 0, found;
    int next = 0, busy = workers;

    while (busy > 0) {
        MPI_Status status;
        MPI_Recv(&found, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_ASK, MPI_COMM_WORLD, &status);
        sum += found;
        if (next < tasks) {
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, TAG_WORK, MPI_COMM_WORLD);
            next++;
        } else {
            MPI_Send(&next, 0, MPI_INT, status.MPI_SOURCE, TAG_END, MPI_COMM_WORLD);
            busy--;
        }
    }
    printf("%ld primes below %d, found by %d workers\n", sum, tasks * RANGE, workers);
}

static void work(void)
{
    long found = 0; /* the first time this is only a question */
    int task;
    MPI_Status status;

    for (;;) {
        MPI_Send(&found, 1, MPI_LONG, 0, TAG_ASK, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == TAG_END) {
            return;
        }
        found = 0;
        for (int i = 0; i < RANGE; i++) {
            found += is_prime(task * RANGE + i);
        }
    }
}

int main(int argc, char **argv)
{
    int rank, size, tasks = argc > 1 ? atoi(argv[1]) : 100;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "master: there is nobody to work\n");
    } else if (rank == 0) {
        lead(size - 1, tasks);
    } else {
        work();
    }
    MPI_Finalize();
    return 0;
}
