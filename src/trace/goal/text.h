/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The words of a GOAL schedule: names, numbers and the signs : { }.
 *
 * The first failure is kept in `err`. After it the word is empty, as it is at the end of the
 * file, and numbers are the smallest that are allowed.
 */

#include "trace/kit/infile.h"

enum { WF_GOAL_WORD_BYTES = 256 };

struct wf_goal_text {
    struct wf_intext file;         /* with the place of the word */
    char word[WF_GOAL_WORD_BYTES]; /* the current one; "" at the end */
    uint64_t line, byte;           /* where reading goes on */
    struct wf_err *err;
};

/* Opens the file and reads the first word. */
void wf_goal_text_open(struct wf_goal_text *text, const char *path, struct wf_err *err);
void wf_goal_text_close(struct wf_goal_text *text);

/* Reads the next word. */
void wf_goal_text_next(struct wf_goal_text *text);

/* Whether the word is this one. */
bool wf_goal_text_is(const struct wf_goal_text *text, const char *word);

/* The word must be this one, and is passed. */
void wf_goal_text_expect(struct wf_goal_text *text, const char *word);

/* The word must be a whole number of this range, perhaps with `unit` after it, and is passed.
 * `what` is it, for errors: "a rank". */
int64_t wf_goal_text_number(struct wf_goal_text *text, const char *what, const char *unit,
                            int64_t min, int64_t max);
