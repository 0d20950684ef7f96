/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The communicators of a trace: which group each communicator number of each rank stands for.
 *
 * Usually all members of a group have the same number for it. So a group is added with a number
 * for all members; a rank that already has a group of this number keeps that. Other numbers are
 * bound rank by rank. WF_COMM_WORLD is always there.
 *
 * wf_groups_find() may be called by several threads at once.
 */

#include "program/ops/source.h"

struct wf_groups;

struct wf_groups *wf_groups_new(uint32_t n_ranks);
void wf_groups_free(struct wf_groups *groups); /* null is allowed */

/* Null, or what is wrong with this group. */
const char *wf_groups_fault(const struct wf_groups *groups, const struct wf_group *group);

/* Adds a group without faults, with this number for all its members. A group is identified by
 * its id and its first member. The members are copied. */
void wf_groups_add(struct wf_groups *groups, uint32_t comm, const struct wf_group *group);

/* Whether there is a group of this id and first member. */
bool wf_groups_has(const struct wf_groups *groups, uint32_t id, uint32_t first);

/* Binds a number of one rank to a group. False if there is no such group, or the rank is no
 * member. */
bool wf_groups_bind(struct wf_groups *groups, uint32_t rank, uint32_t comm, uint32_t id,
                    uint32_t first);

/* What wf_groups_learn() did. */
enum wf_learnt {
    WF_LEARNT_NOTHING, /* nothing: all was known */
    WF_LEARNT_GROUP,   /* it added the group */
    WF_LEARNT_NUMBER,  /* it bound the number */
    WF_LEARNT_BOTH,    /* it added the group and bound the number */
    WF_LEARNT_WRONG,   /* nothing: the rank is no member */
};

/* Makes `comm` of the rank, which is not WF_COMM_WORLD, stand for this group, which has no
 * fault. */
enum wf_learnt wf_groups_learn(struct wf_groups *groups, uint32_t rank, uint32_t comm,
                               const struct wf_group *group);

/* The same for a group that may have faults, which are WF_EINVAL, and for WF_COMM_WORLD too. */
enum wf_status wf_groups_tell(struct wf_groups *groups, uint32_t rank, uint32_t comm,
                              const struct wf_group *group, struct wf_err *err);

/* The group that `comm` of the rank stands for; false if there is none. */
bool wf_groups_find(const struct wf_groups *groups, uint32_t rank, uint32_t comm,
                    struct wf_group *out);

/* Group number i in the order in which they were added, without the world, and its number for
 * all members; false after the last. */
bool wf_groups_at(const struct wf_groups *groups, uint32_t i, uint32_t *comm,
                  struct wf_group *out);
