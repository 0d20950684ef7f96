/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX threads of a rank: a pool with a queue, a helper that calls MPI, locks of all kinds. Prints
 * what it computes and the simulated times, which must not depend on the host. */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <weft/mark.h>

enum { WORKERS = 4, JOBS = 20 };

static int rank, size;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int queue[JOBS], n_queued, n_taken, closed;
static long sum;
static pthread_key_t key;
static pthread_once_t control = PTHREAD_ONCE_INIT;
static int n_once, n_destroyed;
static _Thread_local int local = 3;

static double ms(double since)
{
    return (MPI_Wtime() - since) * 1000;
}

static void init_once(void)
{
    n_once++;
}

static void destroy(void *value)
{
    n_destroyed += value != NULL;
}

static void *worker(void *arg)
{
    long done = 0;

    pthread_once(&control, init_once);
    pthread_setspecific(key, arg);
    local += (int)(size_t)arg;
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (n_taken == n_queued && !closed) {
            pthread_cond_wait(&more, &mutex);
        }
        if (n_taken == n_queued) {
            pthread_mutex_unlock(&mutex);
            break;
        }
        int job = queue[n_taken++];
        pthread_mutex_unlock(&mutex);
        WEFT_COMPUTE(1e-3);
        pthread_mutex_lock(&mutex);
        sum += job;
        pthread_mutex_unlock(&mutex);
        done++;
    }
    return (void *)(done + (local != 3 + (int)(size_t)arg) * 1000 +
                    (pthread_getspecific(key) != arg) * 1000);
}

static void pool(void)
{
    pthread_t threads[WORKERS];
    double begin = MPI_Wtime();
    long done = 0;

    pthread_key_create(&key, destroy);
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
    }
    for (int i = 0; i < JOBS; i++) {
        pthread_mutex_lock(&mutex);
        queue[n_queued++] = i * (rank + 1);
        pthread_mutex_unlock(&mutex);
        pthread_cond_signal(&more);
    }
    pthread_mutex_lock(&mutex);
    closed = 1;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < WORKERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        done += (long)result;
    }
    if (rank == 0) {
        printf("pool: sum %ld, done %ld, once %d, destroyed %d, local %d, %.3f ms\n", sum, done,
               n_once, n_destroyed, local, ms(begin));
    }
}

/* A helper sends and receives while the first thread computes. */
static void *helper(void *arg)
{
    int *got = arg;

    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, got, 1, MPI_INT,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(500);
    return NULL;
}

static void overlap(void)
{
    pthread_t thread;
    int got = -1;
    double begin = MPI_Wtime();

    pthread_create(&thread, NULL, helper, &got);
    WEFT_COMPUTE(2e-3);
    pthread_join(thread, NULL);
    if (rank == 0) {
        printf("overlap: got %d, %.3f ms\n", got, ms(begin));
    }
}

static sem_t there, back;
static pthread_barrier_t barrier;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static volatile int flag;
static int shared_sum;

static void *partner(void *arg)
{
    for (int i = 0; i < 3; i++) {
        sem_wait(&there);
        WEFT_COMPUTE(1e-4);
        sem_post(&back);
    }
    pthread_rwlock_wrlock(&rw);
    shared_sum += 5;
    pthread_rwlock_unlock(&rw);
    pthread_spin_lock(&spin);
    shared_sum += 7;
    pthread_spin_unlock(&spin);
    pthread_barrier_wait(&barrier);
    WEFT_COMPUTE(3e-4);
    flag = 1;
    pthread_exit((void *)9);
}

static void others(void)
{
    pthread_t thread;
    pthread_mutexattr_t attributes;
    pthread_mutex_t recursive;
    struct timespec time;
    void *result;
    double begin = MPI_Wtime();

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attributes);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    sem_init(&there, 0, 0);
    sem_init(&back, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&thread, NULL, partner, NULL);
    for (int i = 0; i < 3; i++) {
        sem_post(&there);
        sem_wait(&back);
    }
    pthread_barrier_wait(&barrier);
    while (!flag) {
        usleep(10);
    }
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 200000;
    pthread_mutex_lock(&mutex);
    int code = pthread_cond_timedwait(&more, &mutex, &time);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, &result);
    if (rank == 0) {
        printf("others: result %ld, shared %d, busy %d, %.1f ms\n", (long)result, shared_sum,
               code == ETIMEDOUT, ms(begin));
    }
}

int main(int argc, char **argv)
{
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pool();
    overlap();
    others();
    MPI_Finalize();
    return 0;
}
