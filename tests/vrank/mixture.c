/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random program: ./mixture <seed> <steps>. All ranks draw the same numbers, so that each of
 * them knows which communicators exist and who belongs to them; a rank that does not belong to
 * one holds MPI_COMM_NULL and goes on at once. Steps create and free communicators (split,
 * create, create_group, dup, idup, intercommunicators that are merged, grids with too few
 * ranks), and do collectives, point-to-point and one-sided communication on one of them.
 *
 * Everything that a rank receives goes into its checksum. Rank 0 prints the checksums, which
 * are the same under every implementation of MPI.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMS = 8, RANKS = 64, WORDS = 40, PENDING = 4 };

struct comm {
    MPI_Comm comm; /* MPI_COMM_NULL if this rank is not a member */
    int n, members[RANKS];
    int rank; /* of this rank, or -1 */
};

static struct comm comms[COMMS];
static int n_comms;
static int me, n_ranks;
static uint64_t state, sum = 1469598103934665603u;

/* Nonblocking collectives that have not been waited for. */
static struct {
    MPI_Request request;
    int data[2][WORDS];
    int n; /* how many words arrive */
} pending[PENDING];

/* ---- the same on all ranks ---- */

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* A number that every rank can compute for every rank. */
static unsigned number_of(int rank, unsigned salt, unsigned below)
{
    uint64_t x = ((uint64_t)salt << 32 | (uint64_t)rank) * 0x9e3779b97f4a7c15u;

    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (unsigned)(x >> 33) % below;
}

/* ---- checksums ---- */

static void note(int value)
{
    sum = (sum ^ (uint64_t)(uint32_t)value) * 1099511628211u;
}

static void note_all(const int *values, int n)
{
    for (int i = 0; i < n; i++) {
        note(values[i]);
    }
}

static void fill(int *to, int n, unsigned salt)
{
    for (int i = 0; i < n; i++) {
        to[i] = (int)number_of(me * WORDS + i, salt, 1000);
    }
}

/* ---- communicators ---- */

static void set_rank(struct comm *c)
{
    c->rank = -1;
    for (int i = 0; i < c->n; i++) {
        c->rank = c->members[i] == me ? i : c->rank;
    }
    if ((c->rank < 0) != (c->comm == MPI_COMM_NULL)) {
        printf("rank %d: member %d, null %d\n", me, c->rank, c->comm == MPI_COMM_NULL);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (c->rank >= 0) {
        int rank, size, result;
        MPI_Comm_rank(c->comm, &rank);
        MPI_Comm_size(c->comm, &size);
        MPI_Comm_compare(c->comm, MPI_COMM_WORLD, &result);
        note(rank);
        note(size);
        note(result == MPI_UNEQUAL);
        if (rank != c->rank || size != c->n) {
            printf("rank %d: %d of %d, expected %d of %d\n", me, rank, size, c->rank, c->n);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
}

/* Which communicator a step is about. */
static struct comm *choose(void)
{
    return &comms[draw((unsigned)n_comms)];
}

static void forget(int at)
{
    if (comms[at].comm != MPI_COMM_NULL) {
        MPI_Comm_free(&comms[at].comm);
    }
    comms[at] = comms[--n_comms];
}

/* A place for a new one; the world stays. */
static struct comm *place(void)
{
    if (n_comms == COMMS) {
        forget(1 + (int)draw(COMMS - 1));
    }
    return &comms[n_comms];
}

/* Members of `from` for which a number below `out_of` is one of the first `in`, by key. */
static void select_members(const struct comm *from, struct comm *to, unsigned salt,
                           unsigned out_of, unsigned in)
{
    to->n = 0;
    for (int i = 0; i < from->n; i++) {
        if (number_of(from->members[i], salt, out_of) < in) {
            to->members[to->n++] = from->members[i];
        }
    }
}

static MPI_Group group_of(const struct comm *from, const struct comm *to)
{
    MPI_Group all, group;
    int ranks[RANKS];

    for (int i = 0; i < to->n; i++) {
        ranks[i] = 0;
        while (from->members[ranks[i]] != to->members[i]) {
            ranks[i]++;
        }
    }
    MPI_Comm_group(from->comm, &all);
    MPI_Group_incl(all, to->n, ranks, &group);
    MPI_Group_free(&all);
    return group;
}

/* Some members get nothing; the others are in one of a few colors, in reverse order or not. The
 * ranks of one color know that communicator, for the others it is MPI_COMM_NULL. */
static void split(const struct comm *from, struct comm *to)
{
    unsigned salt = draw(1000000), colors = 1 + draw(3), kept = draw(colors);
    int sign = draw(2) ? 1 : -1, own = (int)number_of(me, salt, colors + 1);

    to->comm = MPI_COMM_NULL;
    to->n = 0;
    for (int i = 0; i < from->n; i++) {
        int member = from->members[sign > 0 ? i : from->n - 1 - i];
        if (number_of(member, salt, colors + 1) == kept) {
            to->members[to->n++] = member;
        }
    }
    if (from->comm != MPI_COMM_NULL) {
        MPI_Comm_split(from->comm, own == (int)colors ? MPI_UNDEFINED : own, sign * from->rank,
                       &to->comm);
        if (to->comm != MPI_COMM_NULL && own != (int)kept) {
            int total, one = 1;
            MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, to->comm);
            note(total);
            MPI_Comm_free(&to->comm);
        }
    }
}

static void create(const struct comm *from, struct comm *to, int collective)
{
    unsigned salt = draw(1000000);
    int tag = (int)draw(10);

    select_members(from, to, salt, 3, 2);
    to->comm = MPI_COMM_NULL;
    if (from->comm == MPI_COMM_NULL) {
        return;
    }
    MPI_Group group = group_of(from, to);
    if (collective) {
        MPI_Comm_create(from->comm, group, &to->comm);
    } else if (number_of(me, salt, 3) < 2) {
        MPI_Comm_create_group(from->comm, group, tag, &to->comm);
    }
    MPI_Group_free(&group);
}

static void duplicate(const struct comm *from, struct comm *to, int nonblocking)
{
    to->n = from->n;
    memcpy(to->members, from->members, sizeof(to->members));
    to->comm = MPI_COMM_NULL;
    if (from->comm == MPI_COMM_NULL) {
        return;
    }
    if (nonblocking) {
        MPI_Request request;
        int own = me, all[RANKS];
        MPI_Comm_idup(from->comm, &to->comm, &request);
        MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, from->comm);
        note_all(all, from->n);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Comm_dup(from->comm, &to->comm);
    }
}

/* Several duplicates at once, which the ranks begin in different order. */
static void overlapping(void)
{
    enum { MOST = 3 };
    MPI_Comm copies[MOST];
    MPI_Request requests[MOST] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    unsigned salt = draw(1000000);
    int first = (int)draw((unsigned)n_comms), n = n_comms < MOST ? n_comms : MOST;

    for (int i = 0; i < n; i++) {
        int k = number_of(me, salt, 2) ? i : n - 1 - i;
        copies[k] = MPI_COMM_NULL;
        if (comms[(first + k) % n_comms].comm != MPI_COMM_NULL) {
            MPI_Comm_idup(comms[(first + k) % n_comms].comm, &copies[k], &requests[k]);
        }
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        if (copies[i] != MPI_COMM_NULL) {
            int value = me + i, total;
            MPI_Allreduce(&value, &total, 1, MPI_INT, MPI_SUM, copies[i]);
            note(total);
            MPI_Comm_free(&copies[i]);
        }
    }
}

/* Two halves talk to each other and become one communicator, the second half first. */
static void merge(const struct comm *from, struct comm *to)
{
    int half = from->n / 2;

    to->n = from->n;
    for (int i = 0; i < from->n; i++) {
        to->members[i] = from->members[(i + half) % from->n];
    }
    to->comm = MPI_COMM_NULL;
    if (from->comm == MPI_COMM_NULL) {
        return;
    }
    if (from->n < 2) {
        MPI_Comm_dup(from->comm, &to->comm);
        return;
    }
    MPI_Comm side, both;
    int first = from->rank < half, value = me, got = -1;
    MPI_Comm_split(from->comm, first, from->rank, &side);
    MPI_Intercomm_create(side, 0, from->comm, first ? half : 0, 17, &both);
    MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_SUM, both);
    note(got);
    MPI_Intercomm_merge(both, first, &to->comm);
    MPI_Comm_free(&both);
    MPI_Comm_free(&side);
}

static void grid(const struct comm *from, struct comm *to)
{
    int dims[2] = {1 + (int)draw(3), 0}, periods[2] = {(int)draw(2), 1};

    if (dims[0] > from->n) {
        dims[0] = 1;
    }
    dims[1] = from->n / dims[0];
    to->n = dims[0] * dims[1];
    memcpy(to->members, from->members, sizeof(to->members));
    to->comm = MPI_COMM_NULL;
    if (from->comm != MPI_COMM_NULL) {
        MPI_Cart_create(from->comm, 2, dims, periods, 0, &to->comm);
    }
    if (to->comm != MPI_COMM_NULL) {
        int keep[2] = {1, 0}, value = me, got = -1, up, down;
        MPI_Comm column;
        MPI_Cart_sub(to->comm, keep, &column);
        MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_MAX, column);
        note(got);
        MPI_Cart_shift(to->comm, 0, 1, &down, &up);
        got = -1;
        MPI_Sendrecv(&value, 1, MPI_INT, up, 5, &got, 1, MPI_INT, down, 5, to->comm,
                     MPI_STATUS_IGNORE);
        note(got);
        MPI_Comm_free(&column);
    }
}

static void make_comm(void)
{
    struct comm *to = place();
    const struct comm *from = choose();

    switch (draw(8)) {
    case 0:
    case 1:
        split(from, to);
        break;
    case 2:
        create(from, to, 1);
        break;
    case 3:
        create(from, to, 0);
        break;
    case 4:
        duplicate(from, to, 0);
        break;
    case 5:
        duplicate(from, to, 1);
        break;
    case 6:
        merge(from, to);
        break;
    default:
        grid(from, to);
        break;
    }
    if (to->n == 0) {
        return;
    }
    set_rank(to);
    n_comms++;
}

/* ---- collectives ---- */

static void rooted(const struct comm *c, unsigned kind, int n, int root, unsigned salt)
{
    int own[WORDS], all[RANKS * WORDS] = {0}, counts[RANKS], at[RANKS];

    fill(own, n, salt);
    for (int i = 0; i < c->n; i++) {
        counts[i] = (i + (int)salt) % (n + 1);
        at[i] = i * WORDS;
    }
    switch (kind) {
    case 0:
        MPI_Bcast(own, n, MPI_INT, root, c->comm);
        note_all(own, n);
        break;
    case 1:
        MPI_Reduce(own, all, n, MPI_INT, MPI_SUM, root, c->comm);
        break;
    case 2:
        MPI_Gather(own, n, MPI_INT, all, n, MPI_INT, root, c->comm);
        break;
    case 3:
        MPI_Gatherv(own, counts[c->rank], MPI_INT, all, counts, at, MPI_INT, root, c->comm);
        break;
    case 4:
        for (int i = 0; i < c->n; i++) {
            fill(all + i * n, n, salt + (unsigned)i);
        }
        MPI_Scatter(all, n, MPI_INT, own, n, MPI_INT, root, c->comm);
        note_all(own, n);
        return;
    default:
        for (int i = 0; i < c->n; i++) {
            fill(all + i * WORDS, WORDS, salt + (unsigned)i);
        }
        MPI_Scatterv(all, counts, at, MPI_INT, own, counts[c->rank], MPI_INT, root, c->comm);
        note_all(own, counts[c->rank]);
        return;
    }
    if (c->rank == root) {
        note_all(all, c->n * n);
    }
}

static void among_all(const struct comm *c, unsigned kind, int n, unsigned salt)
{
    int own[RANKS * WORDS], all[RANKS * WORDS] = {0}, counts[RANKS], at[RANKS];

    fill(own, c->n * n, salt);
    for (int i = 0; i < c->n; i++) {
        counts[i] = (i + c->rank + (int)salt) % (n + 1);
        at[i] = i * n;
    }
    switch (kind) {
    case 0:
        MPI_Barrier(c->comm);
        break;
    case 1:
        MPI_Allreduce(own, all, n, MPI_INT, MPI_MAX, c->comm);
        break;
    case 2:
        MPI_Allgather(own, n, MPI_INT, all, n, MPI_INT, c->comm);
        break;
    case 3:
        MPI_Alltoall(own, n, MPI_INT, all, n, MPI_INT, c->comm);
        break;
    case 4:
        MPI_Alltoallv(own, counts, at, MPI_INT, all, counts, at, MPI_INT, c->comm);
        break;
    case 5:
        MPI_Scan(own, all, n, MPI_INT, MPI_SUM, c->comm);
        break;
    case 6:
        MPI_Reduce_scatter_block(own, all, n, MPI_INT, MPI_SUM, c->comm);
        break;
    default:
        MPI_Exscan(own, all, n, MPI_INT, MPI_SUM, c->comm);
        note(c->rank == 0 ? 0 : all[0]);
        return;
    }
    note_all(all, c->n * n);
}

static void collective(const struct comm *c)
{
    int n = (int)draw(8), root = (int)draw((unsigned)c->n);
    unsigned kind = draw(14), salt = draw(100000);

    if (c->comm == MPI_COMM_NULL) {
        return;
    }
    if (kind < 6) {
        rooted(c, kind, n, root, salt);
    } else {
        among_all(c, kind - 6, n, salt);
    }
}

static void finish_pending(int i)
{
    MPI_Wait(&pending[i].request, MPI_STATUS_IGNORE);
    note_all(pending[i].data[1], pending[i].n);
    pending[i].n = 0;
}

static void nonblocking(const struct comm *c)
{
    int i = (int)draw(PENDING), root = (int)draw((unsigned)c->n);
    unsigned kind = draw(4), salt = draw(100000);

    finish_pending(i);
    if (c->comm == MPI_COMM_NULL) {
        return;
    }
    int *own = pending[i].data[0], *all = pending[i].data[1];
    fill(own, 4, salt);
    memset(all, 0, sizeof(pending[i].data[1]));
    pending[i].n = 4;
    switch (kind) {
    case 0:
        MPI_Ibarrier(c->comm, &pending[i].request);
        break;
    case 1:
        MPI_Iallreduce(own, all, 4, MPI_INT, MPI_SUM, c->comm, &pending[i].request);
        break;
    case 2:
        memcpy(all, own, 4 * sizeof(int));
        MPI_Ibcast(all, 4, MPI_INT, root, c->comm, &pending[i].request);
        break;
    default:
        MPI_Ireduce(own, all, 4, MPI_INT, MPI_MIN, root, c->comm, &pending[i].request);
        break;
    }
}

/* ---- point-to-point ---- */

/* Pairs of ranks (2i, 2i+1) as a benchmark has them; a last one without a partner is idle. */
static void pairs(const struct comm *c)
{
    int n = 1 + (int)draw(WORDS - 1), long_one = draw(6) == 0, rounds = 1 + (int)draw(3);
    unsigned salt = draw(100000), kind = draw(3);
    static int out[30000], in[30000];

    if (c->comm == MPI_COMM_NULL || (c->rank ^ 1) >= c->n) {
        return;
    }
    int peer = c->rank ^ 1;
    n = long_one ? 30000 : n;
    for (int i = 0; i < rounds; i++) {
        MPI_Request request;
        fill(out, n < WORDS ? n : WORDS, salt);
        if (kind == 0 && c->rank < peer) {
            MPI_Send(out, n, MPI_INT, peer, i, c->comm);
            MPI_Recv(in, n, MPI_INT, peer, i, c->comm, MPI_STATUS_IGNORE);
        } else if (kind == 0) {
            MPI_Recv(in, n, MPI_INT, peer, i, c->comm, MPI_STATUS_IGNORE);
            MPI_Ssend(out, n, MPI_INT, peer, i, c->comm);
        } else if (kind == 1) {
            MPI_Sendrecv(out, n, MPI_INT, peer, 3, in, n, MPI_INT, peer, 3, c->comm,
                         MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(in, n, MPI_INT, peer, MPI_ANY_TAG, c->comm, &request);
            MPI_Send(out, n, MPI_INT, peer, 4 + i, c->comm);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        note_all(in, n < WORDS ? n : WORDS);
    }
}

/* All send to one, which takes them in any order. */
static void to_one(const struct comm *c)
{
    int root = (int)draw((unsigned)c->n), total = 0, value = me * 3 + 1;

    if (c->comm == MPI_COMM_NULL) {
        return;
    }
    if (c->rank != root) {
        MPI_Send(&value, 1, MPI_INT, root, 9, c->comm);
        return;
    }
    for (int i = 1; i < c->n; i++) {
        MPI_Status status;
        MPI_Probe(MPI_ANY_SOURCE, 9, c->comm, &status);
        MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 9, c->comm, MPI_STATUS_IGNORE);
        total += value * (status.MPI_SOURCE + 1);
    }
    note(total);
}

static void exchange(const struct comm *c)
{
    MPI_Request requests[2 * RANKS];
    int in[RANKS], out = me + 100, n = 0, reach = 1 + (int)draw(4);

    if (c->comm == MPI_COMM_NULL) {
        return;
    }
    for (int i = 1; i <= reach && i < c->n; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, (c->rank + c->n - i) % c->n, i, c->comm, &requests[n++]);
        MPI_Isend(&out, 1, MPI_INT, (c->rank + i) % c->n, i, c->comm, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 1; i <= reach && i < c->n; i++) {
        note(in[i]);
    }
}

/* ---- one-sided ---- */

static void fenced(const struct comm *c, MPI_Win win, int *memory)
{
    int right = (c->rank + 1) % c->n, got[2] = {0, 0}, value = me + 7;

    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Accumulate(&value, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(got, 2, MPI_INT, right, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    note_all(got, 2);
    note(memory[2]);
}

static void locked(const struct comm *c, MPI_Win win, int target)
{
    int one = 1, before = -1, got = -1;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, target, 3, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(target, win);
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 4, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(c->comm);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Get(&got, 1, MPI_INT, target, 3, 1, MPI_INT, win);
    MPI_Win_unlock(target, win);
    note(got);
    MPI_Barrier(c->comm);
}

/* Each exposes its memory to its left neighbour. */
static void posted(const struct comm *c, MPI_Win win, const int *memory)
{
    MPI_Group all, to, from;
    int right = (c->rank + 1) % c->n, left = (c->rank + c->n - 1) % c->n, value = me + 1000;

    MPI_Comm_group(c->comm, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Put(&value, 1, MPI_INT, right, 5, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    note(memory[5]);
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    MPI_Group_free(&all);
}

static void one_sided(const struct comm *c)
{
    unsigned kind = draw(3);
    int target = (int)draw((unsigned)c->n), *memory;
    MPI_Win win;

    if (c->comm == MPI_COMM_NULL) {
        return;
    }
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, c->comm, &memory, &win);
    memset(memory, 0, 8 * sizeof(int));
    MPI_Barrier(c->comm);
    if (kind == 0) {
        fenced(c, win, memory);
    } else if (kind == 1) {
        locked(c, win, target);
    } else {
        posted(c, win, memory);
    }
    MPI_Win_free(&win);
}

/* ---- the program ---- */

static void step(void)
{
    unsigned what = draw(20);
    const struct comm *c = choose();

    if (what < 5) {
        make_comm();
    } else if (what < 6 && n_comms > 1) {
        forget(1 + (int)draw((unsigned)n_comms - 1));
    } else if (what < 10) {
        collective(c);
    } else if (what < 12) {
        nonblocking(c);
    } else if (what < 14) {
        pairs(c);
    } else if (what < 15) {
        to_one(c);
    } else if (what < 17) {
        exchange(c);
    } else if (what < 18) {
        one_sided(c);
    } else if (what < 19) {
        overlapping();
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void tell(void)
{
    uint64_t all[RANKS];

    MPI_Gather(&sum, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; me == 0 && i < n_ranks; i++) {
        printf("rank %d: %016llx\n", i, (unsigned long long)all[i]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (n_ranks > RANKS || argc != 3) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    state = strtoull(argv[1], NULL, 10) * 2654435761u + 1;
    comms[n_comms++] = (struct comm){.comm = MPI_COMM_WORLD, .n = n_ranks, .rank = me};
    for (int i = 0; i < n_ranks; i++) {
        comms[0].members[i] = i;
    }
    for (int i = 0; i < PENDING; i++) {
        pending[i].request = MPI_REQUEST_NULL;
    }
    for (int i = atoi(argv[2]); i > 0; i--) {
        step();
    }
    for (int i = 0; i < PENDING; i++) {
        finish_pending(i);
    }
    while (n_comms > 1) {
        forget(n_comms - 1);
    }
    tell();
    MPI_Finalize();
    return 0;
}
