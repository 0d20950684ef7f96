/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of messages that were sent and not received. */
#include "mpilib/message_queue.h"

#include "mpilib/memory.h"
#include "mpilib/payload.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct wl_message_queue {
    struct wl_message *first, *last;
    atomic_flag busy; /* a lock that is held for a few instructions */
};

struct wl_message_queue *wl_message_queues_new(uint32_t n_ranks)
{
    return wl_calloc(n_ranks, sizeof(struct wl_message_queue));
}

void wl_message_queues_free(struct wl_message_queue *queues, uint32_t n_ranks)
{
    for (uint32_t i = 0; queues != NULL && i < n_ranks; i++) {
        while (queues[i].first != NULL) {
            struct wl_message *next = queues[i].first->next;
            free(queues[i].first);
            queues[i].first = next;
        }
    }
    free(queues);
}

struct wl_message *wl_message_new(size_t size)
{
    struct wl_message *message = wl_malloc(sizeof(*message) + size);

    *message = (struct wl_message){.whole = size, .size = size};
    return message;
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

void wl_message_queue_put(struct wl_message_queue *queues, uint32_t rank,
                          struct wl_message *message)
{
    struct wl_message_queue *queue = &queues[rank];

    message->next = NULL;
    message->checksum = wl_payload_checksum(message->bytes, message->size);
    lock(queue);
    if (queue->last != NULL) {
        queue->last->next = message;
    } else {
        queue->first = message;
    }
    queue->last = message;
    unlock(queue);
}

static bool is_in(const struct wl_message *message, const struct wl_stream *stream)
{
    return message->context == stream->context && message->source == stream->source &&
           message->tag == stream->tag;
}

/* Sets *before to the message before the one that is found, or null. */
static struct wl_message *find(const struct wl_message_queue *queue,
                               const struct wl_stream *stream, uint32_t place,
                               struct wl_message **before)
{
    *before = NULL;
    for (struct wl_message *at = queue->first; at != NULL; at = at->next) {
        if (is_in(at, stream) && place-- == 0) {
            return at;
        }
        *before = at;
    }
    return NULL;
}

struct wl_message *wl_message_queue_take(struct wl_message_queue *queues, uint32_t rank,
                                         const struct wl_stream *stream, uint32_t place)
{
    struct wl_message_queue *queue = &queues[rank];
    struct wl_message *before;

    lock(queue);
    struct wl_message *found = find(queue, stream, place, &before);
    if (found != NULL) {
        if (before != NULL) {
            before->next = found->next;
        } else {
            queue->first = found->next;
        }
        if (queue->last == found) {
            queue->last = before;
        }
    }
    unlock(queue);
    if (found != NULL) {
        wl_payload_check(found->bytes, found->size, found->checksum);
    }
    return found;
}

const struct wl_message *wl_message_queue_peek(struct wl_message_queue *queues, uint32_t rank,
                                               const struct wl_stream *stream, uint32_t place)
{
    struct wl_message *before;

    lock(&queues[rank]);
    const struct wl_message *found = find(&queues[rank], stream, place, &before);
    unlock(&queues[rank]);
    return found;
}
