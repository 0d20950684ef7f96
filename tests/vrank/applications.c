/* SPDX-License-Identifier: Apache-2.0 */
/* Small applications, each with a result that does not depend on the order in which messages
 * arrive: particles that move between ranks, the transposition of a matrix, and ranks that take
 * tasks from each other. */
#include "report.h"

#include <stddef.h>

static int rank, size;

static void *list_of(int n, size_t each)
{
    return calloc((size_t)(n > 0 ? n : 1), each);
}

/* ---- particles: probes, matched receives, a datatype with gaps ---- */

struct particle {
    double x, v;
    int id;
    char kind;
};

enum { PARTICLES = 50, STEPS = 6, ROOM = 4000 };

static MPI_Datatype particle_type(void)
{
    int lengths[] = {2, 1, 1};
    MPI_Aint places[] = {offsetof(struct particle, x), offsetof(struct particle, id),
                         offsetof(struct particle, kind)};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR}, open, type;

    MPI_Type_create_struct(3, lengths, places, types, &open);
    MPI_Type_create_resized(open, 0, sizeof(struct particle), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&open);
    return type;
}

static int home_of(const struct particle *particle)
{
    return (int)particle->x % size;
}

/* Receives `n` messages of unknown length. Returns how many particles there are then. */
static int receive(struct particle *own, int kept, int n, int step, MPI_Datatype type)
{
    while (n > 0) {
        MPI_Message message;
        MPI_Request request;
        MPI_Status status;
        int flag = 0, count = 0;
        MPI_Improbe(MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &flag, &message, &status);
        if (!flag) {
            MPI_Mprobe(MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &message, &status);
        }
        MPI_Get_count(&status, type, &count);
        if (n % 2 == 0) {
            MPI_Mrecv(own + kept, count, type, &message, &status);
        } else {
            MPI_Imrecv(own + kept, count, type, &message, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        kept += count;
        n--;
    }
    return kept;
}

/* Sends each particle to the rank that it is at. */
static int move(struct particle *own, int n, int step, MPI_Datatype type)
{
    struct particle *out = list_of(n, sizeof(*out));
    int *counts = list_of(size, sizeof(int)), *begins = list_of(size + 1, sizeof(int));
    int *sends = list_of(size, sizeof(int)), kept = 0, expected = 0, n_sends = 0;
    MPI_Request *requests = list_of(size, sizeof(MPI_Request));

    for (int i = 0; i < n; i++) {
        own[i].x += own[i].v;
        begins[home_of(&own[i]) + 1]++;
    }
    for (int i = 0; i < size; i++) {
        begins[i + 1] += begins[i];
    }
    for (int i = 0; i < n; i++) {
        int to = home_of(&own[i]);
        out[begins[to] + counts[to]++] = own[i];
    }
    for (int i = 0; i < size; i++) {
        sends[i] = i != rank && counts[i] > 0;
    }
    MPI_Reduce_scatter_block(sends, &expected, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        if (sends[i]) {
            MPI_Isend(out + begins[i], counts[i], type, i, step, MPI_COMM_WORLD,
                      &requests[n_sends++]);
        }
    }
    for (int i = 0; i < counts[rank]; i++) {
        own[kept++] = out[begins[rank] + i];
    }
    kept = receive(own, kept, expected, step, type);
    MPI_Waitall(n_sends, requests, MPI_STATUSES_IGNORE);
    free(out);
    free(counts);
    free(begins);
    free(sends);
    free(requests);
    return kept;
}

static void particles(void)
{
    struct particle *own = list_of(ROOM, sizeof(*own));
    MPI_Datatype type = particle_type();
    unsigned long sum = 0;
    int n = PARTICLES;

    for (int i = 0; i < n; i++) {
        own[i] = (struct particle){rank + i / 64.0, (i * 7 + rank) % 11 / 8.0,
                                   rank * PARTICLES + i, (char)('a' + i % 3)};
    }
    for (int step = 0; step < STEPS; step++) {
        n = move(own, n, step, type);
    }
    for (int i = 0; i < n; i++) {
        sum += (unsigned long)(own[i].x * 64) * (unsigned long)own[i].id +
               (unsigned long)own[i].kind;
    }
    say("particles %d, sum %lu", n, sum);
    MPI_Type_free(&type);
    free(own);
}

/* ---- the transposition of a matrix: subarrays of all ranks at once ---- */

enum { N = 12 };

static int row_of(int member)
{
    return member * N / size;
}

static void transpose(void)
{
    int n = row_of(rank + 1) - row_of(rank);
    int *rows = list_of(n * N, sizeof(int)), *columns = list_of(n * N, sizeof(int));
    int *counts = list_of(size, sizeof(int)), *zeros = list_of(size, sizeof(int)), wrong = 0;
    MPI_Datatype *out = list_of(size, sizeof(MPI_Datatype));
    MPI_Datatype *in = list_of(size, sizeof(MPI_Datatype));
    MPI_Request request;

    for (int i = 0; i < size; i++) {
        int width = row_of(i + 1) - row_of(i);
        counts[i] = n > 0 && width > 0;
        MPI_Type_dup(MPI_INT, &out[i]);
        MPI_Type_dup(MPI_INT, &in[i]);
        if (counts[i]) {
            int full[] = {n, N}, part[] = {n, width}, at[] = {0, row_of(i)};
            int to_full[] = {N, n}, to_part[] = {width, n}, to[] = {row_of(i), 0};
            MPI_Type_free(&out[i]);
            MPI_Type_free(&in[i]);
            MPI_Type_create_subarray(2, full, part, at, MPI_ORDER_C, MPI_INT, &out[i]);
            MPI_Type_create_subarray(2, to_full, to_part, to, MPI_ORDER_C, MPI_INT, &in[i]);
        }
        MPI_Type_commit(&out[i]);
        MPI_Type_commit(&in[i]);
    }
    for (int i = 0; i < n * N; i++) {
        rows[i] = 1000 * (row_of(rank) + i / N) + i % N;
    }
    MPI_Alltoallw(rows, counts, zeros, out, columns, counts, zeros, in, MPI_COMM_WORLD);
    for (int i = 0; i < n * N; i++) { /* row i / n of the matrix, column i % n of this rank */
        wrong += columns[i] != 1000 * (i / n) + row_of(rank) + i % n;
        rows[i] = -1;
    }
    MPI_Ialltoallw(columns, counts, zeros, in, rows, counts, zeros, out, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < n * N; i++) {
        wrong += rows[i] != 1000 * (row_of(rank) + i / N) + i % N;
    }
    say("transposition of %d rows, %d wrong", n, wrong);
    for (int i = 0; i < size; i++) {
        MPI_Type_free(&out[i]);
        MPI_Type_free(&in[i]);
    }
    free(rows);
    free(columns);
    free(counts);
    free(zeros);
    free(out);
    free(in);
}

/* ---- tasks that ranks take from each other: atomic accesses, a dynamic window ---- */

enum { TASKS = 20, LINE = 8 }; /* counters are in different lines of the cache */

static void take_tasks(int owner, MPI_Win queue, MPI_Win results, MPI_Aint place)
{
    long one = 1, task = 0;

    for (;;) {
        MPI_Fetch_and_op(&one, &task, MPI_LONG, owner, 0, MPI_SUM, queue);
        MPI_Win_flush(owner, queue);
        if (task >= TASKS) {
            return;
        }
        long value = (owner * 1000 + task) * (owner + task + 1);
        MPI_Accumulate(&value, 1, MPI_LONG, owner,
                       MPI_Aint_add(place, task * (MPI_Aint)sizeof(long)), 1, MPI_LONG, MPI_SUM,
                       results);
        MPI_Win_flush_local(owner, results);
    }
}

static void tasks(void)
{
    long *next = NULL, *done = list_of(TASKS, sizeof(long)), sum = 0;
    MPI_Aint own = 0, *places = list_of(size, sizeof(MPI_Aint));
    MPI_Win queue, results;

    MPI_Win_allocate(LINE * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &next,
                     &queue);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, queue);
    *next = 0;
    MPI_Win_unlock(rank, queue);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &results);
    MPI_Win_attach(results, done, TASKS * sizeof(long));
    MPI_Get_address(done, &own);
    MPI_Allgather(&own, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, queue);
    MPI_Win_lock_all(0, results);
    for (int i = 0; i < size; i++) {
        int owner = (rank + i) % size;
        take_tasks(owner, queue, results, places[owner]);
    }
    MPI_Win_unlock_all(results);
    MPI_Win_unlock_all(queue);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TASKS; i++) {
        sum += done[i] * (i + 1);
    }
    say("tasks, sum %ld", sum);
    MPI_Win_detach(results, done);
    MPI_Win_free(&results);
    MPI_Win_free(&queue);
    free(places);
    free(done);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    particles();
    transpose();
    tasks();
    say_all();
    return 0;
}
