/* SPDX-License-Identifier: Apache-2.0 */
/* One collective operation, again and again, for tools/validate.
 * usage: collectives NAME [bytes of a block] [rounds]; without a name it prints all names. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Buffers with a block for each rank, and what calls with counts want. */
struct world {
    int rank, size, count; /* count: ints of a block */
    int *send, *receive;
    int *counts, *begins; /* of ints */
    int *byte_begins;     /* for alltoallw */
    MPI_Datatype *types;
};

static void run_barrier(const struct world *w)
{
    (void)w;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_bcast(const struct world *w)
{
    MPI_Bcast(w->send, w->count, MPI_INT, 0, MPI_COMM_WORLD);
}

static void run_gather(const struct world *w)
{
    MPI_Gather(w->send, w->count, MPI_INT, w->receive, w->count, MPI_INT, 0, MPI_COMM_WORLD);
}

static void run_gatherv(const struct world *w)
{
    MPI_Gatherv(w->send, w->count, MPI_INT, w->receive, w->counts, w->begins, MPI_INT, 0,
                MPI_COMM_WORLD);
}

static void run_scatter(const struct world *w)
{
    MPI_Scatter(w->send, w->count, MPI_INT, w->receive, w->count, MPI_INT, 0, MPI_COMM_WORLD);
}

static void run_scatterv(const struct world *w)
{
    MPI_Scatterv(w->send, w->counts, w->begins, MPI_INT, w->receive, w->count, MPI_INT, 0,
                 MPI_COMM_WORLD);
}

static void run_allgather(const struct world *w)
{
    MPI_Allgather(w->send, w->count, MPI_INT, w->receive, w->count, MPI_INT, MPI_COMM_WORLD);
}

static void run_allgatherv(const struct world *w)
{
    MPI_Allgatherv(w->send, w->count, MPI_INT, w->receive, w->counts, w->begins, MPI_INT,
                   MPI_COMM_WORLD);
}

static void run_alltoall(const struct world *w)
{
    MPI_Alltoall(w->send, w->count, MPI_INT, w->receive, w->count, MPI_INT, MPI_COMM_WORLD);
}

static void run_alltoallv(const struct world *w)
{
    MPI_Alltoallv(w->send, w->counts, w->begins, MPI_INT, w->receive, w->counts, w->begins,
                  MPI_INT, MPI_COMM_WORLD);
}

static void run_alltoallw(const struct world *w)
{
    MPI_Alltoallw(w->send, w->counts, w->byte_begins, w->types, w->receive, w->counts,
                  w->byte_begins, w->types, MPI_COMM_WORLD);
}

static void run_reduce(const struct world *w)
{
    MPI_Reduce(w->send, w->receive, w->count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void run_allreduce(const struct world *w)
{
    MPI_Allreduce(w->send, w->receive, w->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void run_reduce_scatter(const struct world *w)
{
    MPI_Reduce_scatter(w->send, w->receive, w->counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void run_reduce_scatter_block(const struct world *w)
{
    MPI_Reduce_scatter_block(w->send, w->receive, w->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void run_scan(const struct world *w)
{
    MPI_Scan(w->send, w->receive, w->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void run_exscan(const struct world *w)
{
    MPI_Exscan(w->send, w->receive, w->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static const struct collective {
    const char *name;
    void (*run)(const struct world *);
} collectives[] = {
    {"barrier", run_barrier},
    {"bcast", run_bcast},
    {"gather", run_gather},
    {"gatherv", run_gatherv},
    {"scatter", run_scatter},
    {"scatterv", run_scatterv},
    {"allgather", run_allgather},
    {"allgatherv", run_allgatherv},
    {"alltoall", run_alltoall},
    {"alltoallv", run_alltoallv},
    {"alltoallw", run_alltoallw},
    {"reduce", run_reduce},
    {"allreduce", run_allreduce},
    {"reduce_scatter", run_reduce_scatter},
    {"reduce_scatter_block", run_reduce_scatter_block},
    {"scan", run_scan},
    {"exscan", run_exscan},
};

enum { N_COLLECTIVES = sizeof(collectives) / sizeof(*collectives) };

static struct world make_world(int bytes)
{
    struct world w = {.count = bytes / (int)sizeof(int)};

    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.size);
    size_t n = (size_t)w.size;
    w.send = calloc(n * (size_t)w.count + 1, sizeof(int));
    w.receive = calloc(n * (size_t)w.count + 1, sizeof(int));
    w.counts = calloc(n, sizeof(int));
    w.begins = calloc(n, sizeof(int));
    w.byte_begins = calloc(n, sizeof(int));
    w.types = calloc(n, sizeof(MPI_Datatype));
    for (int i = 0; i < w.size; i++) {
        w.counts[i] = w.count;
        w.begins[i] = i * w.count;
        w.byte_begins[i] = w.begins[i] * (int)sizeof(int);
        w.types[i] = MPI_INT;
    }
    return w;
}

static void free_world(struct world *w)
{
    free(w->send);
    free(w->receive);
    free(w->counts);
    free(w->begins);
    free(w->byte_begins);
    free(w->types);
}

static const struct collective *find(const char *name)
{
    for (int i = 0; i < N_COLLECTIVES; i++) {
        if (strcmp(collectives[i].name, name) == 0) {
            return &collectives[i];
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int bytes = argc > 2 ? atoi(argv[2]) : 16384, rounds = argc > 3 ? atoi(argv[3]) : 10;
    const struct collective *one = argc > 1 ? find(argv[1]) : NULL;

    for (int i = 0; one == NULL && i < N_COLLECTIVES; i++) {
        (void)printf("%s\n", collectives[i].name);
    }
    if (one == NULL) {
        return argc > 1;
    }
    MPI_Init(&argc, &argv);
    struct world w = make_world(bytes);
    double begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        one->run(&w);
    }
    if (w.rank == 0) {
        (void)printf("%s of %d bytes, %d ranks: %.3f ms\n", one->name, bytes, w.size,
                     (MPI_Wtime() - begin) * 1e3 / rounds);
    }
    free_world(&w);
    MPI_Finalize();
    return 0;
}
