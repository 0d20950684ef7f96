/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The lines of a time-independent trace, taken apart.
 *
 * The first failure is kept in `err`. After it there are no more lines, and numbers are 0.
 */

#include "program/trace/kit/infile.h"
#include "program/trace/ti/actions.h"

enum { WF_TI_RECENT = 64, WF_TI_HEAD = 16 };

/* A file, or the one of several files that is being read. */
struct wf_ti_text {
    struct wf_intext file; /* with the place of the line and its rank */
    const struct wf_ti_action *action;
    char *line;
    char *rest; /* what of the line is not read yet */
    /* Actions that were found, by their names if these are short: as a number. */
    struct wf_ti_recent {
        uint64_t name;
        const struct wf_ti_action *action;
    } recent[WF_TI_RECENT];
    char head[WF_TI_HEAD]; /* the rank of the latest line as it is written, with a blank... */
    size_t head_length;    /* ...or 0 */
    struct wf_err *err;
};

/* Opens a file after the one before, if there was one; zeroed before the first. */
void wf_ti_text_open(struct wf_ti_text *text, const char *path, struct wf_err *err);
void wf_ti_text_close(struct wf_ti_text *text);

/* Reads the next line that is not blank; false if there is none. */
bool wf_ti_text_next(struct wf_ti_text *text);
/* Likewise, but only its rank: the action is null. Lines of the same rank as the line before may
 * be left out. Not together with the function above. */
bool wf_ti_text_next_rank(struct wf_ti_text *text);

/* The next word of the line as a number; *has is false if there is none. */
double wf_ti_text_real(struct wf_ti_text *text, bool *has);

static inline bool wf_ti_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes the next word if it has 1 to 15 digits and nothing else, as nearly all numbers have. If
 * not, takes nothing and returns false. */
static inline bool wf_ti_text_short(struct wf_ti_text *text, int64_t *value)
{
    char *at = text->rest;
    uint64_t number = 0; /* too many digits may overflow; then it is not used */

    while (wf_ti_is_blank(*at)) {
        at++;
    }
    const char *first = at;
    for (unsigned digit; (digit = (unsigned char)*at - (unsigned)'0') <= 9; at++) {
        number = number * 10 + digit;
    }
    if (at == first || at - first > 15 || (*at != '\0' && !wf_ti_is_blank(*at))) {
        return false;
    }
    text->rest = at;
    *value = (int64_t)number;
    return true;
}

/* The next word as a whole number from `min`, which must be there. */
int64_t wf_ti_text_any_whole(struct wf_ti_text *text, int64_t min); /* however it is written */
static inline int64_t wf_ti_text_whole(struct wf_ti_text *text, int64_t min)
{
    int64_t value;

    return min <= 0 && wf_ti_text_short(text, &value) ? value : wf_ti_text_any_whole(text, min);
}

/* Whether words are left in the line, how many, and passes all of them. */
static inline bool wf_ti_text_more(const struct wf_ti_text *text)
{
    const char *at = text->rest;

    while (wf_ti_is_blank(*at)) {
        at++;
    }
    return *at != '\0';
}
size_t wf_ti_text_words(const struct wf_ti_text *text);
void wf_ti_text_skip(struct wf_ti_text *text);
