/* SPDX-License-Identifier: Apache-2.0 */
/* Many operations at once between processes: communicators are created and freed while their
 * data is on its way, collectives complete in another order than they begin, windows have
 * locks, and receives are from any source. Every result is checked; rank 0 prints how many were
 * wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, WORDS = 300000 };

static int rank, size;
static long wrong;

/* The same for all ranks: they agree without a word. */
static unsigned draw(unsigned round, unsigned what)
{
    unsigned x = round * 2654435761U + what * 40503U + 12345U;

    x ^= x >> 15;
    x *= 2246822519U;
    x ^= x >> 13;
    return x;
}

static void expect(long is, long should_be)
{
    wrong += is != should_be;
}

static int color_of(int who, unsigned round)
{
    return (int)(draw(round, 100 + (unsigned)who) % 3);
}

/* Which ranks of the world are in the new one, in its order: the highest first every other
 * round. */
static int list_members(unsigned round, int *members)
{
    int n = 0;

    for (int i = 0; i < size; i++) {
        int who = round % 2 != 0 ? size - 1 - i : i;
        if (color_of(who, round) == color_of(rank, round)) {
            members[n++] = who;
        }
    }
    return n;
}

/* What one has for another; nothing every now and then. */
static int count_for(unsigned round, int from, int to)
{
    unsigned n = draw(round, (unsigned)(from * size + to)) % 4;

    return n == 3 ? 0 : (int)n;
}

struct blocks {
    int *counts, *displs, *values, n;
};

static struct blocks make_blocks(unsigned round, const int *members, int n, int outgoing)
{
    struct blocks blocks = {calloc((size_t)n, sizeof(int)), calloc((size_t)n, sizeof(int)),
                            calloc((size_t)n * 4, sizeof(int)), 0};

    for (int i = 0; i < n; i++) {
        blocks.counts[i] =
            outgoing ? count_for(round, rank, members[i]) : count_for(round, members[i], rank);
        blocks.displs[i] = blocks.n;
        for (int k = 0; k < blocks.counts[i] && outgoing; k++) {
            blocks.values[blocks.n + k] = rank * 1000 + members[i];
        }
        blocks.n += blocks.counts[i];
    }
    return blocks;
}

static void free_blocks(const struct blocks *blocks)
{
    free(blocks->counts);
    free(blocks->displs);
    free(blocks->values);
}

/* Four at a time, waited for from behind. */
static void meet(MPI_Comm comm, unsigned round, const int *members, int n)
{
    MPI_Request requests[4];
    int root = (int)(draw(round, 1) % (unsigned)n), place, all = 0, upto = 0;
    int news[2] = {-1, -1};

    MPI_Comm_rank(comm, &place);
    if (place == root) {
        news[0] = (int)round;
        news[1] = rank;
    }
    struct blocks out = make_blocks(round, members, n, 1);
    struct blocks in = make_blocks(round, members, n, 0);
    MPI_Iallreduce(&rank, &all, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ialltoallv(out.values, out.counts, out.displs, MPI_INT, in.values, in.counts, in.displs,
                   MPI_INT, comm, &requests[1]);
    MPI_Ibcast(news, 2, MPI_INT, root, comm, &requests[2]);
    MPI_Iscan(&rank, &upto, 1, MPI_INT, MPI_SUM, comm, &requests[3]);
    for (int i = 3; i >= 0; i--) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    int sum = 0, before = 0;
    for (int i = 0; i < n; i++) {
        sum += members[i];
        before += i <= place ? members[i] : 0;
        for (int k = 0; k < in.counts[i]; k++) {
            expect(in.values[in.displs[i] + k], members[i] * 1000 + rank);
        }
    }
    expect(all, sum);
    expect(upto, before);
    expect(news[0], (int)round);
    expect(news[1], members[root]);
    free_blocks(&out);
    free_blocks(&in);
}

/* Everybody to everybody, and whatever comes first is taken first. */
static void talk(MPI_Comm comm, const int *members, int n)
{
    MPI_Request *requests = malloc((size_t)n * sizeof(MPI_Request));
    int place, *seen = calloc((size_t)n, sizeof(int));

    MPI_Comm_rank(comm, &place);
    for (int i = 0; i < n; i++) {
        MPI_Isend(&members[place], 1, MPI_INT, i, 7 + i % 2, comm, &requests[i]);
    }
    for (int i = 0; i < n; i++) {
        MPI_Status status;
        int value;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        expect(value, members[status.MPI_SOURCE]);
        expect(status.MPI_TAG, 7 + place % 2);
        seen[status.MPI_SOURCE]++;
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        expect(seen[i], 1);
    }
    free(seen);
    free(requests);
}

/* Counters that all add to, and a word that goes around. */
static void share(MPI_Comm comm, unsigned round, int n)
{
    long counters[2] = {0, 0}, one = 1, old = -1;
    int place, target = (int)(draw(round, 2) % (unsigned)n);
    MPI_Win win;

    MPI_Comm_rank(comm, &place);
    MPI_Win_create(counters, sizeof(counters), sizeof(long), MPI_INFO_NULL, comm, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, target, 0, MPI_SUM, win);
    MPI_Win_unlock(target, win);
    expect(old >= 0 && old < n, 1);
    MPI_Win_lock(MPI_LOCK_SHARED, (place + 1) % n, 0, win);
    long word = 10L * place;
    MPI_Put(&word, 1, MPI_LONG, (place + 1) % n, 1, 1, MPI_LONG, win);
    MPI_Win_unlock((place + 1) % n, win);
    MPI_Barrier(comm);
    expect(counters[0], place == target ? n : 0);
    expect(counters[1], 10L * ((place + n - 1) % n));
    MPI_Win_free(&win);
}

/* Messages of a megabyte, every other word of them. */
static void carry(unsigned round)
{
    int *out = malloc(2 * WORDS * sizeof(int)), *in = calloc(WORDS, sizeof(int));
    int shift = 1 + (int)(draw(round, 3) % (unsigned)size);
    int to = (rank + shift) % size, from = (rank - shift % size + size) % size;
    MPI_Datatype sparse;

    for (int i = 0; i < 2 * WORDS; i++) {
        out[i] = i % 2 != 0 ? -1 : rank + i;
    }
    MPI_Type_vector(WORDS, 1, 2, MPI_INT, &sparse);
    MPI_Type_commit(&sparse);
    MPI_Sendrecv(out, 1, sparse, to, 3, in, WORDS, MPI_INT, from, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < WORDS; i++) {
        wrong += in[i] != from + 2 * i;
    }
    MPI_Type_free(&sparse);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    long all = -1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *members = malloc((size_t)size * sizeof(int));
    for (unsigned round = 0; round < ROUNDS; round++) {
        MPI_Comm comm, twin;
        int n = list_members(round, members);

        MPI_Comm_split(MPI_COMM_WORLD, color_of(rank, round),
                       round % 2 != 0 ? size - rank : rank, &comm);
        meet(comm, round, members, n);
        MPI_Comm_dup(comm, &twin);
        talk(twin, members, n);
        MPI_Comm_free(&comm);
        meet(twin, round + ROUNDS, members, n);
        share(twin, round, n);
        MPI_Comm_free(&twin);
    }
    carry(1);
    MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%ld wrong in %d rounds of %d ranks\n", all, ROUNDS, size);
    }
    free(members);
    MPI_Finalize();
    return 0;
}
