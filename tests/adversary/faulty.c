/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPI program with a fault. usage: faulty FAULT RANK ROUND
 * All ranks exchange messages and compute sums; in round ROUND rank RANK commits the fault.
 */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 4, WORDS = 300 };

static int rank, size;
static int out[WORDS], in[WORDS];

/* The compiler must neither warn of a fault nor remove it. */
static volatile int zero;
static void *volatile nowhere;

static void crash(void)
{
    *(volatile int *)nowhere = 1;
}

static int deep(int n)
{
    volatile char page[4096];

    page[n % 4096] = (char)n;
    return n < 0 ? 0 : deep(n + 1) + page[n % 4096];
}

static void overflow(void)
{
    zero = deep(0);
}

static void divide(void)
{
    zero = 1 / zero;
}

static void corrupt_heap(void)
{
    char *block = malloc(24);

    memset(block, 0x41, 24 + (size_t)(zero + 64));
    free(block);
    free(malloc(24));
}

static void free_twice(void)
{
    char *block = malloc(100);
    void *volatile again = block;

    free(block);
    free(again);
}

static void abort_all(void)
{
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void leave(void)
{
    exit(5);
}

static void leave_silently(void)
{
    _exit(0);
}

static void raise_term(void)
{
    raise(SIGABRT);
}

static void receive_nothing(void)
{
    MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_nowhere(void)
{
    MPI_Send(out, 1, MPI_INT, size + 3, 1, MPI_COMM_WORLD);
}

static void send_unreceived(void)
{
    MPI_Send(out, 1, MPI_INT, 0, 98, MPI_COMM_WORLD);
}

static void send_too_much(void)
{
    MPI_Send(out, WORDS, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
}

static void negative_count(void)
{
    MPI_Send(out, -1, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

static void bad_tag(void)
{
    MPI_Send(out, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
}

static void null_type(void)
{
    MPI_Send(out, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD);
}

static void null_comm(void)
{
    MPI_Barrier(MPI_COMM_NULL);
}

static void free_world(void)
{
    MPI_Comm world = MPI_COMM_WORLD;

    MPI_Comm_free(&world);
}

static void other_collective(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void other_root(void)
{
    MPI_Bcast(out, 1, MPI_INT, size + 1, MPI_COMM_WORLD);
}

static void other_length(void)
{
    MPI_Allreduce(out, in, 7, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void init_again(void)
{
    MPI_Init(NULL, NULL);
}

static void finalize_early(void)
{
    MPI_Finalize();
}

static void finalize_and_send(void)
{
    MPI_Finalize();
    MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

static void bad_request(void)
{
    MPI_Request request;

    memset(&request, 0x5a, sizeof(request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void leak_requests(void)
{
    for (int i = 0; i < 50; i++) {
        MPI_Request request;
        MPI_Irecv(in, 1, MPI_INT, rank, 1000 + i, MPI_COMM_WORLD, &request);
    }
}

static void much_output(void)
{
    for (int i = 0; i < 20000; i++) {
        printf("rank %d says %d\n", rank, i);
    }
}

static void close_output(void)
{
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
}

static void much_memory(void)
{
    char *block = malloc((size_t)1 << 46);

    memset(block, 1, 4096);
    free(block);
}

static void bad_group(void)
{
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank, -1, &part);
}

static void nothing(void)
{
}

#define FAULT(name) \
    {               \
#name, name \
    }
static const struct {
    const char *name;
    void (*commit)(void);
} faults[] = {
    FAULT(crash),           FAULT(overflow),         FAULT(divide),
    FAULT(corrupt_heap),    FAULT(free_twice),       FAULT(abort_all),
    FAULT(leave),           FAULT(leave_silently),   FAULT(raise_term),
    FAULT(receive_nothing), FAULT(send_nowhere),     FAULT(send_unreceived),
    FAULT(send_too_much),   FAULT(negative_count),   FAULT(bad_tag),
    FAULT(null_type),       FAULT(null_comm),        FAULT(free_world),
    FAULT(other_root),      FAULT(other_collective), FAULT(other_length),
    FAULT(init_again),      FAULT(finalize_early),   FAULT(finalize_and_send),
    FAULT(bad_request),     FAULT(leak_requests),    FAULT(much_output),
    FAULT(close_output),    FAULT(much_memory),      FAULT(bad_group),
    FAULT(nothing),
};
enum { FAULTS = sizeof(faults) / sizeof(faults[0]) };

static void play(int round)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;

    MPI_Sendrecv(out, 1 + round, MPI_INT, next, 1, in, 5, MPI_INT, before, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(out, in, 1 + round, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        for (int i = 0; i < FAULTS; i++) {
            puts(faults[i].name);
        }
        return 0;
    }
    int culprit = atoi(argv[2]), when = atoi(argv[3]);
    if (when < 0 && strcmp(argv[1], "crash") == 0) {
        crash(); /* before MPI_Init() */
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < FAULTS && rank == culprit && round == when; i++) {
            if (strcmp(faults[i].name, argv[1]) == 0) {
                faults[i].commit();
            }
        }
        play(round);
    }
    MPI_Finalize();
    return 0;
}
