/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The load of one link over time, and the nodes that send most over it.
 *
 * Time is divided into windows whose width doubles as often as needed. Only the senders with
 * most bytes are kept. If there are more than fit, all counts are reduced (Misra and Gries,
 * "Finding repeated elements", Science of Computer Programming 2, 1982): a node sent at
 * least the bytes in its count, and at most `lost` bytes more. The struct consists of words.
 * Compiled for devices, too.
 */

#include <stddef.h>
#include <stdint.h>

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

/* The logarithm of the width of the windows, in picoseconds; a nanosecond at first. */
static inline uint64_t wf_net_link_load_shift(const struct wf_net_link_load *load)
{
    enum { FIRST_SHIFT = 10 };

    return FIRST_SHIFT + load->wider;
}

/* How often the width has to double so that there is a window for a time. */
static inline uint64_t wf_net_link_load_narrow(const struct wf_net_link_load *load,
                                               uint64_t time)
{
    uint64_t by = 0;

    while (time >> (wf_net_link_load_shift(load) + by) >= WF_NET_LOAD_WINDOWS) {
        by++;
    }
    return by;
}

static inline void wf_net_link_load_widen(struct wf_net_link_load *load, uint64_t by)
{
    for (uint64_t i = 0; i < WF_NET_LOAD_WINDOWS; i++) {
        uint64_t bytes = load->load[i];
        load->load[i] = 0;
        load->load[by < 64 ? i >> by : 0] += bytes;
    }
    load->wider += by;
}

/* Reduces all counts until one is free, or all new bytes are used up. Returns the bytes
 * left. */
static inline uint64_t wf_net_link_load_reduce(struct wf_net_link_load *load, uint64_t bytes)
{
    uint64_t least = bytes;

    for (int i = 0; i < WF_NET_LOAD_SENDERS; i++) {
        least = load->by[i].bytes < least ? load->by[i].bytes : least;
    }
    for (int i = 0; i < WF_NET_LOAD_SENDERS; i++) {
        load->by[i].bytes -= least;
    }
    load->lost += least;
    return bytes - least;
}

/* Adds bytes that a node sent. */
static inline void wf_net_link_load_add_sender(struct wf_net_link_load *load, uint32_t node,
                                               uint64_t bytes)
{
    struct wf_net_link_sender *slot = NULL;

    for (int i = 0; i < WF_NET_LOAD_SENDERS; i++) {
        struct wf_net_link_sender *sender = &load->by[i];
        if (sender->bytes > 0 && sender->node == node) {
            sender->bytes += bytes;
            return;
        }
        slot = slot == NULL && sender->bytes == 0 ? sender : slot;
    }
    if (slot == NULL) {
        bytes = wf_net_link_load_reduce(load, bytes);
        for (int i = 0; bytes > 0 && slot == NULL; i++) {
            slot = load->by[i].bytes == 0 ? &load->by[i] : NULL;
        }
    }
    if (bytes > 0) {
        *slot = (struct wf_net_link_sender){bytes, node};
    }
}

/* Adds a packet that leaves at a time. */
static inline void wf_net_link_load_add_packet(struct wf_net_link_load *load, uint64_t time,
                                               uint64_t bytes, uint32_t node)
{
    uint64_t by = wf_net_link_load_narrow(load, time);

    if (by > 0) {
        wf_net_link_load_widen(load, by);
    }
    load->load[time >> wf_net_link_load_shift(load)] += bytes;
    wf_net_link_load_add_sender(load, node, bytes);
}
