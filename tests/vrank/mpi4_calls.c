/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are new in MPI-4.0, in a program whose course does not depend on time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4000, PARTITIONS = 4, ROUNDS = 3 };

int main(int argc, char **argv)
{
    int rank, size, sum = 0, wrong = 0;
    double *out = calloc(N, sizeof(double)), *in = calloc(N, sizeof(double));
    MPI_Request exchange, part[2], collective[2];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm all, node;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Init(&argc, &argv);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "calls", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, all, MPI_INFO_NULL, &collective[0]);
    MPI_Bcast_init(in, 1, MPI_DOUBLE, 0, all, MPI_INFO_NULL, &collective[1]);
    MPI_Psend_init(out, PARTITIONS, N / PARTITIONS, MPI_DOUBLE, right, 1, all, MPI_INFO_NULL,
                   &part[0]);
    MPI_Precv_init(in, 2, N / 2, MPI_DOUBLE, left, 1, all, MPI_INFO_NULL, &part[1]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            out[i] = rank + i + round;
        }
        MPI_Startall(2, part);
        for (int i = PARTITIONS; i-- > 0;) {
            MPI_Pready(i, part[0]);
        }
        MPI_Waitall(2, part, MPI_STATUSES_IGNORE);
        wrong += in[N - 1] != left + N - 1 + round;
        MPI_Isendrecv(out, N, MPI_DOUBLE, left, 2, in, N, MPI_DOUBLE, right, 2, all, &exchange);
        MPI_Wait(&exchange, MPI_STATUS_IGNORE);
        wrong += in[0] != right + round;
        MPI_Startall(2, collective);
        MPI_Waitall(2, collective, MPI_STATUSES_IGNORE);
        wrong += sum != size * (size - 1) / 2;
    }
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&part[i]);
        MPI_Request_free(&collective[i]);
    }
    MPI_Send_c(out, 1, MPI_DOUBLE, right, 3, all);
    MPI_Recv_c(in, 1, MPI_DOUBLE, left, 3, all, MPI_STATUS_IGNORE);
    MPI_Comm_free(&node);
    MPI_Comm_free(&all);
    MPI_Group_free(&group);
    printf("rank %d: %d wrong\n", rank, wrong);
    free(out);
    free(in);
    MPI_Finalize();
    return MPI_Session_finalize(&session);
}
