/* SPDX-License-Identifier: Apache-2.0 */
/* What no MPI program may do; the argument says what. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *how;

static int is(const char *what)
{
    return strcmp(how, what) == 0;
}

static void *call(void *argument)
{
    MPI_Barrier(MPI_COMM_SELF);
    return argument;
}

static void during(int rank)
{
    static int word;
    MPI_Request request;
    pthread_t thread;

    if (is("thread") && pthread_create(&thread, NULL, call, NULL) == 0) {
        pthread_join(thread, NULL);
    } else if (is("crash") && rank == 1) {
        *(volatile int *)8 = 1;
    } else if (is("receive")) {
        MPI_Irecv(&word, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &request);
    } else if (is("any")) {
        MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    } else if (is("send")) {
        MPI_Send(&word, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD);
        MPI_Irecv(&word, 1, MPI_INT, 1 - rank, 6, MPI_COMM_WORLD, &request);
    } else if (is("cancelled")) {
        MPI_Irecv(&word, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, flag;

    how = argv[1];
    MPI_Get_library_version(version, &rank);
    MPI_Initialized(&flag);
    if (is("before")) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    during(rank);
    MPI_Finalize();
    MPI_Finalized(&flag);
    if (is("after")) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("twice")) {
        MPI_Finalize();
    } else if (is("again")) {
        MPI_Init(&argc, &argv);
    }
    return 0;
}
