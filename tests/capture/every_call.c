/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of the op model, on four ranks or more; what is received is checked. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/mark.h>

enum { N = 64, TAG = 7 };

static int rank, size, left, right;

static void check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static void blocking(void)
{
    int out[N], in[N];
    char attached[4096];
    void *detached = NULL;
    int n = 0;

    for (int i = 0; i < N; i++) {
        out[i] = rank * N + i;
    }
    MPI_Sendrecv(out, N, MPI_INT, right, TAG, in, N, MPI_INT, left, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(in[1] == left * N + 1, "sendrecv");
    memcpy(in, out, sizeof(in));
    MPI_Sendrecv_replace(in, N, MPI_INT, right, 8, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    check(in[1] == left * N + 1, "sendrecv_replace");
    MPI_Buffer_attach(attached, sizeof(attached));
    MPI_Bsend(out, 4, MPI_DOUBLE, right, 9, MPI_COMM_WORLD);
    MPI_Recv(in, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&detached, &n);
    if (rank % 2 == 0 && rank + 1 < size) {
        MPI_Send(out, N, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
        MPI_Ssend(out, 2, MPI_INT, rank + 1, 2, MPI_COMM_WORLD);
        MPI_Recv(in, 0, MPI_INT, rank + 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Rsend(out, 3, MPI_INT, rank + 1, 4, MPI_COMM_WORLD);
    } else if (rank % 2 == 1) {
        MPI_Request ready;
        MPI_Recv(in, N, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, N, MPI_INT, rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(in, N, MPI_INT, rank - 1, 4, MPI_COMM_WORLD, &ready);
        MPI_Send(out, 0, MPI_INT, rank - 1, 3, MPI_COMM_WORLD);
        MPI_Wait(&ready, MPI_STATUS_IGNORE);
    }
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void post(MPI_Request *requests, int *in, int *out, int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, i % 2 == 0 ? MPI_ANY_SOURCE : left, 20 + i,
                  MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < n; i++) {
        MPI_Isend(&out[i], 1, MPI_INT, right, 20 + i, MPI_COMM_WORLD, &requests[n + i]);
    }
}

static void waits(void)
{
    MPI_Request requests[40];
    MPI_Status statuses[40];
    int in[20], out[20] = {rank}, places[40], place, flag, n, done;

    post(requests, in, out, 20);
    MPI_Waitall(40, requests, MPI_STATUSES_IGNORE);
    post(requests, in, out, 4);
    for (done = 0; done < 8; done++) {
        MPI_Waitany(8, requests, &place, MPI_STATUS_IGNORE);
        check(place != MPI_UNDEFINED, "waitany");
    }
    post(requests, in, out, 4);
    for (done = 0; done < 8; done += n) {
        MPI_Waitsome(8, requests, &n, places, statuses);
    }
    post(requests, in, out, 3);
    for (done = 0; done < 6; done += n) {
        MPI_Testsome(6, requests, &n, places, MPI_STATUSES_IGNORE);
    }
    post(requests, in, out, 3);
    for (done = 0; done < 6; done += flag) {
        MPI_Testany(6, requests, &place, &flag, MPI_STATUS_IGNORE);
    }
    post(requests, in, out, 3);
    for (flag = 0; !flag;) {
        MPI_Testall(6, requests, &flag, MPI_STATUSES_IGNORE);
    }
    post(requests, in, out, 1);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    for (flag = 0; !flag;) {
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    }
    MPI_Issend(out, 1, MPI_INT, right, 40, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in, 1, MPI_INT, left, 40, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Isend(out, 1, MPI_INT, right, 41, MPI_COMM_WORLD, &requests[0]);
    MPI_Request_free(&requests[0]);
    MPI_Recv(in, 1, MPI_INT, left, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Request requests[2];
    int in = -1, out = rank;

    MPI_Send_init(&out, 1, MPI_INT, right, 50, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, left, 50, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&requests[0]);
        MPI_Start(&requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Startall(2, requests);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    check(in == left, "persistent");
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void probes(void)
{
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int in[2], out[2] = {rank, 1}, flag = 0;

    MPI_Isend(out, 2, MPI_INT, right, 60, MPI_COMM_WORLD, &request);
    MPI_Probe(MPI_ANY_SOURCE, 60, MPI_COMM_WORLD, &status);
    MPI_Recv(in, 2, MPI_INT, status.MPI_SOURCE, 60, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(out, 2, MPI_INT, right, 61, MPI_COMM_WORLD, &request);
    while (!flag) {
        MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    }
    MPI_Recv(in, 2, MPI_INT, left, 61, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(out, 2, MPI_INT, right, 62, MPI_COMM_WORLD, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(out, 2, MPI_INT, right, 63, MPI_COMM_WORLD, &request);
    for (flag = 0; !flag;) {
        MPI_Improbe(left, 63, MPI_COMM_WORLD, &flag, &message, &status);
    }
    MPI_Request received;
    MPI_Imrecv(in, 2, MPI_INT, &message, &received);
    MPI_Wait(&received, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(in[0] == left, "imrecv");
}

static void collectives(MPI_Comm comm)
{
    int me, n;
    int counts[64], places[64], a[256], b[256];
    MPI_Datatype types[64];

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < n; i++) {
        counts[i] = i % 3 + 1;
        places[i] = i == 0 ? 0 : places[i - 1] + counts[i - 1];
        types[i] = MPI_INT;
    }
    memset(a, 0, sizeof(a));
    a[0] = me;
    MPI_Barrier(comm);
    MPI_Bcast(a, 5, MPI_DOUBLE, n - 1, comm);
    MPI_Reduce(a, b, 3, MPI_INT, MPI_SUM, 1 % n, comm);
    MPI_Allreduce(MPI_IN_PLACE, a, 2, MPI_INT, MPI_MAX, comm);
    MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, 0, comm);
    MPI_Scatter(b, 2, MPI_INT, a, 2, MPI_INT, 0, comm);
    MPI_Gatherv(a, counts[me], MPI_INT, b, counts, places, MPI_INT, 0, comm);
    MPI_Scatterv(b, counts, places, MPI_INT, a, counts[me], MPI_INT, 0, comm);
    MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, comm);
    MPI_Allgatherv(a, counts[me], MPI_INT, b, counts, places, MPI_INT, comm);
    MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, comm);
    for (int i = 0; i < n; i++) {
        places[i] = 4 * i;
        counts[i] = (me + i) % 3;
    }
    MPI_Alltoallv(a, counts, places, MPI_INT, b, counts, places, MPI_INT, comm);
    for (int i = 0; i < n; i++) {
        places[i] = 16 * i;
    }
    MPI_Alltoallw(a, counts, places, types, b, counts, places, types, comm);
    for (int i = 0; i < n; i++) {
        counts[i] = i % 3 + 1;
    }
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, comm);
    MPI_Scan(a, b, 2, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(a, b, 2, MPI_INT, MPI_SUM, comm);
}

static void nonblocking(MPI_Comm comm)
{
    MPI_Request requests[10];
    int a[64] = {0}, b[10][256];
    int n = 0, me, counts[64], places[64];

    MPI_Comm_rank(comm, &me);
    for (int i = 0; i < 64; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Ibarrier(comm, &requests[n++]);
    MPI_Ibcast(b[0], 2, MPI_INT, 0, comm, &requests[n++]);
    MPI_Iallreduce(a, b[1], 2, MPI_INT, MPI_SUM, comm, &requests[n++]);
    MPI_Ireduce(a, b[2], 2, MPI_INT, MPI_SUM, 0, comm, &requests[n++]);
    MPI_Igather(a, 2, MPI_INT, b[3], 2, MPI_INT, 0, comm, &requests[n++]);
    MPI_Iallgather(a, 2, MPI_INT, b[4], 2, MPI_INT, comm, &requests[n++]);
    MPI_Ialltoall(a, 2, MPI_INT, b[5], 2, MPI_INT, comm, &requests[n++]);
    MPI_Iscan(a, b[6], 2, MPI_INT, MPI_SUM, comm, &requests[n++]);
    MPI_Ialltoallv(a, counts, places, MPI_INT, b[7], counts, places, MPI_INT, comm,
                   &requests[n++]);
    MPI_Igatherv(a, counts[me], MPI_INT, b[8], counts, places, MPI_INT, 0, comm,
                 &requests[n++]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void neighbors(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0};
    int a[16] = {0}, b[64], counts[4] = {1, 2, 3, 1}, places[4] = {0, 4, 8, 12};
    MPI_Comm cart, row, graph;

    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Neighbor_allgather(a, 2, MPI_INT, b, 2, MPI_INT, cart);
    MPI_Neighbor_alltoall(a, 2, MPI_INT, b, 2, MPI_INT, cart);
    counts[1] = counts[0] = 1;
    counts[2] = counts[3] = 2;
    MPI_Neighbor_alltoallv(a, counts, places, MPI_INT, b, counts, places, MPI_INT, cart);
    int remain[2] = {0, 1};
    MPI_Cart_sub(cart, remain, &row);
    MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, row);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Request request;
    MPI_Ineighbor_alltoall(a, 3, MPI_INT, b, 3, MPI_INT, graph, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&row);
    MPI_Comm_free(&cart);
}

static void communicators(void)
{
    MPI_Comm copy, half, few, between, all;
    MPI_Group world, group;
    MPI_Request request;
    int a = rank, b = 0, odd[32], n = 0;

    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Sendrecv(&a, 1, MPI_INT, right, 1, &b, 1, MPI_INT, left, 1, copy,
                     MPI_STATUS_IGNORE);
        MPI_Comm_free(&copy);
    }
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast(&b, 1, MPI_INT, 0, copy);
    MPI_Comm_split(copy, rank % 2, -rank, &half);
    collectives(half);
    for (int i = 1; i < size && n < 32; i += 2) {
        odd[n++] = i;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, n, odd, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &few);
    if (few != MPI_COMM_NULL) {
        MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, few);
        MPI_Comm_free(&few);
    }
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD,
                         rank % 2 == 0 ? (size - 1) / 2 * 2 + 1 - (size % 2 == 0 ? 0 : 2)
                                       : (size - 1) / 2 * 2,
                         5, &between);
    int others, mine;
    MPI_Comm_remote_size(between, &others);
    MPI_Comm_rank(between, &mine);
    if (mine < others) {
        MPI_Sendrecv(&a, 1, MPI_INT, mine, 6, &b, 1, MPI_INT, mine, 6, between,
                     MPI_STATUS_IGNORE);
    }
    MPI_Barrier(between);
    MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, between);
    MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, between, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Intercomm_merge(between, rank % 2, &all);
    MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void one_sided(void)
{
    int memory[8] = {0}, a[8] = {rank};
    MPI_Win window;

    MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(a, 2, MPI_INT, right, 0, 2, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Get(a, 2, MPI_INT, left, 2, 2, MPI_INT, window);
    MPI_Accumulate(a, 1, MPI_INT, left, 4, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    check(memory[0] == left, "put");
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    MPI_Datatype pairs;
    char name[MPI_MAX_PROCESSOR_NAME];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    MPI_Type_contiguous(2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Bcast(name, 2, pairs, 0, MPI_COMM_WORLD);
    MPI_Type_free(&pairs);
    blocking();
    weft_region_begin("waits");
    for (int i = 0; i < 2; i++) {
        weft_iteration_begin();
        waits();
        weft_iteration_end();
    }
    weft_region_end("waits");
    MPI_Pcontrol(1);
    persistent();
    probes();
    MPI_Pcontrol(0);
    collectives(MPI_COMM_WORLD);
    nonblocking(MPI_COMM_WORLD);
    neighbors();
    communicators();
    one_sided();
    if (rank == 0) {
        printf("all %d ranks are right\n", size);
    }
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
