/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_RANDOM_H
#define WF_GEN_RANDOM_H

/*
 * Traffic between random pairs. In each round the ranks stand in a circle in a random order
 * (gen/shuffle.h), and every one sends a message to the one a random number of places ahead,
 * the same number for all. Order and number are new in each round.
 *
 * A rank's partner thus is every other rank with the same probability, whatever the order, and
 * never the rank itself; and every rank sends and gets exactly one message a round. A single
 * rank sends to itself.
 *
 * All this is a function of `seed` and the round.
 */

#include "gen/gen.h"

struct wf_gen_random_params {
    uint64_t bytes;
    uint64_t messages; /* of each rank; 0: as many as ranks */
    uint64_t seed;
};

#endif
