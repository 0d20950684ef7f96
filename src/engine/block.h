/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Processes in memory: groups of one kind, cut into blocks. */

#include "engine/engine.h"

/* The engine's data of a process; the state of the process follows in memory. */
struct wf_lp {
    uint64_t digest; /* chained hash of the events it has executed */
    uint64_t sent;   /* the next event's sequence number */
    uint64_t draws;
};

/* A group of processes added by one call. */
struct wf_process_group {
    const struct wf_process_ops *ops;
    void *model;
    uint32_t first, count;
    uint32_t stride; /* bytes from one process to the next */
    uint32_t state_size;
};

/* Consecutive processes of one group, owned by one worker and executed together. */
struct wf_block {
    unsigned char *records; /* null if another operating-system process has them */
    const struct wf_process_group *group;
    uint32_t first, count;
    uint32_t owner; /* the worker */
};

static inline struct wf_lp *wf_block_lp(const struct wf_block *block, uint32_t id)
{
    return (void *)(block->records + (size_t)(id - block->first) * block->group->stride);
}
