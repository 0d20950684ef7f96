/* SPDX-License-Identifier: Apache-2.0 */
/* Graph topologies, and distributed ones, of which each rank knows its own edges. */
#include "mpi/lib/comm/topology.h"
#include "mpi/lib/memory.h"

#include <stdlib.h>

/* ---- graphs ---- */

int wl_MPI_Graph_create(struct wl_rank *rank, MPI_Comm comm, int nnodes, const int *index,
                        const int *edges, int reorder, MPI_Comm *newcomm)
{
    struct wl_view view = wl_comm_of(rank, comm);
    const struct wl_split_args args = {.color =
                                           view.rank < (uint32_t)nnodes ? 0 : MPI_UNDEFINED};

    if (nnodes < 0 || (uint32_t)nnodes > view.size) {
        wl_fatal(rank, "the graph has %d nodes, more than the %u ranks of the communicator",
                 nnodes, view.size);
    }
    *newcomm = wl_comm_split(rank, &view, &args, WF_OP_GRAPH_CREATE);
    if (*newcomm != MPI_COMM_NULL) {
        struct wl_topology *graph = wl_calloc(1, sizeof(*graph));
        graph->kind = MPI_GRAPH;
        graph->n = nnodes;
        graph->index = wl_copy_ints(index, (size_t)nnodes);
        graph->edges = wl_copy_ints(edges, (size_t)index[nnodes - 1]);
        wl_topology_set(rank, *newcomm, graph);
    }
    return MPI_SUCCESS;
}

static int first_edge(const struct wl_topology *graph, int node)
{
    return node > 0 ? graph->index[node - 1] : 0;
}

int wl_MPI_Graph_get(struct wl_rank *rank, MPI_Comm comm, int maxindex, int maxedges,
                     int *index, int *edges)
{
    const struct wl_topology *graph = wl_topology_of(rank, comm, MPI_GRAPH);

    for (int i = 0; i < graph->n && i < maxindex; i++) {
        index[i] = graph->index[i];
    }
    for (int i = 0; i < graph->index[graph->n - 1] && i < maxedges; i++) {
        edges[i] = graph->edges[i];
    }
    return MPI_SUCCESS;
}

static void check_node(const struct wl_rank *rank, const struct wl_topology *graph, int node)
{
    if (node < 0 || node >= graph->n) {
        wl_fatal(rank, "there is no node %d in a graph of %d nodes", node, graph->n);
    }
}

int wl_MPI_Graph_neighbors_count(struct wl_rank *rank, MPI_Comm comm, int node, int *count)
{
    const struct wl_topology *graph = wl_topology_of(rank, comm, MPI_GRAPH);

    check_node(rank, graph, node);
    *count = graph->index[node] - first_edge(graph, node);
    return MPI_SUCCESS;
}

int wl_MPI_Graph_neighbors(struct wl_rank *rank, MPI_Comm comm, int node, int maxneighbors,
                           int *neighbors)
{
    const struct wl_topology *graph = wl_topology_of(rank, comm, MPI_GRAPH);

    check_node(rank, graph, node);
    for (int i = first_edge(graph, node), n = 0; i < graph->index[node] && n < maxneighbors;
         i++, n++) {
        neighbors[n] = graph->edges[i];
    }
    return MPI_SUCCESS;
}

/* ---- distributed graphs ---- */

static bool has_weights(const int *weights)
{
    return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}

static int *copy_weights(const int *weights, int n)
{
    return has_weights(weights) ? wl_copy_ints(weights, (size_t)n)
                                : wl_calloc((size_t)n, sizeof(int));
}

int wl_MPI_Dist_graph_create_adjacent(struct wl_rank *rank, MPI_Comm comm, int indegree,
                                      const int *sources, const int *sourceweights,
                                      int outdegree, const int *destinations,
                                      const int *destweights, MPI_Info info, int reorder,
                                      MPI_Comm *newcomm)
{
    struct wl_view view = wl_comm_of(rank, comm);
    struct wl_topology *graph = wl_calloc(1, sizeof(*graph));

    *newcomm =
        wl_comm_split(rank, &view, &(struct wl_split_args){.color = 0}, WF_OP_GRAPH_CREATE);
    *graph = (struct wl_topology){
        .kind = MPI_DIST_GRAPH,
        .n_sources = indegree,
        .n_destinations = outdegree,
        .sources = wl_copy_ints(sources, (size_t)indegree),
        .destinations = wl_copy_ints(destinations, (size_t)outdegree),
        .source_weights = copy_weights(sourceweights, indegree),
        .destination_weights = copy_weights(destweights, outdegree),
        .weighted = sourceweights != MPI_UNWEIGHTED || destweights != MPI_UNWEIGHTED,
    };
    wl_topology_set(rank, *newcomm, graph);
    return MPI_SUCCESS;
}

/* An edge that some rank has given. */
struct edge {
    int from, to, weight;
};

static int *grow(int *list, int n, int value)
{
    list = wl_realloc(list, (size_t)n + 1, sizeof(int));
    list[n] = value;
    return list;
}

static void add_edge(struct wl_topology *graph, const struct edge *edge, int own)
{
    if (edge->to == own) {
        graph->sources = grow(graph->sources, graph->n_sources, edge->from);
        graph->source_weights = grow(graph->source_weights, graph->n_sources++, edge->weight);
    }
    if (edge->from == own) {
        graph->destinations = grow(graph->destinations, graph->n_destinations, edge->to);
        graph->destination_weights =
            grow(graph->destination_weights, graph->n_destinations++, edge->weight);
    }
}

/* Every rank gets all edges and picks its own. */
static struct wl_topology *pick(struct wl_rank *rank, MPI_Comm comm, const struct edge *edges,
                                int n, int own)
{
    struct wl_topology *graph = wl_calloc(1, sizeof(*graph));
    int size, mine = n * (int)(sizeof(struct edge) / sizeof(int)), all = 0;

    (void)wl_MPI_Comm_size(rank, comm, &size);
    int *counts = wl_calloc((size_t)size, sizeof(int));
    int *displs = wl_calloc((size_t)size, sizeof(int));
    (void)MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, comm);
    for (int i = 0; i < size; i++) {
        displs[i] = all;
        all += counts[i];
    }
    struct edge *every = wl_malloc((size_t)all * sizeof(int));
    (void)MPI_Allgatherv(edges, mine, MPI_INT, every, counts, displs, MPI_INT, comm);
    graph->kind = MPI_DIST_GRAPH;
    for (int i = 0; i < all / (int)(sizeof(struct edge) / sizeof(int)); i++) {
        add_edge(graph, &every[i], own);
    }
    free(every);
    free(counts);
    free(displs);
    return graph;
}

int wl_MPI_Dist_graph_create(struct wl_rank *rank, MPI_Comm comm, int n, const int *sources,
                             const int *degrees, const int *destinations, const int *weights,
                             MPI_Info info, int reorder, MPI_Comm *newcomm)
{
    struct wl_view view = wl_comm_of(rank, comm);
    size_t all = 0;
    int at = 0;

    for (int i = 0; i < n; i++) {
        all += (size_t)degrees[i];
    }
    struct edge *edges = wl_malloc(all * sizeof(struct edge));
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < degrees[i]; k++, at++) {
            edges[at] = (struct edge){sources[i], destinations[at],
                                      has_weights(weights) ? weights[at] : 0};
        }
    }
    *newcomm =
        wl_comm_split(rank, &view, &(struct wl_split_args){.color = 0}, WF_OP_GRAPH_CREATE);
    struct wl_topology *graph = pick(rank, *newcomm, edges, at, (int)view.rank);
    graph->weighted = weights != MPI_UNWEIGHTED;
    wl_topology_set(rank, *newcomm, graph);
    free(edges);
    return MPI_SUCCESS;
}

static void copy_out(const int *list, int n, int capacity, int *out)
{
    for (int i = 0; i < n && i < capacity && list != NULL && has_weights(out); i++) {
        out[i] = list[i];
    }
}

int wl_MPI_Dist_graph_neighbors(struct wl_rank *rank, MPI_Comm comm, int maxindegree,
                                int *sources, int *sourceweights, int maxoutdegree,
                                int *destinations, int *destweights)
{
    const struct wl_topology *graph = wl_topology_of(rank, comm, MPI_DIST_GRAPH);

    copy_out(graph->sources, graph->n_sources, maxindegree, sources);
    copy_out(graph->destinations, graph->n_destinations, maxoutdegree, destinations);
    if (graph->weighted) {
        copy_out(graph->source_weights, graph->n_sources, maxindegree, sourceweights);
        copy_out(graph->destination_weights, graph->n_destinations, maxoutdegree, destweights);
    }
    return MPI_SUCCESS;
}
