/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The alpha-beta (Hockney) model: a message of k bytes takes alpha + k * beta, whatever other
 * messages are in progress. It is LogGP with o = g = 0 and without contention at the
 * interfaces, except that all k bytes count, as is customary, and not k-1. See
 * docs/models/loggp.md.
 */

#include "model/net/net.h"

struct wf_net_alphabeta_params {
    int64_t alpha;
    uint64_t bandwidth; /* 1/beta, bytes per second */
};
