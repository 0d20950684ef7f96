/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a collective, and the algorithm and the protocol that are chosen for it. */
#include "model/ranks/collective.h"

#include <string.h>

enum { LAST_WORD = WF_RANK_COOKIE_WORDS - 1 };

static struct wf_coll_more *need_more(const struct wf_caller *who, struct wf_rank_request *coll)
{
    if (coll->coll.more == 0) {
        coll->coll.more = wf_cell_new_for(who->ctx, sizeof(struct wf_coll_more));
        *(struct wf_coll_more *)wf_cell_edit(who->ctx, coll->coll.more) =
            (struct wf_coll_more){.began = -1};
    }
    return wf_cell_edit(who->ctx, coll->coll.more);
}

void wf_collective_keep_cookie(const struct wf_caller *who, struct wf_rank_request *coll,
                               const uint64_t *cookie)
{
    memcpy(coll->cookie, cookie, sizeof(coll->cookie));
    coll->coll.more = 0;
    if (cookie[LAST_WORD] != 0) {
        need_more(who, coll)->last_word = cookie[LAST_WORD];
    }
}

int64_t wf_collective_began(const struct wf_caller *who, struct wf_rank_request *coll)
{
    struct wf_coll_more *more = need_more(who, coll);

    if (more->began < 0) {
        more->began = coll->at;
    }
    return more->began;
}

enum { SCANNED_MAX = 1024 };

struct members {
    const struct wf_place *place;
    const struct wf_rank_group *group;
};

static uint32_t node_of_member(const void *arg, uint32_t rank)
{
    const struct members *members = arg;

    return wf_place_node(members->place, wf_rank_group_member(members->group, rank));
}

static uint32_t scan_node_size(const struct wf_place *place, const struct wf_rank_group *group)
{
    return wf_coll_scan_nodes(group->size, node_of_member, &(struct members){place, group});
}

/* The same in constant time where nodes are filled in order and members are at equal distances.
 * Other groups are looked at if they are small, else the result is 1. */
static uint32_t node_size(const struct wf_place *place, const struct wf_rank_group *group)
{
    uint32_t slots = place->slots_max, first = group->base + group->first;
    uint32_t stride = group->stride,
             run = group->width < group->size ? group->width : group->size;

    if (slots == 1) {
        return 1;
    }
    if (place->node_of != NULL || group->members != NULL || stride == 0) {
        return group->size <= SCANNED_MAX ? scan_node_size(place, group) : 1;
    }
    uint64_t last = first + (uint64_t)(run - 1) * stride;
    if (last / slots == first / slots) {
        /* The first row is on one node. Another row must not be on the same. */
        bool apart = run == group->size || group->stride2 % slots == 0;
        return apart ? run : 1;
    }
    /* Rows that begin with a node and end with one. */
    uint32_t per_node = slots / stride;
    bool even =
        stride <= slots && slots % stride == 0 && first % slots < stride && run % per_node == 0;
    bool next = run == group->size || (group->stride2 % slots == 0);
    return even && next ? per_node : 1;
}

void wf_collective_complete(const struct wf_ranks *ranks, const struct wf_rank_group *group,
                            struct wf_coll_args *args)
{
    if (ranks->coll.place != NULL) {
        args->node_size = node_size(ranks->coll.place, group);
        args->nccl = &ranks->coll.nccl;
    }
}

void wf_collective_recall(const struct wf_caller *who, uint32_t cell, struct wf_coll_args *args,
                          struct wf_rank_group *group)
{
    const struct wf_rank_request *coll = wf_request_read(who, cell);
    uint64_t cookie[WF_RANK_COOKIE_WORDS] = {0};

    memcpy(cookie, coll->cookie, sizeof(coll->cookie));
    if (coll->coll.more != 0) {
        const struct wf_coll_more *more = wf_cell_read(who->ctx, coll->coll.more);
        cookie[LAST_WORD] = more->last_word;
    }
    wf_rank_recall(who, cookie, args, group);
    wf_collective_complete(who->ranks, group, args);
}

uint16_t wf_collective_choose(const struct wf_ranks *ranks, const struct wf_coll_args *args)
{
    const struct wf_coll_ops *ops = ranks->coll.algorithm[args->kind];
    enum wf_coll_rules rules = (enum wf_coll_rules)ranks->mpi->rules;
    uint32_t i = 0;

    if (ranks->coll.formula[args->kind] != WF_FORMULA_NONE) {
        return WF_ALGORITHM_FORMULA;
    }
    if (ops == NULL && wf_coll_is_formula(rules, args)) {
        return rules == WF_COLL_RULES_NCCL && wf_coll_traffic(args) != NULL
                   ? WF_ALGORITHM_TRAFFIC
                   : WF_ALGORITHM_FORMULA;
    }
    if (ops == NULL || !wf_coll_applies(ops, args)) {
        ops = wf_coll_choose(rules, args);
    }
    while (wf_coll_table()[i] != ops) {
        i++;
    }
    return (uint16_t)(i | (uint32_t)wf_coll_choose_protocol(rules, args)
                              << WF_COLL_PROTOCOL_SHIFT);
}

int64_t wf_collective_launch_ps(const struct wf_coll_request *coll,
                                const struct wf_coll_args *args)
{
    enum wf_coll_protocol protocol = wf_collective_protocol(coll);
    uint32_t within = 0, between = 0;

    if (wf_collective_is_formula(coll) || protocol == WF_COLL_PLAIN) {
        return 0;
    }
    const struct wf_coll_ops *ops = wf_collective_ops(coll);
    if (ops->hops != NULL && args->size > 1) {
        ops->hops(args, &within, &between);
    }
    return wf_coll_nccl_base_ps(protocol) +
           (int64_t)within * wf_coll_nccl_step_ps(protocol, true) +
           (int64_t)between * wf_coll_nccl_step_ps(protocol, false);
}
