/* SPDX-License-Identifier: Apache-2.0 */
/* Sample sort: numbers go to the rank whose range they are in. usage: sort [numbers per rank] */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Splits the sorted numbers: how many go to each rank. */
static void count(const uint32_t *list, int n, const uint32_t *splitters, int size, int *counts)
{
    int to = 0;

    for (int i = 0; i < n; i++) {
        while (to < size - 1 && list[i] >= splitters[to]) {
            to++;
        }
        counts[to]++;
    }
}

static int add_up(const int *counts, int *displs, int size)
{
    int n = 0;

    for (int i = 0; i < size; i++) {
        displs[i] = n;
        n += counts[i];
    }
    return n;
}

int main(int argc, char **argv)
{
    enum { SAMPLES = 8 };
    int rank, size, n = argc > 1 ? atoi(argv[1]) : 1000;
    long in_order = 1, all_in_order, kept, total;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    uint32_t *list = malloc((size_t)n * sizeof(uint32_t)), state = 2463534242u + 977u * (uint32_t)rank;
    uint32_t check = 0, checks[2] = {0}, own[SAMPLES];
    uint32_t *samples = malloc((size_t)size * SAMPLES * sizeof(uint32_t));
    int *counts = calloc((size_t)size, sizeof(int)), *displs = calloc((size_t)size, sizeof(int));
    int *in = calloc((size_t)size, sizeof(int)), *in_at = calloc((size_t)size, sizeof(int));

    for (int i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        list[i] = state;
        check += state;
    }
    qsort(list, (size_t)n, sizeof(uint32_t), compare);
    for (int i = 0; i < SAMPLES; i++) {
        own[i] = list[(size_t)n * (size_t)i / SAMPLES];
    }
    MPI_Allgather(own, SAMPLES, MPI_UINT32_T, samples, SAMPLES, MPI_UINT32_T, MPI_COMM_WORLD);
    qsort(samples, (size_t)size * SAMPLES, sizeof(uint32_t), compare);
    for (int i = 0; i < size - 1; i++) {
        samples[i] = samples[(i + 1) * SAMPLES];
    }
    count(list, n, samples, size, counts);
    MPI_Alltoall(counts, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    (void)add_up(counts, displs, size);
    int got = add_up(in, in_at, size);
    uint32_t *sorted = malloc(((size_t)got + 1) * sizeof(uint32_t)), sum = 0;
    MPI_Alltoallv(list, counts, displs, MPI_UINT32_T, sorted, in, in_at, MPI_UINT32_T,
                  MPI_COMM_WORLD);
    qsort(sorted, (size_t)got, sizeof(uint32_t), compare);

    /* The largest of all before must not be above the smallest here. */
    uint32_t largest = got > 0 ? sorted[got - 1] : 0, before = 0;
    MPI_Exscan(&largest, &before, 1, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < got; i++) {
        in_order &= i == 0 ? rank == 0 || before <= sorted[0] : sorted[i - 1] <= sorted[i];
        sum += sorted[i];
    }
    kept = got;
    MPI_Reduce(&in_order, &all_in_order, 1, MPI_LONG, MPI_LAND, 0, MPI_COMM_WORLD);
    MPI_Reduce(&kept, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    uint32_t both[2] = {check, sum};
    MPI_Reduce(both, checks, 2, MPI_UINT32_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%ld numbers on %d ranks: %s, checksum %u\n", total, size,
               all_in_order && checks[0] == checks[1] ? "sorted" : "NOT sorted", checks[1]);
    }
    free(list);
    free(samples);
    free(counts);
    free(displs);
    free(in);
    free(in_at);
    free(sorted);
    MPI_Finalize();
    return 0;
}
