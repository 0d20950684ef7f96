/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into the programs that tools/cluster runs; built for Open MPI and for MPICH.
 *
 * At the end of MPI_Init every two ranks are connected, which both libraries otherwise do at the
 * first message, and all ranks pass a barrier: they start at the same time, as in a simulation.
 *
 * MPICH over UCX needs more. In MPI_Finalize, a rank of MPICH 4.0 asks each peer to confirm that
 * everything has arrived, then waits in a barrier without answering the others, which may wait
 * for ever. Here every two ranks exchange a last message instead, and UCX closes the connections
 * after the barrier. And a rank that waits yields the processor, because hosts share processors;
 * Open MPI has a setting for that.
 *
 * The functions of MPI are replaced under both names: libraries that record calls use PMPI_.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <string.h>

static void exchange_all(MPI_Comm comm)
{
    int rank, size;

    (void)PMPI_Comm_rank(comm, &rank);
    (void)PMPI_Comm_size(comm, &size);
    for (int distance = 1; distance < size; distance++) {
        (void)PMPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + distance) % size, 0, NULL, 0, MPI_BYTE,
                            (rank + size - distance) % size, 0, comm, MPI_STATUS_IGNORE);
    }
}

/* A communicator of our own: receives of the program from anybody must not get our messages. */
static MPI_Comm everybody(void)
{
    static MPI_Comm comm = MPI_COMM_NULL;

    if (comm == MPI_COMM_NULL) {
        (void)PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    return comm;
}

static void start_together(void)
{
    exchange_all(everybody());
    (void)PMPI_Barrier(everybody());
}

/* The function of the library itself. ISO C has no cast from data to functions. */
static void find_next(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);

    memcpy(function, &found, sizeof(found));
}

int PMPI_Init(int *argc, char ***argv)
{
    int (*init)(int *, char ***);

    find_next("PMPI_Init", &init);
    int status = init(argc, argv);
    start_together();
    return status;
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int (*init)(int *, char ***, int, int *);

    find_next("PMPI_Init_thread", &init);
    int status = init(argc, argv, required, provided);
    start_together();
    return status;
}

int MPI_Init(int *argc, char ***argv)
{
    return PMPI_Init(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return PMPI_Init_thread(argc, argv, required, provided);
}

#ifdef MPICH

int PMPI_Finalize(void)
{
    int (*finalize)(void);

    find_next("PMPI_Finalize", &finalize);
    exchange_all(everybody());
    return finalize();
}

int MPI_Finalize(void)
{
    return PMPI_Finalize();
}

/* Of UCX, whose headers need not be installed. */
void *ucp_disconnect_nb(void *endpoint);
unsigned ucp_worker_progress(void *worker);

/* NULL: done. */
void *ucp_disconnect_nb(void *endpoint)
{
    (void)endpoint;
    return NULL;
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);

    if (progress == NULL) {
        find_next("ucp_worker_progress", &progress);
    }
    unsigned events = progress(worker);
    if (events == 0) {
        (void)sched_yield();
    }
    return events;
}

#endif
