/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Whether every message of an extrapolated program has its receive. */

#include "program/extrapolate/play.h"

/* What is sent and received so far; all zero at the beginning. */
struct wf_ext_balance {
    uint64_t sum;    /* 0 if each message has its receive */
    bool is_unknown; /* wildcards or persistent requests: the sum says nothing */
};

void wf_ext_balance_add(struct wf_ext_balance *balance, uint32_t rank,
                        const struct wf_ext_played *played);

/* Plays the program twice more to find the first message without a receive, or the other way
 * round. WF_EINVAL, with the op and the ranks. `player` is the one that wrote the program. */
enum wf_status wf_ext_refuse_unmatched(const struct wf_ext_player *player, struct wf_err *err);
