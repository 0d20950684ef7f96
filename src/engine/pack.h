/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Packed chunks: events that wait take about a quarter of the memory. Large runs have hundreds of
 * megabytes of them, and most bytes of an event are the same in those around it: kind and size,
 * the upper part of times and numbers, the bytes of the message, many zeros.
 *
 * A packed chunk is a sequence of series. A series has events of one kind and size, and consists of
 *
 *     struct wf_packed_series | column of byte a | column of byte b | ...
 *
 * where a column has one byte of all events. Bytes that all events have in common with another event,
 * the base of the series, have no column. The base is in the same chunk: the first series of its kind
 * and size has its first event as it is,
 *
 *     struct wf_packed_series | place of the base before it | first event | columns of the others
 *
 * and later ones refer to that. Packing costs instructions, so only runs with much memory in events do
 * it (wf_pool.packs).
 */

#include "engine/chunk.h"

struct wf_packed_series {
    uint8_t n;           /* events */
    uint8_t base;        /* where the base begins in the chunk, in units of 8 bytes */
    uint8_t differing[]; /* a bit for each byte of an event: it has a column */
};

/* Moves the events of a bag's first chunk to packed chunks after it. The first chunk is empty
 * afterwards. */
void wf_bag_pack(struct wf_bag *bag, struct wf_pool *pool);

/* Replaces a packed chunk in a list by plain ones with the same events. Returns the first of
 * them; the last one is followed by chunk->next. */
struct wf_chunk *wf_chunk_unpack(struct wf_chunk *chunk, struct wf_pool *pool);

/* Makes `used` of every chunk valid, and every chunk plain. To be called instead of wf_bag_seal()
 * for bags of a wheel. */
void wf_bag_open(struct wf_bag *bag, struct wf_pool *pool);
