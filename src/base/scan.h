/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Goes through JSON text from front to back, for files that are too large to be held as values. After
 * the first failure every call fails, so that a reader asks once.
 */

#include <stdbool.h>
#include <stddef.h>

enum { WF_SCAN_KEY_BYTES = 64 };

struct wf_scan {
    const char *begin, *at, *end; /* *end is NUL */
    bool failed;
    /* The latest, in small letters and without underscores: programs spell them differently. */
    char key[WF_SCAN_KEY_BYTES];
};

/* The next character that is not white space; NUL at the end. */
char wf_scan_look(struct wf_scan *scan);
/* Passes this character, which must be next. */
bool wf_scan_pass(struct wf_scan *scan, char c);
/* Passes a text and sets where it is, without the quotes; escapes are left in it. */
bool wf_scan_text(struct wf_scan *scan, const char **text, size_t *length);
/* Passes a key and the colon after it. */
bool wf_scan_key(struct wf_scan *scan);
/* Goes to the next item of a list or object, after its opening bracket: true if there is one. `*first` is
 * true before the first call. */
bool wf_scan_next(struct wf_scan *scan, char close, bool *first);
/* Begins a list or object with this bracket; anything else is passed, and false. */
bool wf_scan_begin(struct wf_scan *scan, char bracket);
/* Passes any value; `depth` is 0. */
void wf_scan_skip(struct wf_scan *scan, int depth);
