/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_USER_H
#define WF_NET_USER_H

/* What a network model carries, and whom it tells. */

#include "engine/engine.h"
#include "net/tally.h"

enum {
    WF_NET_KINDS = 16, /* event kinds below this are the network's, the others are not */
    WF_MSG_HEADER_WORDS = 5,
};

#define WF_NET_LATER INT64_C(-1)

/* Travels as the payload of events and is therefore free of padding. */
struct wf_message {
    uint64_t bytes;
    uint32_t src_node;
    uint32_t header[WF_MSG_HEADER_WORDS]; /* of the layer above; carried, never looked at */
};

_Static_assert(sizeof(struct wf_message) == 32, "with its head, an event of one cache line");

/* The layer above. Both functions get the `node` that event() or send() was given, are called
 * inside a handler of that node's process, and may call send(). */
struct wf_net_user {
    void *arg;
    /* A message for this node. Called when its head is here; its last byte arrives at `at`, now
     * or later. Messages from one node to another come in the order of their departure, and of
     * the calls that sent them if they departed together. At most one arrives in an event. */
    void (*arrived)(void *arg, struct wf_ctx *ctx, void *node, const struct wf_message *msg,
                    int64_t at);
    /* The last byte of a message for which send() returned WF_NET_LATER left this node. May be
     * null. */
    void (*sent)(void *arg, struct wf_ctx *ctx, void *node, const struct wf_message *msg);
    /* The network is in a deadlock: this node had better not send any more. May be null. */
    void (*halted)(void *arg, struct wf_ctx *ctx, void *node);
    /* The order of messages means nothing: they may arrive as they come. */
    bool any_order;
    /* After the run, for vertices that are not nodes: where to add their part. May be null. */
    struct wf_net_use *(*use)(void *arg, struct wf_ctx *ctx);
};

#endif
