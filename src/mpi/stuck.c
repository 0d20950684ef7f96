/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/stuck.h"

#include "mpi/hardware.h"

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

static void describe(const struct wf_flight *flight, enum wf_stuck_in in, struct wf_stuck *out)
{
    *out = (struct wf_stuck){.in = (uint32_t)in,
                             .peer = flight->peer,
                             .tag = flight->key.tag,
                             .group = flight->key.context / 2};
    if (flight->owner != 0) {
        out->coll = wf_collective_of_tag(flight->key.tag) + 1;
    }
}

/* A message of another collective in the place of this one: its sender did not call the same.
 * Best that is the peer; but any of the others lets the rank wait for ever. */
static void find_other(const struct wf_caller *who, struct wf_stuck *out)
{
    uint32_t context = wf_mpi_context(out->group, true), from = out->peer;

    for (uint32_t cell = who->rank->match.unexpected.head; cell != 0;
         cell = wf_flight_read(who, cell)->link.next) {
        const struct wf_flight *message = wf_flight_read(who, cell);

        if (message->key.context != context ||
            !wf_collective_replaces(message->key.tag, out->tag) ||
            (out->other != 0 && message->key.src != from)) {
            continue;
        }
        out->other = wf_collective_of_tag(message->key.tag) + 1;
        out->peer = message->key.src;
        if (message->key.src == from) {
            return;
        }
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
                find_other(who, out);
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
        if (flight->kind != WF_FLIGHT_COLL && is_awaited(who, flight)) {
            describe(flight, flight->kind == WF_FLIGHT_SEND ? WF_STUCK_SEND : WF_STUCK_DATA,
                     out);
            if (out->coll != 0) {
                find_other(who, out);
            }
            return true;
        }
    }
    return false;
}

void wf_mpi_stuck(const struct wf_caller *who, struct wf_stuck *out)
{
    const struct wf_rank *rank = who->rank;

    *out = (struct wf_stuck){.in = WF_STUCK_NOWHERE};
    if (rank->state == WF_RANK_PROBING) {
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
    }
}
