/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The header of a message between ranks: 20 bytes that the network carries and does not
 * read. Every kind of message has its own struct. All have the rank slots in the first word
 * and the kind in the upper four bits of the third. Headers are part of events, so their
 * bytes enter the digest of a run. Shared by model/ranks/protocol.c, model/ranks/rendezvous.c,
 * model/ranks/one_sided.c and model/ranks/stripe.c only.
 */

#include "model/ranks/request.h"

enum wf_msg_kind {
    WF_MSG_EAGER,    /* a message with its data */
    WF_MSG_ANNOUNCE, /* announces a long message (request to send) */
    WF_MSG_ASK,      /* the receiver asks for its data (clear to send) */
    WF_MSG_DATA,     /* the data of a long message */
    WF_MSG_PUT,
    WF_MSG_PUT_DONE,  /* the target confirms a put */
    WF_MSG_GET,       /* asks for data */
    WF_MSG_GET_DATA,  /* the data of a get */
    WF_MSG_CONFIRM,   /* the receiver has read the data of a long message */
    WF_MSG_PART,      /* a part of the data of a long message, with the header of the data */
    WF_MSG_FILE,      /* asks a server of files, perhaps with data; to a node, not to a rank */
    WF_MSG_FILE_DONE, /* its answer */
};

enum { WF_MSG_LOW_BITS = 28 };
#define WF_MSG_LOW_MASK ((UINT32_C(1) << WF_MSG_LOW_BITS) - 1)

/* Fields of 64 bits begin at a multiple of four bytes. */
#define WF_MSG_LAYOUT __attribute__((packed, aligned(4)))

/* May alias the words of a message, so that it can be read in place. */
struct __attribute__((may_alias)) wf_msg_header {
    uint16_t src_slot, dst_slot; /* rank slots on the sending and on the receiving node */
    union {
        struct WF_MSG_LAYOUT {
            uint32_t first, rest : WF_MSG_LOW_BITS;
            uint32_t kind : 4; /* enum wf_msg_kind */
        } any;
        struct WF_MSG_LAYOUT {
            int32_t tag;
            uint32_t context : WF_MSG_LOW_BITS, kind : 4;
            int64_t departure;
        } eager;
        struct WF_MSG_LAYOUT {
            int32_t tag;
            uint32_t context : WF_MSG_LOW_BITS, kind : 4;
            uint32_t sender_handle;
            uint32_t bytes; /* UINT32_MAX: that many or more */
        } announce;
        struct WF_MSG_LAYOUT {
            uint32_t sender_handle;
            uint32_t receiver_handle : WF_MSG_LOW_BITS, kind : 4;
            int64_t ready; /* when the receiver was ready, see model/ranks/rendezvous.c */
        } ask;
        struct WF_MSG_LAYOUT {
            uint32_t receiver_handle;
            uint32_t sender_handle : WF_MSG_LOW_BITS, kind : 4;
            int64_t departure;
        } data;
        struct WF_MSG_LAYOUT {
            uint32_t sender_handle;
            uint32_t receiver_handle : WF_MSG_LOW_BITS, kind : 4;
            int64_t departure;
        } confirm;
        struct WF_MSG_LAYOUT { /* put and its confirmation */
            uint32_t unused, unused_too : WF_MSG_LOW_BITS;
            uint32_t kind : 4;
            int64_t departure; /* departure of the put */
        } put;
        struct WF_MSG_LAYOUT {
            uint32_t begin_low, begin_high : WF_MSG_LOW_BITS; /* when the get began */
            uint32_t kind : 4;
            uint64_t bytes; /* bytes that the origin asks for */
        } get;
        struct WF_MSG_LAYOUT {
            uint32_t begin_low, begin_high : WF_MSG_LOW_BITS; /* when the get began */
            uint32_t kind : 4;
            int64_t departure;
        } get_data;
        struct WF_MSG_LAYOUT {
            uint32_t disk, what : WF_MSG_LOW_BITS; /* model/ranks/files.c */
            uint32_t kind : 4;
            uint64_t bytes;
        } file;
    };
};

_Static_assert(sizeof(struct wf_msg_header) == WF_NET_HEADER_WORDS * sizeof(uint32_t),
               "a header fills its place in a message");

/* A message at the rank that receives it. */
struct wf_arrival {
    struct wf_caller who;
    const struct wf_msg_header *header; /* in the message; valid until it is handled */
    uint64_t bytes;
    uint32_t from; /* rank of the run */
    int64_t at;    /* arrival of the last byte */
};

/* Sends a message at the time `start`. Returns when its last byte leaves, or WF_NET_LATER. */
int64_t wf_msg_transmit(const struct wf_caller *who, uint32_t to, struct wf_msg_header *header,
                        uint64_t bytes, int64_t start);
/* Likewise, from the interface `nic` of this node to the same interface of the other one. */
int64_t wf_msg_transmit_by(const struct wf_caller *who, uint32_t nic, uint32_t to,
                           struct wf_msg_header *header, uint64_t bytes, int64_t start);
/* Likewise to a slot of a node. `who` may be a server of the node instead of a rank. */
void wf_msg_transmit_to(const struct wf_caller *who, uint32_t node, uint32_t slot,
                        struct wf_msg_header *header, uint64_t bytes, int64_t start);
/* Whether messages to this rank do not pass the network. */
bool wf_msg_is_local(const struct wf_caller *who, uint32_t rank);
/* Counts a message that carried data and departed at this time. */
void wf_arrival_note(const struct wf_arrival *arrival, int64_t departure);

/* Arrivals of puts and gets (model/ranks/one_sided.c). */
void wf_one_sided_put(const struct wf_arrival *arrival);
void wf_one_sided_get(const struct wf_arrival *arrival);
void wf_one_sided_put_done(const struct wf_arrival *arrival);
void wf_one_sided_get_data(const struct wf_arrival *arrival);
