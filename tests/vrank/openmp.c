/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP in every rank: results of all constructs, which do not depend on the number of threads;
 * with "times", how long regions take that compute for given times; with "spin", a thread waits
 * without a call. */
#include <mpi.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/mark.h>

enum { N = 1000 };

static int rank, failures;

static void expect(const char *what, long found, long expected)
{
    if (found != expected) {
        failures++;
        printf("rank %d: %s is %ld, not %ld\n", rank, what, found, expected);
    }
}

/* ---- results ---- */

static void loops(void)
{
    long sums[8] = {0}, last = -1;
    int order = 0, wrong = 0;

#pragma omp parallel for reduction(+ : sums[0])
    for (int i = 0; i < N; i++) {
        sums[0] += i;
    }
#pragma omp parallel for schedule(static, 7) reduction(+ : sums[1])
    for (int i = N; i > 0; i--) {
        sums[1] += i - 1;
    }
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sums[2]) lastprivate(last)
    for (long i = 0; i < N; i++) {
        sums[2] += i;
        last = i;
    }
#pragma omp parallel reduction(+ : sums [3:4])
    {
#pragma omp for schedule(guided) nowait
        for (unsigned long long i = 0; i < N; i++) {
            sums[3] += (long)i;
        }
#pragma omp for schedule(runtime) nowait
        for (int i = 0; i < N; i += 2) {
            sums[4] += i + i + 1;
        }
#pragma omp for schedule(dynamic) collapse(2)
        for (int i = 0; i < N / 10; i++) {
            for (int k = 0; k < 10; k++) {
                sums[5] += 10L * i + k;
            }
        }
#pragma omp for schedule(dynamic, 4)
        for (unsigned long long i = N; i > 0; i--) {
            sums[6] += (long)i - 1;
        }
    }
#pragma omp parallel for ordered schedule(dynamic, 2) reduction(+ : wrong)
    for (int i = 0; i < 50; i++) {
#pragma omp ordered
        wrong += order++ != i;
    }
#pragma omp parallel for ordered schedule(static) reduction(+ : wrong)
    for (int i = 50; i < 101; i++) {
#pragma omp ordered
        wrong += order++ != i;
    }
    for (int i = 0; i < 7; i++) {
        expect("a loop", sums[i], N * (N - 1) / 2);
    }
    expect("lastprivate", last, N - 1);
    expect("ordered", wrong, 0);
}

static void meetings(void)
{
    int threads = 0, arrived = 0, wrong = 0, singles = 0, sections = 0, copied = 0, seen = 0;
    long in_critical = 0;
    omp_lock_t lock;
    omp_nest_lock_t nest;

    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel reduction(+ : wrong, seen) private(copied)
    {
        for (int i = 1; i <= 10; i++) {
#pragma omp atomic
            arrived++;
#pragma omp barrier
            wrong += arrived != i * omp_get_num_threads();
#pragma omp barrier
#pragma omp critical(one)
            in_critical++;
            omp_set_lock(&lock);
            omp_set_nest_lock(&nest);
            omp_set_nest_lock(&nest);
            threads++;
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
            omp_unset_lock(&lock);
#pragma omp single nowait
            singles++;
#pragma omp single copyprivate(copied)
            copied = i;
            seen += copied == i;
#pragma omp sections
            {
#pragma omp section
#pragma omp atomic
                sections++;
#pragma omp section
#pragma omp atomic
                sections += 10;
            }
        }
#pragma omp parallel reduction(+ : wrong) /* inside: one thread */
        wrong += omp_get_num_threads() != 1 || omp_get_level() != 2 ||
                 omp_get_ancestor_thread_num(0) != 0;
    }
    int n = omp_get_max_threads();
    expect("barrier", wrong, 0);
    expect("critical", in_critical, 10L * n);
    expect("lock", threads, 10L * n);
    expect("single", singles, 10);
    expect("copyprivate", seen, 10L * n);
    expect("sections", sections, 110);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
}

static long fibonacci(int n)
{
    long a, b;

    if (n < 2) {
        return n;
    }
#pragma omp task shared(a) if (n > 4)
    a = fibonacci(n - 1);
#pragma omp task shared(b) final(n < 8)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static void tasks(void)
{
    long found = 0, sum = 0, inner = 0;
    int chain = 0, wrong = 0, grid[6][6] = {{0}};

#pragma omp parallel
#pragma omp single
    {
        found = fibonacci(14);
        for (int i = 0; i < 20; i++) {
#pragma omp task depend(inout : chain) firstprivate(i)
            wrong += chain++ != i;
        }
        for (int i = 1; i < 6; i++) {
            for (int k = 1; k < 6; k++) {
#pragma omp task depend(in : grid[i - 1][k], grid[i][k - 1]) depend(out : grid[i][k])
                grid[i][k] = grid[i - 1][k] + grid[i][k - 1] + 1;
            }
        }
#pragma omp taskloop grainsize(7)
        for (int i = 0; i < N; i++) {
#pragma omp atomic
            sum += i;
        }
#pragma omp taskgroup
        for (int i = 0; i < 5; i++) {
#pragma omp task
#pragma omp task
#pragma omp atomic
            inner++;
        }
        expect("taskgroup", inner, 5);
    }
    expect("tasks", found, 377);
    expect("depend", wrong, 0);
    expect("a grid of tasks", grid[5][5], 251);
    expect("taskloop", sum, N * (N - 1) / 2);
}

/* All threads communicate, one at a time. */
static void messages(void)
{
    int size, main_thread = 0;
    long sum = 0;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 12; i++) {
#pragma omp ordered
            {
                int value = rank + i, got = 0;
                MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, i, &got, 1, MPI_INT,
                             (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                sum += got;
            }
        }
#pragma omp master
        MPI_Is_thread_main(&main_thread);
    }
    expect("messages", sum, 12L * ((rank + size - 1) % size) + 66);
    expect("MPI_Is_thread_main", main_thread, 1);
}

/* A thread waits for a variable that another one sets. */
static void spinning(void)
{
    static volatile int reached;
    int n = 0;

#pragma omp parallel num_threads(2) reduction(+ : n)
    {
        bool waits = omp_get_thread_num() == 0;
        while (waits && reached == 0) {
        }
        reached = 1;
        n++;
    }
    expect("spinning", n, 2);
    /* Messages take simulated time, waiting in a loop takes none: then the loop is always the earlier one. */
#pragma omp parallel num_threads(2)
    {
        while (omp_get_thread_num() == 0 && reached == 1) {
        }
        if (omp_get_thread_num() == 1) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
            reached = 2;
        }
    }
}

/* ---- time, in milliseconds ---- */

static void work(int milliseconds)
{
    WEFT_COMPUTE(milliseconds * 1e-3);
}

static void show(const char *what, double begin)
{
    if (rank == 0) {
        printf("%s %g ms\n", what, (MPI_Wtime() - begin) * 1e3);
    }
}

static void region_times(void)
{
    double begin = MPI_Wtime(), inside = 0;
    int value = 0;

#pragma omp parallel for schedule(static)
    for (int i = 0; i < 8; i++) {
        work(1);
    }
    show("static", begin);
    begin = MPI_Wtime();
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 8; i++) {
        work(i);
    }
    show("uneven", begin);
    begin = MPI_Wtime();
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 8; i++) {
        work(i < 1 ? 6 : 1);
    }
    show("dynamic", begin);
    begin = MPI_Wtime();
#pragma omp parallel
#pragma omp critical
    work(1);
    show("critical", begin);
    begin = MPI_Wtime();
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 8; i++) {
#pragma omp task
        work(1);
    }
    show("tasks", begin);
    begin = MPI_Wtime();
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) { /* the others compute while this one waits */
            usleep(3000);
            MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        } else {
            work(2);
        }
#pragma omp barrier
#pragma omp master
        {
            work(1);
            inside = omp_get_wtime();
        }
    }
    show("overlap", begin);
    if (rank == 0) {
        printf("inside %g ms\n", (inside - begin) * 1e3);
    }
}

int main(int argc, char **argv)
{
    int provided, all = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("provided", provided, MPI_THREAD_MULTIPLE);
    if (argc > 1 && strcmp(argv[1], "spin") == 0) {
        spinning();
    } else if (argc > 1) {
        region_times();
    } else {
        loops();
        meetings();
        tasks();
        messages();
    }
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d threads, %d failures\n", omp_get_max_threads(), all);
    }
    MPI_Finalize();
    return 0;
}
