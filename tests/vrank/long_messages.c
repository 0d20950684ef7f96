/* SPDX-License-Identifier: Apache-2.0 */
/* Long messages, which are copied once where that is possible: every way to send and to receive,
 * buffers on the heap, on the stack and in variables, in a random order of calls. Each message
 * carries its number; a rank says the sum of what it received, which must not depend on who copied
 * it. */
#include "report.h"

enum { INTS = 5000, ROUNDS = 6, SLOTS = 8 };

static int in_variables[SLOTS][INTS]; /* not at one place for all ranks at once */
static unsigned draws = 12345;        /* the same in all ranks: they agree on what they do */

static int draw(int n)
{
    draws = draws * 1103515245U + 12345U;
    return (int)(draws >> 16) % n;
}

static void fill(int *buffer, int n, int number)
{
    for (int i = 0; i < n; i++) {
        buffer[i] = number * 7 + i;
    }
}

static int sum_of(const int *buffer, int n)
{
    unsigned sum = 0;

    for (int i = 0; i < n; i++) {
        sum = sum * 31 + (unsigned)buffer[i];
    }
    return (int)(sum & 0xffff);
}

static int *place(int kind, int slot, int heap[SLOTS][INTS], int stack[SLOTS][INTS])
{
    return kind == 0 ? heap[slot] : kind == 1 ? stack[slot] : in_variables[slot];
}

/* All ranks send to their right in one of several ways, and receive in one of several orders. The
 * sizes of neighbouring messages of a stream differ: one of them may be short. */
static void exchange(int round, int rank, int size, int heap[SLOTS][INTS])
{
    enum { HALF = SLOTS / 2 };
    int stack[SLOTS][INTS], right = (rank + 1) % size, left = (rank + size - 1) % size;
    int late = draw(2), lengths[HALF], tags[HALF], results[HALF];
    MPI_Request requests[SLOTS];

    for (int i = 0; i < HALF; i++) {
        lengths[i] = draw(3) == 0 ? 10 : INTS - i;
        tags[i] = draw(2);
        fill(place(draw(3), i, heap, stack), INTS, 0);
    }
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < HALF; i++) {
            int *out = place((round + i) % 3, i, heap, stack);
            int *in = place((round + i + 1) % 3, HALF + i, heap, stack);
            if (part == (late ? 0 : 1)) {
                fill(out, lengths[i], round * 100 + rank * 10 + i);
                MPI_Isend(out, lengths[i], MPI_INT, right, tags[i], MPI_COMM_WORLD,
                          &requests[i]);
            } else {
                MPI_Irecv(in, INTS, MPI_INT, left, tags[i], MPI_COMM_WORLD,
                          &requests[HALF + i]);
            }
        }
    }
    if (draw(2)) { /* the buffers are used again as soon as the sends are complete */
        MPI_Waitall(HALF, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < HALF; i++) {
            fill(place((round + i) % 3, i, heap, stack), INTS, -1);
        }
        MPI_Waitall(HALF, requests + HALF, MPI_STATUSES_IGNORE);
    } else {
        MPI_Waitall(SLOTS, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < HALF; i++) {
        results[i] = sum_of(place((round + i + 1) % 3, HALF + i, heap, stack), lengths[i]);
    }
    say_ints("exchange", results, HALF);
}

/* A receive is cancelled, whether or not a message for it is on its way: the next one gets it. */
static void cancel(int rank, int size, int heap[SLOTS][INTS])
{
    MPI_Request request, sent;
    MPI_Status status;
    int flag, left = (rank + size - 1) % size;

    fill(heap[0], INTS, 500 + rank);
    MPI_Irecv(heap[1], INTS, MPI_INT, left, 9, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(heap[0], INTS, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD, &sent);
    MPI_Wait(&sent, MPI_STATUS_IGNORE); /* the data may be in the other rank's buffer now */
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    fill(heap[1], flag ? INTS : 0, 0);
    if (flag) {
        MPI_Recv(heap[1], INTS, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    say("cancelled or not: %d", sum_of(heap[1], INTS));
}

/* Receives with wildcards among others, probes that take a message, persistent requests. */
static void others(int rank, int size, int heap[SLOTS][INTS])
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, results[3];
    MPI_Request requests[SLOTS], kept[2];
    MPI_Message message;

    for (int i = 0; i < 4; i++) {
        fill(heap[i], INTS, 600 + rank * 10 + i);
        MPI_Irecv(heap[4 + i], INTS, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left, 3, MPI_COMM_WORLD,
                  &requests[4 + i]);
    }
    for (int i = 0; i < 4; i++) {
        MPI_Isend(heap[i], INTS, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(SLOTS, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++) {
        say("wildcards: %d", sum_of(heap[4 + i], INTS));
    }
    MPI_Isend(heap[0], INTS, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Mprobe(left, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(heap[4], INTS, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    results[0] = sum_of(heap[4], INTS);
    MPI_Send_init(heap[0], INTS, MPI_INT, right, 5, MPI_COMM_WORLD, &kept[0]);
    MPI_Recv_init(heap[5], INTS, MPI_INT, left, 5, MPI_COMM_WORLD, &kept[1]);
    for (int i = 1; i < 3; i++) {
        fill(heap[0], INTS, 700 + rank * 10 + i);
        MPI_Startall(2, kept);
        MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
        results[i] = sum_of(heap[5], INTS);
    }
    MPI_Request_free(&kept[0]);
    MPI_Request_free(&kept[1]);
    say_ints("others", results, 3);
}

/* A send whose request is freed, calls that wait, a buffer for both directions, and columns. */
static void blocking(int rank, int size, int heap[SLOTS][INTS])
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, results[3];
    MPI_Datatype column;
    MPI_Request request;

    fill(heap[0], INTS, 800 + rank);
    MPI_Sendrecv(heap[0], INTS, MPI_INT, right, 6, heap[1], INTS, MPI_INT, left, 6,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    results[0] = sum_of(heap[1], INTS);
    MPI_Sendrecv_replace(heap[0], INTS, MPI_INT, right, 6, left, 6, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    results[1] = sum_of(heap[0], INTS);
    if (rank % 2 == 0 && rank + 1 < size) {
        MPI_Send(heap[0], INTS, MPI_INT, right, 7, MPI_COMM_WORLD);
        fill(heap[0], INTS, 0);
    } else if (rank % 2 == 1) {
        MPI_Recv(heap[1], INTS, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    results[2] = sum_of(heap[1], INTS);
    say_ints("blocking", results, 3);
    MPI_Type_vector(INTS / 2, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    fill(heap[0], INTS, 900 + rank);
    fill(heap[1], INTS, 0);
    MPI_Irecv(heap[1], 1, column, left, 8, MPI_COMM_WORLD, &request);
    MPI_Request send;
    MPI_Isend(heap[0], INTS / 2, MPI_INT, right, 8, MPI_COMM_WORLD, &send);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    say("column: %d", sum_of(heap[1], INTS));
    MPI_Type_free(&column);
    MPI_Isend(heap[0], INTS, MPI_INT, right, 10, MPI_COMM_WORLD, &send);
    MPI_Request_free(&send);
    MPI_Recv(heap[1], INTS, MPI_INT, left, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("freed: %d", sum_of(heap[1], INTS));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int(*heap)[INTS] = calloc(SLOTS, sizeof(*heap));
    for (int round = 0; round < ROUNDS; round++) {
        exchange(round, rank, size, heap);
    }
    cancel(rank, size, heap);
    others(rank, size, heap);
    blocking(rank, size, heap);
    free(heap);
    say_all();
    return 0;
}
