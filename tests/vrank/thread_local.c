/* SPDX-License-Identifier: Apache-2.0 */
/* Thread-local variables belong to a thread of a rank. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

enum { LARGE = 131072 };

static int counter = 100;
static double array[50], large[LARGE];
_Thread_local int of_rank = 5;
static _Thread_local const char *name = "initial";
#pragma omp threadprivate(counter, array, large)

static int rank, failures;

static void expect(const char *what, long found, long expected)
{
    if (found != expected) {
        failures++;
        printf("rank %d: %s is %ld, not %ld\n", rank, what, found, expected);
    }
}

int main(int argc, char **argv)
{
    int wrong = 0, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("the initial value", of_rank, 5);
    of_rank += rank;
    name = rank % 2 ? "odd" : "even";
#pragma omp parallel reduction(+ : wrong)
    {
        wrong += counter != 100;
        counter += omp_get_thread_num() + 10 * rank;
        large[LARGE - 1] = counter;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect("_Thread_local", of_rank, 5 + rank);
    expect("a pointer", name[0], rank % 2 ? 'o' : 'e');
#pragma omp parallel reduction(+ : wrong)
    {
        wrong += counter != 100 + omp_get_thread_num() + 10 * rank;
        wrong += large[LARGE - 1] != counter;
    }
    expect("threadprivate", wrong, 0);
    counter = 7 + rank;
    for (int i = 0; i < 50; i++) {
        array[i] = i + rank;
    }
#pragma omp parallel copyin(counter, array) reduction(+ : wrong)
    {
        wrong += counter != 7 + rank;
        for (int i = 0; i < 50; i++) {
            wrong += array[i] != i + rank;
        }
    }
    expect("copyin", wrong, 0);
#pragma omp parallel reduction(+ : wrong)
    {
#pragma omp single copyprivate(array, counter)
        {
            array[49] = 77 + rank;
            counter = 78;
        }
        wrong += array[49] != 77 + rank || counter != 78 || array[48] != 48 + rank;
    }
    expect("copyprivate", wrong, 0);
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d failures\n", all);
    }
    MPI_Finalize();
    return 0;
}
