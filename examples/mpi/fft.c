/* SPDX-License-Identifier: Apache-2.0 */
/* A Fourier transform of a square of numbers in both directions: rows, then a transposition by
 * alltoall, then rows again. The number of ranks must be a power of two. */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef double complex number;

static const double pi = 3.14159265358979323846;

/* In place; n is a power of two. */
static void transform(number *x, int n)
{
    for (int i = 1, k = 0; i < n; i++) { /* bits in reverse order */
        int bit = n >> 1;
        for (; k & bit; bit >>= 1) {
            k ^= bit;
        }
        k ^= bit;
        if (i < k) {
            number t = x[i];
            x[i] = x[k];
            x[k] = t;
        }
    }
    for (int length = 2; length <= n; length *= 2) {
        for (int i = 0; i < n; i += length) {
            for (int k = 0; k < length / 2; k++) {
                number w = cexp(-2 * pi * I * k / length);
                number a = x[i + k], b = x[i + k + length / 2] * w;
                x[i + k] = a + b;
                x[i + k + length / 2] = a - b;
            }
        }
    }
}

/* Each rank has `rows` rows of `n`; afterwards those of the transposed square. */
static void transpose(const number *from, number *to, int n, int rows)
{
    int size = n / rows;
    size_t all = (size_t)n * (size_t)rows;
    number *out = malloc(all * sizeof(number)), *in = malloc(all * sizeof(number));

    for (int other = 0; other < size; other++) {
        for (int i = 0; i < rows; i++) {
            for (int k = 0; k < rows; k++) {
                out[(size_t)((other * rows + k) * rows + i)] = from[i * n + other * rows + k];
            }
        }
    }
    MPI_Alltoall(out, rows * rows, MPI_C_DOUBLE_COMPLEX, in, rows * rows, MPI_C_DOUBLE_COMPLEX,
                 MPI_COMM_WORLD);
    for (int other = 0; other < size; other++) {
        for (int k = 0; k < rows; k++) {
            for (int i = 0; i < rows; i++) {
                to[k * n + other * rows + i] = in[(size_t)((other * rows + k) * rows + i)];
            }
        }
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    int rank, size, n = 64, peak = 0, peaks = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size & (size - 1)) {
        fprintf(stderr, "fft: %d ranks are not a power of two\n", size);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    n = size > n ? size : n;
    int rows = n / size;
    size_t all = (size_t)n * (size_t)rows;
    number *x = malloc(all * sizeof(number)), *y = malloc(all * sizeof(number));
    double largest = 0, most = 0;

    for (int i = 0; i < rows; i++) { /* two waves, one of them half as high */
        for (int k = 0; k < n; k++) {
            int row = rank * rows + i;
            x[i * n + k] = cexp(2 * pi * I * (3.0 * row + 5.0 * k) / n) +
                           0.5 * cexp(2 * pi * I * (7.0 * row + 2.0 * k) / n);
        }
    }
    for (int i = 0; i < rows; i++) {
        transform(x + i * n, n);
    }
    transpose(x, y, n, rows);
    for (int i = 0; i < rows; i++) {
        transform(y + i * n, n);
    }
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < n; k++) {
            double height = cabs(y[i * n + k]) / n / n;
            largest = height > largest ? height : largest;
            peak += height > 0.25 && height < 2;
        }
    }
    MPI_Reduce(&largest, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&peak, &peaks, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d x %d: %d waves, the highest %.6f\n", n, n, peaks, most);
    }
    free(x);
    free(y);
    MPI_Finalize();
    return 0;
}
