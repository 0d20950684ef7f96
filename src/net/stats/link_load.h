/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_LINK_DETAIL_H
#define WF_NET_LINK_DETAIL_H

/*
 * Of one link: its load over time, and which nodes' packets fill it.
 *
 * Time is cut into windows whose width doubles as often as it must. Of the nodes, those are
 * kept that send most; if there are more than there is room for, something is taken off all of
 * them (Misra and Gries, "Finding repeated elements", Science of Computer Programming 2, 1982),
 * so that a node sent what is said of it, and `lost` more at most. All of it is words, and part
 * of a process's state.
 */

#include "engine/engine.h"

struct wf_value;

enum { WF_NET_LOAD_WINDOWS = 64, WF_NET_LOAD_SENDERS = 16 };

/* Zeroed is empty. */
struct wf_net_link_load {
    uint64_t load[WF_NET_LOAD_WINDOWS]; /* bytes, by when they begin to leave */
    uint64_t wider;                     /* how often the windows doubled */
    uint64_t lost;                      /* bytes */
    struct wf_net_link_sender {
        uint64_t bytes; /* 0: nobody */
        uint64_t node;
    } by[WF_NET_LOAD_SENDERS];
};

enum { WF_NET_LINK_LOAD_WORDS = sizeof(struct wf_net_link_load) / sizeof(uint64_t) };

/* Packets of one node that leave one after the other. */
struct wf_net_departures {
    int64_t at, spacing; /* of the first; to the next */
    uint64_t n, bytes;   /* how many, and of how many bytes each */
    uint32_t node;
};

/* In a handler of the process whose state it is part of. */
void wf_net_link_load_add(struct wf_ctx *ctx, struct wf_net_link_load *detail,
                          const struct wf_net_departures *load);

/* Adds load_window_ps, load_bytes (a text of numbers) and filled_by to the description of a
 * link. */
void wf_net_link_load_describe(const struct wf_net_link_load *detail, struct wf_value *link);

#endif
