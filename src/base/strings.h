/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A table that numbers texts: 0, 1, ... in the order in which they were put. A zeroed struct
 * is an empty table. Every call takes time proportional to the length of the text. The table
 * keeps copies of the texts; wf_strings_fini() releases them.
 */

#include <stddef.h>
#include <stdint.h>

#define WF_STRINGS_NONE UINT32_MAX

struct wf_strings {
    char **texts; /* each with a NUL after it, in memory of its own */
    uint32_t *lengths;
    uint32_t n, texts_capacity, lengths_capacity;
    uint32_t *slots; /* hash table of numbers plus one; 0 is a free slot */
    size_t n_slots;  /* a power of two, or 0 */
};

void wf_strings_fini(struct wf_strings *strings);

/* The number of a text, which is added if it is new: then the number is the old `n`. The text
 * has `length` bytes, below 4 GiB. */
uint32_t wf_strings_put(struct wf_strings *strings, const char *text, size_t length);

/* The number of a text, or WF_STRINGS_NONE. */
uint32_t wf_strings_find(const struct wf_strings *strings, const char *text, size_t length);

/* The text with this number, which is below `n`. Valid until wf_strings_fini(). */
const char *wf_strings_at(const struct wf_strings *strings, uint32_t number);
