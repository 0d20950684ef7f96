/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_RING_H
#define WF_GEN_RING_H

/*
 * Messages that go round: in each round a rank sends to the one above it (the last to rank 0)
 * what it got from the one below in the round before, at first something of its own. After as
 * many rounds as there are ranks everybody has seen everything, and n ranks have sent n * n
 * messages. A single rank sends to itself.
 */

#include "gen/gen.h"

struct wf_gen_ring_params {
    uint64_t bytes;
    uint64_t rounds; /* 0: as many as ranks */
};

#endif
