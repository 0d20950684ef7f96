/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/blocked.h"

#include "ranks/formula.h"

/* Whether the rank as a whole waits for this request. */
static bool is_awaited(const struct wf_caller *who, const struct wf_rank_request *req)
{
    uint32_t owner = req->kind == WF_REQ_COLL ? 0 : req->owner;

    if (owner != 0) {
        return owner == who->rank->current ||
               (wf_request_read(who, owner)->flags & WF_REQ_AWAITED) != 0;
    }
    return (req->flags & WF_REQ_AWAITED) != 0;
}

uint32_t wf_blocked_root(int32_t tag, uint32_t comm_size)
{
    return wf_coll_has_root((enum wf_coll_kind)wf_collective_of_tag(tag)) &&
                   comm_size <= 1U << WF_COLLECTIVE_ROOT_BITS
               ? wf_collective_root_of_tag(tag)
               : WF_BLOCKED_NO_ROOT;
}

static void describe(const struct wf_rank_request *req, enum wf_blocked_in in,
                     struct wf_blocked_on *out)
{
    *out = (struct wf_blocked_on){.in = (uint32_t)in,
                                  .peer = req->peer,
                                  .tag = req->key.tag,
                                  .group = req->key.context / 2,
                                  .root = WF_BLOCKED_NO_ROOT,
                                  .other_root = WF_BLOCKED_NO_ROOT};
    if (req->owner != 0) {
        out->coll = wf_collective_of_tag(req->key.tag) + 1;
    }
}

/* Whether a collective has yet to receive something from this member; true if that would take
 * long to find out. */
static bool may_expect(const struct wf_rank_request *coll, const struct wf_coll_args *args,
                       const struct wf_rank_group *group, uint32_t src)
{
    enum { STEPS_MAX = 256 };
    const struct wf_coll_ops *ops = wf_coll_table()[coll->algorithm];
    struct wf_coll_step step;

    for (uint32_t i = 0; i < STEPS_MAX; i++) {
        if (!ops->step(args, coll->step + i, &step)) {
            return false;
        }
        if (step.recv_from < args->size && wf_rank_group_member(group, step.recv_from) == src) {
            return true;
        }
    }
    return true;
}

/* A message of the same collective that the rank will never ask for: its algorithm has no such
 * one, because the sender chose another by another size. */
static bool find_stray(const struct wf_caller *who, const struct wf_rank_request *coll,
                       const struct wf_coll_args *args, const struct wf_rank_group *group,
                       struct wf_blocked_on *out)
{
    uint32_t from = out->peer;

    for (uint32_t cell = who->rank->match.unexpected.head; cell != 0;
         cell = wf_request_read(who, cell)->link.next) {
        const struct wf_rank_request *message = wf_request_read(who, cell);

        if (message->key.context == wf_rank_context(out->group, true) &&
            message->key.tag == out->tag && message->key.src != from &&
            !may_expect(coll, args, group, message->key.src)) {
            out->peer = message->key.src;
            out->bytes = args->bytes;
            out->other_bytes = message->bytes;
            return true;
        }
    }
    return false;
}

/* A message of another collective in the place of this one: its sender did not call the same.
 * Best that is the peer; but any of the others lets the rank wait for ever. */
static void find_other(const struct wf_caller *who, const struct wf_rank_request *req,
                       struct wf_blocked_on *out)
{
    uint32_t context = wf_rank_context(out->group, true), from = out->peer;
    struct wf_coll_args args;
    struct wf_rank_group group;

    wf_collective_recall(who, req->owner, &args, &group);
    out->root = wf_blocked_root(out->tag, args.size);

    for (uint32_t cell = who->rank->match.unexpected.head; cell != 0;
         cell = wf_request_read(who, cell)->link.next) {
        const struct wf_rank_request *message = wf_request_read(who, cell);

        if (message->key.context != context ||
            !wf_collective_replaces(message->key.tag, out->tag) ||
            (out->other != 0 && message->key.src != from)) {
            continue;
        }
        out->other = wf_collective_of_tag(message->key.tag) + 1;
        out->other_root = wf_blocked_root(message->key.tag, args.size);
        out->peer = message->key.src;
        if (message->key.src == from) {
            return;
        }
    }
    if (out->other == 0) {
        (void)find_stray(who, wf_request_read(who, req->owner), &args, &group, out);
    }
}

static bool find_posted(const struct wf_caller *who, struct wf_blocked_on *out)
{
    for (uint32_t cell = who->rank->match.posted.head; cell != 0;
         cell = wf_request_read(who, cell)->link.next) {
        const struct wf_rank_request *recv = wf_request_read(who, cell);
        if (is_awaited(who, recv)) {
            describe(recv, WF_BLOCKED_RECV, out);
            if (out->coll != 0) {
                find_other(who, recv, out);
            }
            return true;
        }
    }
    return false;
}

static bool find_request(const struct wf_caller *who, struct wf_blocked_on *out)
{
    uint32_t cell;

    for (uint32_t key = 0; (cell = wf_cellmap_next(who->ctx, &who->rank->handles, &key)) != 0;
         key++) {
        const struct wf_rank_request *req = wf_request_read(who, cell);
        if (req->kind != WF_REQ_COLL && req->kind != WF_REQ_FORMULA && is_awaited(who, req)) {
            describe(req, req->kind == WF_REQ_SEND ? WF_BLOCKED_SEND : WF_BLOCKED_DATA, out);
            if (out->coll != 0) {
                find_other(who, req, out);
            }
            return true;
        }
    }
    return false;
}

static void describe_failure(const struct wf_rank *rank, struct wf_blocked_on *out)
{
    bool by_sizes = rank->failure == WF_FAILURE_SIZES || rank->failure == WF_FAILURE_TRUNCATED;

    out->peer = rank->fail_peer;
    if (by_sizes) {
        out->tag = rank->probe_tag;
        out->group = rank->fail_context / 2;
        out->bytes = rank->fail_own;
        out->other_bytes = rank->fail_other;
    }
    if (rank->failure == WF_FAILURE_SIZES) {
        out->coll = wf_collective_of_tag(rank->probe_tag) + 1;
    }
}

void wf_rank_find_blocked(const struct wf_caller *who, struct wf_blocked_on *out)
{
    const struct wf_rank *rank = who->rank;

    *out = (struct wf_blocked_on){
        .in = WF_BLOCKED_NOWHERE, .root = WF_BLOCKED_NO_ROOT, .other_root = WF_BLOCKED_NO_ROOT};
    if (rank->state == WF_RANK_FAILED) {
        describe_failure(rank, out);
    } else if (rank->state == WF_RANK_PROBING) {
        *out = (struct wf_blocked_on){
            .in = WF_BLOCKED_PROBE, .peer = rank->fail_peer, .tag = rank->probe_tag};
    } else if (rank->state == WF_RANK_WAITING && rank->flushing) {
        out->in = WF_BLOCKED_ONE_SIDED;
    } else if (rank->state == WF_RANK_WAITING && !find_posted(who, out) &&
               !find_request(who, out)) {
        (void)wf_formula_find_blocked(who, out);
    }
}

void wf_rank_find_leftover(const struct wf_caller *who, struct wf_leftover *out)
{
    uint32_t first = who->rank->match.unexpected.head;

    *out = (struct wf_leftover){.messages = who->rank->match.unexpected.length};
    wf_formula_find_leftover(who, out);
    if (first != 0) {
        const struct wf_match_key *key = &wf_request_read(who, first)->key;
        bool of_collective = key->context == wf_rank_context(key->context / 2, true);

        out->peer = key->src;
        out->tag = key->tag;
        out->coll = of_collective ? wf_collective_of_tag(key->tag) + 1 : 0;
        out->root = of_collective ? wf_blocked_root(key->tag, who->mpi->place->n_ranks)
                                  : WF_BLOCKED_NO_ROOT;
    }
}
