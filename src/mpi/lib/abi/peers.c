/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/lib/abi/abi.h"

static int neighbours_of(int comm, int sends)
{
    int topology = 0, rank = 0, counts[3] = {0, 0, 0};

    (void)weft_MPI_Topo_test(comm, &topology);
    if (topology == WEFT_MPI_CART) {
        (void)weft_MPI_Cartdim_get(comm, &counts[0]);
        return 2 * counts[0];
    }
    if (topology == WEFT_MPI_GRAPH) {
        (void)weft_MPI_Comm_rank(comm, &rank);
        (void)weft_MPI_Graph_neighbors_count(comm, rank, &counts[0]);
        return counts[0];
    }
    if (topology == WEFT_MPI_DIST_GRAPH) {
        (void)weft_MPI_Dist_graph_neighbors_count(comm, &counts[0], &counts[1], &counts[2]);
        return sends ? counts[1] : counts[0];
    }
    return 0;
}

int wa_peers(int comm, int neighbours, int sends)
{
    int inter = 0, n = 0;

    if (neighbours) {
        return neighbours_of(comm, sends);
    }
    (void)weft_MPI_Comm_test_inter(comm, &inter);
    if (inter) {
        (void)weft_MPI_Comm_remote_size(comm, &n);
    } else {
        (void)weft_MPI_Comm_size(comm, &n);
    }
    return n;
}
