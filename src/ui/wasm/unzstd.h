/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Decompression of Zstandard (RFC 8878) for pages, which have no library for it: the blocks of
 * weft's own traces. Frames with a dictionary are refused; checksums of frames are not compared,
 * because traces have their own. */

#include <stdbool.h>
#include <stddef.h>

/* Decompresses one frame of `size` bytes to exactly `raw_size` bytes. False if it is damaged or has
 * another size. Reads and writes nothing outside, whatever the bytes are. */
bool wf_wasm_unzstd(const void *frame, size_t size, void *raw, size_t raw_size);
