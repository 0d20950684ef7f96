/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/record.h"

#include "base/units.h"
#include "engine/config.h"
#include "replay/tally.h"
#include "result/result.h"
#include "sim/plan.h"

#include <inttypes.h>
#include <stdio.h>

/* Decimal places of what was measured. */
enum { SECONDS_DECIMALS = 6, PERCENT_DECIMALS = 3, RATE_DECIMALS = 0, WINDOW_DECIMALS = 3 };

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

void wf_record_run(struct wf_value *root, const struct wf_plan *plan, const struct wf_run *run,
                   uint64_t memory_estimate)
{
    struct wf_value *section = wf_doc_section(root, "run");
    double committed = (double)run->events_committed;

    wf_doc_text(section, "scheduler", wf_scheduler_names[plan->engine.scheduler]);
    wf_doc_count(section, "threads", run->threads);
    wf_doc_count(section, "processes", run->processes);
    wf_doc_measured(section, "wall_seconds", run->wall_seconds, SECONDS_DECIMALS);
    wf_doc_measured(section, "cpu_seconds", run->cpu_seconds, SECONDS_DECIMALS);
    wf_doc_count(section, "events_committed", run->events_committed);
    wf_doc_count(section, "events_rolled_back", run->events_rolled_back);
    wf_doc_measured(section, "efficiency_percent", wf_run_efficiency_percent(run),
                    PERCENT_DECIMALS);
    wf_doc_measured(section, "events_per_cpu_second", ratio(committed, run->cpu_seconds),
                    RATE_DECIMALS);
    wf_doc_measured(section, "events_per_wall_second", ratio(committed, run->wall_seconds),
                    RATE_DECIMALS);
    wf_doc_count(section, "rollbacks", run->rollbacks);
    wf_doc_count(section, "anti_messages", run->anti_messages);
    wf_doc_count(section, "gvt_rounds", run->gvt_rounds);
    wf_doc_measured(section, "gvt_seconds", run->gvt_seconds, SECONDS_DECIMALS);
    wf_doc_count(section, "windows", run->windows);
    wf_doc_measured(section, "events_per_window", ratio(committed, (double)run->windows),
                    WINDOW_DECIMALS);
    wf_doc_count(section, "remote_events", run->remote_events);
    wf_doc_count(section, "memory_throttles", run->memory_throttles);
    wf_doc_count(section, "memory_estimate_bytes", memory_estimate);
    wf_doc_count(section, "peak_rss_bytes", run->peak_rss_bytes);
    wf_doc_count(section, "thread_events_min", run->thread_events_min);
    wf_doc_count(section, "thread_events_max", run->thread_events_max);
    wf_plan_describe_block(plan, "engine", section, "parameters");
}

void wf_record_digest(struct wf_value *result, uint64_t digest)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%016" PRIx64, digest);
    wf_doc_text(result, "digest", text);
}

static void add_spread(struct wf_value *parent, const char *name, const struct wf_stat *stat)
{
    struct wf_value *section = wf_doc_section(parent, name);

    wf_doc_count(section, "min", (uint64_t)stat->min);
    wf_doc_count(section, "mean", (uint64_t)wf_stat_mean(stat));
    wf_doc_count(section, "max", (uint64_t)stat->max);
}

static void word_blocked(const struct wf_blocked *blocked, char *buf, size_t size)
{
    if (!blocked->waits) {
        (void)snprintf(buf, size, "has not come to its end");
    } else if (blocked->collective) {
        (void)snprintf(buf, size, "waits in a collective for rank %" PRIu32, blocked->source);
    } else {
        (void)snprintf(buf, size, "waits for a message from rank %" PRIu32 " with tag %" PRId32,
                       blocked->source, blocked->tag);
    }
}

static void add_waiting(struct wf_value *result, const struct wf_replay_tally *tally)
{
    struct wf_value *section = wf_doc_section(result, "waiting");

    wf_doc_count(section, "count", tally->unfinished);
    struct wf_value *list = wf_doc_list(section, "ranks");
    for (uint32_t i = 0; i < tally->n_blocked; i++) {
        const struct wf_blocked *blocked = &tally->blocked[i];
        struct wf_value *item = wf_doc_section(list, NULL);
        char words[128];

        wf_doc_count(item, "rank", blocked->rank);
        if (blocked->waits) {
            wf_doc_count(item, "source", blocked->source);
            wf_doc_bool(item, "collective", blocked->collective != 0);
        }
        if (blocked->waits && !blocked->collective) {
            wf_doc_count(item, "tag", (uint64_t)blocked->tag);
        }
        word_blocked(blocked, words, sizeof(words));
        wf_doc_text(item, "waits", words);
    }
}

static enum wf_status deadlock(const struct wf_run *run, const struct wf_replay_tally *tally,
                               struct wf_err *err)
{
    char time[WF_UNITS_TEXT_MAX], words[128] = "waits", more[64] = "";

    if (tally->n_blocked > 0) {
        word_blocked(&tally->blocked[0], words, sizeof(words));
    }
    if (tally->unfinished > 1) {
        (void)snprintf(more, sizeof(more), ", %" PRIu64 " more wait%s", tally->unfinished - 1,
                       tally->unfinished == 2 ? "s" : "");
    }
    return wf_err_set(err, WF_ESIM,
                      "the simulated program is deadlocked at %s: rank %" PRIu32 " %s%s",
                      wf_human_time(run->time, time), tally->blocked[0].rank, words, more);
}

/* What went into the network came out of it. */
static enum wf_status check_network(const struct wf_net_facts *facts, struct wf_err *err)
{
    if (facts->packets_sent == facts->packets_received &&
        facts->bytes_sent == facts->bytes_received) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINTERNAL,
                      "the network lost something: %" PRIu64 " packets of %" PRIu64
                      " bytes went in, %" PRIu64 " of %" PRIu64 " came out",
                      facts->packets_sent, facts->bytes_sent, facts->packets_received,
                      facts->bytes_received);
}

enum wf_status wf_record_replay(struct wf_value *result, const struct wf_run *run,
                                const struct wf_replay_tally *tally, bool interrupted,
                                struct wf_err *err)
{
    bool stuck = !interrupted && tally->unfinished > 0;

    if (tally->timeless > 0 || tally->bytes == UINT64_MAX) {
        return wf_err_set(err, WF_ELIMIT, "%s; shorten the run or its %s",
                          tally->timeless > 0 ? "simulated time passes 2^63 ps (106 days)"
                                              : "2^64 bytes or more are sent",
                          tally->timeless > 0 ? "delays" : "messages");
    }

    if (!interrupted && check_network(&tally->net, err) != WF_OK) {
        return WF_EINTERNAL;
    }

    wf_doc_text(result, "status",
                interrupted ? WF_RESULT_INTERRUPTED
                : stuck     ? WF_RESULT_DEADLOCK
                            : WF_RESULT_COMPLETED);
    if (interrupted || stuck) {
        wf_doc_count(result, "time_reached_ps", (uint64_t)run->time);
    } else {
        wf_doc_count(result, "predicted_time_ps", (uint64_t)tally->finish.max);
    }
    wf_doc_count(result, "messages", tally->messages);
    wf_doc_count(result, "bytes", tally->bytes);
    wf_doc_count(result, "unreceived_messages", tally->unreceived);
    if (tally->latency.n > 0) {
        add_spread(result, "message_latency_ps", &tally->latency);
    }

    struct wf_value *ranks = wf_doc_section(result, "ranks");
    wf_doc_count(ranks, "finished", tally->finish.n);
    add_spread(ranks, "finish_ps", &tally->finish);
    add_spread(ranks, "compute_ps", &tally->compute);
    add_spread(ranks, "wait_ps", &tally->wait);
    add_spread(ranks, "overhead_ps", &tally->overhead);
    if (stuck) {
        add_waiting(result, tally);
    }
    wf_record_digest(result, wf_tally_digest(tally, run->digest));
    return stuck ? deadlock(run, tally, err) : WF_OK;
}
