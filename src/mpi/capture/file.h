/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The trace file of this rank, as docs/reference/trace-format.md describes it. One system call
 * writes a whole frame: if the process dies the next moment, all frames can be read. A frame
 * that cannot be written whole is removed again, and the recording ends.
 */

#include "program/trace/weft/encode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool wf_cap_file_open(const char *path, uint32_t rank, uint32_t n_ranks);

/* Adds a record to the tables: `n` numbers and a text, which may be null. It is in the file
 * before the next block. */
void wf_cap_file_record(enum wf_native_record_type type, const uint64_t *numbers, size_t n,
                        const char *text);

/* Writes a block of `n_ops` ops. */
void wf_cap_file_block(const unsigned char *raw, size_t size, uint64_t n_ops);

/* Writes the index and the trailer. */
void wf_cap_file_finish(const struct wf_native_totals *totals);

/* Closes the file as it is. */
void wf_cap_file_close(void);
