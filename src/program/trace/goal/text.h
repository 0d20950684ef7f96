/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The words of a GOAL schedule: names, numbers and the signs : { }.
 *
 * The first failure is kept in `err`. After it the word is empty, as it is at the end of the
 * file, and numbers are the smallest that are allowed.
 */

#include "program/trace/kit/infile.h"

#include <string.h>

enum { WF_GOAL_WORD_BYTES = 256 };

struct wf_goal_text {
    struct wf_intext file;         /* with the place of the word */
    char word[WF_GOAL_WORD_BYTES]; /* the current one; "" at the end */
    size_t length;                 /* of the word */
    unsigned char *buffer;         /* a part of the file, in which reading goes on at `at` */
    size_t at, n;
    uint64_t base; /* where the part begins in the file */
    uint64_t line;
    struct wf_err *err;
};

/* Opens the file and reads the first word. */
void wf_goal_text_open(struct wf_goal_text *text, const char *path, struct wf_err *err);
void wf_goal_text_close(struct wf_goal_text *text);

/* Reading goes on with the first word from byte `begin` on, and ends before `end`. Lines are
 * counted from there. */
void wf_goal_text_part(struct wf_goal_text *text, uint64_t begin, uint64_t end);

/* Reads the next word. */
void wf_goal_text_next(struct wf_goal_text *text);

/* Whether the word is this one. */
static inline bool wf_goal_text_is(const struct wf_goal_text *text, const char *word)
{
    size_t length = strlen(word);

    return text->length == length && memcmp(text->word, word, length) == 0;
}

/* The word must be this one, and is passed. */
void wf_goal_text_unexpected(struct wf_goal_text *text, const char *word); /* it is another */
static inline void wf_goal_text_expect(struct wf_goal_text *text, const char *word)
{
    if (wf_goal_text_is(text, word)) {
        wf_goal_text_next(text);
    } else {
        wf_goal_text_unexpected(text, word);
    }
}

/* The word must be a whole number of this range, perhaps with `unit` after it, and is passed.
 * `what` is it, for errors: "a rank". */
int64_t wf_goal_text_number(struct wf_goal_text *text, const char *what, const char *unit,
                            int64_t min, int64_t max);
