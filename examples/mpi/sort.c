/* SPDX-License-Identifier: Apache-2.0 */
/* Sample sort: numbers go to the rank whose range they are in. usage: sort [numbers per rank]
 */
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

/* Numbers that look random, sorted; returns their sum. */
static uint32_t *make_numbers(int n, uint32_t state, uint32_t *sum)
{
    uint32_t *list = malloc((size_t)n * sizeof(uint32_t));

    for (int i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        list[i] = state;
        *sum += state;
    }
    qsort(list, (size_t)n, sizeof(uint32_t), compare);
    return list;
}

/* Where the ranges of the ranks end: by some numbers of each. */
static uint32_t *choose_splitters(const uint32_t *list, int n, int size)
{
    enum { SAMPLES = 8 };
    uint32_t own[SAMPLES], *all = malloc((size_t)size * SAMPLES * sizeof(uint32_t));

    for (int i = 0; i < SAMPLES; i++) {
        own[i] = list[(size_t)n * (size_t)i / SAMPLES];
    }
    MPI_Allgather(own, SAMPLES, MPI_UINT32_T, all, SAMPLES, MPI_UINT32_T, MPI_COMM_WORLD);
    qsort(all, (size_t)size * SAMPLES, sizeof(uint32_t), compare);
    for (int i = 0; i < size - 1; i++) {
        all[i] = all[(i + 1) * SAMPLES];
    }
    return all;
}

/* Sends everything to where it belongs; returns it sorted. */
static uint32_t *redistribute(const uint32_t *list, int n, int size, int *got)
{
    uint32_t *splitters = choose_splitters(list, n, size);
    int *memory = calloc(4 * (size_t)size, sizeof(int));
    int *counts = memory, *displs = memory + size, *in = memory + 2 * size,
        *in_at = memory + 3 * size;

    count(list, n, splitters, size, counts);
    MPI_Alltoall(counts, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    (void)add_up(counts, displs, size);
    *got = add_up(in, in_at, size);
    uint32_t *sorted = malloc(((size_t)*got + 1) * sizeof(uint32_t));
    MPI_Alltoallv(list, counts, displs, MPI_UINT32_T, sorted, in, in_at, MPI_UINT32_T,
                  MPI_COMM_WORLD);
    qsort(sorted, (size_t)*got, sizeof(uint32_t), compare);
    free(memory);
    free(splitters);
    return sorted;
}

int main(int argc, char **argv)
{
    int rank, size, n = argc > 1 ? atoi(argv[1]) : 1000, got, ordered = 1, all_ordered = 0;
    uint32_t sums[2] = {0, 0}, checks[2] = {0, 0}, largest, before = 0;
    long kept, total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    uint32_t *list = make_numbers(n, 2463534242u + 977u * (uint32_t)rank, &sums[0]);
    uint32_t *sorted = redistribute(list, n, size, &got);

    /* The largest of all before must not be above the smallest here. */
    largest = got > 0 ? sorted[got - 1] : 0;
    MPI_Exscan(&largest, &before, 1, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < got; i++) {
        ordered &= i == 0 ? rank == 0 || before <= sorted[0] : sorted[i - 1] <= sorted[i];
        sums[1] += sorted[i];
    }
    kept = got;
    MPI_Reduce(&ordered, &all_ordered, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
    MPI_Reduce(&kept, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(sums, checks, 2, MPI_UINT32_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%ld numbers on %d ranks: %s, checksum %u\n", total, size,
               all_ordered && checks[0] == checks[1] ? "sorted" : "NOT sorted", checks[1]);
    }
    free(list);
    free(sorted);
    MPI_Finalize();
    return 0;
}
