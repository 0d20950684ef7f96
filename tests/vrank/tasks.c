/* SPDX-License-Identifier: Apache-2.0 */
/* Message-driven programs (weft/task.h). What it prints does not depend on the number of
 * processors: objects are found wherever they are, with all their messages. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/mark.h>
#define WEFT_TASK_IMPLEMENT
#include <weft/task.h>

enum { WALKERS = 23, HOPS = 9, WORKERS = 40, ROUNDS = 4, LONG = 20000 };
enum { WALK, WALKED };
enum { WORK, RESUME, SHOUT, LISTEN, NUDGE };
enum { MAIN_SUM, MAIN_LEAST, MAIN_MOST, MAIN_LOUD, MAIN_WALKED };

static int walkers, workers, mains;

/* ---- objects with pointers that move with every message ---- */

struct walker {
    int n;
    int *seen; /* numbers of the messages */
};

static void walk(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                 size_t size)
{
    struct walker *walker = self->state;
    int value = 0;

    if (size > 0) {
        memcpy(&value, data, sizeof(value));
    }
    walker->seen = realloc(walker->seen, (size_t)(walker->n + 1) * sizeof(int));
    walker->seen[walker->n++] = value;
    WEFT_COMPUTE(1e-6 * (double)(self->index % 5));
    weft_migrate(tasks, self, (weft_processor(tasks) + 1) % weft_processors(tasks));
    if (walker->n < HOPS) { /* the messages follow the object */
        int next = value + (int)self->index;
        weft_send(tasks, (struct weft_target){walkers, self->index, WALK}, &next, sizeof(next));
    } else {
        uint64_t sum = 0;
        for (int i = 0; i < walker->n; i++) {
            sum = sum * 31 + (uint64_t)walker->seen[i];
        }
        weft_contribute(tasks, self, &sum, 1, WEFT_SUM_UINT64,
                        (struct weft_target){mains, 0, MAIN_WALKED});
    }
}

static size_t pack_walker(const void *state, void *to)
{
    const struct walker *walker = state;

    if (to != NULL) {
        memcpy(to, walker->seen, (size_t)walker->n * sizeof(int));
    }
    return (size_t)walker->n * sizeof(int);
}

static void unpack_walker(void *state, const void *from, size_t size)
{
    struct walker *walker = state;

    walker->n = (int)(size / sizeof(int));
    walker->seen = malloc(size + 1);
    memcpy(walker->seen, from, size);
}

static void release_walker(void *state)
{
    free(((struct walker *)state)->seen);
}

/* ---- objects of different load, which are balanced ---- */

struct worker {
    int rounds;
    unsigned char data[200];
};

static void work(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                 size_t size)
{
    struct worker *worker = self->state;

    (void)data;
    (void)size;
    WEFT_COMPUTE(1e-5 * (double)(self->index < 5 ? 20 : self->index % 7));
    worker->data[worker->rounds]++;
    worker->rounds++;
    if (self->index % 4 == 0 && worker->rounds == 1) {
        weft_send(tasks, (struct weft_target){workers, self->index, NUDGE}, NULL, 0);
    }
    weft_sync(tasks, self, RESUME);
}

/* Moves an object that may already wait for the next decision of load balancing. */
static void nudge(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                  size_t size)
{
    (void)data;
    (void)size;
    weft_migrate(tasks, self, (weft_processor(tasks) + 1) % weft_processors(tasks));
}

static void resume(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                   size_t size)
{
    const struct worker *worker = self->state;

    if (worker->rounds < ROUNDS) {
        work(tasks, self, data, size);
        return;
    }
    double value = (double)self->index + worker->data[ROUNDS - 1];
    weft_contribute(tasks, self, &value, 1, WEFT_SUM_DOUBLE,
                    (struct weft_target){mains, 0, MAIN_SUM});
    weft_contribute(tasks, self, &value, 1, WEFT_MIN_DOUBLE,
                    (struct weft_target){mains, 0, MAIN_LEAST});
    weft_contribute(tasks, self, &value, 1, WEFT_MAX_DOUBLE,
                    (struct weft_target){mains, 0, MAIN_MOST});
}

/* A long message, and a broadcast. */
static void shout(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                  size_t size)
{
    unsigned char *bytes = malloc(LONG);

    (void)data;
    (void)size;
    for (int i = 0; i < LONG; i++) {
        bytes[i] = (unsigned char)(i % 251);
    }
    weft_send(tasks, (struct weft_target){workers, WORKERS - 1, LISTEN}, bytes, LONG);
    free(bytes);
    (void)self;
}

static void listen(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                   size_t size)
{
    const unsigned char *bytes = data;
    uint64_t values[2] = {size, 0};

    if (size == LONG) {
        for (int i = 0; i < LONG; i++) {
            values[1] += bytes[i];
        }
        weft_broadcast(tasks, workers, LISTEN, values, sizeof(values));
    } else {
        memcpy(values, data, size);
        weft_contribute(tasks, self, values, 2, WEFT_MAX_UINT64,
                        (struct weft_target){mains, 0, MAIN_LOUD});
    }
}

/* ---- the object that prints ---- */

struct main_object {
    int heard;
    double values[3];
    uint64_t walked, loud[2];
};

static void finish(struct weft_tasks *tasks, const struct main_object *state)
{
    printf("sum %.0f, least %.0f, most %.0f\n", state->values[0], state->values[1],
           state->values[2]);
    printf("walked %016llx\n", (unsigned long long)state->walked);
    printf("%llu bytes with sum %llu\n", (unsigned long long)state->loud[0],
           (unsigned long long)state->loud[1]);
    weft_stop(tasks);
}

static void take(struct weft_tasks *tasks, struct weft_object *self, const void *data, int i)
{
    struct main_object *state = self->state;

    memcpy(&state->values[i], data, sizeof(double));
    if (++state->heard == 4) {
        weft_send(tasks, (struct weft_target){workers, 0, SHOUT}, NULL, 0);
    }
}

static void take_sum(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                     size_t size)
{
    (void)size;
    take(tasks, self, data, 0);
}

static void take_least(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                       size_t size)
{
    (void)size;
    take(tasks, self, data, 1);
}

static void take_most(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                      size_t size)
{
    (void)size;
    take(tasks, self, data, 2);
}

static void take_loud(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                      size_t size)
{
    struct main_object *state = self->state;

    memcpy(state->loud, data, size);
    finish(tasks, state);
}

static void take_walked(struct weft_tasks *tasks, struct weft_object *self, const void *data,
                        size_t size)
{
    struct main_object *state = self->state;

    memcpy(&state->walked, data, size);
    if (++state->heard == 4) {
        weft_send(tasks, (struct weft_target){workers, 0, SHOUT}, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    static const weft_method walks[] = {walk}, works[] = {work, resume, shout, listen, nudge};
    static const weft_method takes[] = {take_sum, take_least, take_most, take_loud,
                                        take_walked};
    static const struct weft_class walker = {.state_bytes = sizeof(struct walker),
                                             .methods = walks,
                                             .n_methods = 1,
                                             .pack = pack_walker,
                                             .unpack = unpack_walker,
                                             .release = release_walker};
    static const struct weft_class worker = {
        .state_bytes = sizeof(struct worker), .methods = works, .n_methods = 5, .balanced = 1};
    static const struct weft_class printer = {
        .state_bytes = sizeof(struct main_object), .methods = takes, .n_methods = 5};
    int strategy = argc > 1 ? argv[1][0] - '0' : WEFT_BALANCE_NONE;

    MPI_Init(&argc, &argv);
    struct weft_tasks *tasks = weft_tasks_new(MPI_COMM_WORLD, 256);
    weft_balance(tasks, (enum weft_strategy)strategy);
    walkers = weft_array_new(tasks, &walker, WALKERS, WEFT_MAP_ROUND_ROBIN);
    workers = weft_array_new(tasks, &worker, WORKERS, WEFT_MAP_BLOCK);
    mains = weft_array_new(tasks, &printer, 1, WEFT_MAP_BLOCK);
    weft_start(tasks, walkers, WALK, -1);
    weft_start(tasks, workers, WORK, -1);
    long late = weft_tasks_run(tasks);
    struct weft_balance_report report = weft_balance_result(tasks);
    if (late > 0) {
        printf("%ld messages came too late\n", late);
    }
    if (weft_processor(tasks) == 0 && strategy != WEFT_BALANCE_NONE) {
        printf("balanced %ld times%s\n", report.rounds,
               report.expected <= report.most ? "" : ", but worse than before");
    }
    weft_tasks_free(tasks);
    MPI_Finalize();
    return 0;
}
