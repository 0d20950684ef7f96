/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Running programs that poll: they test requests or probe for messages again and again. A poll
 * costs time, so that time advances. A program that has polled in vain for a while most likely
 * goes on polling until something arrives. Its further polls therefore wait before they look: the
 * longer, the longer it has polled, but no longer than until something arrives or completes. The
 * program then notices an arrival as soon as it would have without that, with far fewer polls.
 *
 * A program that looks and then does something else has waited for nothing, and its time is wrong. So what
 * counts is how often one thing was polled: a sweep over the requests of all neighbours is one poll. A rank
 * whose waits were not ended by an arrival yet waits late and little; and one that did something else after
 * so many polls waits after twice as many from then on.
 */

#include "model/ranks/calls.h"

/* Before a poll of a running program... */
void wf_rank_poll_begin(const struct wf_rank_program *program, const struct wf_op *op);
/* ...and after it: passes `called` on. */
enum wf_called wf_rank_poll_end(const struct wf_rank_program *program, const struct wf_op *op,
                                enum wf_called called);
/* The rank does something else than polling. */
void wf_rank_poll_over(const struct wf_rank_program *program);
/* The rank computes for so long, which may be a part of a loop that polls. */
void wf_rank_poll_computes(const struct wf_rank_program *program, int64_t duration);

/* Something arrives or completes at the time `at`: ends the wait of a rank in WF_RANK_POLLING. */
void wf_rank_poll_wake(const struct wf_caller *who, int64_t at);
