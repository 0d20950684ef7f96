/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The noise of the operating system: interruptions of the cores of a node. Time is divided into
 * periods, and each core has one interruption in each period. When it begins and how long it
 * lasts is a pure function of the seed, the node, the core and the period, so a node keeps
 * nothing and nothing has to be undone. A core does not compute while it is interrupted.
 * See docs/models/node.md.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct wf_node_params;

/* Set by wf_noise_init(); does not change during a run. */
struct wf_noise {
    int kind;                 /* enum wf_node_noise */
    int64_t period, duration; /* `duration` is the mean */
    uint64_t seed;
};

/* A core of the run. */
struct wf_noise_core {
    uint32_t node, core;
};

/* WF_EUSAGE if an interruption may be longer than the period. */
enum wf_status wf_noise_check(const struct wf_node_params *params, struct wf_err *err);

struct wf_noise wf_noise_init(const struct wf_node_params *params, uint64_t seed);

/* An interruption: from `begin` until `end`, which is excluded. */
struct wf_noise_span {
    int64_t begin, end;
};

/* The interruption of a core in a period; periods are numbered from 0. Saturates. */
struct wf_noise_span wf_noise_span(const struct wf_noise *noise, struct wf_noise_core core,
                                   uint64_t period);

/* When a core that begins to compute at the time `from` has computed for `work`. Both are not
 * negative; computing for no time ends at once. Takes time proportional to the number of
 * interruptions, up to a limit; for interruptions of equal length constant time. */
int64_t wf_noise_end(const struct wf_noise *noise, struct wf_noise_core core, int64_t from,
                     int64_t work);
