/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/blocked.h"

#include "model/ranks/coll_line.h"
#include "model/ranks/formula.h"

/* The root that is encoded in the tag of a collective, in a communicator of this size. */
static uint32_t root_of(int32_t tag, uint32_t comm_size)
{
    return wf_coll_has_root(wf_coll_tag_kind(tag)) && comm_size <= 1U << WF_COLL_TAG_ROOT_BITS
               ? wf_coll_tag_root(tag)
               : WF_BLOCKED_NO_ROOT;
}

static bool is_waited_for(const struct wf_caller *who, uint32_t coll)
{
    return coll == wf_rank_cold(who)->current ||
           (wf_request_read(who, coll)->flags & WF_REQ_AWAITED) != 0;
}

/* Whether the rank itself waits for a collective, or for one that waits for it in line. */
static bool waits_for(const struct wf_caller *who, uint32_t coll)
{
    struct wf_coll_args args;
    struct wf_rank_group group;
    bool found = is_waited_for(who, coll);

    if (found || who->ranks->coll.order != WF_COLL_ORDER_SERIAL) {
        return found;
    }
    wf_collective_recall(who, coll, &args, &group);
    uint32_t last = wf_collective_line_last(who, group.id), at = last;
    while (last != coll && !found) {
        found = is_waited_for(who, at);
        at = wf_request_read(who, at)->coll.behind;
        if (at == last) {
            break;
        }
    }
    return found;
}

/* Whether the rank itself waits for a send or receive. */
static bool is_awaited(const struct wf_caller *who, const struct wf_rank_request *req)
{
    uint32_t owner = wf_request_owner(req);

    return owner != 0 ? waits_for(who, owner) : (req->flags & WF_REQ_AWAITED) != 0;
}

/* ---- collectives that ranks do not agree on ---- */

/* Whether a collective still receives a message from this member; true if finding out would
 * take long. */
static bool may_expect(const struct wf_coll_request *coll, const struct wf_coll_args *args,
                       const struct wf_rank_group *group, uint32_t src)
{
    enum { STEPS_MAX = 256 };
    const struct wf_coll_ops *ops = wf_collective_ops(coll);
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

/* Looks for a message of the same collective that the rank will never receive: its sender
 * chose another algorithm because it called with another size. */
static void find_stray(const struct wf_caller *who, const struct wf_coll_request *coll,
                       const struct wf_coll_args *args, const struct wf_rank_group *group,
                       struct wf_blocked_on *out)
{
    const struct wf_rank_request *message;

    for (uint32_t cell = who->rank->match.unexpected.head; cell != 0;
         cell = message->link.next) {
        message = wf_request_read(who, cell);
        if (message->key.context == wf_rank_context(out->group, true) &&
            message->key.tag == out->tag && message->key.src != out->peer &&
            !may_expect(coll, args, group, message->key.src)) {
            out->peer = message->key.src;
            out->bytes = args->bytes;
            out->other_bytes = message->unexpected.bytes;
            return;
        }
    }
}

/* Looks for a message of another collective in place of this one: its sender called
 * something else. The sender is the peer if possible, but any other member blocks the rank
 * for ever, too. */
static void find_other(const struct wf_caller *who, uint32_t coll, struct wf_blocked_on *out)
{
    uint32_t context = wf_rank_context(out->group, true), from = out->peer;
    const struct wf_rank_request *message;
    struct wf_coll_args args;
    struct wf_rank_group group;

    wf_collective_recall(who, coll, &args, &group);
    out->root = root_of(out->tag, args.size);
    for (uint32_t cell = who->rank->match.unexpected.head; cell != 0;
         cell = message->link.next) {
        message = wf_request_read(who, cell);
        if (message->key.context != context ||
            !wf_coll_tags_disagree(message->key.tag, out->tag) ||
            (out->other != 0 && message->key.src != from)) {
            continue;
        }
        out->other = wf_coll_tag_kind(message->key.tag) + 1U;
        out->other_root = root_of(message->key.tag, args.size);
        out->peer = message->key.src;
        if (message->key.src == from) {
            return;
        }
    }
    if (out->other == 0) {
        find_stray(who, &wf_request_read(who, coll)->coll, &args, &group, out);
    }
}

/* ---- formula collectives ---- */

/* Steps through the formula entries of a rank. At the start *key is WF_FORMULA_NUMBERS and
 * `cell` is 0. Returns 0 after the last entry. */
static uint32_t next_entry(const struct wf_caller *who, uint32_t *key, uint32_t cell)
{
    cell = cell != 0 ? wf_formula_read(who, cell)->next : 0;
    if (cell == 0) {
        cell = wf_cellmap_next(who->ctx, &wf_rank_cold(who)->handles, key);
        ++*key;
    }
    return cell;
}

/* Looks for a member that has called another formula collective in place of this one. */
static void find_other_entry(const struct wf_caller *who, const struct wf_formula_entry *entry,
                             struct wf_blocked_on *out)
{
    uint32_t key = WF_FORMULA_NUMBERS, n_ranks = who->ranks->place->n_ranks;

    for (uint32_t cell = 0; (cell = next_entry(who, &key, cell)) != 0;) {
        const struct wf_formula_entry *other = wf_formula_read(who, cell);

        if (other->own_call == 0 && other->context == entry->context &&
            wf_coll_tags_disagree(other->tag, entry->tag)) {
            out->other = wf_coll_tag_kind(other->tag) + 1U;
            out->other_root = root_of(other->tag, n_ranks);
            out->root = root_of(entry->tag, n_ranks);
        }
    }
}

static void find_formula(const struct wf_caller *who, struct wf_blocked_on *out)
{
    uint32_t key = WF_FORMULA_NUMBERS;

    for (uint32_t cell = 0; (cell = next_entry(who, &key, cell)) != 0;) {
        const struct wf_formula_entry *entry = wf_formula_read(who, cell);

        if (entry->own_call != 0 && waits_for(who, entry->own_call)) {
            out->in = WF_BLOCKED_RECV;
            out->peer = entry->awaited;
            out->tag = entry->tag;
            out->group = entry->context / 2;
            out->coll = wf_coll_tag_kind(entry->tag) + 1U;
            find_other_entry(who, entry, out);
            return;
        }
    }
}

/* ---- ranks ---- */

/* Describes a send or receive that the rank waits for. */
static void describe(const struct wf_caller *who, const struct wf_rank_request *req,
                     enum wf_blocked_in in, struct wf_blocked_on *out)
{
    uint32_t owner = wf_request_owner(req);

    out->in = (uint32_t)in;
    out->peer = wf_request_peer(req);
    out->tag = req->key.tag;
    out->group = req->key.context / 2;
    if (owner != 0) {
        out->coll = wf_coll_tag_kind(req->key.tag) + 1U;
        find_other(who, owner, out);
    }
}

/* Looks for a posted receive that the rank waits for. */
static bool find_posted(const struct wf_caller *who, struct wf_blocked_on *out)
{
    const struct wf_rank_request *recv;

    for (uint32_t cell = who->rank->match.posted.head; cell != 0; cell = recv->link.next) {
        recv = wf_request_read(who, cell);
        if (is_awaited(who, recv)) {
            describe(who, recv, WF_BLOCKED_RECV, out);
            return true;
        }
    }
    return false;
}

/* Looks for a long message that the rank waits for. */
static bool find_long(const struct wf_caller *who, struct wf_blocked_on *out)
{
    const struct wf_cellmap *handles = &wf_rank_cold(who)->handles;
    uint32_t cell;

    for (uint32_t key = 0;
         (cell = wf_cellmap_next(who->ctx, handles, &key)) != 0 && key < WF_FORMULA_NUMBERS;
         key++) {
        const struct wf_rank_request *req = wf_request_read(who, cell);
        if (req->kind != WF_REQ_COLL && is_awaited(who, req)) {
            describe(who, req, req->kind == WF_REQ_SEND ? WF_BLOCKED_SEND : WF_BLOCKED_DATA,
                     out);
            return true;
        }
    }
    return false;
}

static void describe_failure(const struct wf_caller *who, struct wf_blocked_on *out)
{
    const struct wf_rank *rank = who->rank;
    const struct wf_rank_cold *cold = wf_rank_cold(who);

    out->peer = cold->blocked_peer;
    if (rank->failure == WF_FAILURE_SIZES || rank->failure == WF_FAILURE_TRUNCATED) {
        out->tag = cold->blocked_tag;
        out->group = rank->fail_context / 2;
        out->bytes = rank->fail_own;
        out->other_bytes = cold->fail_other;
    }
    if (rank->failure == WF_FAILURE_SIZES) {
        out->coll = wf_coll_tag_kind(cold->blocked_tag) + 1U;
    }
}

void wf_rank_find_blocked(const struct wf_caller *who, struct wf_blocked_on *out)
{
    const struct wf_rank *rank = who->rank;

    *out = (struct wf_blocked_on){
        .in = WF_BLOCKED_NOWHERE, .root = WF_BLOCKED_NO_ROOT, .other_root = WF_BLOCKED_NO_ROOT};
    if (rank->state == WF_RANK_FAILED) {
        describe_failure(who, out);
    } else if (rank->state == WF_RANK_PROBING) {
        const struct wf_rank_cold *cold = wf_rank_cold(who);

        *out = (struct wf_blocked_on){
            .in = WF_BLOCKED_PROBE, .peer = cold->blocked_peer, .tag = cold->blocked_tag};
    } else if (rank->state == WF_RANK_WAITING && rank->waits_for == WF_WAITS_FOR_FLUSH) {
        out->in = WF_BLOCKED_ONE_SIDED;
    } else if (rank->state == WF_RANK_WAITING && !find_posted(who, out) &&
               !find_long(who, out)) {
        find_formula(who, out);
    }
}

/* The message or receive of a rank's queue that is described. */
static void describe_leftover(const struct wf_caller *who, uint32_t cell,
                              struct wf_leftover *out)
{
    const struct wf_match_key *key = &wf_request_read(who, cell)->key;
    bool collective = wf_rank_context_is_collective(key->context);

    out->peer = key->src;
    out->tag = key->tag;
    out->coll = collective ? wf_coll_tag_kind(key->tag) + 1U : 0;
    out->root = collective ? root_of(key->tag, who->ranks->place->n_ranks) : WF_BLOCKED_NO_ROOT;
}

void wf_rank_find_leftover(const struct wf_caller *who, struct wf_leftover *out)
{
    const struct wf_match *match = &who->rank->match;
    uint32_t key = WF_FORMULA_NUMBERS;

    *out = (struct wf_leftover){.messages = wf_match_length(who->ctx, &match->unexpected)};
    if (who->ranks->live != NULL && who->rank->state == WF_RANK_ENDED) {
        out->receives = wf_match_length(who->ctx, &match->posted);
    }
    for (uint32_t cell = 0; (cell = next_entry(who, &key, cell)) != 0;) {
        const struct wf_formula_entry *entry = wf_formula_read(who, cell);

        if (entry->own_call == 0) {
            out->calls++;
            out->peer = WF_MATCH_ANY_SOURCE;
            out->coll = wf_coll_tag_kind(entry->tag) + 1U;
            out->root = root_of(entry->tag, who->ranks->place->n_ranks);
        }
    }
    if (out->messages > 0) {
        describe_leftover(who, match->unexpected.head, out);
    } else if (out->receives > 0 && out->calls == 0) {
        describe_leftover(who, match->posted.head, out);
    }
}
