/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/explain.h"

#include "base/result/result.h"
#include "base/result/times.h"
#include "base/text.h"
#include "ui/report/explain_limit.h"
#include "ui/report/path_text.h"

#include <string.h>

/* A link that is busy for longer than this makes packets wait. */
static const double busy_percent = 70;

static uint64_t predicted(const struct wf_value *doc)
{
    return wf_doc_get_count(doc, "result.predicted_time_ps",
                            wf_doc_get_count(doc, "result.time_reached_ps", 0));
}

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

/* ---- one function per line; it returns false to print nothing ---- */

static bool explain_result(const struct wf_value *doc, struct wf_phrase *out)
{
    bool completed =
        strcmp(wf_doc_get_text(doc, "result.status", ""), WF_RESULT_COMPLETED) == 0;

    if (wf_doc_find(doc, "result.ranks") == NULL) {
        return false;
    }
    (void)wf_phrase_fill(out, doc,
                         completed ? "The program takes "
                                   : "The program does not complete ({result.status}); it "
                                     "reaches ");
    wf_phrase_time(out, predicted(doc));
    (void)wf_phrase_fill(out, doc,
                         " on {scenario.ranks:rank|ranks}, predicted with the network model "
                         "{scenario.network|?}[ on {scenario.machine}]"
                         "[{scenario.machine!}[ on {scenario.topology}]]"
                         "[, {result.nodes_used:node|nodes} used]"
                         "[; when it was recorded it took {result.recorded_time_ps}].");
    return true;
}

static bool explain_failure(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *ranks = wf_doc_find(doc, "result.waiting.ranks");

    return ranks != NULL && ranks->first != NULL &&
           wf_phrase_fill(out, ranks->first, "Rank {rank:plain} {waits|waits}.");
}

/* Where the time of a rank goes, the largest part first. */
static bool explain_split(const struct wf_value *doc, struct wf_phrase *out)
{
    enum { PARTS_MAX = 16 };
    const struct wf_result_rank_time *const parts = wf_result_rank_times;
    uint64_t time = predicted(doc);
    bool told[PARTS_MAX] = {false};
    int n = 0;

    for (; time > 0; n++) {
        size_t most = PARTS_MAX;
        uint64_t mean = 0;
        for (size_t i = 0; parts[i].path != NULL && i < PARTS_MAX; i++) {
            uint64_t here = wf_doc_get_count(doc, parts[i].mean, 0);
            if (!told[i] && here > mean) {
                mean = here;
                most = i;
            }
        }
        if (most == PARTS_MAX || (n > 0 && share(mean, time) < 0.05)) {
            break;
        }
        told[most] = true;
        wf_phrase_add(out, n == 0 ? "Of the time of a rank, %.1f %% is %s" : ", %.1f %% %s",
                      share(mean, time), parts[most].words);
    }
    wf_phrase_add(out, " (means over all ranks).");
    return n > 0;
}

static bool explain_longest_wait(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *waits = wf_doc_find(doc, "result.top_waits");

    /* The critical path says more. */
    if (waits == NULL || waits->first == NULL ||
        wf_doc_find(doc, "critical_path.shares") != NULL) {
        return false;
    }
    (void)wf_phrase_fill(out, waits->first, "Rank {rank:plain} waits longest: {time_ps}");
    const char *in = wf_doc_get_text(waits->first, "in", "its");
    bool core = strcmp(in, "core") == 0;
    wf_phrase_add(out, "%s%s%s (%.1f %% of the time).", core ? " for its " : " in ", in,
                  core ? "" : " operations",
                  share(wf_doc_get_count(waits->first, "time_ps", 0), predicted(doc)));
    return true;
}

static bool explain_messages(const struct wf_value *doc, struct wf_phrase *out)
{
    uint64_t n = wf_doc_get_count(doc, "result.messages", 0);

    if (n == 0) {
        return false;
    }
    (void)wf_phrase_fill(out, doc, "{result.messages:message|messages} of ");
    wf_phrase_size(out, wf_doc_get_count(doc, "result.bytes", 0) / n);
    (void)wf_phrase_fill(out, doc,
                         " on average[{result.message_latency_ps?} take "
                         "{result.message_latency_ps.mean}, the slowest "
                         "{result.message_latency_ps.max}].");
    return true;
}

static bool explain_links(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *hot = wf_doc_find(doc, "result.network.hot_links");

    if (hot == NULL || hot->first == NULL) {
        return false;
    }
    bool queues = wf_doc_get_real(hot->first, "busy_percent", 0) >= busy_percent;
    return wf_phrase_fill(
        out, hot->first,
        queues ? "The busiest link, from vertex {vertex:plain} to {to:plain}, is busy for "
                 "{busy_percent:.1} % of the time[: packets queue there, the longest for "
                 "{peak_wait_ps:time}]."
               : "The busiest link, from vertex {vertex:plain} to {to:plain}, is busy for "
                 "{busy_percent:.1} % of the time[, and packets wait there for at most "
                 "{peak_wait_ps:time}].");
}

static const struct wf_phrase_line lines[] = {
    {"", .write = explain_result},
    /* How far the prediction can be off because of uncertain inputs. */
    {"", "result",
     .text = "[In 90 % of {uncertainty.completed:repeated run|repeated runs} with uncertain "
             "inputs it "
             "takes {predicted_time_p05_ps} to {predicted_time_p95_ps}.]"},
    {"", .write = explain_failure},
    {"", "result",
     .text = "The network accepts {accepted_load:.4} of the {offered_load:.4} phits per node "
             "and cycle "
             "that are offered; a message takes {latency_cycles.mean:.1} cycles on average; "
             "the 99th "
             "percentile is {latency_cycles.p99:.0} cycles."},
    {"", .write = explain_split},
    {"", .write = wf_explain_training},
    {"", .write = wf_explain_limit},
    {"", .write = wf_explain_savings},
    {"", .write = wf_explain_path},
    {"", .write = wf_explain_path_places},
    {"", .write = wf_explain_what_if},
    {"", .write = explain_longest_wait},
    {"", .write = explain_messages},
    {"", .write = explain_links},
    {"", .write = wf_explain_next},
    {.label = NULL},
};

void wf_explain(const struct wf_value *doc, const char *limits, FILE *out)
{
    wf_phrase_print_lines(lines, doc, 0, out);
    if (limits != NULL) {
        wf_text_print(out, "Note: with the model %s %s.\n",
                      wf_doc_get_text(doc, "scenario.network", ""), limits);
    }
}
