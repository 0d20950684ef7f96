/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the accelerators of one rank do, by time: when kernels run on any of its streams, and
 * when copies between memories do.
 *
 * A region that a stream enters is a kernel or, by its role, a copy. A one-sided operation that
 * begins and completes on a stream is a copy, too: so Score-P records those of CUDA, HIP, OpenCL
 * and OpenMP. Regions that only say that the stream is idle are neither. What has no end lasts
 * until the last event of its stream.
 *
 * Memory is 16 bytes for each beginning or end.
 */

#include "program/trace/otf2/defs.h"
#include "program/trace/otf2/event.h"

/* Ticks in which something runs on an accelerator. */
struct wf_otf2_busy {
    uint64_t kernels, copies, both; /* kernels and no copy; copies and no kernel */
};

struct wf_otf2_change;

struct wf_otf2_devices {
    struct wf_otf2_change *changes; /* in the order of time, once they are complete */
    size_t n, capacity, next;
    uint64_t n_kernels, n_copies, n_bytes;
    /* Of the stream that is read: its latest time, and what is open in it. */
    uint64_t time;
    uint32_t open_kernels, open_copies, open_transfers;
    /* At `now`: streams with kernels and with copies, and the sums up to there. */
    uint64_t now;
    int32_t running_kernels, running_copies;
    struct wf_otf2_busy busy;
};

void wf_otf2_devices_fini(struct wf_otf2_devices *devices); /* zeroed is allowed */

/* Forgets everything: a new rank begins. */
void wf_otf2_devices_begin(struct wf_otf2_devices *devices);
/* Adds an event of a stream, whose region is null if it has none. */
void wf_otf2_devices_add(struct wf_otf2_devices *devices, const struct wf_otf2_event *event,
                         const struct wf_otf2_region *region);
void wf_otf2_devices_stream_ends(struct wf_otf2_devices *devices);
/* All streams are there: wf_otf2_devices_at() may be called. */
void wf_otf2_devices_finish(struct wf_otf2_devices *devices);

/* The sums from the beginning up to a time. Times rise from call to call; an earlier one is
 * taken as the latest. */
struct wf_otf2_busy wf_otf2_devices_at(struct wf_otf2_devices *devices, uint64_t time);
