/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TASK_H
#define WEFT_TASK_H

/*
 * Message-driven programs in C: arrays of objects that are spread over processors, several to
 * one, and that do something when a message for one of their methods arrives. As in Charm++ and
 * on the machines that BigSim predicts, no processor waits for anything in particular: it takes
 * the next message and calls the method that the message is for.
 *
 *     #define WEFT_TASK_IMPLEMENT
 *     #include <weft/task.h>
 *
 *     static void hello(struct weft_tasks *tasks, struct weft_object *self, const void *data,
 *                       size_t size)
 *     {
 *         printf("object %ld\n", self->index);
 *         if (self->index + 1 < 100) {
 *             struct weft_target next = {self->array, self->index + 1, 0};
 *             weft_send(tasks, next, NULL, 0);
 *         } else {
 *             weft_stop(tasks);
 *         }
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *         static const weft_method methods[] = {hello};
 *         const struct weft_class class = {.methods = methods, .n_methods = 1};
 *
 *         MPI_Init(&argc, &argv);
 *         struct weft_tasks *tasks = weft_tasks_new(MPI_COMM_WORLD, 4096);
 *         int array = weft_array_new(tasks, &class, 100, WEFT_MAP_BLOCK);
 *         weft_start(tasks, array, 0, 0);
 *         weft_tasks_run(tasks);
 *         weft_tasks_free(tasks);
 *         MPI_Finalize();
 *     }
 *
 * There is no library to link: where WEFT_TASK_IMPLEMENT is defined before this header is included,
 * in one C file of the program, the header brings the functions with it, over plain MPI. In other
 * files, and in C++, it has their declarations alone. Build the program with weftcc and run it with `weft run`, one rank for each processor, or with any
 * other MPI. What a method computes takes time as in any program; with `--compute model` it
 * says how long with WEFT_COMPUTE (weft/mark.h).
 *
 * For programs that only need handlers, not objects: an array with as many objects as there are
 * processors has one on each.
 */

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_tasks; /* one processor: its objects and the messages for them */

/* An object, for its own methods. */
struct weft_object {
    int array;
    long index;  /* in its array */
    void *state; /* its variables: state_bytes of its class */
};

/* A method. `data` is valid until it returns. It must not call MPI functions that wait. */
typedef void (*weft_method)(struct weft_tasks *tasks, struct weft_object *self,
                            const void *data, size_t size);

/* What the objects of an array have in common. Kept, with its methods, until the end. */
struct weft_class {
    size_t state_bytes; /* zeroed when the object is created */
    const weft_method *methods;
    int n_methods;
    void (*create)(struct weft_tasks *tasks, struct weft_object *self); /* or null */
    /* Whether load balancing may move the objects: each of them calls weft_sync(). */
    int balanced;
    /* How an object moves if its state has pointers; null: its bytes are copied. pack() writes
     * the state to `to` and returns how many bytes it takes; with null it only counts.
     * unpack() gets zeroed state. The old state is freed with release(). */
    size_t (*pack)(const void *state, void *to);
    void (*unpack)(void *state, const void *from, size_t size);
    void (*release)(void *state); /* also at the end; or null */
};

/* A method of an object. */
struct weft_target {
    int array;
    long index;
    int method;
};

/* ---- processors ---- */

/* All ranks of the communicator, each a processor, call this together. Messages of up to
 * `message_bytes` are received as they come; longer ones, and objects that move, take an
 * announcement first. */
struct weft_tasks *weft_tasks_new(MPI_Comm comm, size_t message_bytes);
void weft_tasks_free(struct weft_tasks *tasks);
int weft_processor(const struct weft_tasks *tasks);  /* this one */
int weft_processors(const struct weft_tasks *tasks); /* how many */

/* Calls methods until weft_stop(). All processors call it. Returns how many messages came too
 * late, on this processor, to be handled. */
long weft_tasks_run(struct weft_tasks *tasks);
/* Ends weft_tasks_run() of all processors; called by one method. */
void weft_stop(struct weft_tasks *tasks);

/* ---- objects and messages ---- */

/* Where objects are at first: blocks of consecutive objects on each processor, or one after the
 * other in turn. */
enum weft_map { WEFT_MAP_BLOCK, WEFT_MAP_ROUND_ROBIN };

/* Creates an array of n objects and returns its number. All processors call it, for all arrays
 * in the same order, before weft_tasks_run(). */
int weft_array_new(struct weft_tasks *tasks, const struct weft_class *kind, long n,
                   enum weft_map map);

/* Calls a method, without data, of object `index` when weft_tasks_run() begins; with -1 of every
 * object of the array. All processors call it. */
void weft_start(struct weft_tasks *tasks, int array, int method, long index);

/* Sends a copy of `size` bytes to a method, on whichever processor its object is. Between
 * processors the message takes `size` and 40 bytes, and with weft_send_long() as many as
 * `wire_bytes` if these are more: for data that only its length is known of. */
void weft_send(struct weft_tasks *tasks, struct weft_target to, const void *data, size_t size);
void weft_send_long(struct weft_tasks *tasks, struct weft_target to, const void *data,
                    size_t size, size_t wire_bytes);

/* Sends to a method of every object of an array. */
void weft_broadcast(struct weft_tasks *tasks, int array, int method, const void *data,
                    size_t size);

/* Every object of an array contributes n values of 8 bytes, with the same arguments otherwise;
 * the method `to` then gets the n results. Several reductions of an array are told apart by
 * their order. Each processor combines the values of its objects and sends them to the
 * processor where `to` was at first. */
enum weft_reduction {
    WEFT_SUM_DOUBLE,
    WEFT_MAX_DOUBLE,
    WEFT_MIN_DOUBLE,
    WEFT_SUM_UINT64,
    WEFT_MAX_UINT64,
    WEFT_MIN_UINT64
};
enum { WEFT_REDUCTION_MAX = 64 }; /* values */
void weft_contribute(struct weft_tasks *tasks, struct weft_object *self, const void *values,
                     int n, enum weft_reduction how, struct weft_target to);

/* ---- moving objects ---- */

/* The object moves to another processor when its method returns. Messages follow it. If it waits for
 * load balancing (weft_sync()), it moves after its next method that is called after the decision,
 * unless the decision moves it. */
void weft_migrate(struct weft_tasks *tasks, struct weft_object *self, int processor);

/* Load balancing. When every object of all balanced arrays has called weft_sync(), processor 0
 * decides by the time that each object took since the last decision which ones move; then its
 * `method` is called, without data, or none if that is -1. Meanwhile messages are handled as
 * usual.
 *
 *   greedy  the heaviest object first, each to the processor with the least load so far:
 *           nearly equal loads, but most objects move
 *   refine  only objects of processors above the mean move, to those below it
 */
enum weft_strategy { WEFT_BALANCE_NONE, WEFT_BALANCE_GREEDY, WEFT_BALANCE_REFINE };
void weft_balance(struct weft_tasks *tasks, enum weft_strategy strategy); /* on all, first */
void weft_sync(struct weft_tasks *tasks, struct weft_object *self, int method);

/* On processor 0, after a decision: loads in seconds, and how many objects moved. */
struct weft_balance_report {
    long rounds, moved;          /* in all */
    double mean, most, expected; /* the last: mean and maximum before, maximum after */
};
struct weft_balance_report weft_balance_result(const struct weft_tasks *tasks);

#ifdef __cplusplus
}
#endif

#ifdef WEFT_TASK_IMPLEMENT
#include "task_code.h"
#endif

#endif
