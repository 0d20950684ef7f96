/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The numbers of blocks of processes. A block has 2^shift processes, whose numbers are 2^spread apart:
 * with `spread` 0 they are consecutive. Blocks side by side have the processes in between. */

#include <stdint.h>

struct wf_block_map {
    unsigned shift, spread;
};

static inline uint32_t wf_block_number(struct wf_block_map map, uint32_t id)
{
    return (id >> (map.shift + map.spread)) << map.spread |
           (id & ((UINT32_C(1) << map.spread) - 1));
}
