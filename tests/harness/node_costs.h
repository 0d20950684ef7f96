/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The costs of messages for random programs: settings of scope node. */

#include <stddef.h>
#include <stdint.h>

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
