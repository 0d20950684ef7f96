/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The numbers of blocks of processes. A block has 2^shift processes: stretches of 2^stretch of them
 * side by side. 2^spread blocks take such stretches in turn; with `spread` 0 all processes of a block
 * are consecutive. */

#include <stdint.h>

struct wf_block_map {
    unsigned shift, spread, stretch; /* stretch <= shift */
};

/* Each event asks for it: runs on one thread have no spread, and need one shift. */
static inline uint32_t wf_block_number(struct wf_block_map map, uint32_t id)
{
    if (__builtin_expect(map.spread == 0, 1)) {
        return id >> map.shift;
    }
    return (id >> (map.shift + map.spread)) << map.spread |
           (id >> map.stretch & ((UINT32_C(1) << map.spread) - 1));
}
