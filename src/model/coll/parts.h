/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Functions that algorithms share: arithmetic on ranks, and steps along a tree, along a
 * star, and for sizes that are not a power of two.
 */

#include "model/coll/coll.h"

/* These three functions need n >= 1. */
static inline uint32_t wf_coll_log2_down(uint32_t n)
{
    return 31 - (uint32_t)__builtin_clz(n);
}

static inline bool wf_coll_is_power(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static inline uint32_t wf_coll_log2_up(uint32_t n)
{
    return wf_coll_log2_down(n) + (wf_coll_is_power(n) ? 0 : 1);
}

/* The rank that is `by` above or below, modulo `size`. */
static inline uint32_t wf_coll_above(uint32_t rank, uint32_t by, uint32_t size)
{
    return (uint32_t)(((uint64_t)rank + by) % size);
}

static inline uint32_t wf_coll_below(uint32_t rank, uint32_t by, uint32_t size)
{
    return (uint32_t)(((uint64_t)rank + size - by % size) % size);
}

static inline struct wf_coll_slots wf_coll_range(uint32_t first, uint32_t count)
{
    return (struct wf_coll_slots){.first = first, .count = count};
}

/* A step without messages. */
static inline struct wf_coll_step wf_coll_idle(void)
{
    return (struct wf_coll_step){.send_to = WF_COLL_NOBODY, .recv_from = WF_COLL_NOBODY};
}

/* A message to another rank and one from it. */
static inline struct wf_coll_step wf_coll_exchange(uint32_t other, struct wf_coll_slots send,
                                                   struct wf_coll_slots recv,
                                                   enum wf_coll_take take)
{
    return (struct wf_coll_step){
        .send_to = other, .recv_from = other, .send = send, .recv = recv, .take = take};
}

/* For members of struct wf_coll_ops. */
WF_PLUGIN_API bool
wf_coll_if_power(const struct wf_coll_args *args); /* the size is a power of two */
WF_PLUGIN_API bool
wf_coll_if_even(const struct wf_coll_args *args); /* the size is even, or 1 */
WF_PLUGIN_API uint32_t wf_coll_one_slot(const struct wf_coll_args *args);
WF_PLUGIN_API uint32_t wf_coll_slot_per_rank(const struct wf_coll_args *args);

/* Defines wf_coll_<collective>_<algorithm>. The other members follow by name. */
#define WF_COLL_OPS(KIND, collective, algorithm, text, ...)         \
    const struct wf_coll_ops wf_coll_##collective##_##algorithm = { \
        .name = #algorithm, .summary = (text), .kind = WF_COLL_##KIND, __VA_ARGS__}

/* How data moves between a root and the other ranks. */
struct wf_coll_flow {
    bool up;          /* to the root instead of from it */
    bool whole;       /* every message carries all slots instead of those of its ranks only */
    uint32_t n_slots; /* used if whole */
    uint32_t shift;   /* used if not whole: the slot of the rank at place 0 */
    enum wf_coll_take take;
};

/*
 * A phase of an algorithm along a tree or a star.
 *
 * A tree is k-nomial. Places are ranks counted from the root. The subtree of place p has the places
 * p to p + span - 1, as far as they are below the size. Downwards, the parent comes first, then the
 * children, the largest subtree first; upwards in reverse order. Every step waits.
 *
 * In a star every rank exchanges one message with the root, which does not wait between them. If
 * the flow is not whole, slots are numbered by rank and `shift` is not used.
 */
struct wf_coll_phase {
    uint32_t radix; /* of a tree, or WF_COLL_STAR */
    uint32_t root;
    struct wf_coll_flow flow;
};

enum { WF_COLL_STAR = 0 };

/* Sets *out to step *k of the phases, which follow each other; or subtracts their steps from *k and
 * returns false if it is a later one. */
WF_PLUGIN_API bool wf_coll_in_phases(const struct wf_coll_args *args,
                                     const struct wf_coll_phase *phases, uint32_t n,
                                     uint32_t *k, struct wf_coll_step *out);

/* Defines the `step` of an algorithm that consists of phases. */
#define WF_COLL_PHASES(name, ...)                                                            \
    static bool name(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)  \
    {                                                                                        \
        const struct wf_coll_phase phases[] = {__VA_ARGS__};                                 \
        return wf_coll_in_phases(args, phases, sizeof(phases) / sizeof(phases[0]), &k, out); \
    }

/* For sizes that are not a power of two. The members are as many ranks as the largest power
 * of two in the size. The `extra` other ranks are one of each of the first pairs (2i, 2i +
 * 1): the even one, or the odd one if the even one is `keep`. */
struct wf_coll_fold {
    uint32_t rounds, power, extra, keep;
};

WF_PLUGIN_API struct wf_coll_fold wf_coll_fold(uint32_t size, uint32_t keep);
/* The number of a rank among the members; WF_COLL_NOBODY if it is an extra rank. */
uint32_t wf_coll_fold_member(const struct wf_coll_fold *fold, uint32_t rank);
uint32_t wf_coll_fold_rank(const struct wf_coll_fold *fold, uint32_t member);
/* Before the members begin, each extra rank sends its data to its partner; after the end it
 * gets the result. */
WF_PLUGIN_API struct wf_coll_step wf_coll_fold_in(const struct wf_coll_fold *fold,
                                                  uint32_t rank, struct wf_coll_slots slots);
WF_PLUGIN_API struct wf_coll_step wf_coll_fold_out(const struct wf_coll_fold *fold,
                                                   uint32_t rank, struct wf_coll_slots slots);
