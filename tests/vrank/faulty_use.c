/* SPDX-License-Identifier: Apache-2.0 */
/* Errors in the use of MPI that weft run --check must find, one for each name, and for each a
 * correct program that looks alike: "ok-" before the name. Lines that must be named have a
 * comment with an arrow. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64 };
static int rank, size, next, previous;
static int a[2 * N], b[2 * N];
static MPI_Request r, s;

static void unmatched_send(int ok)
{
    if (rank == 0) {
        MPI_Send(a, 4, MPI_INT, 1, 5, MPI_COMM_WORLD); /* -> */
    } else if (rank == 1 && ok) {
        MPI_Recv(b, 4, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void unmatched_receive(int ok)
{
    MPI_Irecv(b, 4, MPI_INT, previous, 5, MPI_COMM_WORLD, &r); /* -> */
    if (ok) {
        MPI_Send(a, 4, MPI_INT, next, 5, MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void leaked_request(int ok)
{
    MPI_Isend(a, 4, MPI_INT, next, 5, MPI_COMM_WORLD, &s); /* -> */
    MPI_Recv(b, 4, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (ok) {
        MPI_Request_free(&s);
    }
}

static void leaked_receive(int ok)
{
    MPI_Irecv(b, 4, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &r); /* -> */
    MPI_Send(a, 4, MPI_INT, next, 5, MPI_COMM_WORLD);
    if (ok) {
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void collective(int ok)
{
    if (rank == 1 && !ok) {
        MPI_Allreduce(a, b, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* -> */
    } else {
        MPI_Bcast(a, 2, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Allreduce(a, b, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void operation(int ok)
{
    MPI_Allreduce(a, b, 2, MPI_INT, rank == 1 && !ok ? MPI_MAX : MPI_SUM, /* -> */
                  MPI_COMM_WORLD);
}

static void collective_type(int ok)
{
    MPI_Bcast(a, 2, rank == 1 && !ok ? MPI_FLOAT : MPI_INT, 0, MPI_COMM_WORLD); /* -> */
    MPI_Bcast(a, 2, rank == 1 ? MPI_INT : MPI_INT32_T, 0, MPI_COMM_WORLD);
}

/* The counts and displacements of collectives in which each member has its own. */
static int counts[16], places[16];

static void set_counts(int count)
{
    for (int i = 0; i < size; i++) {
        counts[i] = count;
        places[i] = i * count;
    }
}

static void gatherv_count(int ok)
{
    set_counts(2);
    counts[1] = ok ? 2 : 3;
    MPI_Gatherv(a, 2, MPI_INT, b, counts, places, MPI_INT, 0, MPI_COMM_WORLD); /* -> */
}

static void scatterv_type(int ok)
{
    set_counts(2);
    MPI_Scatterv(a, counts, places, MPI_INT, b, 2, /* -> */
                 rank == 2 && !ok ? MPI_FLOAT : MPI_INT, 0, MPI_COMM_WORLD);
}

static void allgatherv_count(int ok)
{
    set_counts(2);
    counts[1] = rank == 3 && !ok ? 1 : 2;
    MPI_Allgatherv(a, 2, MPI_INT, b, counts, places, MPI_INT, MPI_COMM_WORLD); /* -> */
}

static void alltoallv_count(int ok)
{
    int others[16];

    set_counts(2);
    memcpy(others, counts, sizeof(others));
    others[1] = rank == 3 && !ok ? 1 : 2;
    MPI_Alltoallv(a, others, places, MPI_INT, b, counts, places, MPI_INT, /* -> */
                  MPI_COMM_WORLD);
}

static void alltoallw_type(int ok)
{
    MPI_Datatype types[16], others[16];

    set_counts(2);
    for (int i = 0; i < size; i++) {
        types[i] = others[i] = MPI_INT;
        places[i] = 8 * i;
    }
    others[1] = rank == 3 && !ok ? MPI_FLOAT : MPI_INT;
    MPI_Alltoallw(a, counts, places, others, b, counts, places, types, MPI_COMM_WORLD); /* -> */
}

static void reduce_scatter_count(int ok)
{
    set_counts(2);
    counts[0] = rank == 1 && !ok ? 1 : 2;
    counts[1] = rank == 1 && !ok ? 3 : 2;
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* -> */
}

static void datatype(int ok)
{
    MPI_Isend(a, 4, MPI_INT, next, 5, MPI_COMM_WORLD, &s);
    MPI_Recv(b, 8, ok ? MPI_INT : MPI_FLOAT, previous, 5, MPI_COMM_WORLD, /* -> */
             MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
}

/* The program ends the run: there is no result, and the message names the error. */
static void early_end(int ok)
{
    datatype(ok);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        exit(3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Values of several types: a receive may have more of them than were sent. */
static void mixed_datatype(int ok)
{
    struct {
        int i, j;
        double d;
    } out[2] = {{0}}, in[3];
    int lengths[] = {2, 1};
    MPI_Aint places[] = {0, 8};
    MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE}, others[] = {MPI_FLOAT, MPI_DOUBLE};
    MPI_Datatype type, other;

    MPI_Type_create_struct(2, lengths, places, parts, &type);
    MPI_Type_create_struct(2, lengths, places, ok ? parts : others, &other);
    MPI_Type_commit(&type);
    MPI_Type_commit(&other);
    MPI_Isend(out, 2, type, next, 5, MPI_COMM_WORLD, &s);
    MPI_Recv(in, 3, other, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* -> */
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Isend(out, 2, MPI_INT, next, 5, MPI_COMM_WORLD, &s);
    MPI_Recv(in, 1, type, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Type_free(&other);
}

static void buffer(int ok)
{
    MPI_Irecv(b, N, MPI_INT, previous, 5, MPI_COMM_WORLD, &r);
    MPI_Isend(b + (ok ? N : N - 1), N, MPI_INT, next, 5, MPI_COMM_WORLD, &s); /* -> */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
}

/* Neighbouring columns of a matrix share no bytes. */
static void column_buffer(int ok)
{
    MPI_Datatype column;

    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Irecv(b, 1, column, previous, 5, MPI_COMM_WORLD, &r);
    MPI_Isend(b + (ok ? 1 : 8), 1, column, next, 5, MPI_COMM_WORLD, &s); /* -> */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
}

static void collective_buffer(int ok)
{
    MPI_Iallreduce(a, b, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &s);
    MPI_Recv(ok ? b + N : b, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(a, 1, MPI_INT, next, 5, ok ? b + N : b, 1, MPI_INT, previous, 5, /* -> */
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
}

static void changed_buffer(int ok)
{
    MPI_Isend(a, N, MPI_INT, next, 5, MPI_COMM_WORLD, &s); /* -> */
    MPI_Recv(b, N, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    (ok ? b : a)[7] = 42;
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    a[7] = 43;
}

static void window_access(int ok)
{
    MPI_Win win;

    MPI_Win_create(b, sizeof(b), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (ok) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    }
    MPI_Put(a, 1, MPI_INT, next, rank, 1, MPI_INT, win); /* -> */
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
}

static void window_lock(int ok)
{
    MPI_Win win;

    MPI_Win_create(b, sizeof(b), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Put(a, 1, MPI_INT, ok ? next : previous, rank, 1, MPI_INT, win); /* -> */
    MPI_Win_unlock(next, win);
    MPI_Win_free(&win);
}

static void window_unlock(int ok)
{
    MPI_Win win;

    MPI_Win_create(b, sizeof(b), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (ok) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    }
    MPI_Win_unlock(next, win); /* -> */
    MPI_Win_free(&win);
}

static void window_start(int ok)
{
    MPI_Group world, one;
    MPI_Win win;

    MPI_Win_create(b, sizeof(b), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &next, &one);
    if (ok) {
        MPI_Group from;
        MPI_Group_incl(world, 1, &previous, &from);
        MPI_Win_post(from, 0, win);
        MPI_Win_start(one, 0, win);
        MPI_Group_free(&from);
        MPI_Put(a, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&one);
    MPI_Win_complete(win); /* -> */
    if (ok) {
        MPI_Win_wait(win);
    }
    MPI_Win_free(&win);
}

/* All ranks access rank 0 at once; accumulates may go to the same place. */
static void window_conflict(int ok)
{
    MPI_Win win;

    MPI_Win_create(b, sizeof(b), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(a, 1, MPI_INT, 0, ok ? rank : 0, 1, MPI_INT, win); /* -> */
    MPI_Accumulate(a, 1, MPI_INT, 0, N, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Put(a, 1, MPI_INT, 0, size - 1 - rank, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
}

static void too_long(int ok)
{
    if (rank == 0) {
        MPI_Send(a, 4, MPI_INT, 1, 5, MPI_COMM_WORLD);
        MPI_Send(a, 4, MPI_INT, 1, 6, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(b, ok ? 4 : 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* -> */
        MPI_Recv(b, 4, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void deadlock(int ok)
{
    if (rank == 0 || !ok) {
        MPI_Recv(b, 4, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* -> */
        MPI_Send(a, 4, MPI_INT, next, 5, MPI_COMM_WORLD);
    } else {
        MPI_Send(a, 4, MPI_INT, next, 5, MPI_COMM_WORLD);
        MPI_Recv(b, 4, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void leaked_communicator(int ok)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm); /* -> */
    if (ok) {
        MPI_Comm_free(&comm);
    }
}

static void leaked_datatype(int ok)
{
    MPI_Datatype pair;

    MPI_Type_contiguous(2, MPI_INT, &pair); /* -> */
    MPI_Type_commit(&pair);
    if (ok) {
        MPI_Type_free(&pair);
    }
}

static void leaked_group(int ok)
{
    MPI_Group group;

    MPI_Comm_group(MPI_COMM_WORLD, &group); /* -> */
    if (ok) {
        MPI_Group_free(&group);
    }
}

static void sendrecv_buffer(int ok)
{
    MPI_Sendrecv(a, 4, MPI_INT, next, 5, ok ? a + 4 : a, 4, MPI_INT, previous, 5, /* -> */
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(a, 4, MPI_INT, next, 5, previous, 5, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
}

static MPI_Win window(int *base)
{
    MPI_Win win;

    MPI_Win_create(base, N * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    return win;
}

/* Two results in one buffer. */
static void window_result(int ok)
{
    MPI_Win win = window(a);

    MPI_Win_fence(0, win);
    MPI_Get(b, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Get(ok ? b + 2 : b, 2, MPI_INT, next, 2, 2, MPI_INT, win); /* -> */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* A lock that ranks share orders nothing; one that they do not share, a flush and a message do. */
static void window_race(int ok)
{
    MPI_Win win = window(a);
    int last = size - 1, none = 0;

    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win);
        MPI_Put(b, 2, MPI_INT, last, 0, 2, MPI_INT, win);
        MPI_Win_unlock(last, win);
        if (ok) {
            MPI_Send(&none, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        }
    } else if (rank == 1) {
        if (ok) {
            MPI_Recv(&none, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win);
        MPI_Put(b, 2, MPI_INT, last, 1, 2, MPI_INT, win); /* -> */
        MPI_Win_unlock(last, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (ok) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win);
        MPI_Put(b, 2, MPI_INT, last, 0, 2, MPI_INT, win);
        MPI_Win_flush(last, win);
        MPI_Put(b, 2, MPI_INT, last, 0, 2, MPI_INT, win);
        MPI_Win_unlock(last, win);
    }
    MPI_Win_free(&win);
}

static void window_fence_lock(int ok)
{
    MPI_Win win = window(a);

    MPI_Win_fence(ok ? MPI_MODE_NOSUCCEED : 0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Get(b, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Win_unlock(next, win);
    MPI_Win_fence(ok ? MPI_MODE_NOPRECEDE : 0, win); /* -> */
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);     /* a barrier separates the two */
    MPI_Accumulate(a, 1, MPI_INT, rank, 4, 1, MPI_INT, MPI_SUM, win);
    MPI_Accumulate(a, 1, MPI_INT, rank, 4, 1, MPI_INT, MPI_PROD, win);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void window_no_fence(int ok)
{
    MPI_Win win = window(a);

    MPI_Win_fence(0, win);
    MPI_Put(b, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    if (ok) {
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win); /* -> */
}

static void window_null(int ok)
{
    MPI_Win win;

    MPI_Win_create(ok ? a : NULL, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win); /* -> */
    MPI_Win_free(&win);
}

/* Loads and stores beside MPI: found in programs that were built with weftcc -fweft-check. */
static int loaded;

static void receive_load(int ok)
{
    MPI_Irecv(b, 4, MPI_INT, previous, 5, MPI_COMM_WORLD, &r);
    MPI_Send(a, 4, MPI_INT, next, 5, MPI_COMM_WORLD);
    loaded += ok ? b[4] : b[3]; /* -> */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    loaded += b[3];
}

static void reduce_store(int ok)
{
    MPI_Iallreduce(a, b, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    loaded += a[3];
    b[ok ? 4 : 3] = 7; /* -> */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    b[3] = 7;
}

static void result_load(int ok)
{
    MPI_Win win = window(a);

    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Get(b, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    if (ok) {
        MPI_Win_flush(next, win);
    }
    loaded += b[1]; /* -> */
    MPI_Win_unlock(next, win);
    MPI_Win_free(&win);
}

/* The owner of the memory stores to it: before others come, and when they have been there. */
static void window_store(int ok)
{
    MPI_Win win = window(a);

    a[0] = rank;
    MPI_Win_fence(0, win);
    MPI_Put(b, 2, MPI_INT, next, 0, 2, MPI_INT, win); /* -> */
    a[ok ? 2 : 1] = 7;
    MPI_Win_fence(0, win);
    a[0] = 7;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    MPI_Put(b, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Win_unlock(next, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    a[1] += 7;
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

/* What is not committed cannot be sent, but other datatypes may be made of it. */
static void uncommitted(int ok)
{
    MPI_Datatype row, rows;

    MPI_Type_contiguous(2, MPI_INT, &row);
    MPI_Type_contiguous(2, row, &rows);
    if (ok) {
        MPI_Type_commit(&rows);
    }
    MPI_Bcast(a, 1, rows, 0, MPI_COMM_WORLD); /* -> */
    MPI_Type_free(&rows);
    MPI_Type_free(&row);
}

/* Only the root gathers in place; all may where all ranks get the result. */
static void in_place(int ok)
{
    int root = rank == 0;

    MPI_Gather(root || !ok ? MPI_IN_PLACE : a, 2, MPI_INT, b, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(b, 2, MPI_INT, root ? MPI_IN_PLACE : a, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(root ? MPI_IN_PLACE : a, root ? a : NULL, 2, MPI_INT, MPI_SUM, 0,
               MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, a, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Exscan(MPI_IN_PLACE, a, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Columns of a matrix lie within each other without an overlap; a type that overlaps may be sent. */
static void overlapping_type(int ok)
{
    MPI_Datatype column, next_column, twice;
    const int lengths[] = {2, 2}, displs[] = {0, 1};

    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &next_column);
    MPI_Type_indexed(2, lengths, displs, MPI_INT, &twice);
    MPI_Type_commit(&next_column);
    MPI_Type_commit(&twice);
    MPI_Isend(a, 4, twice, next, 5, MPI_COMM_WORLD, &s);
    if (ok) {
        MPI_Recv(b, 4, next_column, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(b, 4, twice, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* -> */
    }
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    MPI_Type_free(&next_column);
    MPI_Type_free(&twice);
}

static void changed_partition(int ok)
{
    MPI_Precv_init(b, 2, 4, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Psend_init(a, 2, 4, MPI_INT, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Start(&r);
    MPI_Start(&s);
    MPI_Pready(0, s); /* -> */
    a[ok ? 4 : 3] = 7;
    MPI_Pready(1, s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    a[3] = 7;
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

static MPI_File open_file(void)
{
    MPI_File file;

    MPI_File_open(MPI_COMM_WORLD, "faulty.data",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    return file;
}

static void leaked_file(int ok)
{
    MPI_File file;

    MPI_File_open(MPI_COMM_WORLD, "faulty.leak", MPI_MODE_CREATE | MPI_MODE_RDWR, /* -> */
                  MPI_INFO_NULL, &file);
    if (ok) {
        MPI_File_close(&file);
    }
}

static void file_write(int ok)
{
    MPI_File file = open_file();

    MPI_File_iwrite_at(file, 16 * rank, a, 4, MPI_INT, &r); /* -> */
    a[ok ? 4 : 0] = 7;
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_File_write_all_begin(file, a, 4, MPI_INT);
    MPI_File_write_all_end(file, a, MPI_STATUS_IGNORE);
    a[0] = 8;
    MPI_File_close(&file);
}

static void file_read(int ok)
{
    MPI_File file = open_file();

    MPI_File_write_at(file, 16 * rank, a, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iread_at(file, 16 * rank, b, 4, MPI_INT, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_File_read_at_all_begin(file, 16 * rank, b, 4, MPI_INT); /* -> */
    b[ok ? 4 : 0] = 7;
    MPI_File_read_at_all_end(file, b, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static const struct {
    const char *name;
    void (*run)(int ok);
} kinds[] = {
    {"unmatched_send", unmatched_send},
    {"unmatched_receive", unmatched_receive},
    {"leaked_request", leaked_request},
    {"leaked_receive", leaked_receive},
    {"collective", collective},
    {"operation", operation},
    {"collective_type", collective_type},
    {"gatherv_count", gatherv_count},
    {"scatterv_type", scatterv_type},
    {"allgatherv_count", allgatherv_count},
    {"alltoallv_count", alltoallv_count},
    {"alltoallw_type", alltoallw_type},
    {"reduce_scatter_count", reduce_scatter_count},
    {"datatype", datatype},
    {"early_end", early_end},
    {"mixed_datatype", mixed_datatype},
    {"buffer", buffer},
    {"column_buffer", column_buffer},
    {"collective_buffer", collective_buffer},
    {"changed_buffer", changed_buffer},
    {"window_access", window_access},
    {"window_lock", window_lock},
    {"window_unlock", window_unlock},
    {"window_start", window_start},
    {"window_conflict", window_conflict},
    {"leaked_communicator", leaked_communicator},
    {"leaked_datatype", leaked_datatype},
    {"leaked_group", leaked_group},
    {"sendrecv_buffer", sendrecv_buffer},
    {"window_result", window_result},
    {"window_race", window_race},
    {"window_fence_lock", window_fence_lock},
    {"window_no_fence", window_no_fence},
    {"window_null", window_null},
    {"receive_load", receive_load},
    {"reduce_store", reduce_store},
    {"result_load", result_load},
    {"window_store", window_store},
    {"too_long", too_long},
    {"uncommitted", uncommitted},
    {"in_place", in_place},
    {"overlapping_type", overlapping_type},
    {"changed_partition", changed_partition},
    {"leaked_file", leaked_file},
    {"file_write", file_write},
    {"file_read", file_read},
    {"deadlock", deadlock},
};

int main(int argc, char **argv)
{
    int ok = strncmp(argv[1], "ok-", 3) == 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, argv[1] + (ok ? 3 : 0)) == 0 || strcmp(argv[1], "ok-") == 0) {
            kinds[i].run(ok);
        }
    }
    MPI_Finalize();
    return 0;
}
