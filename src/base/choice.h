/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A selection of ranks and of a span of time. A flat struct, so that processes can send it to
 * each other. */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { WF_CHOICE_RANGES = 32, WF_CHOICE_TEXT_MAX = WF_CHOICE_RANGES * 22 };

struct wf_rank_range {
    uint32_t first, last;
};

/* Zeroed, it selects everything. */
struct wf_choice {
    int64_t from, until; /* picoseconds; until 0: all times */
    uint32_t n_ranges;   /* 0: all ranks */
    uint32_t padding;
    struct wf_rank_range ranges[WF_CHOICE_RANGES]; /* sorted, with gaps between them */
};

/* Read ranks such as "0:15,20" (or "0-15,20"), and a span of time such as "1ms:2ms", where
 * either side may be missing. Any other text is WF_EUSAGE; `option` is the name of the option,
 * for the message. */
enum wf_status wf_choice_ranks(const char *option, const char *text, struct wf_choice *choice,
                               struct wf_err *err);
enum wf_status wf_choice_time(const char *option, const char *text, struct wf_choice *choice,
                              struct wf_err *err);

/* The ranks as text, "0:15,20", into WF_CHOICE_TEXT_MAX bytes; returns it. */
char *wf_choice_words(const struct wf_choice *choice, char *buf);

bool wf_choice_has_rank(const struct wf_choice *choice, uint64_t rank);

/* Whether any of the `n` ranks from `first` on is selected. */
bool wf_choice_has_any(const struct wf_choice *choice, uint64_t first, uint64_t n);

/* Whether this span of time overlaps the selected one. */
static inline bool wf_choice_touches(const struct wf_choice *choice, int64_t from,
                                     int64_t until)
{
    return choice->until == 0 || (from < choice->until && until > choice->from);
}
