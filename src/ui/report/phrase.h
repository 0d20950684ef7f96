/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A line of a text report under construction. Text that does not fit is cut off. */

#include "base/result/doc.h"
#include "base/status.h"

#include <stdio.h>

enum { WF_PHRASE_MAX = 256 };

/* A zeroed struct is empty. */
struct wf_phrase {
    char text[WF_PHRASE_MAX];
    size_t used;
};

WF_PRINTF(2, 3) void wf_phrase_add(struct wf_phrase *out, const char *fmt, ...);
void wf_phrase_time(struct wf_phrase *out, uint64_t ps);
void wf_phrase_size(struct wf_phrase *out, uint64_t bytes);
void wf_phrase_count(struct wf_phrase *out, uint64_t count); /* "1,234,567" */
void wf_phrase_real(struct wf_phrase *out, double real);
/* "1,152 messages"; "1 message". */
void wf_phrase_number_of(struct wf_phrase *out, uint64_t count, const char *one,
                         const char *many);
/* Writes a single value. The end of `unit_name`, its name or that of its parent, tells the
 * unit. */
void wf_phrase_value(struct wf_phrase *out, const struct wf_value *value,
                     const char *unit_name);
/* Minimum, maximum and mean of a time: "1 us to 3 us, mean 2 us", or "2 us each". */
void wf_phrase_spread(struct wf_phrase *out, const struct wf_value *spread);

bool wf_phrase_ends_with(const char *name, const char *suffix);

/* The parts of the text report that show lists of the document (ui/report/text_lists.c). Functions
 * that write a line return false if the document has no such list. */
bool wf_writer_text_iterations(const struct wf_value *doc, struct wf_phrase *out);
bool wf_writer_text_waits(const struct wf_value *doc, struct wf_phrase *out);
void wf_writer_text_lists(const struct wf_value *doc, FILE *out);
