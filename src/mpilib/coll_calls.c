/* SPDX-License-Identifier: Apache-2.0 */
/* The collectives as programs call them: each with its nonblocking twin. */
#include "mpilib/collective.h"

/* MPI promises not to write to what it sends; the description of a side serves both ways. */
#define UNCONST(buffer) ((void *)(uintptr_t)(buffer))

/* The two functions of a collective: their names, what it is as data and as an op, its
 * parameters without the last ones, and how they describe it. */
#define PARAMETERS(...) __VA_ARGS__
#define COLLECTIVE(name, iname, kind_, op_, parameters, ...)        \
    int MPI_##name(parameters MPI_Comm comm)                        \
    {                                                               \
        return wl_coll(&(struct wl_coll){.kind = WL_##kind_,        \
                                         .op = WF_OP_##op_,         \
                                         .function = "MPI_" #name,  \
                                         .comm = comm,              \
                                         __VA_ARGS__},              \
                       NULL);                                       \
    }                                                               \
    int MPI_##iname(parameters MPI_Comm comm, MPI_Request *request) \
    {                                                               \
        return wl_coll(&(struct wl_coll){.kind = WL_##kind_,        \
                                         .op = WF_OP_##op_,         \
                                         .function = "MPI_" #iname, \
                                         .comm = comm,              \
                                         __VA_ARGS__},              \
                       request);                                    \
    }

COLLECTIVE(Barrier, Ibarrier, BARRIER, BARRIER, PARAMETERS(), .root = 0)

COLLECTIVE(Bcast, Ibcast, BCAST, BCAST,
           PARAMETERS(void *buf, int count, MPI_Datatype datatype, int root, ),
           .send = {.buffer = buf, .count = (size_t)count, .handle = datatype},
           .root = (uint32_t)root)

COLLECTIVE(Gather, Igather, GATHER, GATHER,
           PARAMETERS(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, ),
           .send = {.buffer = UNCONST(sendbuf), .count = (size_t)sendcount, .handle = sendtype},
           .recv = {.buffer = recvbuf, .count = (size_t)recvcount, .handle = recvtype},
           .root = (uint32_t)root)

COLLECTIVE(
    Gatherv, Igatherv, GATHER, GATHERV,
    PARAMETERS(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, int root, ),
    .send = {.buffer = UNCONST(sendbuf), .count = (size_t)sendcount, .handle = sendtype},
    .recv = {.buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .handle = recvtype},
    .root = (uint32_t)root)

COLLECTIVE(Scatter, Iscatter, SCATTER, SCATTER,
           PARAMETERS(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, ),
           .send = {.buffer = UNCONST(sendbuf), .count = (size_t)sendcount, .handle = sendtype},
           .recv = {.buffer = recvbuf, .count = (size_t)recvcount, .handle = recvtype},
           .root = (uint32_t)root)

COLLECTIVE(Scatterv, Iscatterv, SCATTER, SCATTERV,
           PARAMETERS(const void *sendbuf, const int *sendcounts, const int *sdispls,
                      MPI_Datatype sendtype, void *recvbuf, int recvcount,
                      MPI_Datatype recvtype, int root, ),
           .send = {.buffer = UNCONST(sendbuf),
                    .counts = sendcounts,
                    .displs = sdispls,
                    .handle = sendtype},
           .recv = {.buffer = recvbuf, .count = (size_t)recvcount, .handle = recvtype},
           .root = (uint32_t)root)

COLLECTIVE(Allgather, Iallgather, ALLGATHER, ALLGATHER,
           PARAMETERS(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      int recvcount, MPI_Datatype recvtype, ),
           .send = {.buffer = UNCONST(sendbuf), .count = (size_t)sendcount, .handle = sendtype},
           .recv = {.buffer = recvbuf, .count = (size_t)recvcount, .handle = recvtype})

COLLECTIVE(Allgatherv, Iallgatherv, ALLGATHER, ALLGATHERV,
           PARAMETERS(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, ),
           .send = {.buffer = UNCONST(sendbuf), .count = (size_t)sendcount, .handle = sendtype},
           .recv = {
               .buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .handle = recvtype})

COLLECTIVE(Alltoall, Ialltoall, ALLTOALL, ALLTOALL,
           PARAMETERS(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      int recvcount, MPI_Datatype recvtype, ),
           .send = {.buffer = UNCONST(sendbuf), .count = (size_t)sendcount, .handle = sendtype},
           .recv = {.buffer = recvbuf, .count = (size_t)recvcount, .handle = recvtype})

COLLECTIVE(Alltoallv, Ialltoallv, ALLTOALL, ALLTOALLV,
           PARAMETERS(const void *sendbuf, const int *sendcounts, const int *sdispls,
                      MPI_Datatype sendtype, void *recvbuf, const int *recvcounts,
                      const int *rdispls, MPI_Datatype recvtype, ),
           .send = {.buffer = UNCONST(sendbuf),
                    .counts = sendcounts,
                    .displs = sdispls,
                    .handle = sendtype},
           .recv = {
               .buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .handle = recvtype})

COLLECTIVE(Alltoallw, Ialltoallw, ALLTOALL, ALLTOALLW,
           PARAMETERS(const void *sendbuf, const int *sendcounts, const int *sdispls,
                      const MPI_Datatype *sendtypes, void *recvbuf, const int *recvcounts,
                      const int *rdispls, const MPI_Datatype *recvtypes, ),
           .send = {.buffer = UNCONST(sendbuf),
                    .counts = sendcounts,
                    .displs = sdispls,
                    .types = sendtypes},
           .recv = {
               .buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .types = recvtypes})

COLLECTIVE(Reduce, Ireduce, REDUCE, REDUCE,
           PARAMETERS(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, int root, ),
           .send = {.buffer = UNCONST(sendbuf), .count = (size_t)count, .handle = datatype},
           .recv = {.buffer = recvbuf, .count = (size_t)count, .handle = datatype},
           .reduce_op = op, .root = (uint32_t)root)

COLLECTIVE(Allreduce, Iallreduce, ALLREDUCE, ALLREDUCE,
           PARAMETERS(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, ),
           .send = {.buffer = UNCONST(sendbuf), .count = (size_t)count, .handle = datatype},
           .recv = {.buffer = recvbuf, .count = (size_t)count, .handle = datatype},
           .reduce_op = op)

COLLECTIVE(Reduce_scatter, Ireduce_scatter, REDUCE_SCATTER, REDUCE_SCATTER,
           PARAMETERS(const void *sendbuf, void *recvbuf, const int *recvcounts,
                      MPI_Datatype datatype, MPI_Op op, ),
           .send = {.buffer = UNCONST(sendbuf), .handle = datatype},
           .recv = {.buffer = recvbuf, .counts = recvcounts, .handle = datatype},
           .reduce_op = op)

COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK,
           PARAMETERS(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype,
                      MPI_Op op, ),
           .send = {.buffer = UNCONST(sendbuf), .handle = datatype},
           .recv = {.buffer = recvbuf, .count = (size_t)recvcount, .handle = datatype},
           .reduce_op = op)

COLLECTIVE(Scan, Iscan, SCAN, SCAN,
           PARAMETERS(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, ),
           .send = {.buffer = UNCONST(sendbuf), .count = (size_t)count, .handle = datatype},
           .recv = {.buffer = recvbuf, .count = (size_t)count, .handle = datatype},
           .reduce_op = op)

COLLECTIVE(Exscan, Iexscan, EXSCAN, EXSCAN,
           PARAMETERS(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, ),
           .send = {.buffer = UNCONST(sendbuf), .count = (size_t)count, .handle = datatype},
           .recv = {.buffer = recvbuf, .count = (size_t)count, .handle = datatype},
           .reduce_op = op)

COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, NEIGHBOR_ALLGATHER, NEIGHBOR_ALLGATHER,
           PARAMETERS(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      int recvcount, MPI_Datatype recvtype, ),
           .send = {.buffer = UNCONST(sendbuf), .count = (size_t)sendcount, .handle = sendtype},
           .recv = {.buffer = recvbuf, .count = (size_t)recvcount, .handle = recvtype})

COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, NEIGHBOR_ALLGATHER, NEIGHBOR_ALLGATHERV,
           PARAMETERS(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, ),
           .send = {.buffer = UNCONST(sendbuf), .count = (size_t)sendcount, .handle = sendtype},
           .recv = {
               .buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .handle = recvtype})

COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, NEIGHBOR_ALLTOALL, NEIGHBOR_ALLTOALL,
           PARAMETERS(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      int recvcount, MPI_Datatype recvtype, ),
           .send = {.buffer = UNCONST(sendbuf), .count = (size_t)sendcount, .handle = sendtype},
           .recv = {.buffer = recvbuf, .count = (size_t)recvcount, .handle = recvtype})

COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, NEIGHBOR_ALLTOALL, NEIGHBOR_ALLTOALLV,
           PARAMETERS(const void *sendbuf, const int *sendcounts, const int *sdispls,
                      MPI_Datatype sendtype, void *recvbuf, const int *recvcounts,
                      const int *rdispls, MPI_Datatype recvtype, ),
           .send = {.buffer = UNCONST(sendbuf),
                    .counts = sendcounts,
                    .displs = sdispls,
                    .handle = sendtype},
           .recv = {
               .buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .handle = recvtype})

COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, NEIGHBOR_ALLTOALL, NEIGHBOR_ALLTOALLW,
           PARAMETERS(const void *sendbuf, const int *sendcounts, const MPI_Aint *sdispls,
                      const MPI_Datatype *sendtypes, void *recvbuf, const int *recvcounts,
                      const MPI_Aint *rdispls, const MPI_Datatype *recvtypes, ),
           .send = {.buffer = UNCONST(sendbuf),
                    .counts = sendcounts,
                    .wide_displs = sdispls,
                    .types = sendtypes},
           .recv = {.buffer = recvbuf,
                    .counts = recvcounts,
                    .wide_displs = rdispls,
                    .types = recvtypes})
