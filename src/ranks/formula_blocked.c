/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks wait for in collectives by a formula. Of a record (ranks/formula.c), `request` is
 * who is waited for and `peer` the rank's own collective, a cell. */
#include "ranks/formula.h"

static bool is_awaited(const struct wf_caller *who, const struct wf_rank_request *record)
{
    uint32_t cell = record->peer;

    return cell != 0 && (cell == who->rank->current ||
                         (wf_request_read(who, cell)->flags & WF_REQ_AWAITED) != 0);
}

/* Somebody has come to another collective in its place. */
static void find_other(const struct wf_caller *who, const struct wf_rank_request *record,
                       struct wf_blocked_on *out)
{
    uint32_t cell;

    for (uint32_t key = 0; (cell = wf_cellmap_next(who->ctx, &who->rank->handles, &key)) != 0;
         key++) {
        for (; cell != 0; cell = wf_request_read(who, cell)->next) {
            const struct wf_rank_request *other = wf_request_read(who, cell);

            if (other->kind != WF_REQ_FORMULA) {
                break;
            }
            if (other->peer == 0 && other->key.context == record->key.context &&
                wf_collective_replaces(other->key.tag, record->key.tag)) {
                out->other = wf_collective_of_tag(other->key.tag) + 1;
                out->other_root = wf_blocked_root(other->key.tag, who->mpi->place->n_ranks);
                out->root = wf_blocked_root(record->key.tag, who->mpi->place->n_ranks);
            }
        }
    }
}

bool wf_formula_find_blocked(const struct wf_caller *who, struct wf_blocked_on *out)
{
    uint32_t cell;

    for (uint32_t key = 0; (cell = wf_cellmap_next(who->ctx, &who->rank->handles, &key)) != 0;
         key++) {
        for (; cell != 0; cell = wf_request_read(who, cell)->next) {
            const struct wf_rank_request *record = wf_request_read(who, cell);

            if (record->kind != WF_REQ_FORMULA) {
                break;
            }
            if (is_awaited(who, record)) {
                *out = (struct wf_blocked_on){.in = WF_BLOCKED_RECV,
                                              .peer = record->request,
                                              .tag = record->key.tag,
                                              .group = record->key.context / 2,
                                              .coll = wf_collective_of_tag(record->key.tag) + 1,
                                              .root = WF_BLOCKED_NO_ROOT,
                                              .other_root = WF_BLOCKED_NO_ROOT};
                find_other(who, record, out);
                return true;
            }
        }
    }
    return false;
}

void wf_formula_find_leftover(const struct wf_caller *who, struct wf_leftover *out)
{
    uint32_t cell;

    for (uint32_t key = 0; (cell = wf_cellmap_next(who->ctx, &who->rank->handles, &key)) != 0;
         key++) {
        for (; cell != 0; cell = wf_request_read(who, cell)->next) {
            const struct wf_rank_request *record = wf_request_read(who, cell);

            if (record->kind != WF_REQ_FORMULA) {
                break;
            }
            if (record->peer == 0) {
                out->calls++;
                out->peer = WF_MATCH_ANY_SOURCE;
                out->coll = wf_collective_of_tag(record->key.tag) + 1;
                out->root = wf_blocked_root(record->key.tag, who->mpi->place->n_ranks);
            }
        }
    }
}
