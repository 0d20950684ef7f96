/* SPDX-License-Identifier: Apache-2.0 */
/* What calls cost, in nanoseconds of CPU time each: run it with and without weft capture. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void probe(void)
{
    int flag;

    MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void message(void)
{
    MPI_Request requests[2];
    char in[8], out[8] = {0};

    MPI_Irecv(in, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(out, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void wildcard(void)
{
    MPI_Request request;
    char in[8], out[8] = {0};

    MPI_Irecv(in, 8, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &request);
    MPI_Send(out, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collective(void)
{
    double in = 1, out;

    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static const struct {
    const char *name;
    void (*run)(void);
    int calls;
} kinds[] = {
    {"iprobe", probe, 1},
    {"irecv-isend-waitall", message, 3},
    {"irecv-send-wait", wildcard, 3},
    {"allreduce", collective, 1},
};

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000000;

    MPI_Init(&argc, &argv);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        for (int i = 0; i < n / 10; i++) {
            kinds[k].run();
        }
        double begin = cpu();
        for (int i = 0; i < n; i++) {
            kinds[k].run();
        }
        printf("%s %.1f\n", kinds[k].name, (cpu() - begin) / n / kinds[k].calls);
    }
    MPI_Finalize();
    return 0;
}
