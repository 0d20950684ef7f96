/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Where a file with the actions of all ranks can be divided, so that several workers read it.
 *
 * Most such files have all actions of rank 0 first, then those of rank 1, and so on. They are
 * divided where a rank begins. If ranks take turns in the file, it is not divided.
 */

#include <stdbool.h>
#include <stdint.h>

/* A part of the file: all lines of some ranks. */
struct wf_ti_block {
    uint64_t begin, end; /* bytes */
    uint64_t line;       /* lines before it */
};

struct wf_ti_blocks {
    struct wf_ti_block *items;
    uint32_t n, capacity;
    uint32_t n_ranks;
};

/* Reads the file once, on several threads. False, and `blocks` is empty, if the ranks are not in
 * order, or if the file is wrong or cannot be read; the caller then reads it from front to back,
 * which reports the error. If true, every rank up to the last has lines. */
bool wf_ti_blocks_find(struct wf_ti_blocks *blocks, const char *path);
void wf_ti_blocks_fini(struct wf_ti_blocks *blocks); /* zeroed is allowed */
