/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies that are graphs: known to all, or to each its own part. */
#include "mpilib/collective.h"
#include "mpilib/memory.h"
#include "mpilib/topology.h"

#include <stdlib.h>
#include <string.h>

/* ---- known to all ---- */

int MPI_Graph_create(MPI_Comm comm, int nnodes, const int *index, const int *edges, int reorder,
                     MPI_Comm *newcomm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Graph_create");
    const struct wl_wish wish = {.color = view.rank < (uint32_t)nnodes ? 0 : MPI_UNDEFINED};

    (void)reorder;
    if (nnodes < 0 || (uint32_t)nnodes > view.size) {
        wl_fatal(rank, "MPI_Graph_create", "%d nodes do not fit into %u ranks", nnodes,
                 view.size);
    }
    *newcomm = wl_comm_split(rank, &view, &wish, WF_OP_GRAPH_CREATE);
    if (*newcomm != MPI_COMM_NULL) {
        struct wl_topology *graph = wl_calloc(1, sizeof(*graph));
        graph->kind = MPI_GRAPH;
        graph->n = nnodes;
        graph->index = wl_copy_ints(index, (size_t)nnodes);
        graph->edges = wl_copy_ints(edges, (size_t)index[nnodes - 1]);
        wl_topology_give(rank, *newcomm, graph);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

static int first_edge(const struct wl_topology *graph, int node)
{
    return node > 0 ? graph->index[node - 1] : 0;
}

int MPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_topology *graph =
        wl_topology_of(rank, comm, MPI_GRAPH, "MPI_Graphdims_get");

    *nnodes = graph->n;
    *nedges = graph->index[graph->n - 1];
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int *index, int *edges)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_topology *graph = wl_topology_of(rank, comm, MPI_GRAPH, "MPI_Graph_get");

    for (int i = 0; i < graph->n && i < maxindex; i++) {
        index[i] = graph->index[i];
    }
    for (int i = 0; i < graph->index[graph->n - 1] && i < maxedges; i++) {
        edges[i] = graph->edges[i];
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

static void check_node(const struct wl_rank *rank, const struct wl_topology *graph, int node,
                       const char *function)
{
    if (node < 0 || node >= graph->n) {
        wl_fatal(rank, function, "there is no node %d of %d", node, graph->n);
    }
}

int MPI_Graph_neighbors_count(MPI_Comm comm, int node, int *count)
{
    static const char function[] = "MPI_Graph_neighbors_count";
    struct wl_rank *rank = wl_enter();
    const struct wl_topology *graph = wl_topology_of(rank, comm, MPI_GRAPH, function);

    check_node(rank, graph, node, function);
    *count = graph->index[node] - first_edge(graph, node);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Graph_neighbors(MPI_Comm comm, int node, int maxneighbors, int *neighbors)
{
    static const char function[] = "MPI_Graph_neighbors";
    struct wl_rank *rank = wl_enter();
    const struct wl_topology *graph = wl_topology_of(rank, comm, MPI_GRAPH, function);

    check_node(rank, graph, node, function);
    for (int i = first_edge(graph, node), n = 0; i < graph->index[node] && n < maxneighbors;
         i++, n++) {
        neighbors[n] = graph->edges[i];
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Graph_map(MPI_Comm comm, int nnodes, const int *index, const int *edges, int *newrank)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Graph_map");

    (void)index;
    (void)edges;
    *newrank = view.rank < (uint32_t)nnodes ? (int)view.rank : MPI_UNDEFINED;
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* ---- to each its own part ---- */

static bool has_weights(const int *weights)
{
    return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}

static int *copy_weights(const int *weights, int n)
{
    return has_weights(weights) ? wl_copy_ints(weights, (size_t)n)
                                : wl_calloc((size_t)n, sizeof(int));
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int *sources,
                                   const int *sourceweights, int outdegree,
                                   const int *destinations, const int *destweights,
                                   MPI_Info info, int reorder, MPI_Comm *newcomm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Dist_graph_create_adjacent");
    struct wl_topology *graph = wl_calloc(1, sizeof(*graph));

    (void)info;
    (void)reorder;
    *newcomm = wl_comm_split(rank, &view, &(struct wl_wish){.color = 0}, WF_OP_GRAPH_CREATE);
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
    wl_topology_give(rank, *newcomm, graph);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* An edge as somebody has named it. */
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

/* Everybody hears of all edges and picks its own. */
static struct wl_topology *pick(MPI_Comm comm, const struct edge *edges, int n, int own)
{
    struct wl_topology *graph = wl_calloc(1, sizeof(*graph));
    int size, mine = n * (int)(sizeof(struct edge) / sizeof(int)), all = 0;

    (void)MPI_Comm_size(comm, &size);
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

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int *sources, const int *degrees,
                          const int *destinations, const int *weights, MPI_Info info,
                          int reorder, MPI_Comm *newcomm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Dist_graph_create");
    size_t all = 0;
    int at = 0;

    (void)info;
    (void)reorder;
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
    *newcomm = wl_comm_split(rank, &view, &(struct wl_wish){.color = 0}, WF_OP_GRAPH_CREATE);
    struct wl_topology *graph = pick(*newcomm, edges, at, (int)view.rank);
    graph->weighted = weights != MPI_UNWEIGHTED;
    wl_topology_give(rank, *newcomm, graph);
    free(edges);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_topology *graph =
        wl_topology_of(rank, comm, MPI_DIST_GRAPH, "MPI_Dist_graph_neighbors_count");

    *indegree = graph->n_sources;
    *outdegree = graph->n_destinations;
    *weighted = graph->weighted;
    wl_leave(rank);
    return MPI_SUCCESS;
}

static void tell(const int *list, int n, int room, int *out)
{
    for (int i = 0; i < n && i < room && list != NULL && has_weights(out); i++) {
        out[i] = list[i];
    }
}

int MPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int *sources, int *sourceweights,
                             int maxoutdegree, int *destinations, int *destweights)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_topology *graph =
        wl_topology_of(rank, comm, MPI_DIST_GRAPH, "MPI_Dist_graph_neighbors");

    tell(graph->sources, graph->n_sources, maxindegree, sources);
    tell(graph->destinations, graph->n_destinations, maxoutdegree, destinations);
    if (graph->weighted) {
        tell(graph->source_weights, graph->n_sources, maxindegree, sourceweights);
        tell(graph->destination_weights, graph->n_destinations, maxoutdegree, destweights);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}
