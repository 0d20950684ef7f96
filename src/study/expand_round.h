/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_STUDY_EXPAND_ROUND_H
#define WF_STUDY_EXPAND_ROUND_H

/*
 * A collective of one rank as rounds of messages: what is sent and received at once, and waited
 * for together. The algorithm is that of a replay with the same settings, and so is the order
 * of the messages.
 */

#include "base/buf.h"
#include "base/param.h"
#include "coll/coll.h"
#include "ops/source.h"

/* Settings, scope "mpi": those rows of a replay's (ranks/ranks.h) that choose algorithms. */
struct wf_expand_choice {
    int rules;                       /* enum wf_coll_rules */
    char *algorithms[WF_COLL_KINDS]; /* "auto" is what the rules choose */
};

extern const struct wf_param wf_expand_params[]; /* over struct wf_expand_choice */

/* WF_EUSAGE if there is no algorithm of a name, or if it is a formula without messages. */
WF_NODISCARD
enum wf_status wf_expand_check(const struct wf_expand_choice *choice, struct wf_err *err);

struct wf_expansion {
    const struct wf_coll_ops *algorithm;
    struct wf_coll_args args; /* arrays belong to the op */
    uint32_t comm;
    int32_t tag;
    uint32_t n_slots, step;
    bool over; /* there are no more messages */
    /* The requests of the round under way. */
    uint32_t first, n;
};

/* A collective that makes sense, of a rank of the group. */
void wf_expansion_begin(struct wf_expansion *x, const struct wf_op *op,
                        const struct wf_group *group, const struct wf_expand_choice *choice);

/* The messages of the next round, as ops with requests from `first` on: a list of struct wf_op
 * in `out`, which is emptied before. Sets x->n to how many they are, and x->over if no other
 * round follows. */
void wf_expansion_round(struct wf_expansion *x, uint32_t first, struct wf_buf *out);

#endif
