/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a rank's state that only some ranks need, and how a rank ends. */
#include "model/ranks/coll_line.h"

const struct wf_rank_cold wf_rank_no_cold;

struct wf_rank_cold *wf_rank_cold_edit(const struct wf_caller *who)
{
    if (who->rank->cold == 0) {
        who->rank->cold = wf_cell_new_for(who->ctx, sizeof(struct wf_rank_cold));
    }
    return wf_cell_edit(who->ctx, who->rank->cold);
}

void wf_rank_cold_release(const struct wf_caller *who)
{
    struct wf_rank *rank = who->rank;
    const struct wf_rank_cold *cold = wf_rank_cold(who);

    if (rank->cold != 0 && rank->state == WF_RANK_ENDED && rank->match.posted.head == 0 &&
        cold->handles.count == 0 && cold->colls.count == 0 && cold->deferred == 0 &&
        cold->one_sided == 0 && cold->reading == 0 && cold->files == 0) {
        wf_cell_free(who->ctx, rank->cold);
        rank->cold = 0;
    }
}

void wf_rank_note_match(const struct wf_caller *who, uint32_t source, int32_t tag)
{
    const struct wf_ranks *ranks = who->ranks;
    struct wf_rank_cold *cold = wf_rank_cold_edit(who);

    cold->seen_source = source - ranks->first[wf_ranks_job_of(ranks, who->number)];
    cold->seen_tag = tag;
}

void wf_rank_end(const struct wf_caller *who)
{
    who->rank->state = WF_RANK_ENDED;
    if (wf_rank_cold(who)->colls.count > 0) {
        struct wf_cellmap *colls = &wf_rank_cold_edit(who)->colls;

        /* The rank begins no more collectives. */
        for (uint32_t key = 0;
             wf_cellmap_next(who->ctx, colls, &key) != 0 && key < WF_RANK_LINES;) {
            (void)wf_cellmap_take(who->ctx, colls, key);
        }
        wf_collective_lines_end(who);
    }
    wf_rank_cold_release(who);
}

void wf_rank_fail(const struct wf_caller *who, enum wf_failure failure, uint32_t peer)
{
    who->rank->state = WF_RANK_FAILED;
    who->rank->failure = (uint8_t)failure;
    wf_rank_cold_edit(who)->blocked_peer = peer;
}

void wf_rank_fail_sizes(const struct wf_caller *who, const struct wf_match_key *key,
                        uint64_t own, uint64_t other)
{
    bool collective = wf_rank_context_is_collective(key->context);

    wf_rank_fail(who, collective ? WF_FAILURE_SIZES : WF_FAILURE_TRUNCATED, key->src);
    who->rank->fail_own = own;
    wf_rank_cold_edit(who)->fail_other = other;
    wf_rank_cold_edit(who)->blocked_tag = key->tag;
    who->rank->fail_context = key->context;
}
