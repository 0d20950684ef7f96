/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of messages that were sent and not received. */
#include "mpi/lib/p2p/message_queue.h"

#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/payload.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* Messages of a list, in the order in which they were sent. */
struct list {
    struct wl_message *first, *last;
};

/* The messages of one stream in a long queue. */
struct stream {
    struct stream *next; /* in the bucket */
    struct wl_stream key;
    struct list list;
};

struct index {
    uint32_t n_streams, n_buckets; /* the latter is a power of 2 */
    struct stream *buckets[];
};

/* A short queue is one list. A long one has a list for each stream, found by a hash. */
struct wl_message_queue {
    struct list list;
    uint32_t n;       /* messages in the list */
    atomic_flag busy; /* a lock that is held for a few instructions */
    struct index *index;
    struct wl_rank *shown; /* whose receives other threads may look at; or null */
};

enum { SHORT = 16 };

struct wl_message_queue *wl_message_queues_new(uint32_t n_ranks)
{
    return wl_calloc(n_ranks, sizeof(struct wl_message_queue));
}

static void free_list(struct list *list)
{
    while (list->first != NULL) {
        struct wl_message *next = list->first->next;
        wl_message_free(list->first);
        list->first = next;
    }
}

static void free_index(struct index *index)
{
    for (uint32_t i = 0; index != NULL && i < index->n_buckets; i++) {
        while (index->buckets[i] != NULL) {
            struct stream *next = index->buckets[i]->next;
            free_list(&index->buckets[i]->list);
            free(index->buckets[i]);
            index->buckets[i] = next;
        }
    }
    free(index);
}

void wl_message_queues_free(struct wl_message_queue *queues, uint32_t n_ranks)
{
    for (uint32_t i = 0; queues != NULL && i < n_ranks; i++) {
        free_list(&queues[i].list);
        free_index(queues[i].index);
    }
    free(queues);
}

struct wl_message *wl_message_new(size_t size)
{
    struct wl_message *message = wl_malloc(sizeof(*message) + size);

    *message = (struct wl_message){.whole = size, .size = size, .holders = 1};
    message->data = message->bytes;
    return message;
}

void wl_message_free(struct wl_message *message)
{
    if (atomic_load_explicit(&message->holders, memory_order_acquire) > 1 &&
        atomic_fetch_sub_explicit(&message->holders, 1, memory_order_acq_rel) > 1) {
        return;
    }
    if (message->state == WL_DATA_HERE && message->data != message->bytes) {
        free((void *)(uintptr_t)message->data); /* NOLINT: it is the message's own */
    }
    free(message->sent);
    free(message);
}

static void lock(struct wl_message_queue *queue)
{
    while (atomic_flag_test_and_set_explicit(&queue->busy, memory_order_acquire)) {
        (void)sched_yield();
    }
}

static void unlock(struct wl_message_queue *queue)
{
    atomic_flag_clear_explicit(&queue->busy, memory_order_release);
}

/* ---- lists ---- */

static void append(struct list *list, struct wl_message *message)
{
    message->next = NULL;
    if (list->first != NULL) {
        list->last->next = message;
    } else {
        list->first = message;
    }
    list->last = message;
}

static bool is_in(const struct wl_message *message, const struct wl_stream *stream)
{
    return message->context == stream->context && message->source == stream->source &&
           message->tag == stream->tag;
}

/* Sets *before to the message before the one that is found, or null. */
static struct wl_message *find_message(const struct list *list, const struct wl_stream *stream,
                                       uint32_t place, struct wl_message **before)
{
    *before = NULL;
    for (struct wl_message *at = list->first; at != NULL; at = at->next) {
        if (is_in(at, stream) && place-- == 0) {
            return at;
        }
        *before = at;
    }
    return NULL;
}

static struct wl_message *take(struct list *list, const struct wl_stream *stream,
                               uint32_t place)
{
    struct wl_message *before, *found = find_message(list, stream, place, &before);

    if (found != NULL) {
        if (before != NULL) {
            before->next = found->next;
        } else {
            list->first = found->next;
        }
        if (list->last == found) {
            list->last = before;
        }
    }
    return found;
}

/* ---- the index ---- */

static struct index *new_index(uint32_t n_buckets)
{
    struct index *index = wl_calloc(1, sizeof(*index) + n_buckets * sizeof(struct stream *));

    index->n_buckets = n_buckets;
    return index;
}

static struct stream **find_stream(struct index *index, const struct wl_stream *key)
{
    uint64_t hash = ((uint64_t)key->source << 32 | (uint32_t)key->tag) * 0x9e3779b97f4a7c15U ^
                    key->context * UINT64_C(0xbf58476d1ce4e5b9);
    struct stream **at = &index->buckets[(hash ^ hash >> 32) & (index->n_buckets - 1)];

    while (*at != NULL && ((*at)->key.context != key->context ||
                           (*at)->key.source != key->source || (*at)->key.tag != key->tag)) {
        at = &(*at)->next;
    }
    return at;
}

/* Moves all streams to an index of twice the size. */
static struct index *grow(struct index *index)
{
    struct index *larger = new_index(2 * index->n_buckets);

    larger->n_streams = index->n_streams;
    for (uint32_t i = 0; i < index->n_buckets; i++) {
        while (index->buckets[i] != NULL) {
            struct stream *stream = index->buckets[i];
            index->buckets[i] = stream->next;
            stream->next = NULL;
            *find_stream(larger, &stream->key) = stream;
        }
    }
    free(index);
    return larger;
}

static struct index *put_into(struct index *index, struct wl_message *message)
{
    const struct wl_stream key = {message->context, message->source, message->tag};

    if (index->n_streams > index->n_buckets) {
        index = grow(index);
    }
    struct stream **at = find_stream(index, &key);
    if (*at == NULL) {
        *at = wl_calloc(1, sizeof(**at));
        (*at)->key = key;
        index->n_streams++;
    }
    append(&(*at)->list, message);
    return index;
}

/* The queue has become long. */
static void make_index(struct wl_message_queue *queue)
{
    queue->index = new_index(2 * SHORT);
    while (queue->list.first != NULL) {
        struct wl_message *message = queue->list.first;
        queue->list.first = message->next;
        queue->index = put_into(queue->index, message);
    }
    queue->n = 0;
}

static struct wl_message *take_from(struct wl_message_queue *queue, const struct wl_stream *key,
                                    uint32_t place)
{
    struct stream **at = find_stream(queue->index, key), *stream = *at;
    struct wl_message *found = stream != NULL ? take(&stream->list, key, place) : NULL;

    if (found != NULL && stream->list.first == NULL) {
        *at = stream->next;
        free(stream);
        if (--queue->index->n_streams == 0) {
            free(queue->index);
            queue->index = NULL;
        }
    }
    return found;
}

/* ---- the queue ---- */

void wl_message_queue_put(struct wl_message_queue *queues, uint32_t rank,
                          struct wl_message *message)
{
    message->checksum = wl_payload_checksum(message->data, message->size);
    wl_message_queue_return(queues, rank, message);
}

void wl_message_queue_return(struct wl_message_queue *queues, uint32_t rank,
                             struct wl_message *message)
{
    struct wl_message_queue *queue = &queues[rank];

    lock(queue);
    if (queue->index == NULL && queue->n >= SHORT) {
        make_index(queue);
    }
    if (queue->index != NULL) {
        queue->index = put_into(queue->index, message);
    } else {
        append(&queue->list, message);
        queue->n++;
    }
    unlock(queue);
}

struct wl_message *wl_message_queue_take_held(struct wl_message_queue *queues, uint32_t rank,
                                              const struct wl_stream *stream, uint32_t place)
{
    struct wl_message_queue *queue = &queues[rank];
    struct wl_message *found;

    if (queue->index != NULL) {
        found = take_from(queue, stream, place);
    } else {
        found = take(&queue->list, stream, place);
        queue->n -= found != NULL;
    }
    return found;
}

struct wl_message *wl_message_queue_take(struct wl_message_queue *queues, uint32_t rank,
                                         const struct wl_stream *stream, uint32_t place)
{
    lock(&queues[rank]);
    struct wl_message *found = wl_message_queue_take_held(queues, rank, stream, place);
    unlock(&queues[rank]);
    return found;
}

const struct wl_message *wl_message_queue_peek(struct wl_message_queue *queues, uint32_t rank,
                                               const struct wl_stream *stream, uint32_t place)
{
    struct wl_message_queue *queue = &queues[rank];
    const struct list *list = &queue->list;
    struct wl_message *before;

    lock(queue);
    if (queue->index != NULL) {
        const struct stream *found = *find_stream(queue->index, stream);
        list = found != NULL ? &found->list : list; /* that of the queue is empty */
    }
    const struct wl_message *message = find_message(list, stream, place, &before);
    unlock(queue);
    return message;
}

/* ---- looking at the receives of another rank ---- */

void wl_message_queue_lock(struct wl_message_queue *queues, uint32_t rank)
{
    lock(&queues[rank]);
}

void wl_message_queue_unlock(struct wl_message_queue *queues, uint32_t rank)
{
    unlock(&queues[rank]);
}

void wl_message_queue_show(struct wl_message_queue *queues, uint32_t rank,
                           struct wl_rank *owner)
{
    lock(&queues[rank]);
    queues[rank].shown = owner;
    unlock(&queues[rank]);
}

struct wl_rank *wl_message_queue_shown(struct wl_message_queue *queues, uint32_t rank)
{
    return queues[rank].shown;
}

uint32_t wl_message_queue_place(struct wl_message_queue *queues,
                                const struct wl_message *message)
{
    const struct wl_stream stream = {message->context, message->source, message->tag};
    struct wl_message_queue *queue = &queues[message->to];
    const struct wl_message *at = queue->list.first;
    uint32_t place = 0;

    if (queue->index != NULL) {
        const struct stream *found = *find_stream(queue->index, &stream);
        at = found != NULL ? found->list.first : NULL;
    }
    for (; at != NULL && at != message; at = at->next) {
        place += is_in(at, &stream);
    }
    return at != NULL ? place : UINT32_MAX;
}

static void visit_list(const struct list *list,
                       void (*visit)(void *arg, const struct wl_message *message), void *arg)
{
    for (const struct wl_message *at = list->first; at != NULL; at = at->next) {
        visit(arg, at);
    }
}

void wl_message_queue_visit(struct wl_message_queue *queues, uint32_t rank,
                            void (*visit)(void *arg, const struct wl_message *message),
                            void *arg)
{
    const struct wl_message_queue *queue = &queues[rank];

    visit_list(&queue->list, visit, arg);
    for (uint32_t i = 0; queue->index != NULL && i < queue->index->n_buckets; i++) {
        for (const struct stream *s = queue->index->buckets[i]; s != NULL; s = s->next) {
            visit_list(&s->list, visit, arg);
        }
    }
}
