/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The numbers of blocks of processes. A block has 2^shift processes: stretches of 2^stretch of them
 * side by side. 2^spread blocks take such stretches in turn; with `spread` 0 all processes of a block
 * are consecutive. */

#include <stdint.h>

struct wf_block_map {
    unsigned shift, spread, stretch; /* stretch <= shift */
};

static inline uint32_t wf_block_number(struct wf_block_map map, uint32_t id)
{
    return (id >> (map.shift + map.spread)) << map.spread |
           (id >> map.stretch & ((UINT32_C(1) << map.spread) - 1));
}
