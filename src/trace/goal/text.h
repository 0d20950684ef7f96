/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_GOAL_TEXT_H
#define WF_TRACE_GOAL_TEXT_H

/* The words of a GOAL schedule: names, numbers and the signs : { }. */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { WF_GOAL_WORD_BYTES = 256 };

struct wf_goal_text {
    FILE *in;
    char *path;
    uint64_t size;                 /* of the file */
    uint64_t line, offset;         /* of the word: from 1, and its first byte */
    char word[WF_GOAL_WORD_BYTES]; /* the one that was read; "" at the end */
    uint64_t at_line, at;          /* where reading goes on */
    int64_t rank;                  /* whose ops are read; -1: none */
};

WF_NODISCARD
enum wf_status wf_goal_text_open(struct wf_goal_text *text, const char *path,
                                 struct wf_err *err);
void wf_goal_text_close(struct wf_goal_text *text); /* zeroed is allowed */

/* Reads the next word. */
WF_NODISCARD
enum wf_status wf_goal_text_next(struct wf_goal_text *text, struct wf_err *err);

/* The word is this one, and is passed; otherwise WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_goal_text_expect(struct wf_goal_text *text, const char *word,
                                   struct wf_err *err);

/* The word is a whole number of this range, perhaps with `unit` behind it, and is passed. */
WF_NODISCARD
enum wf_status wf_goal_text_number(struct wf_goal_text *text, const char *unit, int64_t min,
                                   int64_t *value, struct wf_err *err);

/* WF_EINVAL with the file, the line and the rank before the words. */
WF_PRINTF(3, 4)
enum wf_status wf_goal_text_bad(const struct wf_goal_text *text, struct wf_err *err,
                                const char *fmt, ...);

#endif
