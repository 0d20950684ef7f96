/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_BASE_CHOICE_H
#define WF_BASE_CHOICE_H

/* A part of a run that is looked at: some ranks, and a span of time. Flat, so that it can be
 * part of what processes tell each other. */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { WF_CHOICE_RANGES = 32, WF_CHOICE_TEXT_MAX = WF_CHOICE_RANGES * 22 };

struct wf_rank_range {
    uint32_t first, last;
};

/* Zeroed is everything. */
struct wf_choice {
    int64_t from, until; /* picoseconds; until 0: all times */
    uint32_t n_ranges;   /* 0: all ranks */
    uint32_t padding;
    struct wf_rank_range ranges[WF_CHOICE_RANGES]; /* in order, apart from each other */
};

/* The ranks of "0:15,20", which may be written with '-' too, and the time of "1ms:2ms", of
 * which either side may be missing. What is no such text is WF_EUSAGE; `option` is how it was
 * given. */
WF_NODISCARD
enum wf_status wf_choice_ranks(const char *option, const char *text, struct wf_choice *choice,
                               struct wf_err *err);
WF_NODISCARD
enum wf_status wf_choice_time(const char *option, const char *text, struct wf_choice *choice,
                              struct wf_err *err);

/* The ranks as text, "0:15,20", into WF_CHOICE_TEXT_MAX bytes; returns it. */
char *wf_choice_words(const struct wf_choice *choice, char *buf);

bool wf_choice_has_rank(const struct wf_choice *choice, uint64_t rank);

/* Whether any of the ranks from `first` on is one of them. */
bool wf_choice_has_any(const struct wf_choice *choice, uint64_t first, uint64_t n);

/* Whether what happens in this time is part of it, or some of it. */
static inline bool wf_choice_touches(const struct wf_choice *choice, int64_t from,
                                     int64_t until)
{
    return choice->until == 0 || (from < choice->until && until > choice->from);
}

#endif
