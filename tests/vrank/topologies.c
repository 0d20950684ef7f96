/* SPDX-License-Identifier: Apache-2.0 */
/* Cartesian and graph topologies, and collectives among neighbours. */
#include "report.h"

static int rank, size;

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Implementations differ in what comes from whom where two neighbours are the same: `alike`. */
static void exchange(const char *name, MPI_Comm comm, int n_in, int alike)
{
    int out[64], in[64], counts[64], displs[64], in_counts[64], in_displs[64];
    MPI_Request request;

    for (int i = 0; i < 64; i++) {
        out[i] = 100 * rank + i;
        in[i] = -1;
        counts[i] = in_counts[i] = 1;
        displs[i] = 2 * i;
        in_displs[i] = i;
    }
    MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    say_ints(name, in, n_in);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    if (alike) {
        qsort(in, (size_t)n_in, sizeof(int), compare);
    }
    say_ints("  alltoall", in, n_in);
    memset(in, 0xff, sizeof(in));
    MPI_Neighbor_alltoallv(out, counts, displs, MPI_INT, in, in_counts, in_displs, MPI_INT,
                           comm);
    if (alike) {
        qsort(in, (size_t)n_in, sizeof(int), compare);
    }
    say_ints("  alltoallv", in, n_in);
    memset(in, 0xff, sizeof(in));
    MPI_Ineighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say_ints("  iallgather", in, 2 * n_in);
}

static void grid(int ndims)
{
    int dims[3] = {0}, periods[3] = {1, 0, 1}, coords[3], got[3], wraps[3], n, from, to, r;
    int remain[3] = {0, 1, 0}, status;
    MPI_Comm cart, line;

    MPI_Dims_create(size, ndims, dims);
    say_ints("dims", dims, ndims);
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &cart);
    MPI_Cartdim_get(cart, &n);
    MPI_Topo_test(cart, &status);
    MPI_Cart_get(cart, ndims, got, wraps, coords);
    say("grid: %d, is one %d", n, status == MPI_CART);
    say_ints("  sizes", got, n);
    say_ints("  wraps", wraps, n);
    say_ints("  place", coords, n);
    MPI_Cart_rank(cart, coords, &r);
    MPI_Cart_coords(cart, size - 1, ndims, got);
    say("own rank %d", r);
    say_ints("  last", got, ndims);
    for (int d = 0; d < ndims; d++) {
        MPI_Cart_shift(cart, d, 1, &from, &to);
        say("shift %d: %d %d", d, from == MPI_PROC_NULL ? -1 : from,
            to == MPI_PROC_NULL ? -1 : to);
        MPI_Cart_shift(cart, d, -2, &from, &to);
        say("shift %d: %d %d", d, from == MPI_PROC_NULL ? -1 : from,
            to == MPI_PROC_NULL ? -1 : to);
    }
    exchange("neighbours", cart, 2 * ndims, dims[0] < 3 || (ndims > 2 && dims[2] < 3));
    MPI_Cart_sub(cart, remain, &line);
    MPI_Comm_size(line, &n);
    MPI_Comm_rank(line, &r);
    MPI_Cartdim_get(line, &status);
    say("line: %d of %d, %d dimensions", r, n, status);
    MPI_Comm_free(&line);
    memset(remain, 0, sizeof(remain));
    MPI_Cart_sub(cart, remain, &line);
    say("point: %d", line != MPI_COMM_NULL);
    if (line != MPI_COMM_NULL) {
        MPI_Comm_free(&line);
    }
    MPI_Comm_dup(cart, &line);
    MPI_Topo_test(line, &status);
    say("dup: %d", status == MPI_CART);
    MPI_Comm_free(&line);
    MPI_Comm_free(&cart);
}

/* A ring in which everybody also knows rank 0. */
static void graph(void)
{
    int *index = calloc((size_t)size, sizeof(int)),
        *edges = calloc((size_t)size * 64, sizeof(int));
    int n = 0, nodes, n_edges, count, list[64], status;
    MPI_Comm comm;

    for (int i = 0; i < size; i++) {
        edges[n++] = (i + 1) % size;
        edges[n++] = (i + size - 1) % size;
        if (i > 0) {
            edges[n++] = 0;
        } else {
            for (int k = 1; k < size; k++) {
                edges[n++] = k;
            }
        }
        index[i] = n;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
    MPI_Topo_test(comm, &status);
    MPI_Graphdims_get(comm, &nodes, &n_edges);
    MPI_Graph_neighbors_count(comm, rank, &count);
    MPI_Graph_neighbors(comm, rank, 64, list);
    say("graph: %d, %d nodes, %d edges, own %d", status == MPI_GRAPH, nodes, n_edges, count);
    say_ints("  neighbours", list, count);
    int out = 7 * rank, in[64];
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, comm);
    say_ints("  allgather", in, count);
    MPI_Comm_free(&comm);
    free(index);
    free(edges);
}

static void dist_graph(void)
{
    int sources[2] = {(rank + size - 1) % size, (rank + size - 2 % size) % size};
    int destinations[2] = {(rank + 1) % size, (rank + 2) % size}, weights[2] = {1, 5};
    int n_in, n_out, weighted, a[64], b[64], aw[64], bw[64], status;
    MPI_Comm comm;

    sources[1] = (rank + 2 * size - 2) % size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, weights, 2, destinations,
                                   weights, MPI_INFO_NULL, 0, &comm);
    MPI_Topo_test(comm, &status);
    MPI_Dist_graph_neighbors_count(comm, &n_in, &n_out, &weighted);
    MPI_Dist_graph_neighbors(comm, 2, a, aw, 2, b, bw);
    say("adjacent: %d %d %d %d", status == MPI_DIST_GRAPH, n_in, n_out, weighted);
    say_ints("  sources", a, 2);
    say_ints("  weights", aw, 2);
    say_ints("  destinations", b, 2);
    exchange("dist graph", comm, 2, size < 3);
    MPI_Comm_free(&comm);

    /* Rank 0 knows all edges: everybody sends to all that it divides. */
    int *from = calloc((size_t)size, sizeof(int)), *degrees = calloc((size_t)size, sizeof(int));
    int *to = calloc((size_t)(size * size), sizeof(int)), n = 0;
    for (int i = 0; i < size; i++) {
        from[i] = i;
        for (int k = 0; k < size; k++) {
            if ((k + 1) % (i + 1) == 0) {
                to[n++] = k;
                degrees[i]++;
            }
        }
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, from, degrees, to,
                          MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &n_in, &n_out, &weighted);
    MPI_Dist_graph_neighbors(comm, 64, a, MPI_UNWEIGHTED, 64, b, MPI_UNWEIGHTED);
    qsort(a, (size_t)n_in, sizeof(int), compare);
    qsort(b, (size_t)n_out, sizeof(int), compare);
    say("general: %d %d %d", n_in, n_out, weighted);
    say_ints("  sources", a, n_in);
    say_ints("  destinations", b, n_out);
    MPI_Comm_free(&comm);
    free(from);
    free(degrees);
    free(to);
}

static void sizes(void)
{
    static const int nodes[] = {1,  6,   12,   16,   24,   30,   60,   64,   72,
                                96, 128, 1000, 1024, 1001, 5040, 7488, 34425};

    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        int two[2] = {0, 0}, three[3] = {0, 0, 0}, fixed[3] = {0, 1, 0};
        MPI_Dims_create(nodes[i], 2, two);
        MPI_Dims_create(nodes[i], 3, three);
        MPI_Dims_create(nodes[i], 3, fixed);
        say("%d: %d %d, %d %d %d, %d %d", nodes[i], two[0], two[1], three[0], three[1],
            three[2], fixed[0], fixed[2]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        sizes();
    }
    grid(2);
    grid(3);
    graph();
    dist_graph();
    say_all();
    return 0;
}
