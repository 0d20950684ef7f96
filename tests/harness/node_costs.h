/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The costs of messages and the network interfaces for random programs: settings of scope
 * node. */

#include "harness/replay_setup.h"

/* Everything that a message can cost its node; every other program has it. */
static const char *const node_costs[] = {"o_send",
                                         "70ns",
                                         "o_recv",
                                         "90ns",
                                         "copy_send",
                                         "3GB/s",
                                         "copy_recv",
                                         "2GB/s",
                                         "copy_unexpected",
                                         "7GB/s",
                                         "injection_delay",
                                         "110ns",
                                         "ejection_delay",
                                         "60ns",
                                         "gap",
                                         "150ns",
                                         "registration",
                                         "210ns",
                                         "registration_rate",
                                         "5GB/s",
                                         NULL};

static inline const char *const *costs_of(uint64_t seed)
{
    return seed % 2 == 0 ? node_costs : NULL;
}

/* Long messages in parts by three interfaces, or by two in turn. */
static const char *const stripes[] = {"nics",       "3",    "nic_policy", "stripe",
                                      "stripe_min", "9000", NULL};
static const char *const turns[] = {"nics", "2", "nic_policy", "round_robin", NULL};

/* A protocol for a network: these policies need one with long messages. */
static inline const char *const *long_enough(const struct setup *network,
                                             const char *const *protocol,
                                             const char *const *with_long)
{
    bool needs_long = network->node == stripes || network->node == turns;

    for (const char *const *pair = protocol; *pair != NULL; pair += 2) {
        needs_long = needs_long && strcmp(*pair, "eager_max") != 0;
    }
    return needs_long ? with_long : protocol;
}
