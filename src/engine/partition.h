/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_PARTITION_H
#define WF_ENGINE_PARTITION_H

/*
 * Cutting groups of processes into blocks and dealing the blocks to workers. A group starts at
 * a multiple of the largest block, so that a process's block is a shift of its number.
 */

#include <stdint.h>

struct wf_engine;

enum { WF_ID_ALIGN_SHIFT = 11 };

/* Makes the blocks, allocates the state of those owned by this process's workers, zeroed. */
void wf_partition(struct wf_engine *engine, uint32_t n_workers);
void wf_partition_free(struct wf_engine *engine);

#endif
