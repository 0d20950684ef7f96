/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Bookmarks in a block of a native trace: positions to which a decoder has gone, so that it can
 * return to them without decoding all ops before them. A rank with nonblocking collectives goes
 * back to each of them several times. A block has few bookmarks; the one that was not used for
 * the longest time is replaced.
 */

#include "program/trace/weft/decode.h"

struct wf_native_bookmarks;

/* Frees all bookmarks; null is allowed. */
void wf_native_bookmarks_free(struct wf_native_bookmarks *marks);

/* Keeps the position of the block, unless a bookmark is at most a few ops before it. */
void wf_native_bookmarks_keep(struct wf_native_decoder *block);

/* Moves the block to the last bookmark that is after its position and not after op `n`. Without
 * such a bookmark the block stays where it is. */
void wf_native_bookmarks_approach(struct wf_native_decoder *block, uint64_t n);
