/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A line of a text report under construction. Text that does not fit is cut off. */

#include "base/result/doc.h"
#include "base/status.h"

#include <stdio.h>

enum { WF_PHRASE_MAX = 1024 };

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

/*
 * Adds a text with values of the document in it. Each {path} or {path:format} becomes the value at
 * that path of names; {} is the document itself.
 *
 *   {result.bytes}      as wf_phrase_value() writes it: the end of its name tells the unit
 *   {ranks:rank|ranks}  a count and its noun
 *   {time:.1}           a number with that many decimals; {time:+.1} with its sign, {time:.3g} with
 *                       that many digits
 *   {use:%.1}           a fraction in percent, without the sign
 *   {step:time} {data:size} {rate:real} {n:plain}
 *                       a time, bytes, a rounded number such as "13.5 M", digits alone
 *   {compute:spread}    as wf_phrase_spread()
 *   {rank:10plain}      right-aligned in 10 columns; with -10, left-aligned
 *   {source|?}          that text if the value is missing
 *   {failed?} {name!}   nothing, but a condition: the value is there, or is not
 *   [ ... ]             left out unless all of its values are there, and are neither 0 (numbers with
 *                       decimals may be) nor false
 *
 * Returns false if a value outside of brackets is missing.
 */
bool wf_phrase_fill(struct wf_phrase *out, const struct wf_value *doc, const char *text);

/* A line of a report, about the value at `path` (null: the whole document): its label and its text,
 * by wf_phrase_fill() or by a function that returns false to leave the line out. Lines whose value is
 * missing, or that stay empty, are left out. */
struct wf_phrase_line {
    const char *label, *path, *text;
    bool (*write)(const struct wf_value *value, struct wf_phrase *out);
};

/* Adds the text of a line; false to leave it out. */
bool wf_phrase_line(const struct wf_phrase_line *line, const struct wf_value *doc,
                    struct wf_phrase *out);

/* Prints lines up to one without a label, with labels of this width. */
void wf_phrase_print_lines(const struct wf_phrase_line *lines, const struct wf_value *doc,
                           int label_width, FILE *out);

/* The parts of the text report that show lists of the document (ui/report/text_lists.c). Functions
 * that write a line return false if the document has no such list. */
bool wf_writer_text_iterations(const struct wf_value *doc, struct wf_phrase *out);
bool wf_writer_text_waits(const struct wf_value *doc, struct wf_phrase *out);
void wf_writer_text_lists(const struct wf_value *doc, FILE *out);
