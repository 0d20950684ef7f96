/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_GRID_H
#define WF_GEN_GRID_H

#include <stdint.h>

/* The three factors of n >= 1 that make the most cubic grid: least surface, and of equal
 * surfaces the one whose smallest factor is largest; size[0] >= size[1] >= size[2]. */
void wf_grid_factor3(uint32_t n, uint32_t size[3]);

#endif
