/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks wait for in collectives by a formula. Of a meeting (ranks/formula.c), `request` is
 * who is waited for and `peer` the rank's own collective, a cell. */
#include "ranks/formula.h"

static bool is_awaited(const struct wf_caller *who, const struct wf_flight *meeting)
{
    uint32_t cell = meeting->peer;

    return cell != 0 && (cell == who->rank->current ||
                         (wf_flight_read(who, cell)->flags & WF_FLIGHT_AWAITED) != 0);
}

/* Somebody has come to another collective in its place. */
static void find_other(const struct wf_caller *who, const struct wf_flight *meeting,
                       struct wf_stuck *out)
{
    uint32_t cell;

    for (uint32_t key = 0; (cell = wf_cellmap_next(who->ctx, &who->rank->flights, &key)) != 0;
         key++) {
        for (; cell != 0; cell = wf_flight_read(who, cell)->next) {
            const struct wf_flight *other = wf_flight_read(who, cell);

            if (other->kind != WF_FLIGHT_MEETING) {
                break;
            }
            if (other->peer == 0 && other->key.context == meeting->key.context &&
                wf_collective_replaces(other->key.tag, meeting->key.tag)) {
                out->other = wf_collective_of_tag(other->key.tag) + 1;
                out->other_root = wf_stuck_root(other->key.tag, who->mpi->place->n_ranks);
                out->root = wf_stuck_root(meeting->key.tag, who->mpi->place->n_ranks);
            }
        }
    }
}

bool wf_hardware_stuck(const struct wf_caller *who, struct wf_stuck *out)
{
    uint32_t cell;

    for (uint32_t key = 0; (cell = wf_cellmap_next(who->ctx, &who->rank->flights, &key)) != 0;
         key++) {
        for (; cell != 0; cell = wf_flight_read(who, cell)->next) {
            const struct wf_flight *meeting = wf_flight_read(who, cell);

            if (meeting->kind != WF_FLIGHT_MEETING) {
                break;
            }
            if (is_awaited(who, meeting)) {
                *out = (struct wf_stuck){.in = WF_STUCK_RECV,
                                         .peer = meeting->request,
                                         .tag = meeting->key.tag,
                                         .group = meeting->key.context / 2,
                                         .coll = wf_collective_of_tag(meeting->key.tag) + 1,
                                         .root = WF_STUCK_NO_ROOT,
                                         .other_root = WF_STUCK_NO_ROOT};
                find_other(who, meeting, out);
                return true;
            }
        }
    }
    return false;
}

void wf_hardware_left(const struct wf_caller *who, struct wf_left *out)
{
    uint32_t cell;

    for (uint32_t key = 0; (cell = wf_cellmap_next(who->ctx, &who->rank->flights, &key)) != 0;
         key++) {
        for (; cell != 0; cell = wf_flight_read(who, cell)->next) {
            const struct wf_flight *meeting = wf_flight_read(who, cell);

            if (meeting->kind != WF_FLIGHT_MEETING) {
                break;
            }
            if (meeting->peer == 0) {
                out->calls++;
                out->peer = WF_MATCH_ANY_SOURCE;
                out->coll = wf_collective_of_tag(meeting->key.tag) + 1;
                out->root = wf_stuck_root(meeting->key.tag, who->mpi->place->n_ranks);
            }
        }
    }
}
