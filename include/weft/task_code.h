/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TASK_CODE_H
#define WEFT_TASK_CODE_H

/* How weft/task.h works. Programs include that header, not this one. Names with weft_t_ are not
 * for programs. */

#include "task.h"

#include <stdlib.h>
#include <string.h>

enum { WEFT_T_RECEIVES = 4, WEFT_T_TAG = 1, WEFT_T_TAG_LONG = 2, WEFT_T_SENDS = 256 };

enum weft_t_kind {
    WEFT_T_METHOD,
    WEFT_T_LONG,      /* announces a message that comes with another tag */
    WEFT_T_BROADCAST, /* to all objects of the array, on all processors */
    WEFT_T_STOP,
    WEFT_T_PART,     /* of a reduction */
    WEFT_T_OBJECT,   /* that moves */
    WEFT_T_MOVED,    /* to the first processor of an object: where it is now */
    WEFT_T_LOADS,    /* for processor 0 */
    WEFT_T_DECISION, /* of processor 0: which objects move */
    WEFT_T_KINDS
};

/* The header of a message: 40 bytes. */
struct weft_t_head {
    int32_t kind, array;
    int64_t index;
    int32_t method;
    int32_t moves; /* of its object: those that the sender knows of */
    uint64_t size; /* of the data after it */
    int32_t place; /* of a broadcast, stop or decision: the processor that it is from */
    uint32_t wire; /* bytes that it counts as between processors, if these are more */
};

/* A message that waits for its turn. */
struct weft_t_item {
    struct weft_t_item *next;
    struct weft_t_head head;
    unsigned char data[];
};

struct weft_t_queue {
    struct weft_t_item *first, *last;
};

/* An object, with what its methods do not see. */
struct weft_t_object {
    struct weft_object seen; /* must be first */
    double load;             /* seconds since the last decision */
    long round;              /* of load balancing: that it has reached... */
    long told;               /* ...and that processor 0 knows its load of */
    long resumed;            /* round after which it was told to go on */
    long reductions;         /* that it has contributed to */
    int resume;              /* method after load balancing */
    int leaves_for;          /* processor; -1: it stays */
    int32_t moves;           /* how often it has moved */
};

/* A table of numbers from 0, by hashing: objects, or where objects are. */
struct weft_t_slot {
    long index; /* -1: free; -2: was used */
    void *object;
    int processor;
    int32_t moves; /* of the object, when it went to this processor */
};
struct weft_t_table {
    struct weft_t_slot *slots;
    size_t n, used, capacity;
};

/* A reduction that is not complete. */
struct weft_t_part {
    struct weft_t_part *next;
    int64_t number; /* of its array */
    int64_t count;  /* objects whose values are in it */
    struct weft_target to;
    int32_t n, how;
    int64_t missing; /* objects here that have not contributed */
    uint64_t values[WEFT_REDUCTION_MAX];
};

struct weft_t_array {
    const struct weft_class *class;
    long n;
    enum weft_map map;
    struct weft_t_table objects; /* here */
    struct weft_t_table places;  /* of objects that are not where they were at first */
    struct weft_t_queue early;   /* messages for objects that are on their way */
    struct weft_t_part *parts;   /* of this processor */
    struct weft_t_part *results; /* of all, on the processor of the target */
};

struct weft_t_load {
    int32_t array, from, to, moves;
    int64_t index;
    double load;
};

struct weft_tasks {
    MPI_Comm comm;
    int rank, size;
    size_t bytes; /* of a receive */
    struct weft_t_array *arrays;
    int n_arrays;
    struct weft_t_queue queue; /* what has come */
    MPI_Request receives[WEFT_T_RECEIVES];
    unsigned char *buffers[WEFT_T_RECEIVES];
    int64_t posted[WEFT_T_RECEIVES]; /* in which order */
    int64_t n_posted;
    MPI_Request *sends; /* not complete, and their buffers */
    void **sent_buffers;
    int *done;
    int n_sends, max_sends, is_full;
    int64_t sent, received; /* messages between processors */
    int stopped;
    long late;
    enum weft_strategy strategy;
    long round;                /* of load balancing */
    long n_balanced;           /* objects here that can move... */
    long n_synced;             /* ...and those that have reached the end of this round */
    long n_untold;             /* ...and those whose load processor 0 does not know yet */
    double background;         /* load of other objects */
    struct weft_t_load *loads; /* on processor 0 */
    size_t n_loads, max_loads, all_balanced;
    double *backgrounds;
    struct weft_balance_report report;
};

static void *weft_t_alloc(size_t size)
{
    void *memory = calloc(1, size > 0 ? size : 1);

    if (memory == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static void *weft_t_resize(void *old, size_t size)
{
    void *memory = realloc(old, size);

    if (memory == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* ---- tables ---- */

static struct weft_t_slot *weft_t_find(const struct weft_t_table *table, long index)
{
    size_t mask = table->capacity - 1;

    for (size_t i = (size_t)index * 0x9e3779b97f4a7c15u >> 20; table->capacity > 0; i++) {
        struct weft_t_slot *slot = &table->slots[i & mask];
        if (slot->index == index) {
            return slot;
        }
        if (slot->index == -1) {
            return NULL;
        }
    }
    return NULL;
}

static struct weft_t_slot *weft_t_put(struct weft_t_table *table, long index)
{
    struct weft_t_slot *found = weft_t_find(table, index);

    if (found != NULL) {
        return found;
    }
    if (2 * (table->used + 1) > table->capacity) {
        struct weft_t_table larger = {NULL, 0, 0, table->n < 8 ? 16 : 4 * table->n};
        while ((larger.capacity & (larger.capacity - 1)) != 0) {
            larger.capacity += larger.capacity & -larger.capacity;
        }
        larger.slots =
            (struct weft_t_slot *)weft_t_alloc(larger.capacity * sizeof(*larger.slots));
        for (size_t i = 0; i < larger.capacity; i++) {
            larger.slots[i].index = -1;
        }
        for (size_t i = 0; i < table->capacity; i++) {
            if (table->slots[i].index >= 0) {
                *weft_t_put(&larger, table->slots[i].index) = table->slots[i];
            }
        }
        free(table->slots);
        *table = larger;
    }
    size_t i = (size_t)index * 0x9e3779b97f4a7c15u >> 20, mask = table->capacity - 1;
    while (table->slots[i & mask].index != -1) {
        i++;
    }
    table->n++;
    table->used++;
    table->slots[i & mask] = (struct weft_t_slot){index, NULL, 0, 0};
    return &table->slots[i & mask];
}

static void weft_t_drop(struct weft_t_table *table, long index)
{
    struct weft_t_slot *slot = weft_t_find(table, index);

    if (slot != NULL) {
        slot->index = -2;
        table->n--;
    }
}

/* ---- where objects are ---- */

static int weft_t_first_place(const struct weft_tasks *tasks, const struct weft_t_array *array,
                              long index)
{
    return array->map == WEFT_MAP_BLOCK ? (int)((long long)index * tasks->size / array->n)
                                        : (int)(index % tasks->size);
}

/* Where an object is as far as this processor knows, and after how many moves. */
static int weft_t_place(const struct weft_tasks *tasks, int number, long index, int32_t *moves)
{
    const struct weft_t_array *array = &tasks->arrays[number];
    const struct weft_t_slot *moved = weft_t_find(&array->places, index);

    *moves = moved != NULL ? moved->moves : 0;
    return moved != NULL ? moved->processor : weft_t_first_place(tasks, array, index);
}

/* News of an object's place come from several processors, and late news do not replace later ones. */
static void weft_t_set_place(struct weft_tasks *tasks, int number, long index, int processor,
                             int32_t moves)
{
    struct weft_t_slot *slot = weft_t_put(&tasks->arrays[number].places, index);

    if (moves > slot->moves) {
        slot->processor = processor;
        slot->moves = moves;
    }
}

static struct weft_t_object *weft_t_object_at(const struct weft_tasks *tasks, int array,
                                              long index)
{
    const struct weft_t_slot *slot = weft_t_find(&tasks->arrays[array].objects, index);

    return slot != NULL ? (struct weft_t_object *)slot->object : NULL;
}

/* ---- sending ---- */

static void weft_t_append(struct weft_t_queue *queue, struct weft_t_item *item)
{
    item->next = NULL;
    if (queue->first == NULL) {
        queue->first = item;
    } else {
        queue->last->next = item;
    }
    queue->last = item;
}

static struct weft_t_item *weft_t_item_new(const struct weft_t_head *head, const void *data)
{
    struct weft_t_item *item =
        (struct weft_t_item *)weft_t_alloc(sizeof(*item) + (size_t)head->size);

    item->head = *head;
    if (head->size > 0 && data != NULL) {
        memcpy(item->data, data, (size_t)head->size);
    }
    return item;
}

/* Forgets the sends that are complete. */
static void weft_t_reclaim(struct weft_tasks *tasks)
{
    int n = 0, kept = 0;

    MPI_Testsome(tasks->n_sends, tasks->sends, &n, tasks->done, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        free(tasks->sent_buffers[tasks->done[i]]);
        tasks->sent_buffers[tasks->done[i]] = NULL;
    }
    for (int i = 0; i < tasks->n_sends; i++) {
        if (tasks->sent_buffers[i] != NULL) {
            tasks->sends[kept] = tasks->sends[i];
            tasks->sent_buffers[kept++] = tasks->sent_buffers[i];
        }
    }
    tasks->n_sends = kept;
}

static void weft_t_isend(struct weft_tasks *tasks, int to, int tag, void *buffer, size_t bytes)
{
    if (tasks->n_sends > 0 && tasks->n_sends == tasks->max_sends) {
        weft_t_reclaim(tasks);
        tasks->is_full = 2 * tasks->n_sends >= tasks->max_sends;
    }
    if (tasks->max_sends == 0 || tasks->is_full) {
        tasks->is_full = 0;
        tasks->max_sends = 2 * tasks->max_sends + WEFT_T_SENDS;
        size_t n = (size_t)tasks->max_sends;
        tasks->sends = (MPI_Request *)weft_t_resize(tasks->sends, n * sizeof(MPI_Request));
        tasks->sent_buffers = (void **)weft_t_resize(tasks->sent_buffers, n * sizeof(void *));
        tasks->done = (int *)weft_t_resize(tasks->done, n * sizeof(int));
    }
    tasks->sent_buffers[tasks->n_sends] = buffer;
    MPI_Isend(buffer, (int)bytes, MPI_BYTE, to, tag, tasks->comm,
              &tasks->sends[tasks->n_sends++]);
}

/* Sends a message to a processor. MPI also carries the messages of a processor to itself: so all
 * messages are handled in the order in which they arrive, and nobody has to look for messages in
 * vain, which would take time. */
static void weft_t_post(struct weft_tasks *tasks, int to, const struct weft_t_head *head,
                        const void *data)
{
    size_t bytes = sizeof(*head) + (size_t)head->size;

    bytes = bytes > head->wire ? bytes : head->wire;
    unsigned char *buffer = (unsigned char *)weft_t_alloc(bytes);
    memcpy(buffer, head, sizeof(*head));
    if (head->size > 0) {
        memcpy(buffer + sizeof(*head), data, (size_t)head->size);
    }
    tasks->sent++;
    if (bytes > tasks->bytes) {
        struct weft_t_head *announced = (struct weft_t_head *)weft_t_alloc(sizeof(*head));
        announced->kind = WEFT_T_LONG;
        announced->size = bytes;
        weft_t_isend(tasks, to, WEFT_T_TAG, announced, sizeof(*announced));
        weft_t_isend(tasks, to, WEFT_T_TAG_LONG, buffer, bytes);
    } else {
        weft_t_isend(tasks, to, WEFT_T_TAG, buffer, bytes);
    }
}

/* Sends to the next processors of a binomial tree from processor 0, or from `place` 0. */
static void weft_t_spread(struct weft_tasks *tasks, const struct weft_t_head *head,
                          const void *data)
{
    int own = (tasks->rank - head->place + tasks->size) % tasks->size;

    for (int bit = 1; bit < tasks->size; bit <<= 1) {
        if (own < bit && own + bit < tasks->size) {
            weft_t_post(tasks, (own + bit + head->place) % tasks->size, head, data);
        }
    }
}

void weft_send_long(struct weft_tasks *tasks, struct weft_target to, const void *data,
                    size_t size, size_t wire_bytes)
{
    struct weft_t_head head;

    memset(&head, 0, sizeof(head));
    head.kind = WEFT_T_METHOD;
    head.array = to.array;
    head.index = to.index;
    head.method = to.method;
    head.size = size;
    head.wire = (uint32_t)wire_bytes;
    int place = weft_t_place(tasks, to.array, to.index, &head.moves);
    weft_t_post(tasks, place, &head, data);
}

void weft_send(struct weft_tasks *tasks, struct weft_target to, const void *data, size_t size)
{
    weft_send_long(tasks, to, data, size, 0);
}

void weft_broadcast(struct weft_tasks *tasks, int array, int method, const void *data,
                    size_t size)
{
    struct weft_t_head head;

    memset(&head, 0, sizeof(head));
    head.kind = WEFT_T_BROADCAST;
    head.array = array;
    head.method = method;
    head.size = size;
    head.place = tasks->rank;
    weft_t_post(tasks, tasks->rank, &head, data);
}

void weft_stop(struct weft_tasks *tasks)
{
    struct weft_t_head head;

    memset(&head, 0, sizeof(head));
    head.kind = WEFT_T_STOP;
    head.place = tasks->rank;
    weft_t_post(tasks, tasks->rank, &head, NULL);
}

#include "task_moving.h"

/* ---- what messages do ---- */

static void weft_t_call(struct weft_tasks *tasks, struct weft_t_object *object, int method,
                        const struct weft_t_item *item)
{
    const struct weft_class *class = tasks->arrays[object->seen.array].class;
    int measures = tasks->strategy != WEFT_BALANCE_NONE;
    double began = measures ? MPI_Wtime() : 0;

    if (method < 0 || method >= class->n_methods) {
        MPI_Abort(tasks->comm, 1);
    }
    class->methods[method](tasks, &object->seen, item->head.size > 0 ? item->data : NULL,
                           (size_t)item->head.size);
    if (measures) {
        double took = MPI_Wtime() - began;
        object->load += took;
        tasks->background += class->balanced ? 0 : took;
    }
    if (object->leaves_for >= 0 && !weft_t_awaits_decision(object)) {
        weft_t_leave(tasks, object);
    }
    weft_t_try_balance(tasks);
}

/* The object may be elsewhere, or on its way to this processor: then the sender knew of a later move.
 * A message that is passed on follows a later move each time, and so reaches its object. */
static void weft_t_handle_method(struct weft_tasks *tasks, struct weft_t_item *item)
{
    int number = item->head.array;
    long index = (long)item->head.index;
    struct weft_t_object *object = weft_t_object_at(tasks, number, index);

    if (object != NULL) {
        weft_t_call(tasks, object, item->head.method, item);
        free(item);
        return;
    }
    int32_t moves;
    int place = weft_t_place(tasks, number, index, &moves);
    if (place == tasks->rank || item->head.moves > moves) {
        weft_t_append(&tasks->arrays[number].early, item);
        return;
    }
    item->head.moves = moves;
    weft_t_post(tasks, place, &item->head, item->data);
    free(item);
}

/* Objects are called in the order of their numbers, wherever they are in the table. Those that
 * are on their way are not missed only if nothing moves during a broadcast. */
static int weft_t_order_of_numbers(const void *one, const void *other)
{
    long a = *(const long *)one, b = *(const long *)other;

    return a < b ? -1 : a > b;
}

static void weft_t_call_all(struct weft_tasks *tasks, int number, int method,
                            const struct weft_t_item *item)
{
    const struct weft_t_table *table = &tasks->arrays[number].objects;
    long *indices = (long *)weft_t_alloc((table->n + 1) * sizeof(long));
    size_t n = 0;

    for (size_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].index >= 0) {
            indices[n++] = table->slots[i].index;
        }
    }
    qsort(indices, n, sizeof(long), weft_t_order_of_numbers);
    for (size_t i = 0; i < n; i++) {
        struct weft_t_object *object = weft_t_object_at(tasks, number, indices[i]);
        if (object != NULL) {
            weft_t_call(tasks, object, method, item);
        }
    }
    free(indices);
}

static void weft_t_handle_broadcast(struct weft_tasks *tasks, struct weft_t_item *item)
{
    weft_t_spread(tasks, &item->head, item->data);
    weft_t_call_all(tasks, item->head.array, item->head.method, item);
    free(item);
}

static void weft_t_handle_stop(struct weft_tasks *tasks, struct weft_t_item *item)
{
    weft_t_spread(tasks, &item->head, item->data);
    tasks->stopped = 1;
    free(item);
}

static void weft_t_handle(struct weft_tasks *tasks, struct weft_t_item *item)
{
    static void (*const handlers[WEFT_T_KINDS])(struct weft_tasks *, struct weft_t_item *) = {
        [WEFT_T_METHOD] = weft_t_handle_method, [WEFT_T_BROADCAST] = weft_t_handle_broadcast,
        [WEFT_T_STOP] = weft_t_handle_stop,     [WEFT_T_PART] = weft_t_handle_part,
        [WEFT_T_OBJECT] = weft_t_handle_object, [WEFT_T_MOVED] = weft_t_handle_moved,
        [WEFT_T_LOADS] = weft_t_handle_loads,   [WEFT_T_DECISION] = weft_t_handle_decision,
    };

    handlers[item->head.kind](tasks, item);
}

/* ---- receiving ---- */

static void weft_t_post_receive(struct weft_tasks *tasks, int i)
{
    tasks->posted[i] = tasks->n_posted++;
    MPI_Irecv(tasks->buffers[i], (int)tasks->bytes, MPI_BYTE, MPI_ANY_SOURCE, WEFT_T_TAG,
              tasks->comm, &tasks->receives[i]);
}

/* Puts a message that has come into the queue. */
static void weft_t_take(struct weft_tasks *tasks, int i, int source)
{
    struct weft_t_head head;
    unsigned char *bytes = tasks->buffers[i], *separate = NULL;

    memcpy(&head, bytes, sizeof(head));
    if (head.kind == WEFT_T_LONG) {
        size_t size = (size_t)head.size;
        bytes = separate = (unsigned char *)weft_t_alloc(size);
        MPI_Recv(bytes, (int)size, MPI_BYTE, source, WEFT_T_TAG_LONG, tasks->comm,
                 MPI_STATUS_IGNORE);
        memcpy(&head, bytes, sizeof(head));
    }
    tasks->received++;
    weft_t_append(&tasks->queue, weft_t_item_new(&head, bytes + sizeof(head)));
    free(separate);
}

/* Takes the messages that have come, in order; with `waits` at least one. Returns how many. */
static int weft_t_receive(struct weft_tasks *tasks, int waits)
{
    MPI_Status statuses[WEFT_T_RECEIVES];
    int places[WEFT_T_RECEIVES], n = 0;

    if (waits) {
        MPI_Waitsome(WEFT_T_RECEIVES, tasks->receives, &n, places, statuses);
    } else {
        MPI_Testsome(WEFT_T_RECEIVES, tasks->receives, &n, places, statuses);
    }
    for (int k = 0; k < n; k++) {
        int first = k;
        for (int j = k + 1; j < n; j++) {
            first = tasks->posted[places[j]] < tasks->posted[places[first]] ? j : first;
        }
        int place = places[first];
        MPI_Status status = statuses[first];
        places[first] = places[k];
        statuses[first] = statuses[k];
        weft_t_take(tasks, place, status.MPI_SOURCE);
        weft_t_post_receive(tasks, place);
    }
    return n;
}

/* All messages arrive before the end. */
static void weft_t_finish(struct weft_tasks *tasks)
{
    long long open = 1, all = 1;

    while (all != 0) {
        while (weft_t_receive(tasks, 0) > 0) {
        }
        open = tasks->sent - tasks->received;
        MPI_Allreduce(&open, &all, 1, MPI_LONG_LONG, MPI_SUM, tasks->comm);
    }
    for (int i = 0; i < WEFT_T_RECEIVES; i++) {
        MPI_Cancel(&tasks->receives[i]);
        MPI_Wait(&tasks->receives[i], MPI_STATUS_IGNORE);
    }
    MPI_Waitall(tasks->n_sends, tasks->sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < tasks->n_sends; i++) {
        free(tasks->sent_buffers[i]);
    }
    tasks->n_sends = 0;
}

/* Frees messages that nobody handled; returns how many were for methods. */
static long weft_t_drop_queue(struct weft_t_queue *queue)
{
    long n = 0;

    while (queue->first != NULL) {
        struct weft_t_item *item = queue->first;
        queue->first = item->next;
        n += item->head.kind == WEFT_T_METHOD;
        free(item);
    }
    return n;
}

long weft_tasks_run(struct weft_tasks *tasks)
{
    for (int i = 0; i < WEFT_T_RECEIVES; i++) {
        weft_t_post_receive(tasks, i);
    }
    tasks->stopped = 0;
    while (!tasks->stopped) {
        struct weft_t_item *item = tasks->queue.first;
        if (item == NULL) {
            (void)weft_t_receive(tasks, 1);
        } else {
            tasks->queue.first = item->next;
            weft_t_handle(tasks, item);
        }
    }
    weft_t_finish(tasks);
    tasks->late += weft_t_drop_queue(&tasks->queue);
    for (int a = 0; a < tasks->n_arrays; a++) {
        tasks->late += weft_t_drop_queue(&tasks->arrays[a].early);
    }
    return tasks->late;
}

/* ---- beginning and end ---- */

struct weft_tasks *weft_tasks_new(MPI_Comm comm, size_t message_bytes)
{
    struct weft_tasks *tasks = (struct weft_tasks *)weft_t_alloc(sizeof(*tasks));
    size_t least = sizeof(struct weft_t_head);

    tasks->comm = comm;
    MPI_Comm_rank(comm, &tasks->rank);
    MPI_Comm_size(comm, &tasks->size);
    tasks->bytes = message_bytes > least ? message_bytes : least;
    for (int i = 0; i < WEFT_T_RECEIVES; i++) {
        tasks->buffers[i] = (unsigned char *)weft_t_alloc(tasks->bytes);
    }
    return tasks;
}

int weft_processor(const struct weft_tasks *tasks)
{
    return tasks->rank;
}

int weft_processors(const struct weft_tasks *tasks)
{
    return tasks->size;
}

/* The first object of this processor, and the distance to the next one. */
static long weft_t_first_index(const struct weft_tasks *tasks, const struct weft_t_array *array,
                               long *step)
{
    *step = array->map == WEFT_MAP_ROUND_ROBIN ? tasks->size : 1;
    return array->map == WEFT_MAP_ROUND_ROBIN
               ? tasks->rank
               : (long)(((long long)tasks->rank * array->n + tasks->size - 1) / tasks->size);
}

int weft_array_new(struct weft_tasks *tasks, const struct weft_class *class, long n,
                   enum weft_map map)
{
    int number = tasks->n_arrays++;

    tasks->arrays = (struct weft_t_array *)weft_t_resize(
        tasks->arrays, (size_t)tasks->n_arrays * sizeof(*tasks->arrays));
    struct weft_t_array *array = &tasks->arrays[number];
    memset(array, 0, sizeof(*array));
    array->class = class;
    array->n = n;
    array->map = map;
    if (class->balanced) {
        tasks->all_balanced += (size_t)n;
    }
    long step, first = weft_t_first_index(tasks, array, &step);
    for (long i = first; i < n && weft_t_first_place(tasks, array, i) == tasks->rank;
         i += step) {
        struct weft_t_object *object = weft_t_object_new(tasks, number, i);
        weft_t_recount(tasks, object, 1);
        if (class->create != NULL) {
            class->create(tasks, &object->seen);
            array = &tasks->arrays[number];
        }
    }
    return number;
}

void weft_start(struct weft_tasks *tasks, int array, int method, long index)
{
    const struct weft_t_array *own = &tasks->arrays[array];
    struct weft_t_head head;

    memset(&head, 0, sizeof(head));
    head.kind = WEFT_T_METHOD;
    head.array = array;
    head.method = method;
    long step, first = weft_t_first_index(tasks, own, &step);
    for (long i = first; i < own->n && weft_t_first_place(tasks, own, i) == tasks->rank;
         i += step) {
        if (index < 0 || index == i) {
            head.index = i;
            weft_t_append(&tasks->queue, weft_t_item_new(&head, NULL));
        }
    }
}

static void weft_t_table_free(struct weft_tasks *tasks, struct weft_t_table *table)
{
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].index >= 0 && table->slots[i].object != NULL) {
            weft_t_object_free(tasks, (struct weft_t_object *)table->slots[i].object);
        }
    }
    free(table->slots);
}

void weft_tasks_free(struct weft_tasks *tasks)
{
    for (int a = 0; a < tasks->n_arrays; a++) {
        struct weft_t_array *array = &tasks->arrays[a];
        weft_t_table_free(tasks, &array->objects);
        weft_t_table_free(tasks, &array->places);
        while (array->parts != NULL) {
            weft_t_part_free(&array->parts, array->parts);
        }
        while (array->results != NULL) {
            weft_t_part_free(&array->results, array->results);
        }
    }
    for (int i = 0; i < WEFT_T_RECEIVES; i++) {
        free(tasks->buffers[i]);
    }
    free(tasks->arrays);
    free(tasks->sends);
    free(tasks->sent_buffers);
    free(tasks->done);
    free(tasks->loads);
    free(tasks->backgrounds);
    free(tasks);
}

#endif
