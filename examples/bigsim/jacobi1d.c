/* SPDX-License-Identifier: Apache-2.0 */
/* Jacobi's method with a decomposition in one dimension, driven by messages: the program of
 * BigSim's figure 6. A chunk sends its strips to the left and to the right; when both neighbours'
 * strips of the same iteration have come, it works and goes on. Chunks are dealt to processors in
 * blocks, several to one, so that one works while others wait.
 * usage: jacobi1d [chunks] [iterations] [us to work on a chunk] [bytes of a strip] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/mark.h>
#define WEFT_TASK_IMPLEMENT
#include <weft/task.h>

enum { BEGIN, STRIP, END };

static long n_chunks = 64, iterations = 10, bytes = 1024;
static double us = 10;
static int chunks; /* the array */

struct chunk {
    int iteration, heard[2]; /* strips of this iteration and of the next, by their parity */
};

static void send_strips(struct weft_tasks *tasks, long index, int iteration)
{
    for (int side = -1; side <= 1; side += 2) {
        if (index + side >= 0 && index + side < n_chunks) {
            weft_send_long(tasks, (struct weft_target){chunks, index + side, STRIP}, &iteration,
                           sizeof(iteration), (size_t)bytes);
        }
    }
}

static void begin(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                  size_t size)
{
    (void)data;
    (void)size;
    send_strips(tasks, self->index, 0);
}

static void strip(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                  size_t size)
{
    struct chunk *chunk = self->state;
    int iteration, need = n_chunks == 1                                     ? 0
                          : self->index == 0 || self->index == n_chunks - 1 ? 1
                                                                            : 2;

    memcpy(&iteration, data, size);
    chunk->heard[iteration % 2]++;
    while (chunk->iteration < iterations && chunk->heard[chunk->iteration % 2] == need) {
        chunk->heard[chunk->iteration % 2] = 0;
        WEFT_COMPUTE(us * 1e-6);
        if (++chunk->iteration < iterations) {
            send_strips(tasks, self->index, chunk->iteration);
        } else {
            double now = MPI_Wtime();
            weft_contribute(tasks, self, &now, 1, WEFT_MAX_DOUBLE,
                            (struct weft_target){chunks, 0, END});
        }
    }
}

static void end(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                size_t size)
{
    double time;

    (void)self;
    memcpy(&time, data, size);
    printf("%ld chunks, %ld iterations: %.9f s\n", n_chunks, iterations, time);
    weft_stop(tasks);
}

int main(int argc, char **argv)
{
    static const weft_method methods[] = {begin, strip, end};
    static const struct weft_class class = {
        .state_bytes = sizeof(struct chunk), .methods = methods, .n_methods = 3};

    MPI_Init(&argc, &argv);
    n_chunks = argc > 1 ? strtol(argv[1], NULL, 10) : n_chunks;
    iterations = argc > 2 ? strtol(argv[2], NULL, 10) : iterations;
    us = argc > 3 ? strtod(argv[3], NULL) : us;
    bytes = argc > 4 ? strtol(argv[4], NULL, 10) : bytes;
    if (n_chunks < 2 || iterations < 1 || bytes < 0) {
        fprintf(stderr, "jacobi1d: at least two chunks and one iteration\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    struct weft_tasks *tasks = weft_tasks_new(MPI_COMM_WORLD, (size_t)bytes + 256);
    chunks = weft_array_new(tasks, &class, n_chunks, WEFT_MAP_BLOCK);
    weft_start(tasks, chunks, BEGIN, -1);
    weft_tasks_run(tasks);
    weft_tasks_free(tasks);
    MPI_Finalize();
    return 0;
}
