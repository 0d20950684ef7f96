/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * When ranks poll for messages of the network: a rank that shares its core with other programs polls
 * only when it has the core. Time is divided into periods, and a rank polls once in each, at a
 * random time that is a pure function of the seed, the rank and the period.
 * So a node keeps nothing, nothing has to be undone, and messages keep their order. Private to
 * ranks/. See docs/models/node.md.
 */

#include <stdint.h>

struct wf_node_params;

struct wf_node_polling {
    int64_t period; /* 0: ranks notice messages at once */
    uint64_t seed;
};

/* Of a run with so many ranks in all. */
struct wf_node_polling wf_node_polling_of(const struct wf_node_params *node, uint32_t n_ranks,
                                          uint64_t seed);

/* The first time at which a rank polls, at `at` or later. Saturates. */
int64_t wf_node_next_poll(const struct wf_node_polling *polling, uint32_t rank, int64_t at);
