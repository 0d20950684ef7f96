/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `weft calibrate` runs under a real MPI, on two ranks: messages there and back, of
 * growing sizes. Prints a line for each: "half BYTES NANOSECONDS", half a round trip; and for
 * single bytes "send NANOSECONDS", what a call of MPI_Send takes, and "stream NANOSECONDS", the
 * time per message of many in a row. All are the least of several (the argument), since others
 * disturb and nobody helps.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 4 << 20, BATCHES = 40, STREAM = 64 };

static int rank, batches = BATCHES;

static double seconds_of_rounds(char *data, int bytes, int rounds)
{
    double begin = MPI_Wtime();

    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Send(data, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - begin) / rounds;
}

static void measure_size(char *data, int bytes)
{
    int rounds = bytes < 4096 ? 50 : bytes < 262144 ? 10 : 2;
    double least = 1e9;

    (void)seconds_of_rounds(data, bytes, 2);
    for (int batch = 0; batch < batches; batch++) {
        double time = seconds_of_rounds(data, bytes, rounds);
        least = time < least ? time : least;
    }
    if (rank == 0) {
        printf("half %d %.1f\n", bytes, least / 2 * 1e9);
    }
}

static void measure_stream(char *data)
{
    double least_send = 1e9, least_all = 1e9;

    for (int batch = 0; batch < batches; batch++) {
        double begin, sent, all;

        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        for (int i = 0; i < STREAM; i++) {
            if (rank == 0) {
                MPI_Send(data, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
            } else {
                MPI_Recv(data, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        }
        sent = (MPI_Wtime() - begin) / STREAM;
        if (rank == 0) {
            MPI_Recv(data, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(data, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
        }
        all = (MPI_Wtime() - begin) / STREAM;
        least_send = sent < least_send ? sent : least_send;
        least_all = all < least_all ? all : least_all;
    }
    if (rank == 0) {
        printf("send %.1f\nstream %.1f\n", least_send * 1e9, least_all * 1e9);
    }
}

int main(int argc, char **argv)
{
    int size;
    char *data = calloc(LARGEST, 1);

    MPI_Init(&argc, &argv);
    batches = argc > 1 ? atoi(argv[1]) : BATCHES;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || data == NULL) {
        if (rank == 0) {
            fprintf(stderr, "the ping-pong needs two ranks\n");
        }
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    measure_stream(data);
    for (int bytes = 1; bytes <= LARGEST; bytes *= 2) {
        measure_size(data, bytes);
        if (bytes >= 2 && bytes < LARGEST) {
            measure_size(data, bytes / 2 * 3);
        }
    }
    MPI_Finalize();
    free(data);
    return 0;
}
