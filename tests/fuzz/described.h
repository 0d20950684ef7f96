/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a reader itself says about its format, taken down while it reads a valid file: no format is
 * described by hand.
 *
 *   words     the names of its tables (wf_lookup(), parameters) and the constants that it compares
 *             with; those that are compared with the same text, or are in one table, make a group
 *   values    texts of the file that were read as a number, a time, ..., with the type and, if it is a
 *             parameter, its row: the limits
 *   parts     the bytes of a binary file that were taken as one number or record
 *   members   the names that the JSON schema of a document has
 *
 * The linker puts the functions of described.c before those of the readers (--wrap). Parts are
 * known in builds with AddressSanitizer only.
 */

#include "fuzz/mutate.h"

struct wf_param;

struct described_value {
    char *text;
    const char *type;           /* "count", "time", ... */
    const struct wf_param *row; /* or null */
};

/* Of one file. */
struct described {
    struct described_value *values;
    struct mutate_span *parts;
    size_t n_values, n_parts;
};

/* From here until described_end(), what is read is taken down; `data` are the bytes of the file. */
void described_begin(const uint8_t *data, size_t size);
/* What was taken down since then, which the caller never frees. */
struct described described_end(void);

/* How much is known of the format. */
struct described_counts {
    size_t words, members;
};
struct described_counts described_count(void);

/* Mutates the file by what is known; false, and nothing done, if that is nothing. */
bool described_mutate(struct mutate_bytes *file, const struct described *about, uint64_t *seed);
