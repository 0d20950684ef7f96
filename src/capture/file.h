/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CAPTURE_FILE_H
#define WF_CAPTURE_FILE_H

/*
 * The trace file of this rank, as docs/reference/trace-format.md describes it. Every frame is
 * written by one call of the system, whole: if the process dies the next moment, all that was
 * written can be read. What cannot be written whole is taken back, and the recording ends.
 */

#include "trace/weft/encode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool wf_cap_file_open(const char *path, uint32_t rank, uint32_t n_ranks);

/* Adds a record to the tables: `n` numbers and a text, which may be null. It is in the file
 * before the next block. */
void wf_cap_file_record(enum wf_native_record_type type, const uint64_t *numbers, size_t n,
                        const char *text);

/* Writes a block of `n_ops` ops. `raw` may be changed. */
void wf_cap_file_block(const unsigned char *raw, size_t size, uint64_t n_ops);

/* The index and the end. */
void wf_cap_file_finish(const struct wf_native_totals *totals);

/* No more is written; what is there stays. */
void wf_cap_file_close(void);

#endif
