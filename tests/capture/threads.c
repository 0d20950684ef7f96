/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads of each of two ranks send to those of the other, all at the same time. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, MESSAGES = 200 };

static int rank, wrong;

static void *exchange(void *arg)
{
    int tag = *(int *)arg;

    for (int i = 0; i < MESSAGES; i++) {
        MPI_Request request;
        int out = i, in = -1;

        MPI_Isend(&out, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &request);
        MPI_Recv(&in, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong |= in != i;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS] = {0};
    int tags[THREADS], provided = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < THREADS; i++) {
        tags[i] = i;
        if (provided == MPI_THREAD_MULTIPLE) {
            pthread_create(&threads[i], NULL, exchange, &tags[i]);
        } else {
            exchange(&tags[i]);
        }
    }
    for (int i = 0; i < THREADS && provided == MPI_THREAD_MULTIPLE; i++) {
        pthread_join(threads[i], NULL);
    }
    if (rank == 0) {
        printf("%s\n", wrong ? "wrong" : "right");
    }
    MPI_Finalize();
    return 0;
}
