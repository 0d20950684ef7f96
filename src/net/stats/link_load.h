/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The load of one link over time, and the nodes that send most over it.
 *
 * Time is divided into windows whose width doubles as often as needed. Only the senders with
 * most bytes are kept. If there are more than fit, all counts are reduced (Misra and Gries,
 * "Finding repeated elements", Science of Computer Programming 2, 1982): a node sent at
 * least the bytes in its count, and at most `lost` bytes more. The struct consists of words
 * and is part of a process's state.
 */

#include "engine/engine.h"

struct wf_value;

enum { WF_NET_LOAD_WINDOWS = 64, WF_NET_LOAD_SENDERS = 16 };

/* All zero means empty. */
struct wf_net_link_load {
    uint64_t load[WF_NET_LOAD_WINDOWS]; /* bytes, by the time at which they begin to leave */
    uint64_t wider;                     /* how often the windows doubled */
    uint64_t lost;                      /* bytes */
    struct wf_net_link_sender {
        uint64_t bytes; /* 0: the entry is free */
        uint64_t node;
    } by[WF_NET_LOAD_SENDERS];
};

enum { WF_NET_LINK_LOAD_WORDS = sizeof(struct wf_net_link_load) / sizeof(uint64_t) };

/* Packets of one node that leave one after another. */
struct wf_net_departures {
    int64_t at, spacing; /* departure of the first; distance between two */
    uint64_t n, bytes;   /* packets; bytes of each */
    uint32_t node;
};

/* Adds packets. To be called in a handler of the process whose state holds the load; `ctx` is null
 * if the load is not in the state of a process. */
void wf_net_link_load_add(struct wf_ctx *ctx, struct wf_net_link_load *load,
                          const struct wf_net_departures *departures);

/* Adds load_window_ps, load_bytes (a text of numbers) and filled_by to the description of a
 * link. */
void wf_net_link_load_describe(const struct wf_net_link_load *load, struct wf_value *link);
