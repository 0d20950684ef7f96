/* SPDX-License-Identifier: Apache-2.0 */
/* Nearly nothing but computing, after the idea of the NAS benchmark EP: pairs of numbers that
 * look random become pairs of normal deviates, which are counted by size. The ranks meet at the
 * end. usage: ep [logarithm of the number of pairs] [ns to compute a pair] */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/mark.h>

enum { CLASSES = 10 };

/* The generator of the benchmark: x * 5^13 modulo 2^46. */
static const uint64_t factor = 1220703125, seed = 271828183, mask = (UINT64_C(1) << 46) - 1;

/* The state after n numbers. */
static uint64_t jump(uint64_t n)
{
    uint64_t state = seed, power = factor;

    for (; n > 0; n >>= 1) {
        state = n & 1 ? state * power & mask : state;
        power = power * power & mask;
    }
    return state;
}

static double draw(uint64_t *state)
{
    *state = *state * factor & mask;
    return 2.0 * (double)*state / (double)(UINT64_C(1) << 46) - 1.0;
}

struct tally {
    double sums[2];
    int64_t counts[CLASSES];
};

static void compute(struct tally *tally, uint64_t first, uint64_t last)
{
    uint64_t state = jump(2 * first);

    for (uint64_t i = first; i < last; i++) {
        double x = draw(&state), y = draw(&state), t = x * x + y * y;
        if (t > 1 || t == 0) {
            continue;
        }
        double scale = sqrt(-2 * log(t) / t), a = fabs(x * scale), b = fabs(y * scale);
        int class = (int)(a > b ? a : b);
        tally->counts[class < CLASSES ? class : CLASSES - 1]++;
        tally->sums[0] += x * scale;
        tally->sums[1] += y * scale;
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    uint64_t pairs = UINT64_C(1) << (argc > 1 ? atoi(argv[1]) : 18);
    double ns = argc > 2 ? atof(argv[2]) : 40;
    struct tally own = {.sums = {0, 0}}, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    uint64_t first = pairs * (uint64_t)rank / (uint64_t)size;
    uint64_t last = pairs * ((uint64_t)rank + 1) / (uint64_t)size;
    compute(&own, first, last);
    WEFT_COMPUTE((double)(last - first) * ns * 1e-9);
    MPI_Allreduce(own.sums, all.sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(own.counts, all.counts, CLASSES, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        int64_t sum = 0;
        for (int i = 0; i < CLASSES; i++) {
            sum += all.counts[i];
        }
        printf("%lld of %llu pairs, sums %.6f %.6f\n", (long long)sum,
               (unsigned long long)pairs, all.sums[0], all.sums[1]);
        for (int i = 0; i < CLASSES && all.counts[i] > 0; i++) {
            printf("%d %lld\n", i, (long long)all.counts[i]);
        }
    }
    MPI_Finalize();
    return 0;
}
