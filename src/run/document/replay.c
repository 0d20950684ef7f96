/* SPDX-License-Identifier: Apache-2.0 */
#include "run/document/document.h"

#include "base/arith.h"
#include "base/result/result.h"
#include "base/units.h"
#include "model/net/fault/fault.h"
#include "model/ranks/tally.h"
#include "program/ops/source.h"
#include "run/document/efficiency.h"

#include <inttypes.h>
#include <stdio.h>

void wf_document_spread(struct wf_value *parent, const char *name, const struct wf_stat *stat)
{
    struct wf_value *section = wf_doc_section(parent, name);

    wf_doc_count(section, "min", (uint64_t)stat->min);
    wf_doc_count(section, "mean", (uint64_t)wf_stat_mean(stat));
    wf_doc_count(section, "max", (uint64_t)stat->max);
}

void wf_document_add_rank(struct wf_value *item, const struct wf_document_jobs *jobs,
                          uint32_t rank)
{
    uint32_t job = wf_document_job_of(jobs, rank);

    if (jobs->n > 1) {
        wf_doc_count(item, "job", job);
    }
    wf_doc_count(item, "rank", rank - jobs->of[job].first);
}

static void add_blocked(struct wf_value *item, const struct wf_document_jobs *jobs,
                        const struct wf_blocked *blocked)
{
    const struct wf_blocked_on *on = &blocked->on;
    bool waits = blocked->failure == WF_FAILURE_NONE && on->in != WF_BLOCKED_NOWHERE;
    char words[WF_DOCUMENT_TEXT_MAX];

    wf_document_add_rank(item, jobs, blocked->rank);
    if (waits && on->peer != WF_MATCH_ANY_SOURCE) {
        wf_doc_count(item, "source",
                     on->peer - jobs->of[wf_document_job_of(jobs, on->peer)].first);
    }
    if (waits && on->coll == 0 && on->tag >= 0) {
        wf_doc_count(item, "tag", (uint64_t)on->tag);
    }
    if (waits) {
        wf_doc_bool(item, "collective", on->coll != 0);
    }
    wf_doc_text(item, "waits", wf_document_blocked_text(jobs, blocked, words));
}

static void add_waiting(struct wf_value *result, const struct wf_document_jobs *jobs,
                        const struct wf_ranks_tally *tally)
{
    struct wf_value *section = wf_doc_section(result, "waiting");

    wf_doc_count(section, "count", tally->unfinished);
    struct wf_value *list = wf_doc_list(section, "ranks");
    for (uint32_t i = 0; i < tally->n_blocked; i++) {
        add_blocked(wf_doc_section(list, NULL), jobs, &tally->blocked[i]);
    }
}

static void add_leftover(struct wf_value *result, const struct wf_document_jobs *jobs,
                         const struct wf_rank_leftover *leftover)
{
    struct wf_value *section = wf_doc_section(result, "left_over");
    char words[WF_DOCUMENT_TEXT_MAX];

    wf_document_add_rank(section, jobs, leftover->rank);
    wf_doc_text(section, "what", wf_document_leftover_text(jobs, leftover, words));
}

/* All ranks finished, but some messages were never received. */
static enum wf_status left_over(const struct wf_document_jobs *jobs,
                                const struct wf_ranks_tally *tally, struct wf_err *err)
{
    char words[WF_DOCUMENT_TEXT_MAX] = "";

    if (tally->n_leftover > 0) {
        (void)wf_document_leftover_text(jobs, &tally->leftover[0], words);
    }
    if (tally->unreceived + tally->uncalled == 0) {
        return wf_err_set(err, WF_ESIM,
                          "the simulated program ends with %" PRIu64
                          " receive%s that no message matched: %s",
                          tally->unmatched, tally->unmatched == 1 ? "" : "s", words);
    }
    if (tally->unreceived == 0) {
        return wf_err_set(err, WF_ESIM,
                          "the simulated program ends with a collective that not all ranks "
                          "called: %s",
                          words);
    }
    return wf_err_set(err, WF_ESIM,
                      "the simulated program ends with %" PRIu64
                      " message%s that no rank received%s%s",
                      tally->unreceived, tally->unreceived == 1 ? "" : "s",
                      words[0] != '\0' ? ": " : "", words);
}

/* Counts the ranks besides the first: ", 2 more fail, 3 more wait". */
static void count_others(const struct wf_ranks_tally *tally, char *buf, size_t size)
{
    uint64_t fail = tally->failed > 0 ? tally->failed - 1 : 0;
    uint64_t wait = tally->unfinished - 1 - fail;
    char failing[48] = "", waiting[48] = "";

    if (fail > 0) {
        (void)snprintf(failing, sizeof(failing), ", %" PRIu64 " more fail%s", fail,
                       fail == 1 ? "s" : "");
    }
    if (wait > 0) {
        (void)snprintf(waiting, sizeof(waiting), ", %" PRIu64 " more wait%s", wait,
                       wait == 1 ? "s" : "");
    }
    (void)snprintf(buf, size, "%s%s", failing, waiting);
}

const char *wf_document_losses(const struct wf_document_jobs *jobs,
                               const struct wf_net_totals *totals, char *buf)
{
    return jobs->faults != NULL
               ? wf_fault_text(jobs->faults, &totals->losses, buf, WF_FAULT_TEXT_MAX)
               : "";
}

/* Describes the failure in one sentence. */
static enum wf_status program_failed(const struct wf_run *run,
                                     const struct wf_document_jobs *jobs,
                                     const struct wf_ranks_tally *tally, struct wf_err *err)
{
    char time[WF_UNITS_TEXT_MAX], words[WF_DOCUMENT_TEXT_MAX], name[WF_DOCUMENT_NAME_MAX];
    char more[96], lost[WF_FAULT_TEXT_MAX];

    const struct wf_net_deadlock *deadlock =
        tally->net.deadlock.n > 0 ? &tally->net.deadlock : &jobs->stuck;

    if (deadlock->n > 0) {
        char queues[WF_NET_DEADLOCK_TEXT_MAX];
        int64_t at = tally->net.deadlock.n > 0 ? tally->net.deadlock_ps : run->time;
        return wf_err_set(err, WF_ESIM, "the network is in a deadlock, detected at %s: %.400s",
                          wf_human_time(at, time),
                          wf_net_deadlock_text(deadlock, queues, sizeof(queues)));
    }
    if (tally->unfinished == 0) {
        return left_over(jobs, tally, err);
    }
    count_others(tally, more, sizeof(more));
    return wf_err_set(err, WF_ESIM, "the simulated program %s at %s: %s %s%s%s",
                      tally->failed > 0 ? "fails" : "is deadlocked",
                      wf_human_time(run->time, time),
                      wf_document_rank_name(jobs, tally->blocked[0].rank, name),
                      wf_document_blocked_text(jobs, &tally->blocked[0], words), more,
                      wf_document_losses(jobs, &tally->net, lost));
}

/* The mean, rounded up. */
static int64_t mean_up(const struct wf_stat *stat)
{
    struct wf_stat more = *stat;

    if (stat->n == 0) {
        return 0;
    }
    more.sum_low += stat->n - 1;
    more.sum_high += more.sum_low < stat->sum_low;
    return wf_stat_mean(&more);
}

/* Adds the time between the end of each rank and the end of the last rank. */
static void add_idle(struct wf_value *section, const struct wf_stat *finish)
{
    struct wf_value *idle = wf_doc_section(section, "idle_ps");

    wf_doc_count(idle, "min", 0);
    /* Rounded down, like all means. */
    wf_doc_count(idle, "mean", (uint64_t)(finish->max - mean_up(finish)));
    wf_doc_count(idle, "max", (uint64_t)(finish->max - finish->min));
}

static void add_job(struct wf_value *section, const struct wf_job_tally *job)
{
    static const char *const waits[] = {[WF_IN_SEND] = "send_wait_ps",
                                        [WF_IN_RECV] = "receive_wait_ps",
                                        [WF_IN_COLLECTIVE] = "collective_wait_ps",
                                        [WF_IN_FILE] = "file_wait_ps",
                                        [WF_IN_CORE] = "core_wait_ps"};

    wf_doc_count(section, "finished", job->finish.n);
    wf_document_spread(section, "finish_ps", &job->finish);
    wf_document_spread(section, "compute_ps", &job->compute);
    for (int in = 0; in < WF_IN_KINDS; in++) {
        bool is_usual = in != WF_IN_CORE && in != WF_IN_FILE;
        if (is_usual || job->wait[in].n > 0) {
            wf_document_spread(section, waits[in], &job->wait[in]);
        }
    }
    wf_document_spread(section, "wait_ps", &job->waits);
    wf_document_spread(section, "overhead_ps", &job->overhead);
    add_idle(section, &job->finish);
}

/* The times of program `of`, which starts at `start`; UINT32_MAX: of all programs. */
static struct wf_efficiency_times times_of(const struct wf_document_jobs *jobs,
                                           const struct wf_ranks_tally *tally, uint32_t of,
                                           int64_t start)
{
    const struct wf_ranks_tally *const runs[] = {tally, jobs->ideal, jobs->free_network};
    const struct wf_job_tally *job[3] = {NULL};

    for (int i = 0; i < 3; i++) {
        job[i] = runs[i] == NULL    ? NULL
                 : of == UINT32_MAX ? &runs[i]->all
                                    : wf_tally_job(runs[i], of);
    }
    return (struct wf_efficiency_times){
        .mean_compute = wf_stat_mean(&job[0]->compute),
        .max_compute = job[0]->compute.max,
        .time = job[0]->finish.max - start,
        .ideal_time = job[1]->finish.max - start,
        .free_network_time = job[2] != NULL ? job[2]->finish.max - start : -1,
    };
}

static void add_waits(struct wf_value *result, const struct wf_document_jobs *jobs,
                      const struct wf_ranks_tally *tally)
{
    static const char *const in[] = {"send", "receive", "collective", "file", "core"};
    struct wf_value *list = wf_doc_list(result, "top_waits");

    for (uint32_t i = 0; i < tally->n_waits; i++) {
        struct wf_value *item = wf_doc_section(list, NULL);
        wf_document_add_rank(item, jobs, tally->waits[i].rank);
        wf_doc_text(item, "in", in[tally->waits[i].in]);
        wf_doc_count(item, "time_ps", (uint64_t)tally->waits[i].time);
    }
}

static void add_jobs(struct wf_value *result, const struct wf_document_jobs *jobs,
                     const struct wf_ranks_tally *tally, bool completed)
{
    struct wf_value *list = wf_doc_list(result, "jobs");

    for (uint32_t i = 0; i < jobs->n; i++) {
        struct wf_value *item = wf_doc_section(list, NULL);
        const struct wf_job_tally *job = wf_tally_job(tally, i);
        wf_doc_count(item, "messages", job->messages);
        wf_doc_count(item, "bytes", job->bytes);
        if (completed) {
            wf_doc_count(item, "time_ps", (uint64_t)(job->finish.max - jobs->of[i].start));
            wf_document_work(item, jobs, i, job);
        }
        add_job(wf_doc_section(item, "ranks"), job);
        if (completed && jobs->ideal != NULL) {
            const struct wf_efficiency_times times =
                times_of(jobs, tally, i, jobs->of[i].start);
            wf_efficiency_describe(item, &times);
        }
    }
}

static int64_t first_start(const struct wf_document_jobs *jobs)
{
    int64_t first = jobs->of[0].start;

    for (uint32_t i = 1; i < jobs->n; i++) {
        first = wf_min_i64(first, jobs->of[i].start);
    }
    return first;
}

struct wf_efficiency_times wf_document_efficiency_times(const struct wf_document_jobs *jobs,
                                                        const struct wf_ranks_tally *tally)
{
    return times_of(jobs, tally, UINT32_MAX, first_start(jobs));
}

/* Adds the parts that only some runs have. */
static void add_details(struct wf_value *result, const struct wf_document_jobs *jobs,
                        const struct wf_ranks_tally *tally, bool completed)
{
    if (completed && jobs->n == 1) {
        wf_document_work(result, jobs, 0, &tally->all);
    }
    if (tally->n_waits > 0) {
        add_waits(result, jobs, tally);
    }
    wf_document_marks(result, jobs, tally);
    if (jobs->n > 1) {
        add_jobs(result, jobs, tally, completed);
    }
    if (completed && jobs->ideal != NULL) {
        const struct wf_efficiency_times times = wf_document_efficiency_times(jobs, tally);
        wf_efficiency_describe(result, &times);
    }
}

static enum wf_status check_limits(const struct wf_ranks_tally *tally, struct wf_err *err)
{
    if (tally->timeless > 0) {
        return wf_err_set(err, WF_ELIMIT,
                          "simulated time passes 2^63 ps (106 days); shorten "
                          "the run or its delays");
    }
    if (tally->all.bytes == UINT64_MAX) {
        return wf_err_set(err, WF_ELIMIT,
                          "2^64 bytes or more are sent; shorten the run or its messages");
    }
    return WF_OK;
}

/* Checks that everything that entered the network left it. */
static enum wf_status check_network(const struct wf_net_totals *facts, struct wf_err *err)
{
    const struct wf_net_losses *lost = &facts->losses;

    if (facts->nodes == 0) {
        return WF_OK; /* the model does not count its packets */
    }
    if (facts->packets_sent == facts->packets_received + lost->n_packets &&
        facts->bytes_sent == facts->bytes_received + lost->n_bytes) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINTERNAL,
                      "the network lost packets: %" PRIu64 " packets of %" PRIu64
                      " bytes went in, %" PRIu64 " of %" PRIu64 " came out",
                      facts->packets_sent, facts->bytes_sent, facts->packets_received,
                      facts->bytes_received);
}

int64_t wf_document_end(const struct wf_ranks_tally *tally, const struct wf_run *run)
{
    return tally->unfinished == 0 ? tally->all.finish.max : run->time;
}

enum wf_status wf_document_replay(struct wf_value *result, const struct wf_run *run,
                                  const struct wf_document_jobs *jobs,
                                  const struct wf_ranks_tally *tally, bool interrupted,
                                  struct wf_err *err)
{
    bool stopped = !interrupted && run->events_dropped > 0 && tally->unfinished > 0;
    bool blocked = !interrupted && !stopped && (tally->unfinished > 0 || jobs->stuck.n > 0);
    bool ended = !interrupted && !stopped && !blocked;
    uint64_t left = tally->unreceived + tally->uncalled + tally->unmatched;
    bool failed = !interrupted && (tally->failed > 0 || (ended && left > 0));
    const struct wf_job_tally *all = &tally->all;
    enum wf_status status = check_limits(tally, err);

    if (status != WF_OK) {
        return status;
    }

    bool whole = !interrupted && run->events_dropped == 0;
    if (whole && jobs->stuck.n == 0 && check_network(&tally->net, err) != WF_OK) {
        return WF_EINTERNAL;
    }
    wf_doc_text(result, "status",
                interrupted ? WF_RESULT_INTERRUPTED
                : failed    ? WF_RESULT_FAILED
                : stopped   ? WF_RESULT_STOPPED
                : blocked   ? WF_RESULT_DEADLOCK
                            : WF_RESULT_COMPLETED);
    if (ended) {
        wf_doc_count(result, "predicted_time_ps", (uint64_t)all->finish.max);
    } else {
        wf_doc_count(result, "time_reached_ps", (uint64_t)run->time);
    }
    if (stopped) {
        wf_doc_count(result, "unfinished_ranks", tally->unfinished);
    }
    wf_doc_count(result, "messages", all->messages);
    wf_doc_count(result, "bytes", all->bytes);
    wf_doc_count(result, "unreceived_messages", tally->unreceived);
    if (tally->unmatched > 0) {
        wf_doc_count(result, "unmatched_receives", tally->unmatched);
    }
    if (tally->latency.n > 0) {
        wf_document_spread(result, "message_latency_ps", &tally->latency);
    }
    add_job(wf_doc_section(result, "ranks"), all);
    add_details(result, jobs, tally, ended);
    if (jobs->faults != NULL) {
        wf_fault_describe(jobs->faults, &tally->net.losses, result);
    }
    if (blocked) {
        add_waiting(result, jobs, tally);
    } else if (failed && tally->n_leftover > 0) {
        add_leftover(result, jobs, &tally->leftover[0]);
    }
    wf_document_digest(result, wf_tally_digest(tally, run->digest));
    return blocked || failed ? program_failed(run, jobs, tally, err) : WF_OK;
}
