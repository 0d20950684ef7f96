/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_MPI_H
#define WEFT_MPI_H

/*
 * MPI for programs that run as virtual ranks. Programs are compiled with weftcc and include
 * this file as <mpi.h>.
 *
 * Every function has a symbol of its own name and one that begins with weft_; programs use the
 * latter, so that they can never meet another MPI in the process that simulates them.
 */

#include <stddef.h>

#define WEFT_MPI(name) __asm__("weft_" #name)

#define MPI_VERSION    3
#define MPI_SUBVERSION 1

/* Handles; the same numbers as in Fortran. */
typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Group;
typedef ptrdiff_t MPI_Aint;
typedef long long MPI_Count, MPI_Offset;

typedef struct MPI_Status {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int weft_cancelled;
    long long weft_bytes;
} MPI_Status;

#define MPI_STATUS_IGNORE   ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_BOTTOM          ((void *)0)
#define MPI_IN_PLACE        ((void *)-1)

enum {
    MPI_SUCCESS = 0,
    MPI_PROC_NULL = -2,
    MPI_ANY_SOURCE = -1,
    MPI_ANY_TAG = -1,
    MPI_ROOT = -3,
    MPI_UNDEFINED = -32766,
    MPI_TAG_UB_VALUE = 0x7fffffff,
    MPI_MAX_PROCESSOR_NAME = 128,
    MPI_MAX_ERROR_STRING = 512,
    MPI_MAX_OBJECT_NAME = 128,
    MPI_MAX_LIBRARY_VERSION_STRING = 128,
    MPI_THREAD_SINGLE = 0,
    MPI_THREAD_FUNNELED = 1,
    MPI_THREAD_SERIALIZED = 2,
    MPI_THREAD_MULTIPLE = 3,
};

/* Predefined objects. */
#define MPI_COMM_NULL     ((MPI_Comm)0x41000000)
#define MPI_COMM_WORLD    ((MPI_Comm)0x41000001)
#define MPI_COMM_SELF     ((MPI_Comm)0x41000002)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x42000000)
#define MPI_OP_NULL       ((MPI_Op)0x43000000)
#define MPI_REQUEST_NULL  ((MPI_Request)0x44000000)
#define MPI_GROUP_NULL    ((MPI_Group)0x45000000)
#define MPI_GROUP_EMPTY   ((MPI_Group)0x45000001)

#define MPI_CHAR                  ((MPI_Datatype)0x42000001)
#define MPI_SIGNED_CHAR           ((MPI_Datatype)0x42000002)
#define MPI_UNSIGNED_CHAR         ((MPI_Datatype)0x42000003)
#define MPI_BYTE                  ((MPI_Datatype)0x42000004)
#define MPI_WCHAR                 ((MPI_Datatype)0x42000005)
#define MPI_SHORT                 ((MPI_Datatype)0x42000006)
#define MPI_UNSIGNED_SHORT        ((MPI_Datatype)0x42000007)
#define MPI_INT                   ((MPI_Datatype)0x42000008)
#define MPI_UNSIGNED              ((MPI_Datatype)0x42000009)
#define MPI_LONG                  ((MPI_Datatype)0x4200000a)
#define MPI_UNSIGNED_LONG         ((MPI_Datatype)0x4200000b)
#define MPI_LONG_LONG_INT         ((MPI_Datatype)0x4200000c)
#define MPI_UNSIGNED_LONG_LONG    ((MPI_Datatype)0x4200000d)
#define MPI_FLOAT                 ((MPI_Datatype)0x4200000e)
#define MPI_DOUBLE                ((MPI_Datatype)0x4200000f)
#define MPI_LONG_DOUBLE           ((MPI_Datatype)0x42000010)
#define MPI_PACKED                ((MPI_Datatype)0x42000011)
#define MPI_C_BOOL                ((MPI_Datatype)0x42000012)
#define MPI_C_FLOAT_COMPLEX       ((MPI_Datatype)0x42000013)
#define MPI_C_DOUBLE_COMPLEX      ((MPI_Datatype)0x42000014)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x42000015)
#define MPI_INT8_T                ((MPI_Datatype)0x42000016)
#define MPI_INT16_T               ((MPI_Datatype)0x42000017)
#define MPI_INT32_T               ((MPI_Datatype)0x42000018)
#define MPI_INT64_T               ((MPI_Datatype)0x42000019)
#define MPI_UINT8_T               ((MPI_Datatype)0x4200001a)
#define MPI_UINT16_T              ((MPI_Datatype)0x4200001b)
#define MPI_UINT32_T              ((MPI_Datatype)0x4200001c)
#define MPI_UINT64_T              ((MPI_Datatype)0x4200001d)
#define MPI_AINT                  ((MPI_Datatype)0x4200001e)
#define MPI_COUNT                 ((MPI_Datatype)0x4200001f)
#define MPI_OFFSET                ((MPI_Datatype)0x42000020)
#define MPI_INTEGER               ((MPI_Datatype)0x42000021)
#define MPI_REAL                  ((MPI_Datatype)0x42000022)
#define MPI_DOUBLE_PRECISION      ((MPI_Datatype)0x42000023)
#define MPI_COMPLEX               ((MPI_Datatype)0x42000024)
#define MPI_DOUBLE_COMPLEX        ((MPI_Datatype)0x42000025)
#define MPI_LOGICAL               ((MPI_Datatype)0x42000026)
#define MPI_CHARACTER             ((MPI_Datatype)0x42000027)
#define MPI_INTEGER1              ((MPI_Datatype)0x42000028)
#define MPI_INTEGER2              ((MPI_Datatype)0x42000029)
#define MPI_INTEGER4              ((MPI_Datatype)0x4200002a)
#define MPI_INTEGER8              ((MPI_Datatype)0x4200002b)
#define MPI_REAL4                 ((MPI_Datatype)0x4200002c)
#define MPI_REAL8                 ((MPI_Datatype)0x4200002d)
#define MPI_COMPLEX8              ((MPI_Datatype)0x4200002e)
#define MPI_COMPLEX16             ((MPI_Datatype)0x4200002f)
#define MPI_LONG_LONG             MPI_LONG_LONG_INT
#define MPI_C_COMPLEX             MPI_C_FLOAT_COMPLEX
#define MPI_FLOAT_INT             ((MPI_Datatype)0x42000030)
#define MPI_DOUBLE_INT            ((MPI_Datatype)0x42000031)
#define MPI_LONG_INT              ((MPI_Datatype)0x42000032)
#define MPI_2INT                  ((MPI_Datatype)0x42000033)
#define MPI_SHORT_INT             ((MPI_Datatype)0x42000034)
#define MPI_LONG_DOUBLE_INT       ((MPI_Datatype)0x42000035)
#define MPI_2REAL                 ((MPI_Datatype)0x42000036)
#define MPI_2DOUBLE_PRECISION     ((MPI_Datatype)0x42000037)
#define MPI_2INTEGER              ((MPI_Datatype)0x42000038)

#define MPI_MAX     ((MPI_Op)0x43000001)
#define MPI_MIN     ((MPI_Op)0x43000002)
#define MPI_SUM     ((MPI_Op)0x43000003)
#define MPI_PROD    ((MPI_Op)0x43000004)
#define MPI_LAND    ((MPI_Op)0x43000005)
#define MPI_BAND    ((MPI_Op)0x43000006)
#define MPI_LOR     ((MPI_Op)0x43000007)
#define MPI_BOR     ((MPI_Op)0x43000008)
#define MPI_LXOR    ((MPI_Op)0x43000009)
#define MPI_BXOR    ((MPI_Op)0x4300000a)
#define MPI_MINLOC  ((MPI_Op)0x4300000b)
#define MPI_MAXLOC  ((MPI_Op)0x4300000c)
#define MPI_REPLACE ((MPI_Op)0x4300000d)
#define MPI_NO_OP   ((MPI_Op)0x4300000e)

#ifdef __cplusplus
extern "C" {
#endif

int MPI_Init(int *argc, char ***argv) WEFT_MPI(MPI_Init);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
    WEFT_MPI(MPI_Init_thread);
int MPI_Finalize(void) WEFT_MPI(MPI_Finalize);
int MPI_Initialized(int *flag) WEFT_MPI(MPI_Initialized);
int MPI_Finalized(int *flag) WEFT_MPI(MPI_Finalized);
int MPI_Abort(MPI_Comm comm, int code) WEFT_MPI(MPI_Abort);
double MPI_Wtime(void) WEFT_MPI(MPI_Wtime);
double MPI_Wtick(void) WEFT_MPI(MPI_Wtick);
int MPI_Get_processor_name(char *name, int *length) WEFT_MPI(MPI_Get_processor_name);
int MPI_Get_version(int *version, int *subversion) WEFT_MPI(MPI_Get_version);
int MPI_Comm_rank(MPI_Comm comm, int *rank) WEFT_MPI(MPI_Comm_rank);
int MPI_Comm_size(MPI_Comm comm, int *size) WEFT_MPI(MPI_Comm_size);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm) WEFT_MPI(MPI_Comm_dup);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
    WEFT_MPI(MPI_Comm_split);
int MPI_Comm_free(MPI_Comm *comm) WEFT_MPI(MPI_Comm_free);
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm) WEFT_MPI(MPI_Send);
int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
              MPI_Comm comm) WEFT_MPI(MPI_Ssend);
int MPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
              MPI_Comm comm) WEFT_MPI(MPI_Bsend);
int MPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
              MPI_Comm comm) WEFT_MPI(MPI_Rsend);
int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
              MPI_Comm comm, MPI_Request *request) WEFT_MPI(MPI_Isend);
int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm, MPI_Request *request) WEFT_MPI(MPI_Issend);
int MPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm, MPI_Request *request) WEFT_MPI(MPI_Ibsend);
int MPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm, MPI_Request *request) WEFT_MPI(MPI_Irsend);
int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status) WEFT_MPI(MPI_Recv);
int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request *request) WEFT_MPI(MPI_Irecv);
int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                 int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source,
                 int recvtag, MPI_Comm comm, MPI_Status *status) WEFT_MPI(MPI_Sendrecv);
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) WEFT_MPI(MPI_Probe);
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
    WEFT_MPI(MPI_Iprobe);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
    WEFT_MPI(MPI_Get_count);
int MPI_Wait(MPI_Request *request, MPI_Status *status) WEFT_MPI(MPI_Wait);
int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) WEFT_MPI(MPI_Waitall);
int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
    WEFT_MPI(MPI_Waitany);
int MPI_Waitsome(int incount, MPI_Request *requests, int *outcount, int *indices,
                 MPI_Status *statuses) WEFT_MPI(MPI_Waitsome);
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) WEFT_MPI(MPI_Test);
int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
    WEFT_MPI(MPI_Testall);
int MPI_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
    WEFT_MPI(MPI_Testany);
int MPI_Testsome(int incount, MPI_Request *requests, int *outcount, int *indices,
                 MPI_Status *statuses) WEFT_MPI(MPI_Testsome);

int MPI_Barrier(MPI_Comm comm) WEFT_MPI(MPI_Barrier);
int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) WEFT_MPI(MPI_Ibarrier);
int MPI_Bcast(void *buf, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
    WEFT_MPI(MPI_Bcast);
int MPI_Ibcast(void *buf, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
               MPI_Request *request) WEFT_MPI(MPI_Ibcast);
int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
    WEFT_MPI(MPI_Gather);
int MPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                MPI_Request *request) WEFT_MPI(MPI_Igather);
int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, int root,
                MPI_Comm comm) WEFT_MPI(MPI_Gatherv);
int MPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, int root,
                 MPI_Comm comm, MPI_Request *request) WEFT_MPI(MPI_Igatherv);
int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
    WEFT_MPI(MPI_Scatter);
int MPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Request *request) WEFT_MPI(MPI_Iscatter);
int MPI_Scatterv(const void *sendbuf, const int *sendcounts, const int *sdispls,
                 MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                 int root, MPI_Comm comm) WEFT_MPI(MPI_Scatterv);
int MPI_Iscatterv(const void *sendbuf, const int *sendcounts, const int *sdispls,
                  MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm, MPI_Request *request) WEFT_MPI(MPI_Iscatterv);
int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm) WEFT_MPI(MPI_Allgather);
int MPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
    WEFT_MPI(MPI_Iallgather);
int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const int *recvcounts, const int *rdispls, MPI_Datatype recvtype,
                   MPI_Comm comm) WEFT_MPI(MPI_Allgatherv);
int MPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int *recvcounts, const int *rdispls, MPI_Datatype recvtype,
                    MPI_Comm comm, MPI_Request *request) WEFT_MPI(MPI_Iallgatherv);
int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm) WEFT_MPI(MPI_Alltoall);
int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
    WEFT_MPI(MPI_Ialltoall);
int MPI_Alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls,
                  MPI_Datatype sendtype, void *recvbuf, const int *recvcounts,
                  const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm)
    WEFT_MPI(MPI_Alltoallv);
int MPI_Ialltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls,
                   MPI_Datatype sendtype, void *recvbuf, const int *recvcounts,
                   const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request *request) WEFT_MPI(MPI_Ialltoallv);
int MPI_Alltoallw(const void *sendbuf, const int *sendcounts, const int *sdispls,
                  const MPI_Datatype *sendtypes, void *recvbuf, const int *recvcounts,
                  const int *rdispls, const MPI_Datatype *recvtypes, MPI_Comm comm)
    WEFT_MPI(MPI_Alltoallw);
int MPI_Ialltoallw(const void *sendbuf, const int *sendcounts, const int *sdispls,
                   const MPI_Datatype *sendtypes, void *recvbuf, const int *recvcounts,
                   const int *rdispls, const MPI_Datatype *recvtypes, MPI_Comm comm,
                   MPI_Request *request) WEFT_MPI(MPI_Ialltoallw);
int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               int root, MPI_Comm comm) WEFT_MPI(MPI_Reduce);
int MPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm, MPI_Request *request) WEFT_MPI(MPI_Ireduce);
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm) WEFT_MPI(MPI_Allreduce);
int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request) WEFT_MPI(MPI_Iallreduce);
int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int *recvcounts,
                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
    WEFT_MPI(MPI_Reduce_scatter);
int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int *recvcounts,
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
    WEFT_MPI(MPI_Ireduce_scatter);
int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
    WEFT_MPI(MPI_Reduce_scatter_block);
int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                              MPI_Request *request) WEFT_MPI(MPI_Ireduce_scatter_block);
int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm) WEFT_MPI(MPI_Scan);
int MPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm, MPI_Request *request) WEFT_MPI(MPI_Iscan);
int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm) WEFT_MPI(MPI_Exscan);
int MPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm, MPI_Request *request) WEFT_MPI(MPI_Iexscan);
int MPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                           void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
    WEFT_MPI(MPI_Neighbor_allgather);
int MPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request) WEFT_MPI(MPI_Ineighbor_allgather);
int MPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, const int *recvcounts, const int *rdispls,
                            MPI_Datatype recvtype, MPI_Comm comm)
    WEFT_MPI(MPI_Neighbor_allgatherv);
int MPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, const int *recvcounts, const int *rdispls,
                             MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
    WEFT_MPI(MPI_Ineighbor_allgatherv);
int MPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                          void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
    WEFT_MPI(MPI_Neighbor_alltoall);
int MPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                           void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                           MPI_Request *request) WEFT_MPI(MPI_Ineighbor_alltoall);
int MPI_Neighbor_alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls,
                           MPI_Datatype sendtype, void *recvbuf, const int *recvcounts,
                           const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm)
    WEFT_MPI(MPI_Neighbor_alltoallv);
int MPI_Ineighbor_alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls,
                            MPI_Datatype sendtype, void *recvbuf, const int *recvcounts,
                            const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request) WEFT_MPI(MPI_Ineighbor_alltoallv);
int MPI_Neighbor_alltoallw(const void *sendbuf, const int *sendcounts, const MPI_Aint *sdispls,
                           const MPI_Datatype *sendtypes, void *recvbuf, const int *recvcounts,
                           const MPI_Aint *rdispls, const MPI_Datatype *recvtypes,
                           MPI_Comm comm) WEFT_MPI(MPI_Neighbor_alltoallw);
int MPI_Ineighbor_alltoallw(const void *sendbuf, const int *sendcounts, const MPI_Aint *sdispls,
                            const MPI_Datatype *sendtypes, void *recvbuf, const int *recvcounts,
                            const MPI_Aint *rdispls, const MPI_Datatype *recvtypes,
                            MPI_Comm comm, MPI_Request *request)
    WEFT_MPI(MPI_Ineighbor_alltoallw);

#ifdef __cplusplus
}
#endif

#endif
