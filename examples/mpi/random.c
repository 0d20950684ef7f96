/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to ranks all over the machine: in each round everybody sends one, by a permutation
 * that looks random, and receives one from whomever. usage: random [rounds] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long gcd(long a, long b)
{
    return b == 0 ? a : gcd(b, a % b);
}

int main(int argc, char **argv)
{
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 16;
    long sum = 0, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rounds; i++) {
        long factor = (7919L * (i + 1)) % size, shift = 104729L * (i + 1) % size, value, got;
        MPI_Request request;
        MPI_Status status;

        while (factor == 0 || gcd(factor, size) != 1) {
            factor++;
        }
        value = (long)rank * rounds + i;
        MPI_Irecv(&got, 1, MPI_LONG, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &request);
        MPI_Send(&value, 1, MPI_LONG, (int)((factor * rank + shift) % size), i, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        sum += got * (rank + 1) % 1000003 + status.MPI_SOURCE;
    }
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%ld messages, checksum %ld\n", (long)rounds * size, all);
    }
    MPI_Finalize();
    return 0;
}
