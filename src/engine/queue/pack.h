/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Packed chunks: events that wait take about a quarter of the memory. Large runs have hundreds of
 * megabytes of them, and most bytes of an event are the same in those around it: kind and size,
 * the upper part of times and numbers, the bytes of the message, many zeros.
 *
 * The first event of its kind and size in a packed chunk is stored as it is, and is the base of later
 * ones, which have only what differs from it. An entry is one of
 *
 *     0 | padding | place of the base before this one | event, aligned
 *     place of the base | a bit for each word that differs | for each of these: head, bytes
 *
 * Places are in units of 8 bytes. The head of a word says which of its bytes follow: all from the first
 * to the last that differ. Packing costs instructions, so only runs with much memory in events do it
 * (wf_pool.packs).
 */

#include "engine/queue/chunk.h"

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

/* Replaces a packed chunk in a list by unpacked ones with the same events. Returns the first of
 * them; the last one is followed by chunk->next. */
struct wf_chunk *wf_chunk_unpack(struct wf_chunk *chunk, struct wf_pool *pool);

/* Makes `used` of every chunk valid, unpacks all chunks, and drops an empty first chunk. To be called
 * instead of wf_bag_seal() for bags of a wheel, which are only read afterwards. */
void wf_bag_open(struct wf_bag *bag, struct wf_pool *pool);
