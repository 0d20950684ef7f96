/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_FORMULA_H
#define WF_RANKS_FORMULA_H

/*
 * Collectives by a formula: `ideal` and `hardware`. Nothing of them passes the network, and no
 * CPU time is spent. When a rank goes on depends on when others came, which is told by events
 * of their own; see docs/models/collectives-by-formula.md.
 */

#include "ranks/blocked.h"
#include "ranks/collective.h"

enum wf_formula { WF_FORMULA_NONE, WF_FORMULA_IDEAL, WF_FORMULA_HARDWARE };

extern const char *const wf_formula_names[]; /* "", "ideal", "hardware"; null-terminated */

/* The formula of this name; WF_FORMULA_NONE if it is none's. */
enum wf_formula wf_formula_find(const char *name);

/* In place of the number of an algorithm. */
#define WF_ALGORITHM_FORMULA UINT16_MAX

/* What a collective under way knows of itself. */
struct wf_formula_call {
    const struct wf_coll_args *args;
    const struct wf_rank_group *group;
    int32_t tag; /* the same at all members, and of no other collective on the communicator */
};

/* The bytes that go into this member or come out of it, whichever is more
 * (ranks/formula_bytes.c). */
uint64_t wf_formula_bytes(const struct wf_coll_args *args);

/* Begins a collective or goes on with it; true if it is over, at the time of its clock. */
bool wf_formula_run(const struct wf_caller *who, uint32_t cell,
                    const struct wf_formula_call *call);

/* An event of the kind WF_NODE_SIGNAL. */
void wf_formula_signal(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                       const struct wf_event *ev);

/* Describes the collective by a formula that the rank waits in; false if there is none. */
bool wf_formula_find_blocked(const struct wf_caller *who, struct wf_blocked_on *out);

/* Adds the collectives by a formula that the rank did not call, and describes one of them. */
void wf_formula_find_leftover(const struct wf_caller *who, struct wf_leftover *out);

#endif
