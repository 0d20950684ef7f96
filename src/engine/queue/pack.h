/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Packed chunks: events that wait take about a quarter of the memory. Large runs have hundreds of
 * megabytes of them, and most bytes of an event are the same in those around it: kind and size,
 * the upper part of times and numbers, the bytes of the message, many zeros.
 *
 * A packed chunk is a sequence of series. A series has events of one kind and size, and consists of
 *
 *     struct wf_packed_series | row of event a | row of event b | ...
 *
 * where a row has the bytes of an event in which events of the series differ from another event, the base
 * of the series. The base is in the same chunk: the first series of its kind and size has its first
 * event as it is,
 *
 *     struct wf_packed_series | place of the base before it | first event | rows of the others
 *
 * and later ones refer to that. Packing costs instructions, so only runs with much memory in events do
 * it (wf_pool.packs).
 */

#include "engine/queue/chunk.h"

struct wf_packed_series {
    uint8_t n;           /* events */
    uint8_t base;        /* where the base begins in the chunk, in units of 8 bytes */
    uint8_t differing[]; /* a bit for each byte of an event: it is in the rows */
};

/* Moves the events of a bag's first chunk to packed chunks after it. The first chunk is empty
 * afterwards. */
void wf_bag_pack(struct wf_bag *bag, struct wf_pool *pool);

/* Bounds of the times and destinations of a packed chunk's events: they agree in all but some low
 * bits. */
struct wf_packed_bounds {
    int64_t time, last_time;
    uint32_t dst, last_dst;
};

struct wf_packed_bounds wf_chunk_bounds(struct wf_chunk *chunk);

/* Replaces a packed chunk in a list by plain ones with the same events. Returns the first of
 * them; the last one is followed by chunk->next. */
struct wf_chunk *wf_chunk_unpack(struct wf_chunk *chunk, struct wf_pool *pool);

/* Makes `used` of every chunk valid and every chunk plain, and drops an empty first chunk. To be called
 * instead of wf_bag_seal() for bags of a wheel, which are only read afterwards. */
void wf_bag_open(struct wf_bag *bag, struct wf_pool *pool);
