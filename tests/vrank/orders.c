/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for weft run --check=all-orders, one for each name. The number of orders in which their
 * messages and requests could complete is known. With "bad" after the name, one of these
 * orders deadlocks, and it is not the first. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, x, bad;
static MPI_Status status;

static int receive(int from, int tag)
{
    MPI_Recv(&x, 1, MPI_INT, from, tag, MPI_COMM_WORLD, &status);
    return status.MPI_SOURCE;
}

static void send(int to, int tag)
{
    MPI_Send(&rank, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

/* Waits for ever in the order with this number. */
static void reach(int order, int wrong)
{
    if (bad && order == wrong) {
        receive(1, 99);
    }
}

/* (n - 1)! */
static void gather(void)
{
    int order = 0;

    for (int i = 1; i < size && rank == 0; i++) {
        order = 10 * order + receive(MPI_ANY_SOURCE, 0);
    }
    reach(order, 312);
    if (rank > 0) {
        send(0, 0);
    }
}

/* Two requests of each worker, the second after the answer: (2 (n - 1))! / 2^(n - 1) */
static void replies(void)
{
    int order = 0;

    for (int i = 0; i < 2 * (size - 1); i++) {
        if (rank == 0) {
            int from = receive(MPI_ANY_SOURCE, 0);
            order = 10 * order + from;
            send(from, 1);
        } else if (i < 2) {
            send(0, 0);
            receive(0, 1);
        }
    }
    reach(order, 2112);
}

/* A message that is sent after a collective is no alternative to one before. */
static void phases(void)
{
    int values[8];

    for (int i = 0; i < 6; i++) {
        if (rank == 0) {
            receive(MPI_ANY_SOURCE, 0);
        } else if (rank == 1 + i % 2) {
            send(0, 0);
        }
        if (i == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
        } else if (i == 1) {
            MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
        } else if (i == 2) {
            MPI_Allgather(&rank, 1, MPI_INT, values, 1, MPI_INT, MPI_COMM_WORLD);
        } else if (i == 3) {
            MPI_Request request;
            MPI_Ibcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (i == 4) {
            MPI_Comm copy;
            MPI_Comm_dup(MPI_COMM_WORLD, &copy);
            MPI_Comm_free(&copy);
        }
    }
}

/* The root of a gather learns, the others do not: 2 orders. */
static void unrelated(void)
{
    int values[8], first = 0;

    if (rank == 1) {
        first = receive(MPI_ANY_SOURCE, 0);
    }
    if (rank == 0) {
        send(1, 0);
    }
    MPI_Gather(&rank, 1, MPI_INT, values, 1, MPI_INT, 2, MPI_COMM_WORLD);
    if (rank == 2) {
        send(0, 1);
    } else if (rank == 0) {
        receive(2, 1);
    }
    if (rank == 3) {
        send(1, 0);
    } else if (rank == 1) {
        receive(MPI_ANY_SOURCE, 0);
        reach(first, 3);
    }
}

/* The first message of rank 1 belongs to the receive that was posted first: one order, although
 * rank 2 sends one that fits. */
static void posted_first(void)
{
    MPI_Request request;
    int got = 0;

    if (rank == 0) {
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
        receive(1, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (got == 2) {
            MPI_Abort(MPI_COMM_WORLD, 7);
        }
        receive(2, 0);
    } else {
        for (int i = 0; i < 2 && rank == 1; i++) {
            send(0, 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 2) {
            send(0, 0);
        }
    }
}

/* Receives that are posted in one order and waited for in the other: (n - 1)! */
static void posted(void)
{
    MPI_Request requests[3];
    int got[3] = {0};

    for (int i = 0; i < size - 1 && rank == 0; i++) {
        MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = size - 2; i >= 0 && rank == 0; i--) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    reach(100 * got[0] + 10 * got[1] + got[2], 231);
    if (rank > 0) {
        send(0, 0);
    }
}

/* Which of three requests is first, second, third: 3! */
static void any(int some)
{
    MPI_Request requests[3];
    int got[3], order = 0;

    for (int i = 0; i < 3 && rank == 0; i++) {
        MPI_Irecv(&got[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < 3 && rank == 0;) {
        int n = 1, places[3];
        if (some) {
            MPI_Waitsome(3, requests, &n, places, MPI_STATUSES_IGNORE);
        } else {
            MPI_Waitany(3, requests, places, MPI_STATUS_IGNORE);
        }
        for (int k = 0; k < n; k++, i++) {
            order = 10 * order + places[k] + 1;
        }
    }
    reach(order, 312);
    if (rank > 0) {
        send(0, 0);
    }
}

static void waitany(void)
{
    any(0);
}

static void waitsome(void)
{
    any(1);
}

/* Whether the first test finds the message: 2 */
static void poll(void)
{
    MPI_Request request;
    int flag = 0, n = 0;

    if (rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        for (; !flag; n++) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
        reach(n == 1, 1);
    } else if (rank == 1) {
        send(0, 0);
    }
}

/* Whether a look finds a message, and of whom: 3, each with 2 orders of what follows */
static void look(void)
{
    int flag = 0;

    if (rank == 0) {
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, &status);
        reach(flag ? status.MPI_SOURCE : 0, 2);
        receive(MPI_ANY_SOURCE, 0);
        receive(MPI_ANY_SOURCE, 0);
    } else if (rank < 3) {
        send(0, 0);
    }
}

/* What a probe finds need not be what the next receive of any source gets: 2 * 2 */
static void probe(void)
{
    if (rank == 0) {
        MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        int found = status.MPI_SOURCE;
        int got = receive(MPI_ANY_SOURCE, 0);
        reach(10 * found + got, 21);
        receive(MPI_ANY_SOURCE, 0);
    } else if (rank < 3) {
        send(0, 0);
    }
}

/* Other functions that receive from any source: 2 orders each */
static void others(void)
{
    MPI_Request request;
    int order = 0;

    if (rank == 0) {
        MPI_Sendrecv(&rank, 1, MPI_INT, 1, 5, &x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                     &status);
        order = status.MPI_SOURCE;
        receive(MPI_ANY_SOURCE, 0);
        MPI_Recv_init(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 2; i++) {
            MPI_Start(&request);
            MPI_Wait(&request, &status);
            order = 10 * order + status.MPI_SOURCE;
        }
        MPI_Request_free(&request);
        reach(order, 221);
    } else if (rank < 3) {
        send(0, 0);
        send(0, 1);
    }
    if (rank == 1) {
        receive(0, 5);
    }
}

/* The same words from the standard input each time; what is counted in a file differs. */
static void input(void)
{
    char word[16] = "";

    if (rank == 0 && (scanf("%15s", word) != 1 || strcmp(word, "four") != 0)) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    gather();
}

static void counts(void)
{
    FILE *file = rank == 0 ? fopen("runs", "a") : NULL;

    if (file != NULL) {
        fputc('x', file);
        if (ftell(file) % 2 == 0) {
            MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        }
        fclose(file);
    }
    gather();
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"gather", gather},   {"replies", replies},     {"phases", phases},
    {"posted", posted},   {"unrelated", unrelated}, {"posted_first", posted_first},
    {"waitany", waitany}, {"waitsome", waitsome},   {"poll", poll},
    {"look", look},       {"probe", probe},         {"others", others},
    {"input", input},     {"counts", counts},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bad = argc > 2;
    for (unsigned i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (argc > 1 && strcmp(argv[1], programs[i].name) == 0) {
            programs[i].run();
        }
    }
    MPI_Finalize();
    return 0;
}
