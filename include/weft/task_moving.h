/* SPDX-License-Identifier: Apache-2.0 */
/* A part of task_code.h: reductions, objects that move, and load balancing. */
#ifndef WEFT_TASK_CODE_H
#include "task_code.h" /* which includes this header where it belongs */
#elif !defined(WEFT_TASK_MOVING_H)
#define WEFT_TASK_MOVING_H

/* ---- reductions ---- */

static void weft_t_combine(uint64_t *into, const uint64_t *values, int n,
                           enum weft_reduction how)
{
    for (int i = 0; i < n; i++) {
        double a, b;
        uint64_t c = into[i], d = values[i];
        memcpy(&a, &into[i], sizeof(a));
        memcpy(&b, &values[i], sizeof(b));
        a = how == WEFT_SUM_DOUBLE ? a + b : (how == WEFT_MAX_DOUBLE) == (a > b) ? a : b;
        c = how == WEFT_SUM_UINT64 ? c + d : (how == WEFT_MAX_UINT64) == (c > d) ? c : d;
        if (how >= WEFT_SUM_UINT64) {
            into[i] = c;
        } else {
            memcpy(&into[i], &a, sizeof(a));
        }
    }
}

/* A reduction in a list; a new one if there is none. */
static struct weft_t_part *weft_t_part_of(struct weft_t_part **list, int64_t number)
{
    while (*list != NULL && (*list)->number != number) {
        list = &(*list)->next;
    }
    if (*list == NULL) {
        *list = (struct weft_t_part *)weft_t_alloc(sizeof(**list));
        (*list)->number = number;
    }
    return *list;
}

static void weft_t_part_free(struct weft_t_part **list, struct weft_t_part *part)
{
    while (*list != part) {
        list = &(*list)->next;
    }
    *list = part->next;
    free(part);
}

static void weft_t_part_add(struct weft_t_part *part, const struct weft_t_part *with)
{
    if (part->count == 0) {
        part->to = with->to;
        part->n = with->n;
        part->how = with->how;
        memcpy(part->values, with->values, sizeof(part->values));
    } else {
        weft_t_combine(part->values, with->values, with->n, (enum weft_reduction)with->how);
    }
    part->count += with->count;
}

/* All objects here have contributed: the part goes to the processor of the target. */
static void weft_t_part_send(struct weft_tasks *tasks, int array, struct weft_t_part *part)
{
    struct weft_t_array *own = &tasks->arrays[array];
    struct weft_t_head head;

    memset(&head, 0, sizeof(head));
    head.kind = WEFT_T_PART;
    head.array = array;
    head.size = offsetof(struct weft_t_part, values) + (size_t)part->n * sizeof(uint64_t);
    weft_t_post(tasks,
                weft_t_first_place(tasks, &tasks->arrays[part->to.array], part->to.index),
                &head, part);
    weft_t_part_free(&own->parts, part);
}

void weft_contribute(struct weft_tasks *tasks, struct weft_object *self, const void *values,
                     int n, enum weft_reduction how, struct weft_target to)
{
    struct weft_t_object *object = (struct weft_t_object *)self;
    struct weft_t_array *array = &tasks->arrays[self->array];
    struct weft_t_part with = {.count = 1, .to = to, .n = n, .how = (int32_t)how};
    struct weft_t_part *part = weft_t_part_of(&array->parts, object->reductions);

    if (n < 0 || n > WEFT_REDUCTION_MAX) {
        MPI_Abort(tasks->comm, 1);
    }
    memcpy(with.values, values, (size_t)n * sizeof(uint64_t));
    if (part->count == 0 && part->missing == 0) { /* the first here */
        for (size_t i = 0; i < array->objects.capacity; i++) {
            const struct weft_t_slot *slot = &array->objects.slots[i];
            part->missing +=
                slot->index >= 0 &&
                ((struct weft_t_object *)slot->object)->reductions <= object->reductions;
        }
    }
    weft_t_part_add(part, &with);
    part->missing--;
    object->reductions++;
    if (part->missing == 0) {
        weft_t_part_send(tasks, self->array, part);
    }
}

static void weft_t_handle_part(struct weft_tasks *tasks, struct weft_t_item *item)
{
    struct weft_t_array *array = &tasks->arrays[item->head.array];
    struct weft_t_part with = {.count = 0};

    memcpy(&with, item->data, (size_t)item->head.size);
    struct weft_t_part *result = weft_t_part_of(&array->results, with.number);
    weft_t_part_add(result, &with);
    if (result->count == array->n) {
        weft_send(tasks, result->to, result->values, (size_t)result->n * sizeof(uint64_t));
        weft_t_part_free(&array->results, result);
    }
    free(item);
}

/* ---- moving objects ---- */

/* What an object that moves takes along; its state follows. */
struct weft_t_luggage {
    double load;
    int64_t round, told, resumed, reductions;
    int32_t resume, resumes;
};

/* Objects that have not contributed to a reduction are missing where they are. */
static void weft_t_recount(struct weft_tasks *tasks, struct weft_t_object *object, int sign)
{
    struct weft_t_array *array = &tasks->arrays[object->seen.array];

    for (struct weft_t_part *part = array->parts; part != NULL;) {
        struct weft_t_part *next = part->next;
        if (part->number >= object->reductions) {
            part->missing += sign;
            if (part->missing == 0) {
                weft_t_part_send(tasks, object->seen.array, part);
            }
        }
        part = next;
    }
    if (array->class->balanced) {
        tasks->n_balanced += sign;
        tasks->n_synced += object->round > tasks->round ? sign : 0;
        tasks->n_untold += object->told <= tasks->round ? sign : 0;
    }
}

static struct weft_t_object *weft_t_object_new(struct weft_tasks *tasks, int number, long index)
{
    struct weft_t_array *array = &tasks->arrays[number];
    struct weft_t_object *object = (struct weft_t_object *)weft_t_alloc(sizeof(*object));

    object->seen.array = number;
    object->seen.index = index;
    object->seen.state = weft_t_alloc(array->class->state_bytes);
    object->leaves_for = -1;
    weft_t_put(&array->objects, index)->object = object;
    return object;
}

static void weft_t_object_free(struct weft_tasks *tasks, struct weft_t_object *object)
{
    const struct weft_class *class = tasks->arrays[object->seen.array].class;

    if (class->release != NULL) {
        class->release(object->seen.state);
    }
    free(object->seen.state);
    free(object);
}

/* Sends an object away. */
static void weft_t_depart(struct weft_tasks *tasks, struct weft_t_object *object, int to,
                          int resumes)
{
    struct weft_t_array *array = &tasks->arrays[object->seen.array];
    const struct weft_class *class = array->class;
    size_t state =
        class->pack != NULL ? class->pack(object->seen.state, NULL) : class->state_bytes;
    struct weft_t_luggage luggage = {object->load,    object->round,      object->told,
                                     object->resumed, object->reductions, object->resume,
                                     resumes};
    unsigned char *bytes = (unsigned char *)weft_t_alloc(sizeof(luggage) + state);
    struct weft_t_head head;

    memset(&head, 0, sizeof(head));
    head.kind = WEFT_T_OBJECT;
    head.array = object->seen.array;
    head.index = object->seen.index;
    head.moves = object->moves + 1;
    head.size = sizeof(luggage) + state;
    memcpy(bytes, &luggage, sizeof(luggage));
    if (class->pack != NULL) {
        (void)class->pack(object->seen.state, bytes + sizeof(luggage));
    } else if (state > 0) {
        memcpy(bytes + sizeof(luggage), object->seen.state, state);
    }
    weft_t_drop(&array->objects, object->seen.index);
    weft_t_set_place(tasks, object->seen.array, object->seen.index, to, head.moves);
    weft_t_post(tasks, to, &head, bytes);
    weft_t_recount(tasks, object, -1);
    weft_t_object_free(tasks, object);
    free(bytes);
}

void weft_migrate(struct weft_tasks *tasks, struct weft_object *self, int processor)
{
    if (processor >= 0 && processor < tasks->size) {
        ((struct weft_t_object *)self)->leaves_for = processor;
    }
}

/* Between the report of its load and the decision an object stays, so that the decision finds it. */
static int weft_t_awaits_decision(const struct weft_t_object *object)
{
    return object->told > object->resumed;
}

/* After the method in which it asked for it. Its first processor must know where it is. */
static void weft_t_leave(struct weft_tasks *tasks, struct weft_t_object *object)
{
    int to = object->leaves_for, number = object->seen.array;
    int first = weft_t_first_place(tasks, &tasks->arrays[number], object->seen.index);
    struct weft_t_head head;

    object->leaves_for = -1;
    if (to == tasks->rank) {
        return;
    }
    memset(&head, 0, sizeof(head));
    head.kind = WEFT_T_MOVED;
    head.array = number;
    head.index = object->seen.index;
    head.method = to;
    head.moves = object->moves + 1;
    weft_t_depart(tasks, object, to, 0);
    if (first != tasks->rank && first != to) {
        weft_t_post(tasks, first, &head, NULL);
    }
}

static void weft_t_handle_moved(struct weft_tasks *tasks, struct weft_t_item *item)
{
    weft_t_set_place(tasks, item->head.array, (long)item->head.index, item->head.method,
                     item->head.moves);
    free(item);
}

static void weft_t_resume(struct weft_tasks *tasks, struct weft_t_object *object)
{
    struct weft_target to = {object->seen.array, object->seen.index, object->resume};

    object->resumed = object->round;
    if (object->resume >= 0) {
        weft_send(tasks, to, NULL, 0);
    }
}

static void weft_t_try_balance(struct weft_tasks *tasks);

static void weft_t_handle_object(struct weft_tasks *tasks, struct weft_t_item *item)
{
    struct weft_t_array *array = &tasks->arrays[item->head.array];
    struct weft_t_object *object =
        weft_t_object_new(tasks, item->head.array, (long)item->head.index);
    size_t state = (size_t)item->head.size - sizeof(struct weft_t_luggage);
    struct weft_t_queue early = array->early;
    struct weft_t_luggage luggage;

    memcpy(&luggage, item->data, sizeof(luggage));
    object->load = luggage.load;
    object->round = (long)luggage.round;
    object->told = (long)luggage.told;
    object->resumed = (long)luggage.resumed;
    object->reductions = (long)luggage.reductions;
    object->resume = luggage.resume;
    object->moves = item->head.moves;
    if (array->class->unpack != NULL) {
        array->class->unpack(object->seen.state, item->data + sizeof(luggage), state);
    } else if (state > 0) {
        memcpy(object->seen.state, item->data + sizeof(luggage), state);
    }
    weft_t_set_place(tasks, item->head.array, (long)item->head.index, tasks->rank,
                     item->head.moves);
    weft_t_recount(tasks, object, 1);
    if (luggage.resumes) {
        weft_t_resume(tasks, object);
    }
    array->early = (struct weft_t_queue){NULL, NULL};
    while (early.first != NULL) {
        struct weft_t_item *next = early.first->next;
        weft_t_append(early.first->head.index == item->head.index ? &tasks->queue
                                                                  : &array->early,
                      early.first);
        early.first = next;
    }
    weft_t_try_balance(tasks);
    free(item);
}

/* ---- load balancing ---- */

void weft_balance(struct weft_tasks *tasks, enum weft_strategy strategy)
{
    tasks->strategy = strategy;
}

struct weft_balance_report weft_balance_result(const struct weft_tasks *tasks)
{
    return tasks->report;
}

/* Calls function(tasks, object, arg) for each object here that can move. */
static void weft_t_each_balanced(struct weft_tasks *tasks,
                                 void (*function)(struct weft_tasks *tasks,
                                                  struct weft_t_object *object, void *arg),
                                 void *arg)
{
    for (int a = 0; a < tasks->n_arrays; a++) {
        const struct weft_t_table *table = &tasks->arrays[a].objects;
        for (size_t i = 0; tasks->arrays[a].class->balanced && i < table->capacity; i++) {
            if (table->slots[i].index >= 0) {
                function(tasks, (struct weft_t_object *)table->slots[i].object, arg);
            }
        }
    }
}

static void weft_t_note_load(struct weft_tasks *tasks, struct weft_t_object *object, void *arg)
{
    struct weft_t_load **at = (struct weft_t_load **)arg;

    if (object->told > tasks->round) {
        return;
    }
    object->told = tasks->round + 1;
    memset(*at, 0, sizeof(**at));
    (*at)->array = object->seen.array;
    (*at)->index = object->seen.index;
    (*at)->from = (*at)->to = tasks->rank;
    (*at)->moves = object->moves;
    (*at)->load = object->load;
    object->load = 0;
    ++*at;
}

/* Sends the loads of the objects here to processor 0 if all have reached the end of the round.
 * The first entry is the load of the others. An object that arrives later in the round is told
 * of later. */
static void weft_t_try_balance(struct weft_tasks *tasks)
{
    size_t n = (size_t)tasks->n_untold + 1;
    struct weft_t_head head;

    if (tasks->n_untold == 0 || tasks->n_synced < tasks->n_balanced ||
        tasks->strategy == WEFT_BALANCE_NONE) {
        return;
    }
    struct weft_t_load *loads = (struct weft_t_load *)weft_t_alloc(n * sizeof(*loads));
    struct weft_t_load *at = loads + 1;
    loads[0].array = -1;
    loads[0].from = tasks->rank;
    loads[0].load = tasks->background;
    tasks->background = 0;
    weft_t_each_balanced(tasks, weft_t_note_load, &at);
    memset(&head, 0, sizeof(head));
    head.kind = WEFT_T_LOADS;
    head.size = n * sizeof(*loads);
    tasks->n_untold = 0;
    weft_t_post(tasks, 0, &head, loads);
    free(loads);
}

void weft_sync(struct weft_tasks *tasks, struct weft_object *self, int method)
{
    struct weft_t_object *object = (struct weft_t_object *)self;

    object->resume = method;
    if (tasks->strategy == WEFT_BALANCE_NONE) {
        weft_t_resume(tasks, object);
        return;
    }
    if (object->round++ == tasks->round) {
        tasks->n_synced++;
    }
}

/* The heaviest first; equal ones by their numbers, so that all orders of arrival give the same. */
static int weft_t_order(const void *one, const void *other)
{
    const struct weft_t_load *a = (const struct weft_t_load *)one;
    const struct weft_t_load *b = (const struct weft_t_load *)other;

    if (a->load != b->load) {
        return a->load > b->load ? -1 : 1;
    }
    if (a->array != b->array) {
        return a->array < b->array ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Processors in a heap, that with the least load first. */
struct weft_t_heap {
    double *load; /* by processor */
    int *heap, n;
};

static int weft_t_is_less(const struct weft_t_heap *heap, int a, int b)
{
    double x = heap->load[heap->heap[a]], y = heap->load[heap->heap[b]];

    return x < y || (!(y < x) && heap->heap[a] < heap->heap[b]);
}

static void weft_t_sink(struct weft_t_heap *heap, int at)
{
    for (;;) {
        int least = at;
        for (int child = 2 * at + 1; child <= 2 * at + 2 && child < heap->n; child++) {
            least = weft_t_is_less(heap, child, least) ? child : least;
        }
        if (least == at) {
            return;
        }
        int moved = heap->heap[at];
        heap->heap[at] = heap->heap[least];
        heap->heap[least] = moved;
        at = least;
    }
}

/* Sets `to` of each object. */
static void weft_t_assign(struct weft_tasks *tasks, struct weft_t_heap *heap, double limit)
{
    int greedy = tasks->strategy == WEFT_BALANCE_GREEDY;

    for (size_t i = 0; i < tasks->n_loads; i++) {
        struct weft_t_load *object = &tasks->loads[i];
        int best = heap->heap[0];
        int moves = greedy || (heap->load[object->from] > limit &&
                               heap->load[best] + object->load <= limit);
        if (!moves) {
            continue;
        }
        object->to = best;
        heap->load[best] += object->load;
        weft_t_sink(heap, 0);
        if (!greedy) { /* it is above the mean, so that it is no candidate */
            heap->load[object->from] -= object->load;
        }
    }
}

static void weft_t_decide(struct weft_tasks *tasks)
{
    const double tolerance = 1.02;
    size_t n = (size_t)tasks->size, kept = 0;
    struct weft_t_heap heap = {(double *)weft_t_alloc(n * sizeof(double)),
                               (int *)weft_t_alloc(n * sizeof(int)), tasks->size};
    double *before = (double *)weft_t_alloc(n * sizeof(double)), sum = 0;
    struct weft_balance_report *report = &tasks->report;

    qsort(tasks->loads, tasks->n_loads, sizeof(*tasks->loads), weft_t_order);
    memcpy(before, tasks->backgrounds, n * sizeof(double));
    for (size_t i = 0; i < tasks->n_loads; i++) {
        before[tasks->loads[i].from] += tasks->loads[i].load;
    }
    memcpy(heap.load, tasks->strategy == WEFT_BALANCE_GREEDY ? tasks->backgrounds : before,
           n * sizeof(double));
    report->most = report->expected = 0;
    for (int i = 0; i < tasks->size; i++) {
        heap.heap[i] = i;
        sum += before[i];
        report->most = before[i] > report->most ? before[i] : report->most;
    }
    report->mean = sum / tasks->size;
    for (int i = tasks->size / 2; i >= 0; i--) {
        weft_t_sink(&heap, i);
    }
    weft_t_assign(tasks, &heap, report->mean * tolerance);
    for (int i = 0; i < tasks->size; i++) {
        report->expected = heap.load[i] > report->expected ? heap.load[i] : report->expected;
    }
    for (size_t i = 0; i < tasks->n_loads; i++) {
        if (tasks->loads[i].to != tasks->loads[i].from) {
            tasks->loads[kept++] = tasks->loads[i];
        }
    }
    tasks->n_loads = kept;
    report->moved += (long)kept;
    report->rounds++;
    free(before);
    free(heap.load);
    free(heap.heap);
}

static void weft_t_handle_loads(struct weft_tasks *tasks, struct weft_t_item *item)
{
    const size_t n = (size_t)item->head.size / sizeof(struct weft_t_load) - 1;
    struct weft_t_load first;
    struct weft_t_head head;

    if (tasks->backgrounds == NULL) {
        tasks->backgrounds = (double *)weft_t_alloc((size_t)tasks->size * sizeof(double));
        tasks->loads = (struct weft_t_load *)weft_t_alloc(tasks->all_balanced * sizeof(first));
    }
    memcpy(&first, item->data, sizeof(first));
    tasks->backgrounds[first.from] += first.load;
    memcpy(tasks->loads + tasks->n_loads, item->data + sizeof(first), n * sizeof(first));
    tasks->n_loads += n;
    free(item);
    if (tasks->n_loads < tasks->all_balanced) {
        return;
    }
    weft_t_decide(tasks);
    memset(&head, 0, sizeof(head));
    head.kind = WEFT_T_DECISION;
    head.size = tasks->n_loads * sizeof(struct weft_t_load);
    weft_t_post(tasks, 0, &head, tasks->loads);
    tasks->n_loads = 0;
    memset(tasks->backgrounds, 0, (size_t)tasks->size * sizeof(double));
}

/* Objects that leave go on where they arrive. */
static void weft_t_go_on(struct weft_tasks *tasks, struct weft_t_object *object, void *arg)
{
    (void)arg;
    tasks->n_synced += object->round > tasks->round;
    tasks->n_untold += object->told <= tasks->round;
    if (object->round == tasks->round && object->resumed < object->round) {
        weft_t_resume(tasks, object);
    }
}

static void weft_t_handle_decision(struct weft_tasks *tasks, struct weft_t_item *item)
{
    size_t n = (size_t)item->head.size / sizeof(struct weft_t_load);

    weft_t_spread(tasks, &item->head, item->data);
    for (size_t i = 0; i < n; i++) {
        struct weft_t_load move;
        memcpy(&move, item->data + i * sizeof(move), sizeof(move));
        struct weft_t_object *object = weft_t_object_at(tasks, move.array, (long)move.index);
        if (object != NULL && move.from == tasks->rank) {
            /* An object that has called weft_sync() twice goes on after the next decision. */
            weft_t_depart(tasks, object, move.to, object->round == tasks->round + 1);
        } else {
            weft_t_set_place(tasks, move.array, (long)move.index, move.to, move.moves + 1);
        }
    }
    tasks->round++;
    tasks->n_synced = tasks->n_untold = 0;
    weft_t_each_balanced(tasks, weft_t_go_on, NULL);
    weft_t_try_balance(tasks);
    free(item);
}

#endif
