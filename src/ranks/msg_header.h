/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_MSG_HEADER_H
#define WF_RANKS_MSG_HEADER_H

/* What is written on messages. Shared by ranks/protocol.c and ranks/one_sided.c alone. */

#include "ranks/request_record.h"

/* What a message is. */
enum wf_msg_kind {
    WF_MSG_EAGER,    /* a: tag, b: context, c: departure */
    WF_MSG_ANNOUNCE, /* a: tag, b: context, c[0]: the sender's handle, c[1]: bytes, or as many
                       * as fit
                       */
    WF_MSG_ASK,  /* a: the sender's handle, b: the receiver's, c: when the receiver was ready
             for  it, see ask() */
    WF_MSG_DATA, /* a: the receiver's handle, b: the sender's, c: departure */
    WF_MSG_PUT,  /* c: departure */
    WF_MSG_PUT_DONE, /* c: departure of the put */
    WF_MSG_GET,      /* a and b: departure, c: bytes that are wanted */
    WF_MSG_GET_DATA, /* a and b: departure of the get, c: departure */
};

/* What this layer writes on its messages. The message knows the node it comes from and the
 * event the node it goes to, so that slots say which ranks. */
struct wf_msg_header {
    uint16_t src_slot, dst_slot;
    uint32_t a;
    uint32_t b; /* the packet in the upper four bits */
    uint32_t c[2];
};

enum { WF_MSG_SHIFT = 28 };
#define WF_MSG_LOW_BITS ((UINT32_C(1) << WF_MSG_SHIFT) - 1)

_Static_assert(sizeof(struct wf_msg_header) == WF_NET_HEADER_WORDS * sizeof(uint32_t),
               "an header fills its place");

static inline enum wf_msg_kind wf_msg_kind_of(const struct wf_msg_header *header)
{
    return (enum wf_msg_kind)(header->b >> WF_MSG_SHIFT);
}

static inline uint32_t wf_msg_with_kind(enum wf_msg_kind packet, uint32_t low)
{
    return (uint32_t)packet << WF_MSG_SHIFT | (low & WF_MSG_LOW_BITS);
}

/* A time in a and b, as far as it has room there: what is not long ago is known by that. */
enum { WF_MSG_TIME_BITS = 32 + WF_MSG_SHIFT };

static inline void wf_msg_put_time(struct wf_msg_header *header, enum wf_msg_kind packet,
                                   int64_t time)
{
    header->a = (uint32_t)time;
    header->b = wf_msg_with_kind(packet, (uint32_t)((uint64_t)time >> 32));
}

static inline int64_t wf_msg_get_time(const struct wf_msg_header *header, int64_t now)
{
    uint64_t low = (uint64_t)(header->b & WF_MSG_LOW_BITS) << 32 | header->a;
    uint64_t since = ((uint64_t)now - low) & ((UINT64_C(1) << WF_MSG_TIME_BITS) - 1);

    return now - (int64_t)since;
}

/* What a packet does at the rank it is for; `at` is its last byte's arrival. */
struct wf_arrival {
    struct wf_caller who;
    struct wf_msg_header header;
    const struct wf_net_message *msg;
    uint32_t from; /* rank of the run */
    int64_t at;
};

/* Hands a message over at the time `start`. Returns when its last byte has left, or
 * WF_NET_LATER. */
int64_t wf_msg_transmit(const struct wf_caller *who, uint32_t to, struct wf_msg_header *header,
                        uint64_t bytes, int64_t start);
/* Tells the layer above of a message that has its departure written on it. */
void wf_arrival_note(const struct wf_arrival *arrival);

/* Packets of puts and gets (ranks/one_sided.c). */
void wf_one_sided_put(const struct wf_arrival *arrival);
void wf_one_sided_get(const struct wf_arrival *arrival);
void wf_one_sided_put_done(const struct wf_arrival *arrival);
void wf_one_sided_get_data(const struct wf_arrival *arrival);

#endif
