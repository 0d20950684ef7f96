/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/message_queue.h"

#include "mpilib/memory.h"
#include "mpilib/payload.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct wl_mailbox {
    struct wl_message *first, *last;
    atomic_flag busy; /* held for a few instructions */
};

struct wl_mailbox *wl_mailboxes_new(uint32_t n_ranks)
{
    return wl_calloc(n_ranks, sizeof(struct wl_mailbox));
}

void wl_mailboxes_free(struct wl_mailbox *boxes, uint32_t n_ranks)
{
    for (uint32_t i = 0; boxes != NULL && i < n_ranks; i++) {
        while (boxes[i].first != NULL) {
            struct wl_message *next = boxes[i].first->next;
            free(boxes[i].first);
            boxes[i].first = next;
        }
    }
    free(boxes);
}

struct wl_message *wl_message_new(size_t size)
{
    struct wl_message *message = wl_malloc(sizeof(*message) + size);

    *message = (struct wl_message){.whole = size, .size = size};
    return message;
}

static void lock(struct wl_mailbox *box)
{
    while (atomic_flag_test_and_set_explicit(&box->busy, memory_order_acquire)) {
        (void)sched_yield();
    }
}

static void unlock(struct wl_mailbox *box)
{
    atomic_flag_clear_explicit(&box->busy, memory_order_release);
}

void wl_mailbox_put(struct wl_mailbox *boxes, uint32_t rank, struct wl_message *message)
{
    struct wl_mailbox *box = &boxes[rank];

    message->next = NULL;
    message->sum = wl_data_sum(message->bytes, message->size);
    lock(box);
    if (box->last != NULL) {
        box->last->next = message;
    } else {
        box->first = message;
    }
    box->last = message;
    unlock(box);
}

static bool fits(const struct wl_message *message, const struct wl_stream *stream)
{
    return message->context == stream->context && message->source == stream->source &&
           message->tag == stream->tag;
}

/* The one before it is set to the message before, or null. */
static struct wl_message *find(const struct wl_mailbox *box, const struct wl_stream *stream,
                               uint32_t place, struct wl_message **before)
{
    *before = NULL;
    for (struct wl_message *at = box->first; at != NULL; at = at->next) {
        if (fits(at, stream) && place-- == 0) {
            return at;
        }
        *before = at;
    }
    return NULL;
}

struct wl_message *wl_mailbox_take(struct wl_mailbox *boxes, uint32_t rank,
                                   const struct wl_stream *stream, uint32_t place)
{
    struct wl_mailbox *box = &boxes[rank];
    struct wl_message *before;

    lock(box);
    struct wl_message *found = find(box, stream, place, &before);
    if (found != NULL) {
        if (before != NULL) {
            before->next = found->next;
        } else {
            box->first = found->next;
        }
        if (box->last == found) {
            box->last = before;
        }
    }
    unlock(box);
    if (found != NULL) {
        wl_data_check(found->bytes, found->size, found->sum);
    }
    return found;
}

const struct wl_message *wl_mailbox_look(struct wl_mailbox *boxes, uint32_t rank,
                                         const struct wl_stream *stream, uint32_t place)
{
    struct wl_message *before;

    lock(&boxes[rank]);
    const struct wl_message *found = find(&boxes[rank], stream, place, &before);
    unlock(&boxes[rank]);
    return found;
}
