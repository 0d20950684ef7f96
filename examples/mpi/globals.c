/* SPDX-License-Identifier: Apache-2.0 */
/* A program that keeps all it knows in variables outside of functions: each rank has its own.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;
static double table[2000] = {1, 2, 3};
static int counters[100];
static const char *greeting = "before";
static struct {
    long sum;
    int *list;
} state = {42, NULL};

static int next_number(void)
{
    static int calls;

    return ++calls;
}

static int count_wrong(void)
{
    int wrong = 0;

    for (int i = 0; i < 2000; i++) {
        wrong += table[i] != rank * 2000 + i;
    }
    for (int i = 0; i < 100; i++) {
        wrong += counters[i] != 3 * (rank + i);
    }
    wrong += state.sum != 42 + rank || state.list[rank % 10] != rank;
    wrong += greeting[0] != 'a' || next_number() != 4;
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2000; i++) {
        table[i] = rank * 2000 + i;
    }
    for (int round = 0; round < 3; round++) { /* others run in between */
        for (int i = 0; i < 100; i++) {
            counters[i] += rank + i;
        }
        (void)next_number();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    state.sum += rank;
    state.list = calloc(10, sizeof(int));
    state.list[rank % 10] = rank;
    greeting = "after";
    MPI_Sendrecv_replace(&counters[0], 1, MPI_INT, (rank + 1) % size, 0,
                         (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong = counters[0] != 3 * ((rank + size - 1) % size);
    counters[0] = 3 * rank;
    wrong += count_wrong();
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d variables of %d ranks are wrong\n", all, size);
    }
    free(state.list);
    MPI_Finalize();
    return 0;
}
