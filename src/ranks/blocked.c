/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/blocked.h"

#include "ranks/formula.h"

/* Whether the rank as a whole waits for this flight. */
static bool is_awaited(const struct wf_caller *who, const struct wf_flight *flight)
{
    uint32_t owner = flight->kind == WF_FLIGHT_COLL ? 0 : flight->owner;

    if (owner != 0) {
        return owner == who->rank->current ||
               (wf_flight_read(who, owner)->flags & WF_FLIGHT_AWAITED) != 0;
    }
    return (flight->flags & WF_FLIGHT_AWAITED) != 0;
}

uint32_t wf_stuck_root(int32_t tag, uint32_t comm_size)
{
    return wf_coll_has_root((enum wf_coll_kind)wf_collective_of_tag(tag)) &&
                   comm_size <= 1U << WF_COLLECTIVE_ROOT_BITS
               ? wf_collective_root_of_tag(tag)
               : WF_STUCK_NO_ROOT;
}

static void describe(const struct wf_flight *flight, enum wf_stuck_in in, struct wf_stuck *out)
{
    *out = (struct wf_stuck){.in = (uint32_t)in,
                             .peer = flight->peer,
                             .tag = flight->key.tag,
                             .group = flight->key.context / 2,
                             .root = WF_STUCK_NO_ROOT,
                             .other_root = WF_STUCK_NO_ROOT};
    if (flight->owner != 0) {
        out->coll = wf_collective_of_tag(flight->key.tag) + 1;
    }
}

/* Whether a collective has yet to receive something from this member; true if that would take
 * long to find out. */
static bool may_expect(const struct wf_flight *coll, const struct wf_coll_args *args,
                       const struct wf_mpi_group *group, uint32_t src)
{
    enum { STEPS_MAX = 256 };
    const struct wf_coll_ops *ops = wf_coll_table()[coll->algorithm];
    struct wf_coll_step step;

    for (uint32_t i = 0; i < STEPS_MAX; i++) {
        if (!ops->step(args, coll->step + i, &step)) {
            return false;
        }
        if (step.recv_from < args->size && wf_mpi_member(group, step.recv_from) == src) {
            return true;
        }
    }
    return true;
}

/* A message of the same collective that the rank will never ask for: its algorithm has no such
 * one, because the sender chose another by another size. */
static bool find_stray(const struct wf_caller *who, const struct wf_flight *coll,
                       const struct wf_coll_args *args, const struct wf_mpi_group *group,
                       struct wf_stuck *out)
{
    uint32_t from = out->peer;

    for (uint32_t cell = who->rank->match.unexpected.head; cell != 0;
         cell = wf_flight_read(who, cell)->link.next) {
        const struct wf_flight *message = wf_flight_read(who, cell);

        if (message->key.context == wf_mpi_context(out->group, true) &&
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
static void find_other(const struct wf_caller *who, const struct wf_flight *flight,
                       struct wf_stuck *out)
{
    uint32_t context = wf_mpi_context(out->group, true), from = out->peer;
    struct wf_coll_args args;
    struct wf_mpi_group group;

    wf_collective_recall(who, flight->owner, &args, &group);
    out->root = wf_stuck_root(out->tag, args.size);

    for (uint32_t cell = who->rank->match.unexpected.head; cell != 0;
         cell = wf_flight_read(who, cell)->link.next) {
        const struct wf_flight *message = wf_flight_read(who, cell);

        if (message->key.context != context ||
            !wf_collective_replaces(message->key.tag, out->tag) ||
            (out->other != 0 && message->key.src != from)) {
            continue;
        }
        out->other = wf_collective_of_tag(message->key.tag) + 1;
        out->other_root = wf_stuck_root(message->key.tag, args.size);
        out->peer = message->key.src;
        if (message->key.src == from) {
            return;
        }
    }
    if (out->other == 0) {
        (void)find_stray(who, wf_flight_read(who, flight->owner), &args, &group, out);
    }
}

static bool find_posted(const struct wf_caller *who, struct wf_stuck *out)
{
    for (uint32_t cell = who->rank->match.posted.head; cell != 0;
         cell = wf_flight_read(who, cell)->link.next) {
        const struct wf_flight *recv = wf_flight_read(who, cell);
        if (is_awaited(who, recv)) {
            describe(recv, WF_STUCK_RECV, out);
            if (out->coll != 0) {
                find_other(who, recv, out);
            }
            return true;
        }
    }
    return false;
}

static bool find_flight(const struct wf_caller *who, struct wf_stuck *out)
{
    uint32_t cell;

    for (uint32_t key = 0; (cell = wf_cellmap_next(who->ctx, &who->rank->flights, &key)) != 0;
         key++) {
        const struct wf_flight *flight = wf_flight_read(who, cell);
        if (flight->kind != WF_FLIGHT_COLL && flight->kind != WF_FLIGHT_MEETING &&
            is_awaited(who, flight)) {
            describe(flight, flight->kind == WF_FLIGHT_SEND ? WF_STUCK_SEND : WF_STUCK_DATA,
                     out);
            if (out->coll != 0) {
                find_other(who, flight, out);
            }
            return true;
        }
    }
    return false;
}

static void describe_failure(const struct wf_rank *rank, struct wf_stuck *out)
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

void wf_mpi_stuck(const struct wf_caller *who, struct wf_stuck *out)
{
    const struct wf_rank *rank = who->rank;

    *out = (struct wf_stuck){
        .in = WF_STUCK_NOWHERE, .root = WF_STUCK_NO_ROOT, .other_root = WF_STUCK_NO_ROOT};
    if (rank->state == WF_RANK_FAILED) {
        describe_failure(rank, out);
    } else if (rank->state == WF_RANK_PROBING) {
        *out = (struct wf_stuck){
            .in = WF_STUCK_PROBE, .peer = rank->fail_peer, .tag = rank->probe_tag};
    } else if (rank->state == WF_RANK_WAITING && rank->flushing) {
        out->in = WF_STUCK_ONE_SIDED;
    } else if (rank->state == WF_RANK_WAITING && !find_posted(who, out) &&
               !find_flight(who, out)) {
        (void)wf_hardware_stuck(who, out);
    }
}

void wf_mpi_left(const struct wf_caller *who, struct wf_left *out)
{
    uint32_t first = who->rank->match.unexpected.head;

    *out = (struct wf_left){.messages = who->rank->match.unexpected.length};
    wf_hardware_left(who, out);
    if (first != 0) {
        const struct wf_match_key *key = &wf_flight_read(who, first)->key;
        bool of_collective = key->context == wf_mpi_context(key->context / 2, true);

        out->peer = key->src;
        out->tag = key->tag;
        out->coll = of_collective ? wf_collective_of_tag(key->tag) + 1 : 0;
        out->root = of_collective ? wf_stuck_root(key->tag, who->mpi->place->n_ranks)
                                  : WF_STUCK_NO_ROOT;
    }
}
