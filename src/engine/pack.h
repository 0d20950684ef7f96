/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Packed chunks: events that wait take about half the memory. Large runs have hundreds of
 * megabytes of them, and most words of an event are the same in those around it: kind and size,
 * the upper half of times, the bytes of the message, many zeros.
 *
 * A packed chunk is a sequence of series. A series has events of one kind and size, and consists of
 *
 *     struct wf_packed_series | first event | column of word a | column of word b | ...
 *
 * where a column has one word of 2 bytes of all events but the first. Words that are the same in
 * all events have no column. Packing costs instructions, so only runs with much memory in events do it
 * (wf_pool.packs).
 */

#include "engine/chunk.h"

enum { WF_PACKED_WORDS_MAX = (sizeof(struct wf_event) + WF_PAYLOAD_MAX) / sizeof(uint16_t) };

/* It begins, and the first event after it begins, at a multiple of 8 bytes. */
struct wf_packed_series {
    uint8_t n;       /* events */
    uint8_t n_words; /* of an event */
    uint8_t n_columns;
    uint8_t columns[]; /* the words that differ */
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
