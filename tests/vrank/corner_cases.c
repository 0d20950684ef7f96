/* SPDX-License-Identifier: Apache-2.0 */
/* Corner cases of the standard: arguments that are not significant, datatypes that are freed
 * while they are in use, empty datatypes, polling the clock, many variables, and how a program
 * learns of the end. */
#include "report.h"

static int rank, size;

/* Only the root's side has to make sense. */
static void rooted(void)
{
    int *all = calloc((size_t)size, sizeof(int)), own = rank * rank + 1, back = -1;
    int root = size - 1;

    if (rank == root) {
        MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
        say_ints("gathered", all, size);
        MPI_Scatter(all, 1, MPI_INT, &back, 1, MPI_INT, root, MPI_COMM_WORLD);
    } else {
        MPI_Gather(&own, 1, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
        MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, &back, 1, MPI_INT, root, MPI_COMM_WORLD);
    }
    say("back %d", back);
    free(all);
}

/* Requests keep the types that they were made with. */
static void freed_types(void)
{
    int out[6] = {1, 2, 3, 4, 5, rank}, in[6] = {0, 0, 0, 0, 0, 0};
    MPI_Request requests[2];
    MPI_Datatype pairs, others;

    MPI_Type_vector(3, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Send_init(out + 1, 1, pairs, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, 1, pairs, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&pairs);
    MPI_Type_contiguous(2, MPI_DOUBLE, &others); /* perhaps in its place */
    MPI_Type_commit(&others);
    for (int i = 0; i < 3; i++) {
        out[1] += 10;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        say_ints("received", in, 6);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Type_free(&others);
}

/* An accumulation of a type that is many numbers with gaps between them. */
static void accumulate(void)
{
    int own[6] = {1, 2, 3, 4, 5, 6}, memory[6] = {10, 20, 30, 40, 50, 60};
    MPI_Datatype every_other;
    MPI_Win win;

    MPI_Type_vector(3, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(own, 3, MPI_INT, (rank + 1) % size, 0, 1, every_other, MPI_SUM, win);
    MPI_Win_fence(0, win);
    say_ints("accumulated", memory, 6);
    MPI_Accumulate(own, 1, every_other, rank, 1, 1, every_other, MPI_PROD, win);
    MPI_Win_fence(0, win);
    say_ints("multiplied", memory, 6);
    MPI_Win_free(&win);
    MPI_Type_free(&every_other);
}

static void nothing(void)
{
    MPI_Datatype empty;
    MPI_Aint lb, extent;
    int bytes, ints, addresses, types, combiner;

    MPI_Type_create_struct(0, NULL, NULL, NULL, &empty);
    MPI_Type_commit(&empty);
    MPI_Type_size(empty, &bytes);
    MPI_Type_get_extent(empty, &lb, &extent);
    MPI_Type_get_envelope(empty, &ints, &addresses, &types, &combiner);
    say("nothing: %d bytes, extent %ld, %d %d %d", bytes, (long)extent, ints, addresses, types);
    MPI_Type_free(&empty);
}

/* A time comes, even if computing takes none. */
static void wait_for_time(void)
{
    double begin = MPI_Wtime(), now;

    do {
        now = MPI_Wtime();
    } while (now - begin < 1e-3);
    say("a millisecond has passed: %d", now - begin < 100);
}

/* Each rank has its variables for itself, up to the last byte of them, while others run. */
static void variables(void)
{
    enum { N = 3000 };
    static int table[N];
    int wrong = 0, left = -1;

    for (int i = 0; i < N; i++) {
        table[i] = rank * N + i;
    }
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &left, 1, MPI_INT,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) {
        wrong += table[i] != rank * N + i;
    }
    say("%d variables are wrong after a message from %d", wrong, left);
}

static int hear(MPI_Comm comm, int keyval, void *value, void *extra)
{
    if (rank == 0) {
        printf("the end: %s\n", (const char *)value);
        fflush(stdout);
    }
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static char first[] = "first", second[] = "second";
    int keyvals[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, hear, &keyvals[i], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[i], i == 0 ? first : second);
    }
    rooted();
    freed_types();
    accumulate();
    nothing();
    wait_for_time();
    variables();
    say_all();
    return 0;
}
