/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/node_totals.h"

#include "base/arith.h"
#include "base/mem.h"

enum wf_status wf_node_check(const struct wf_place *place, const struct wf_net *net, uint32_t n,
                             const char *what, struct wf_err *err)
{
    if (place->slots_max > WF_RANK_SLOTS_MAX) {
        return wf_err_set(err, WF_EINVAL, "%u %s on a node are too many; the limit is %d",
                          place->slots_max, what, WF_RANK_SLOTS_MAX);
    }
    if (net->ends.n_nodes != place->n_nodes || place->n_ranks != n) {
        return wf_err_set(err, WF_EINVAL,
                          "%u %s are placed on %u nodes; the jobs have %u, the network %u",
                          place->n_ranks, what, place->n_nodes, n, net->ends.n_nodes);
    }
    return WF_OK;
}

void wf_node_commit(const struct wf_net *net, const struct wf_recorder *recorder,
                    const struct wf_event *ev, struct wf_ctx *ctx)
{
    if (net->n_sums > 0 && net->ops->commit != NULL && wf_net_kind(ev) < WF_NET_KINDS) {
        net->ops->commit(net, ev, ctx);
    }
    if (wf_recorder_is_on(recorder)) {
        wf_recorder_commit(recorder, ctx);
    }
}

void wf_node_count_latency(const struct wf_recorder *recorder, struct wf_ranks_tally *tally,
                           int64_t latency)
{
    if (recorder->at.net_counters == 0) {
        wf_stat_add(&tally->latency, latency);
        return;
    }
    tally->at = recorder->at;
    wf_tally_latency(tally, wf_tally_net_counters(tally), latency);
}

void wf_node_finish(const struct wf_net *net, const struct wf_recorder *recorder,
                    const void *node, struct wf_ranks_tally *tally, struct wf_ctx *ctx)
{
    tally->at = recorder->at;
    for (uint32_t nic = 0; net->ops->finish != NULL && nic < net->ends.nics; nic++) {
        net->ops->finish(net, ctx, wf_net_part(net, wf_unconst(node), nic), nic, &tally->net);
    }
}

static void count_in_job(struct wf_job_tally *job, const struct wf_rank_totals *totals,
                         int64_t waits)
{
    job->messages += totals->messages;
    job->bytes = wf_count_add(job->bytes, totals->bytes);
    wf_stat_add(&job->compute, totals->compute_ps);
    wf_stat_add(&job->overhead, totals->overhead_ps);
    for (uint32_t in = 0; in < WF_IN_KINDS; in++) {
        if (totals->wait_ps[in] != WF_NO_WAIT) {
            wf_stat_add(&job->wait[in], totals->wait_ps[in]);
        }
    }
    wf_stat_add(&job->waits, waits);
    wf_tally_files_merge(&job->files, &totals->files);
    if (totals->ended) {
        wf_stat_add(&job->finish, totals->clock);
    }
}

void wf_node_count_rank(const struct wf_recorder *recorder, struct wf_ranks_tally *tally,
                        const struct wf_rank_totals *totals)
{
    struct wf_recording *recording = wf_recorder_recording(recorder, tally);
    struct wf_path *path = wf_recorder_path(recorder, tally);
    struct wf_account account = {
        .ranks = 1,
        .least_rank = totals->number + UINT64_C(1),
        .finish_ps = (uint64_t)totals->clock,
        .spent_ps = {[WF_SPENT_COMPUTING] = (uint64_t)totals->compute_ps,
                     [WF_SPENT_ON_MESSAGES] = (uint64_t)totals->overhead_ps},
    };
    int64_t waits = 0;

    wf_tally_end(tally, totals->number, totals->clock);
    tally->timeless += totals->clock == WF_TIME_MAX;
    tally->longest_message = wf_max_u64(tally->longest_message, totals->longest);
    for (uint32_t in = 0; in < WF_IN_KINDS; in++) {
        const struct wf_waited waited = {totals->wait_ps[in], totals->number, in};

        if (waited.time != WF_NO_WAIT) {
            waits = wf_time_add(waits, waited.time);
            wf_tally_wait(tally, &waited);
            account.spent_ps[(uint32_t)WF_SPENT_WAITING + in] = (uint64_t)waited.time;
        }
    }
    tally->at = recorder->at;
    count_in_job(&tally->all, totals, waits);
    if (tally->at.jobs != 0) {
        count_in_job(wf_tally_edit_job(tally, totals->job), totals, waits);
    }
    if (totals->ended && recorder->ends != NULL) {
        recorder->ends[totals->number] = totals->clock;
    }
    if (recording != NULL) {
        wf_recording_rank(recording, &account);
    }
    if (path != NULL) {
        wf_path_end(path, totals->number, totals->clock);
    }
}
