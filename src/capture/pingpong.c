/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that `weft calibrate` runs under a real MPI, on two ranks. It prints these lines:
 *
 *     half BYTES NS   half a round trip
 *     both BYTES NS   an exchange in both directions at once
 *     eager BYTES     a send of this size returns before the receiver receives it
 *     send NS         a call that sends one byte
 *     take NS         a call that receives one byte that has arrived already
 *     stream NS       time per message in a stream of one-byte messages
 *
 * Each value is the first quartile of several rounds (the argument): noise only adds time, but
 * the minimum may be luck, such as two ranks on the hardware threads of one core. A round goes
 * through many sizes, so that one disturbance does not hit all rounds of a size. Sizes that do
 * not fit into the caches have rounds of their own: a long message evicts the buffers of the
 * library, and changes the time of a short message that follows.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LARGEST = 4 << 20,
    FITS = 128 << 10,
    SIZES_MAX = 64,
    ROUNDS = 100,
    STREAM = 64,
    BUFFERS = 64,
    ROUND_BYTES = 32 << 10,
    EAGER_ROUNDS = 12
};

#define WAIT 200e-6 /* delay of a late receiver, in seconds */

static int rank, n_sizes, sizes[SIZES_MAX];
static char *data, *room;

/* The measured times of all rounds, in seconds. */
struct series {
    double *values;
    int n;
};

static struct series half[SIZES_MAX], both[SIZES_MAX], sent_alone[SIZES_MAX];
static struct series one_send, one_take, one_of_stream;

static void note(struct series *series, double seconds)
{
    double *larger = realloc(series->values, ((size_t)series->n + 1) * sizeof(*larger));

    if (larger == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    series->values = larger;
    larger[series->n++] = seconds;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y ? 1 : 0;
}

static double usual(struct series *series)
{
    qsort(series->values, (size_t)series->n, sizeof(*series->values), compare);
    return series->values[series->n / 4];
}

static void put(int bytes, int tag)
{
    MPI_Send(data, bytes, MPI_CHAR, 1 - rank, tag, MPI_COMM_WORLD);
}

static void get(int bytes, int tag)
{
    MPI_Recv(room, bytes, MPI_CHAR, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange(int bytes)
{
    MPI_Sendrecv(data, bytes, MPI_CHAR, 1 - rank, 1, room, bytes, MPI_CHAR, 1 - rank, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Repetitions per measurement; few, since a longer measurement is disturbed more often. */
static int times(int bytes)
{
    return bytes < 16384 ? 10 : bytes < 131072 ? 2 : 1;
}

static void measure_size(int i)
{
    int bytes = sizes[i], n = times(bytes);

    /* Warm up as in a program that sends many messages: the library reuses its buffers in turn,
     * and each is then in the cache of the rank that used it last. */
    for (int k = 0; k < (bytes <= ROUND_BYTES ? BUFFERS : 1); k++) {
        exchange(bytes);
    }
    double begin = MPI_Wtime();
    for (int k = 0; k < n; k++) {
        if (rank == 0) {
            put(bytes, 1);
            get(bytes, 1);
        } else {
            get(bytes, 1);
            put(bytes, 1);
        }
    }
    note(&half[i], (MPI_Wtime() - begin) / n / 2);
    exchange(1);
    begin = MPI_Wtime();
    for (int k = 0; k < n; k++) {
        exchange(bytes);
    }
    note(&both[i], (MPI_Wtime() - begin) / n);
}

/* Measures whether a send returns although the receiver is late. The receiver calls MPI_Iprobe
 * meanwhile, because some libraries copy the data early, but return from the send only after
 * the receiver has made progress. */
static void measure_eager(int i)
{
    int found;

    exchange(1);
    double begin = MPI_Wtime();
    if (rank == 0) {
        put(sizes[i], 2);
        note(&sent_alone[i], MPI_Wtime() - begin);
    } else {
        while (MPI_Wtime() - begin < WAIT + 4 * usual(&half[i])) {
            MPI_Iprobe(0, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        }
        get(sizes[i], 2);
    }
}

static void measure_stream(void)
{
    exchange(1);
    double begin = MPI_Wtime();
    for (int i = 0; i < STREAM && rank == 0; i++) {
        put(1, 3);
    }
    note(&one_send, (MPI_Wtime() - begin) / STREAM);
    for (int i = 0; i < STREAM && rank == 1; i++) {
        get(1, 3);
    }
    exchange(1);
    note(&one_of_stream, (MPI_Wtime() - begin) / STREAM);
}

/* All messages have arrived when the last one, with tag 5, has. */
static void measure_take(void)
{
    double seconds = 0;

    if (rank == 0) {
        for (int i = 0; i < STREAM; i++) {
            put(1, 4);
        }
        put(1, 5);
        MPI_Recv(&seconds, 1, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        note(&one_take, seconds);
        return;
    }
    get(1, 5);
    double begin = MPI_Wtime();
    for (int i = 0; i < STREAM; i++) {
        get(1, 4);
    }
    seconds = (MPI_Wtime() - begin) / STREAM;
    MPI_Send(&seconds, 1, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD);
}

/* Measures all sizes above `above`, up to `most`. */
static void measure_sizes(int above, int most)
{
    for (int i = 0; i < n_sizes; i++) {
        if (sizes[i] > above && sizes[i] <= most) {
            measure_size(i);
        }
    }
}

static void choose_sizes(void)
{
    for (int bytes = 1; bytes <= LARGEST; bytes *= 2) {
        sizes[n_sizes++] = bytes;
        if (bytes >= 2 && bytes < LARGEST) {
            sizes[n_sizes++] = bytes / 2 * 3;
        }
    }
}

static void print(void)
{
    for (int i = 0; i < n_sizes; i++) {
        double one = usual(&half[i]);
        printf("half %d %.1f\nboth %d %.1f\n", sizes[i], one * 1e9, sizes[i],
               usual(&both[i]) * 1e9);
        if (usual(&sent_alone[i]) < WAIT / 2 + 2 * one) {
            printf("eager %d\n", sizes[i]);
        }
    }
    printf("send %.1f\ntake %.1f\nstream %.1f\n", usual(&one_send) * 1e9,
           usual(&one_take) * 1e9, usual(&one_of_stream) * 1e9);
}

int main(int argc, char **argv)
{
    int size, rounds;

    data = calloc(LARGEST, 1);
    room = calloc(LARGEST, 1);
    MPI_Init(&argc, &argv);
    rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || data == NULL || room == NULL) {
        if (rank == 0) {
            fprintf(stderr, "the ping-pong needs two ranks\n");
        }
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    choose_sizes();
    for (int round = 0; round < rounds; round++) {
        measure_stream();
        measure_take();
        measure_sizes(0, FITS);
    }
    for (int round = 0; round < rounds; round++) {
        measure_sizes(FITS, LARGEST);
    }
    for (int i = 0; i < EAGER_ROUNDS * n_sizes; i++) {
        measure_eager(i % n_sizes);
    }
    if (rank == 0) {
        print();
    }
    MPI_Finalize();
    free(data);
    free(room);
    return 0;
}
