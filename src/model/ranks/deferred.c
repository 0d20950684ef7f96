/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/deferred.h"

#include "model/ranks/collective.h"
#include "model/ranks/rendezvous.h"

int64_t wf_rank_progress(const struct wf_caller *who, int64_t at)
{
    const struct wf_rank *rank = who->rank;
    bool ahead = rank->clock > wf_now(who->ctx) ||
                 (who->ranks->timeshare != NULL && wf_rank_claim(who)->left > 0);

    return who->ranks->mpi->progress != WF_PROGRESS_INDEPENDENT && rank->computes && ahead
               ? WF_NET_LATER
               : at;
}

/* A blocking collective that spends CPU time on messages does not wait meanwhile. */
bool wf_rank_is_attentive(const struct wf_caller *who)
{
    const struct wf_rank *rank = who->rank;

    uint32_t current = wf_rank_cold(who)->current;

    if (rank->state == WF_RANK_WAITING && current != 0) {
        const struct wf_rank_request *coll = wf_request_read(who, current);

        return (coll->flags & (WF_REQ_POSTED | WF_REQ_IN_LINE | WF_REQ_BEGINS)) != 0 ||
               wf_collective_is_formula(&coll->coll);
    }
    return rank->state == WF_RANK_WAITING || rank->state == WF_RANK_PROBING ||
           rank->state == WF_RANK_POLLING || rank->state == WF_RANK_ENDED;
}

int64_t wf_rank_attend(const struct wf_caller *who, int64_t at, int64_t arrived)
{
    if (!wf_ranks_read_in_waits(who->ranks)) {
        return wf_rank_progress(who, at);
    }
    return wf_rank_is_attentive(who) || arrived <= wf_rank_cold(who)->attended ? at
                                                                               : WF_NET_LATER;
}

static uint32_t *next_deferred(struct wf_rank_request *req)
{
    return req->kind == WF_REQ_COLL ? &req->coll.next_deferred : &req->msg.next_deferred;
}

/* The list of deferred operations begins with the latest; returns it in the other order. */
static uint32_t from_earliest(const struct wf_caller *who, uint32_t cell)
{
    uint32_t first = 0;

    while (cell != 0) {
        uint32_t *next = next_deferred(wf_request_edit(who, cell));
        uint32_t after = *next;

        *next = first;
        first = cell;
        cell = after;
    }
    return first;
}

static void run_one(const struct wf_caller *who, uint32_t cell, int64_t at)
{
    struct wf_rank_request *req = wf_request_edit(who, cell);

    req->flags &= (uint16_t)~WF_REQ_DEFERRED;
    if (req->kind == WF_REQ_COLL) {
        wf_collective_run_deferred(who, cell, at);
    } else {
        wf_rendezvous_run_deferred(who, cell, at);
    }
}

void wf_rank_run_deferred(const struct wf_caller *who)
{
    while (wf_rank_cold(who)->deferred != 0) {
        struct wf_rank_cold *cold = wf_rank_cold_edit(who);
        uint32_t cell = cold->deferred;

        cold->deferred = *next_deferred(wf_request_edit(who, cell));
        run_one(who, cell, who->rank->clock);
    }
}

/* Operations that continue may defer others. Those wait for the next time: only operations that
 * are in the list now continue. */
struct wf_deferred wf_deferred_begin(const struct wf_caller *who)
{
    uint32_t first = from_earliest(who, wf_rank_cold(who)->deferred);

    if (first != 0) {
        wf_rank_cold_edit(who)->deferred = 0;
        wf_rank_cold_edit(who)->reading = 1;
    }
    return (struct wf_deferred){
        .cell = first, .any = first != 0, .at = wf_max_i64(who->rank->clock, wf_now(who->ctx))};
}

bool wf_deferred_next(const struct wf_caller *who, struct wf_deferred *list)
{
    uint32_t cell = list->cell;

    if (cell == 0) {
        if (list->any) {
            wf_rank_cold_edit(who)->reading = 0;
            wf_rank_cold_release(who);
        }
        return false;
    }
    list->cell = *next_deferred(wf_request_edit(who, cell));
    run_one(who, cell, list->at);
    return true;
}
