/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The messages that were sent to a rank and not yet received, as bytes. A message is put into
 * the queue of its receiver when it is sent, and taken when the simulation says that its
 * receive is complete. The receiver knows which of several messages a receive gets.
 */

#include <stddef.h>
#include <stdint.h>

struct wl_message {
    struct wl_message *next;
    uint32_t context; /* communicator context (request.h) */
    uint32_t source;  /* a rank of the program... */
    uint32_t sender;  /* ...and of the communicator */
    int32_t tag;
    size_t whole;      /* bytes that were sent */
    size_t size;       /* bytes that are here: all, or none if large data is not wanted */
    uint64_t checksum; /* if data is checked */
    unsigned char bytes[];
};

struct wl_message_queue;

/* One for each rank. */
struct wl_message_queue *wl_message_queues_new(uint32_t n_ranks);
void wl_message_queues_free(struct wl_message_queue *queues, uint32_t n_ranks);

/* A message of `size` bytes, which the caller fills in. */
struct wl_message *wl_message_new(size_t size);

/* Appends a message to the queue of a rank, which takes it. By any thread. */
void wl_message_queue_put(struct wl_message_queue *queues, uint32_t rank,
                          struct wl_message *message);

/* Messages that MPI keeps in order: same context, source and tag. */
struct wl_stream {
    uint32_t context, source;
    int32_t tag;
};

/* Takes the message of a stream that has `place` others before it; null if there is none. The
 * caller frees it. */
struct wl_message *wl_message_queue_take(struct wl_message_queue *queues, uint32_t rank,
                                         const struct wl_stream *stream, uint32_t place);
/* Likewise, but leaves the message in the queue. */
const struct wl_message *wl_message_queue_peek(struct wl_message_queue *queues, uint32_t rank,
                                               const struct wl_stream *stream, uint32_t place);
