/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_OPS_GROUPS_H
#define WF_OPS_GROUPS_H

/*
 * The communicators of a trace: what each rank means by each of its numbers.
 *
 * Mostly all members of a group call it by the same number, so that a group is added with that
 * number for all of them; for a rank that already has another group of this number nothing
 * changes. What differs is bound rank by rank. WF_COMM_WORLD is always there.
 *
 * Finding changes nothing and may be done by several threads at once.
 */

#include "ops/source.h"

struct wf_groups;

struct wf_groups *wf_groups_new(uint32_t n_ranks);
void wf_groups_free(struct wf_groups *groups); /* null is allowed */

/* Null, or what is wrong with this group; `rank` and `members` as they are, nothing is kept. */
const char *wf_groups_fault(const struct wf_groups *groups, const struct wf_group *group);

/* Adds a group that has no fault, with this number for all its members. Groups are known by
 * their id and first member. The members are copied. */
void wf_groups_add(struct wf_groups *groups, uint32_t comm, const struct wf_group *group);

/* Whether there is a group of this id and first member. */
bool wf_groups_has(const struct wf_groups *groups, uint32_t id, uint32_t first);

/* Binds a number of one rank to such a group. False if there is none, or without the rank. */
bool wf_groups_bind(struct wf_groups *groups, uint32_t rank, uint32_t comm, uint32_t id,
                    uint32_t first);

/* What had to be done to learn something. */
enum wf_learnt {
    WF_LEARNT_NOTHING, /* it was known */
    WF_LEARNT_GROUP,   /* the group was added */
    WF_LEARNT_NUMBER,  /* the number was bound... */
    WF_LEARNT_BOTH,    /* ...and the group was added before */
    WF_LEARNT_WRONG,   /* nothing: the rank is no member */
};

/* Makes `comm` of the rank, not that of the world, mean this group, which has no fault. */
enum wf_learnt wf_groups_learn(struct wf_groups *groups, uint32_t rank, uint32_t comm,
                               const struct wf_group *group);

/* Likewise for a group that may have faults, and of the world too: words them. */
WF_NODISCARD
enum wf_status wf_groups_tell(struct wf_groups *groups, uint32_t rank, uint32_t comm,
                              const struct wf_group *group, struct wf_err *err);

/* What the rank means by `comm`. */
bool wf_groups_find(const struct wf_groups *groups, uint32_t rank, uint32_t comm,
                    struct wf_group *out);

/* The groups in the order in which they were added, with their number for all members; false
 * behind the last. The world is not among them. */
bool wf_groups_at(const struct wf_groups *groups, uint32_t i, uint32_t *comm,
                  struct wf_group *out);

#endif
