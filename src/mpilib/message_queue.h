/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_MESSAGE_QUEUE_H
#define WF_MPILIB_MESSAGE_QUEUE_H

/*
 * Messages between ranks of this process, as bytes: put there when they are sent, taken when
 * the simulation says that their receive is complete. Which of several messages a receive gets
 * is known to the taker.
 */

#include <stddef.h>
#include <stdint.h>

struct wl_message {
    struct wl_message *next;
    uint32_t context; /* communicator, and what keeps kinds of traffic apart */
    uint32_t source;  /* a rank of the program... */
    uint32_t sender;  /* ...and of the communicator */
    int32_t tag;
    size_t whole; /* bytes that were sent */
    size_t size;  /* of them here: all, or none if nobody wants them */
    uint64_t sum; /* if data is checked */
    unsigned char bytes[];
};

struct wl_mailbox;

/* One for each rank. */
struct wl_mailbox *wl_mailboxes_new(uint32_t n_ranks);
void wl_mailboxes_free(struct wl_mailbox *boxes, uint32_t n_ranks);

/* A message of `size` bytes, which the caller fills in. */
struct wl_message *wl_message_new(size_t size);

/* Puts a message behind those that are there; it belongs to the box. By any thread. */
void wl_mailbox_put(struct wl_mailbox *boxes, uint32_t rank, struct wl_message *message);

/* What tells messages apart that MPI keeps in order. */
struct wl_stream {
    uint32_t context, source;
    int32_t tag;
};

/* Takes the message of a stream that has `place` others before it; null if there is none. The
 * caller frees it. */
struct wl_message *wl_mailbox_take(struct wl_mailbox *boxes, uint32_t rank,
                                   const struct wl_stream *stream, uint32_t place);
/* Likewise without taking it: it stays the box's, until its rank takes it. */
const struct wl_message *wl_mailbox_look(struct wl_mailbox *boxes, uint32_t rank,
                                         const struct wl_stream *stream, uint32_t place);

#endif
