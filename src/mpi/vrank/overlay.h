/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Memory that need not exist: large blocks of all ranks are the same few pages. A matrix of 500 GB
 * fits, as long as nobody needs what is in it. Blocks of one rank have different addresses, those
 * of different ranks may have the same. A process has one.
 */

#include "base/status.h"
#include "mpi/port.h"

struct wf_vrank_image;
struct wf_vrank_kernels;
struct wf_vrank_overlay;

/* A block of a rank. */
struct wf_vrank_block {
    size_t at, bytes; /* from the beginning of the address space for blocks */
};
struct wf_vrank_blocks {
    struct wf_vrank_block *list; /* by address */
    uint32_t n, capacity;
};

/* The blocks that lines with `share` name; others are taken from `others`, which may be null. The
 * caller owns *out. */
enum wf_status wf_vrank_overlay_new(const struct wf_vrank_kernels *kernels,
                                    const struct wf_port_memory *others,
                                    struct wf_vrank_overlay **out, struct wf_err *err);
void wf_vrank_overlay_free(struct wf_vrank_overlay *overlay); /* null is allowed */

const struct wf_port_memory *wf_vrank_overlay_port(const struct wf_vrank_overlay *overlay);
