/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Makes foreign text fit for a terminal, in place: every byte of a control character, and every
 * byte that is not part of valid UTF-8, becomes a question mark, and a tab a blank. Returns the text. */
char *wf_text_safe(char *text);

/* The text without the byte-order mark that some editors write at its beginning. */
const char *wf_text_past_mark(const char *text);

/* A text like that of printf(), as long as it needs to be; the caller frees it. */
WF_PRINTF(1, 2) char *wf_text_make(const char *fmt, ...);

/* Prints a line that quotes foreign text, made safe as a whole. The format ends with the only
 * newline. */
WF_PRINTF(2, 3) void wf_text_print(FILE *out, const char *fmt, ...);
WF_PRINTF(2, 0) void wf_text_vprint(FILE *out, const char *fmt, va_list args);

/* Prints a cell of a CSV file, made safe, in quotes where needed. A text that a spreadsheet would
 * take for a formula gets an apostrophe before it; numbers stay as they are. */
void wf_text_csv(FILE *out, const char *text);

/* Prints the text between the tags of HTML or SVG: < > & are escaped, and control characters
 * become blanks. */
void wf_text_markup(FILE *out, const char *text);

/* Finds the name that a user probably meant, for error messages. Begin, add every known name,
 * then read `best`: null if no name is near; among equally near names the first. Letter case
 * does not count, two swapped letters count once, and a name that begins with `wanted`, or the other way
 * round, is near.
 * For tables see base/lookup.h. */
struct wf_nearest {
    const char *wanted;
    const char *best;
    size_t distance;
};

void wf_nearest_begin(struct wf_nearest *nearest, const char *wanted);
void wf_nearest_add(struct wf_nearest *nearest, const char *known);

/* "; did you mean 'x'?" or "" in `buf` of WF_HINT_MAX bytes; returns it. */
enum { WF_HINT_MAX = 96 };
char *wf_nearest_hint(const struct wf_nearest *nearest, char *buf);
