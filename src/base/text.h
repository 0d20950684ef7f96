/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Makes foreign text fit for a terminal, in place: every byte of a control character, and every
 * byte that is not part of valid UTF-8, becomes a question mark. Returns the text. */
char *wf_text_safe(char *text);

/* Finds the name that a user probably meant, for error messages. Begin, add every known name,
 * then read `best`: null if no name is near; among equally near names the first. Letter case
 * does not count, two swapped letters count once, and a name that begins with `wanted` is near.
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
