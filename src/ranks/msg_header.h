/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_MSG_HEADER_H
#define WF_RANKS_MSG_HEADER_H

/* What is written on messages. Shared by ranks/protocol.c and ranks/one_sided.c alone. */

#include "ranks/request_record.h"

/* What a message is. */
enum wf_mail {
    WF_MAIL_EAGER,    /* a: tag, b: context, c: departure */
    WF_MAIL_ANNOUNCE, /* a: tag, b: context, c[0]: the sender's handle, c[1]: bytes, or as many
                       * as fit
                       */
    WF_MAIL_ASK,  /* a: the sender's handle, b: the receiver's, c: when the receiver was ready
             for  it, see ask() */
    WF_MAIL_DATA, /* a: the receiver's handle, b: the sender's, c: departure */
    WF_MAIL_PUT,  /* c: departure */
    WF_MAIL_PUT_DONE, /* c: departure of the put */
    WF_MAIL_GET,      /* a and b: departure, c: bytes that are wanted */
    WF_MAIL_GET_DATA, /* a and b: departure of the get, c: departure */
};

/* What this layer writes on its messages. The message knows the node it comes from and the
 * event the node it goes to, so that seats say which ranks. */
struct wf_envelope {
    uint16_t src_seat, dst_seat;
    uint32_t a;
    uint32_t b; /* the packet in the upper four bits */
    uint32_t c[2];
};

enum { WF_MAIL_SHIFT = 28 };
#define WF_MAIL_LOW_BITS ((UINT32_C(1) << WF_MAIL_SHIFT) - 1)

_Static_assert(sizeof(struct wf_envelope) == WF_ENVELOPE_WORDS * sizeof(uint32_t),
               "an envelope fills its place");

static inline enum wf_mail wf_mail_of(const struct wf_envelope *envelope)
{
    return (enum wf_mail)(envelope->b >> WF_MAIL_SHIFT);
}

static inline uint32_t wf_mail_with(enum wf_mail packet, uint32_t low)
{
    return (uint32_t)packet << WF_MAIL_SHIFT | (low & WF_MAIL_LOW_BITS);
}

/* A time in a and b, as far as it has room there: what is not long ago is known by that. */
enum { WF_MAIL_TIME_BITS = 32 + WF_MAIL_SHIFT };

static inline void wf_envelope_put_time(struct wf_envelope *envelope, enum wf_mail packet,
                                        int64_t time)
{
    envelope->a = (uint32_t)time;
    envelope->b = wf_mail_with(packet, (uint32_t)((uint64_t)time >> 32));
}

static inline int64_t wf_envelope_get_time(const struct wf_envelope *envelope, int64_t now)
{
    uint64_t low = (uint64_t)(envelope->b & WF_MAIL_LOW_BITS) << 32 | envelope->a;
    uint64_t since = ((uint64_t)now - low) & ((UINT64_C(1) << WF_MAIL_TIME_BITS) - 1);

    return now - (int64_t)since;
}

/* What a packet does at the rank it is for; `at` is its last byte's arrival. */
struct wf_arrival {
    struct wf_caller who;
    struct wf_envelope envelope;
    const struct wf_message *msg;
    uint32_t from; /* rank of the run */
    int64_t at;
};

/* Hands a message over at the time `start`. Returns when its last byte has left, or
 * WF_NET_LATER. */
int64_t wf_envelope_transmit(const struct wf_caller *who, uint32_t to,
                             struct wf_envelope *envelope, uint64_t bytes, int64_t start);
/* Tells the layer above of a message that has its departure written on it. */
void wf_arrival_note(const struct wf_arrival *arrival);

/* Packets of puts and gets (ranks/one_sided.c). */
void wf_one_sided_put(const struct wf_arrival *arrival);
void wf_one_sided_get(const struct wf_arrival *arrival);
void wf_one_sided_put_done(const struct wf_arrival *arrival);
void wf_one_sided_get_data(const struct wf_arrival *arrival);

#endif
