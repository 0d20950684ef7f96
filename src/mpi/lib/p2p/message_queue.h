/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The messages that were sent to a rank and not yet received, as bytes. A message is put into
 * the queue of its receiver when it is sent, and taken when the simulation says that its
 * receive is complete. The receiver knows which of several messages a receive gets.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wl_rank;
struct wl_sent;

/* Where the data of a message is. */
enum wl_data_state {
    WL_DATA_HERE,   /* in memory of the message */
    WL_DATA_LENT,   /* in the sender's buffer (message_loan.h) */
    WL_DATA_MOVING, /* a thread is copying it from there */
    WL_DATA_DONE,   /* in the receiver's buffer */
};

struct wl_message {
    struct wl_message *next;
    uint32_t context; /* communicator context (request.h) */
    uint32_t source;  /* a rank of the program... */
    uint32_t sender;  /* ...and of the communicator */
    int32_t tag;
    size_t whole; /* bytes that were sent */
    size_t size;  /* bytes that are here: all; if large data is not wanted its ends, or none */
    uint64_t checksum;    /* if data is checked */
    struct wl_sent *sent; /* of --check; else null. Freed with the message */
    uint32_t to;          /* of lent data: the receiver, a rank of the program */
    atomic_uchar state;   /* enum wl_data_state */
    atomic_uchar holders; /* the queue or the receiver; and the sender while it lends data */
    const unsigned char *data; /* `bytes`, the sender's buffer or separate memory */
    unsigned char bytes[];
};

struct wl_message_queue;

/* One for each rank. */
struct wl_message_queue *wl_message_queues_new(uint32_t n_ranks);
void wl_message_queues_free(struct wl_message_queue *queues, uint32_t n_ranks);

/* A message of `size` bytes, which the caller fills in. */
struct wl_message *wl_message_new(size_t size);
/* The last holder frees it. */
void wl_message_free(struct wl_message *message);

/* Appends a message to the queue of a rank, which takes it. By any thread. */
void wl_message_queue_put(struct wl_message_queue *queues, uint32_t rank,
                          struct wl_message *message);
/* Likewise, a message that was taken and will not be received. */
void wl_message_queue_return(struct wl_message_queue *queues, uint32_t rank,
                             struct wl_message *message);

/* Messages that MPI keeps in order: same context, source and tag. */
struct wl_stream {
    uint32_t context, source;
    int32_t tag;
};

/* Takes the message of a stream that has `place` others before it; null if there is none. The
 * caller frees it, and checks its data. */
struct wl_message *wl_message_queue_take(struct wl_message_queue *queues, uint32_t rank,
                                         const struct wl_stream *stream, uint32_t place);
/* Likewise, but leaves the message in the queue. */
const struct wl_message *wl_message_queue_peek(struct wl_message_queue *queues, uint32_t rank,
                                               const struct wl_stream *stream, uint32_t place);

/* A lock for the queue of a rank and for its receives, once other threads may look at these: from
 * wl_message_queue_show() on, until it is called with null. The lock is to be held for a few
 * instructions. */
void wl_message_queue_lock(struct wl_message_queue *queues, uint32_t rank);
void wl_message_queue_unlock(struct wl_message_queue *queues, uint32_t rank);
void wl_message_queue_show(struct wl_message_queue *queues, uint32_t rank,
                           struct wl_rank *owner);
/* With the lock held: as wl_message_queue_take(); the rank that shows its receives, or null; and how many messages of its
 * stream are before a message in the queue, UINT32_MAX if it is not there. */
struct wl_message *wl_message_queue_take_held(struct wl_message_queue *queues, uint32_t rank,
                                              const struct wl_stream *stream, uint32_t place);
struct wl_rank *wl_message_queue_shown(struct wl_message_queue *queues, uint32_t rank);
uint32_t wl_message_queue_place(struct wl_message_queue *queues,
                                const struct wl_message *message);

/* Calls visit() for all messages in the queue of a rank. */
void wl_message_queue_visit(struct wl_message_queue *queues, uint32_t rank,
                            void (*visit)(void *arg, const struct wl_message *message),
                            void *arg);
