/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The latency model of xSim: a message of s bytes over h hops takes h * l + s / b, from the
 * departure of its first byte to the arrival of its last, whatever other messages are in
 * progress. It needs a topology to count hops and keeps no state.
 *
 * In a hierarchy each level has its own l and b: a message pays the hops of every level it
 * crosses, and s over the lowest b on its route. See docs/models/latency.md.
 */

#include "model/net/net.h"

/* Each list has one value for all levels, or one per level, outermost first. */
struct wf_net_latency_params {
    struct wf_list link_latency; /* l */
    struct wf_list bandwidth;    /* b */
    char *links;                 /* model/net/links.h */
    int64_t message_latency, corner_latency;
};
