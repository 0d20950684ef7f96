/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/writer.h"

#include "base/result/result.h"
#include "base/text.h"
#include "ui/report/path_text.h"

#include <inttypes.h>
#include <string.h>

/*
 * The result as text: first the question and the answer, then how the run went. Each line is a
 * row of a table, with a label and a function that writes the line or returns false to leave it
 * out. A verbose report lists every value after that.
 */

enum { LABEL_WIDTH = 16, NAME_WIDTH = 28 };

#define PREDICTED "result.predicted_time_ps"

/* A line about the value at `path`, left out if there is none. Without a path, it is about the
 * document. */
struct line {
    const char *label;
    const char *path;
    bool (*write)(const struct wf_value *value, struct wf_phrase *out);
};

/* ---- the lines ---- */

static bool line_scenario(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *ranks = wf_doc_find(doc, "scenario.ranks");
    const struct wf_value *jobs = wf_doc_find(doc, "scenario.jobs");

    wf_phrase_add(out, "%s", wf_doc_get_text(doc, "scenario.source", "?"));
    if (ranks != NULL) {
        wf_phrase_add(out, " on ");
        wf_phrase_number_of(out, ranks->count, "rank", "ranks");
    }
    if (jobs != NULL && jobs->type == WF_VALUE_LIST) {
        wf_phrase_add(out, ", and other jobs");
    }
    return true;
}

static bool line_network(const struct wf_value *doc, struct wf_phrase *out)
{
    const char *network = wf_doc_get_text(doc, "scenario.network", NULL);
    const char *topology = wf_doc_get_text(doc, "scenario.topology", NULL);

    if (network == NULL) {
        return false;
    }
    wf_phrase_add(out, "%s", network);
    if (topology != NULL) {
        wf_phrase_add(out, " on %s", topology);
    }
    return true;
}

static void line_left_over(const struct wf_value *doc, struct wf_phrase *out)
{
    uint64_t messages = wf_doc_get_count(doc, "result.unreceived_messages", 0);
    const char *what = wf_doc_get_text(doc, "result.left_over.what", NULL);

    if (messages > 0) {
        wf_phrase_add(out, ": no rank received ");
        wf_phrase_number_of(out, messages, "message", "messages");
    } else if (what != NULL) {
        wf_phrase_add(out, ": %s", what);
    }
}

static bool line_status(const struct wf_value *doc, struct wf_phrase *out)
{
    const char *status = wf_doc_get_text(doc, "result.status", WF_RESULT_COMPLETED);
    const struct wf_value *time = wf_doc_find(doc, "result.time_reached_ps");

    if (strcmp(status, WF_RESULT_COMPLETED) == 0) {
        return false;
    }
    wf_phrase_add(out, "%s", status);
    if (time != NULL) {
        wf_phrase_add(out, " at simulated time ");
        wf_phrase_time(out, time->count);
    } else {
        line_left_over(doc, out);
    }
    if (strcmp(status, WF_RESULT_INTERRUPTED) == 0) {
        wf_phrase_add(out, "; what follows is partial");
    } else if (strcmp(status, WF_RESULT_STOPPED) == 0) {
        wf_phrase_add(out, " (until), before ");
        wf_phrase_number_of(out, wf_doc_get_count(doc, "result.unfinished_ranks", 0), "rank",
                            "ranks");
        wf_phrase_add(out, " ended; operations in progress count as a whole");
    }
    return true;
}

static bool line_time(const struct wf_value *time, struct wf_phrase *out)
{
    wf_phrase_time(out, time->count);
    return true;
}

/* Adds "1 ms .. 2 ms", the quantiles 5 % and 95 %. */
static void add_interval(struct wf_phrase *out, const struct wf_value *low,
                         const struct wf_value *high)
{
    wf_phrase_time(out, low->count);
    wf_phrase_add(out, " .. ");
    wf_phrase_time(out, high->count);
}

static bool line_interval(const struct wf_value *result, struct wf_phrase *out)
{
    const struct wf_value *low = wf_doc_find(result, "predicted_time_p05_ps");
    const struct wf_value *high = wf_doc_find(result, "predicted_time_p95_ps");

    if (low == NULL || high == NULL) {
        return false;
    }
    add_interval(out, low, high);
    wf_phrase_add(out, ", median ");
    wf_phrase_time(out, wf_doc_get_count(result, "predicted_time_p50_ps", 0));
    wf_phrase_add(out, ", of ");
    wf_phrase_number_of(out, wf_doc_get_count(result, "uncertainty.completed", 0), "run",
                        "runs");
    return true;
}

/* Says what is uncertain: "2 settings, 95 % of the compute time". */
static bool line_uncertain(const struct wf_value *uncertainty, struct wf_phrase *out)
{
    const char *none = wf_doc_get_text(uncertainty, "none", NULL);
    uint64_t settings = wf_doc_get_count(uncertainty, "settings", 0);
    const struct wf_value *varied = wf_doc_find(uncertainty, "compute.varied_time_percent");

    if (none != NULL) {
        wf_phrase_add(out, "none: %s", none);
        return true;
    }
    wf_phrase_number_of(out, settings, "setting", "settings");
    if (varied != NULL) {
        wf_phrase_add(out, ", %" PRIu64 " %% of the compute time", varied->count);
    } else {
        wf_phrase_add(out, "; not compute times: %s",
                      wf_doc_get_text(uncertainty, "compute.kept", "?"));
    }
    if (wf_doc_is_true(uncertainty, "noise")) {
        wf_phrase_add(out, ", noise of the nodes");
    }
    return true;
}

static bool line_count(const struct wf_value *count, struct wf_phrase *out)
{
    wf_phrase_count(out, count->count);
    return true;
}

static bool line_messages(const struct wf_value *result, struct wf_phrase *out)
{
    wf_phrase_count(out, wf_doc_get_count(result, "messages", 0));
    wf_phrase_add(out, ", ");
    wf_phrase_size(out, wf_doc_get_count(result, "bytes", 0));
    return wf_doc_find(result, "messages") != NULL;
}

static bool line_spread(const struct wf_value *spread, struct wf_phrase *out)
{
    wf_phrase_spread(out, spread);
    return true;
}

/* Leaves out times that are 0, as they are in most programs. */
static bool line_if_any(const struct wf_value *spread, struct wf_phrase *out)
{
    wf_phrase_spread(out, spread);
    return wf_doc_get_count(spread, "max", 0) > 0;
}

static bool line_latency(const struct wf_value *spread, struct wf_phrase *out)
{
    uint64_t min = wf_doc_get_count(spread, "min", 0);
    uint64_t max = wf_doc_get_count(spread, "max", 0);

    wf_phrase_time(out, wf_doc_get_count(spread, "mean", 0));
    if (min == max) {
        wf_phrase_add(out, " each");
        return true;
    }
    wf_phrase_add(out, " mean (");
    wf_phrase_time(out, min);
    wf_phrase_add(out, " .. ");
    wf_phrase_time(out, max);
    wf_phrase_add(out, ")");
    return true;
}

static bool line_finish(const struct wf_value *ranks, struct wf_phrase *out)
{
    const struct wf_value *spread = wf_doc_find(ranks, "finish_ps");

    if (spread == NULL || wf_doc_get_count(ranks, "finished", 1) == 0) {
        return false;
    }
    wf_phrase_spread(out, spread);
    return true;
}

/* "13.5 kW", "43.6 J" */
static void add_amount(struct wf_phrase *out, double value, const char *unit)
{
    wf_phrase_real(out, value);
    bool has_prefix = out->used > 0 && strchr("0123456789", out->text[out->used - 1]) == NULL;
    wf_phrase_add(out, "%s%s", has_prefix ? "" : " ", unit);
}

static bool line_energy(const struct wf_value *energy, struct wf_phrase *out)
{
    add_amount(out, wf_doc_get_real(energy, "joules", 0), "J");
    wf_phrase_add(out, ", mean power ");
    add_amount(out, wf_doc_get_real(energy, "mean_watts", 0), "W");
    return true;
}

static bool line_efficiency(const struct wf_value *efficiency, struct wf_phrase *out)
{
    wf_phrase_add(out,
                  "%.1f %% = load balance %.1f %% x serialisation %.1f %% x transfer %.1f %%",
                  wf_doc_get_real(efficiency, "parallel_percent", 0),
                  wf_doc_get_real(efficiency, "load_balance_percent", 0),
                  wf_doc_get_real(efficiency, "serialisation_percent", 0),
                  wf_doc_get_real(efficiency, "transfer_percent", 0));
    return true;
}

static bool line_efficiency_interval(const struct wf_value *efficiency, struct wf_phrase *out)
{
    static const struct {
        const char *low, *high, *words;
    } parts[] = {
        {"parallel_p05_percent", "parallel_p95_percent", ""},
        {"load_balance_p05_percent", "load_balance_p95_percent", " = load balance "},
        {"serialisation_p05_percent", "serialisation_p95_percent", " x serialisation "},
        {"transfer_p05_percent", "transfer_p95_percent", " x transfer "},
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        wf_phrase_add(out, "%s%.1f .. %.1f %%", parts[i].words,
                      wf_doc_get_real(efficiency, parts[i].low, 0),
                      wf_doc_get_real(efficiency, parts[i].high, 0));
    }
    return wf_doc_find(efficiency, parts[0].low) != NULL;
}

static void add_rate(struct wf_phrase *out, const char *before, double bytes_per_second)
{
    wf_phrase_add(out, "%s", before);
    wf_phrase_real(out, bytes_per_second);
    wf_phrase_add(out, "B/s");
}

/* What nccl-tests prints. */
static bool line_collective(const struct wf_value *coll, struct wf_phrase *out)
{
    wf_phrase_add(out, "%s of ", wf_doc_get_text(coll, "collective", "-"));
    wf_phrase_size(out, wf_doc_get_count(coll, "bytes", 0));
    wf_phrase_add(out, ": ");
    wf_phrase_time(out, (uint64_t)wf_doc_get_real(coll, "time_ps", 0));
    add_rate(out, " each, algorithm ", wf_doc_get_real(coll, "algorithm_bytes_per_second", 0));
    add_rate(out, ", bus ", wf_doc_get_real(coll, "bus_bytes_per_second", 0));
    return true;
}

static bool line_training(const struct wf_value *training, struct wf_phrase *out)
{
    wf_phrase_time(out, (uint64_t)wf_doc_get_real(training, "step_ps", 0));
    wf_phrase_add(out, " a step, ");
    wf_phrase_real(out, wf_doc_get_real(training, "tokens_per_second", 0));
    wf_phrase_add(out, " tokens/s (");
    wf_phrase_real(out, wf_doc_get_real(training, "tokens_per_second_and_device", 0));
    wf_phrase_add(out, " each), ");
    if (wf_doc_find(training, "mfu_percent") != NULL) {
        wf_phrase_add(out, "MFU %.1f %%, ", wf_doc_get_real(training, "mfu_percent", 0));
    }
    wf_phrase_add(out, "%.0f TFlop/s each",
                  wf_doc_get_real(training, "model_tflops_per_device", 0));
    return true;
}

static bool line_shares(const struct wf_value *training, struct wf_phrase *out)
{
    wf_phrase_add(out, "compute %.1f %%, bubbles %.1f %%, exposed communication %.1f %%",
                  wf_doc_get_real(training, "compute_percent", 0),
                  wf_doc_get_real(training, "bubble_percent", 0),
                  wf_doc_get_real(training, "exposed_communication_percent", 0));
    return true;
}

static bool line_memory(const struct wf_value *memory, struct wf_phrase *out)
{
    static const struct {
        const char *key, *name;
    } parts[] = {{"weights_bytes", "weights"},
                 {"gradients_bytes", "gradients"},
                 {"optimizer_bytes", "optimizer"},
                 {"activations_bytes", "activations"},
                 {"cache_bytes", "keys and values"}};

    wf_phrase_size(out, wf_doc_get_count(memory, "total_bytes", 0));
    if (wf_doc_find(memory, "device_bytes") != NULL) {
        wf_phrase_add(out, " of ");
        wf_phrase_size(out, wf_doc_get_count(memory, "device_bytes", 0));
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        uint64_t bytes = wf_doc_get_count(memory, parts[i].key, 0);
        if (bytes > 0) {
            wf_phrase_add(out, ", %s ", parts[i].name);
            wf_phrase_size(out, bytes);
        }
    }
    return true;
}

/* Measured compute times that were corrected. */
static bool line_robust(const struct wf_value *robust, struct wf_phrase *out)
{
    uint64_t corrected = wf_doc_get_count(robust, "corrected_spans", 0);

    if (corrected == 0) {
        return false;
    }
    wf_phrase_count(out, corrected);
    wf_phrase_add(out, " of ");
    wf_phrase_count(out, wf_doc_get_count(robust, "spans", 0));
    wf_phrase_add(out, " spans corrected; the prediction as measured is ");
    wf_phrase_time(out, wf_doc_get_count(robust, "raw_time_ps", 0));
    wf_phrase_add(out, ", which changed by %+.1f %%",
                  wf_doc_get_real(robust, "change_percent", 0));
    return true;
}

static bool line_digest(const struct wf_value *doc, struct wf_phrase *out)
{
    wf_phrase_add(out, "%s", wf_doc_get_text(doc, "result.digest", "-"));
    if (wf_doc_find(doc, "result.digest_partial") != NULL) {
        wf_phrase_add(out, " (partial: of the events before the interruption)");
    }
    return true;
}

static bool line_estimate(const struct wf_value *doc, struct wf_phrase *out)
{
    wf_phrase_size(out, wf_doc_get_count(doc, "estimate.memory_bytes", 0));
    return true;
}

static bool line_host(const struct wf_value *doc, struct wf_phrase *out)
{
    wf_phrase_add(out, "%.3f s, %.3f s of CPU, ", wf_doc_get_real(doc, "run.wall_seconds", 0),
                  wf_doc_get_real(doc, "run.cpu_seconds", 0));
    wf_phrase_size(out, wf_doc_get_count(doc, "run.peak_rss_bytes", 0));
    return true;
}

static bool line_schedule(const struct wf_value *doc, struct wf_phrase *out)
{
    wf_phrase_add(out, "%s", wf_doc_get_text(doc, "run.scheduler", "?"));
    wf_phrase_add(out, ", ");
    wf_phrase_number_of(out, wf_doc_get_count(doc, "run.threads", 1), "thread", "threads");
    if (wf_doc_find(doc, "run.threads_reason") != NULL) {
        wf_phrase_add(out, " (%s)", wf_doc_get_text(doc, "run.threads_reason", ""));
    }
    wf_phrase_add(out, ", ");
    wf_phrase_number_of(out, wf_doc_get_count(doc, "run.processes", 1), "process", "processes");
    return true;
}

static bool line_events(const struct wf_value *doc, struct wf_phrase *out)
{
    uint64_t undone = wf_doc_get_count(doc, "run.events_rolled_back", 0);

    wf_phrase_count(out, wf_doc_get_count(doc, "run.events_committed", 0));
    if (undone > 0) {
        wf_phrase_add(out, ", ");
        wf_phrase_count(out, undone);
        wf_phrase_add(out, " rolled back (efficiency %.1f %%)",
                      wf_doc_get_real(doc, "run.efficiency_percent", 0));
    }
    wf_phrase_add(out, ", ");
    wf_phrase_real(out, wf_doc_get_real(doc, "run.events_per_wall_second", 0));
    wf_phrase_add(out, "/s");
    return true;
}

static bool line_rounds(const struct wf_value *doc, struct wf_phrase *out)
{
    uint64_t windows = wf_doc_get_count(doc, "run.windows", 0);
    uint64_t alone = wf_doc_get_count(doc, "run.windows_alone", 0);
    uint64_t rounds = wf_doc_get_count(doc, "run.gvt_rounds", 0);

    if (windows == 0 && rounds == 0) {
        return false;
    }
    if (windows > 0) {
        wf_phrase_count(out, windows);
        wf_phrase_add(out, " windows of ");
        wf_phrase_real(out, wf_doc_get_real(doc, "run.events_per_window", 0));
        wf_phrase_add(out, " events%s", rounds > 0 || alone > 0 ? ", " : "");
    }
    if (alone > 0) {
        wf_phrase_count(out, alone);
        wf_phrase_add(out, " of them on one thread");
    }
    if (rounds > 0) {
        wf_phrase_count(out, rounds);
        wf_phrase_add(out, " GVT rounds in %.3f s", wf_doc_get_real(doc, "run.gvt_seconds", 0));
    }
    return true;
}

/* ---- synthetic traffic and links ---- */

enum { FILLERS_MAX = 3, PARTS_MAX = 4 }; /* numbers of nodes and of parts that are named */

static bool line_load(const struct wf_value *doc, struct wf_phrase *out)
{
    if (wf_doc_find(doc, "result.accepted_load") == NULL) {
        return false;
    }
    wf_phrase_add(out, "%.5f offered, %.5f accepted, in phits per node and cycle%s",
                  wf_doc_get_real(doc, "result.offered_load", 0),
                  wf_doc_get_real(doc, "result.accepted_load", 0),
                  wf_doc_is_true(doc, "result.saturated") ? "; saturated" : "");
    return true;
}

static bool line_cycles(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *latency = wf_doc_find(doc, "result.latency_cycles");

    if (latency == NULL) {
        return false;
    }
    wf_phrase_add(out, "%.2f cycles mean", wf_doc_get_real(latency, "mean", 0));
    if (wf_doc_find(latency, "half_width") != NULL) {
        wf_phrase_add(out, ", +- %.2f with %g %% confidence",
                      wf_doc_get_real(latency, "half_width", 0),
                      wf_doc_get_real(latency, "confidence_percent", 0));
        wf_phrase_add(out, "%s",
                      wf_doc_is_true(doc, "result.converged") ? "" : " (not converged)");
    }
    wf_phrase_add(out, "; p99 %.0f, max %.0f", wf_doc_get_real(latency, "p99", 0),
                  wf_doc_get_real(latency, "max", 0));
    return true;
}

static bool line_links(const struct wf_value *doc, struct wf_phrase *out)
{
    if (wf_doc_find(doc, "result.network.mean_link_use") == NULL) {
        return false;
    }
    wf_phrase_add(out, "utilisation %.1f %%, of the busiest %.1f %%; %.3f hops per packet",
                  100 * wf_doc_get_real(doc, "result.network.mean_link_use", 0),
                  100 * wf_doc_get_real(doc, "result.network.busiest_link_use", 0),
                  wf_doc_get_real(doc, "result.network.mean_hops", 0));
    return true;
}

static bool line_hot_link(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *hot = wf_doc_find(doc, "result.network.hot_links");
    const struct wf_value *link = hot != NULL && hot->type == WF_VALUE_LIST ? hot->first : NULL;

    if (link == NULL) {
        return false;
    }
    const struct wf_value *by = wf_doc_find(link, "filled_by");
    uint64_t bytes = wf_doc_get_count(link, "bytes", 0), n = 0;
    bool exact = wf_doc_get_count(link, "filled_by_more_bytes", 0) == 0;

    wf_phrase_add(out, "from vertex %" PRIu64 " to %" PRIu64 ", busy for %.1f %% of the time",
                  wf_doc_get_count(link, "vertex", 0), wf_doc_get_count(link, "to", 0),
                  wf_doc_get_real(link, "busy_percent", 0));
    for (const struct wf_value *v = by != NULL ? by->first : NULL; v != NULL && n < FILLERS_MAX;
         v = v->next, n++) {
        double share =
            (double)wf_doc_get_count(v, "bytes", 0) / (double)(bytes > 0 ? bytes : 1);
        wf_phrase_add(out, "%s %" PRIu64 " (%s%.0f %%)", n == 0 ? "; filled by node" : ",",
                      wf_doc_get_count(v, "node", 0), exact ? "" : "at least ", 100 * share);
    }
    return true;
}

/* Parts that fail during the run, and what became of the packets that met them. */
static bool line_failures(const struct wf_value *failures, struct wf_phrase *out)
{
    const struct wf_value *parts = wf_doc_find(failures, "parts");
    uint64_t n = 0, lost = wf_doc_get_count(failures, "lost_packets", 0);

    for (const struct wf_value *v = parts != NULL ? parts->first : NULL; v != NULL;
         v = v->next) {
        if (n++ < PARTS_MAX) {
            wf_phrase_add(out, "%s%s", n == 1 ? "" : ", ", wf_doc_get_text(v, "part", "?"));
        }
    }
    if (n > PARTS_MAX) {
        wf_phrase_add(out, " and %" PRIu64 " more", n - PARTS_MAX);
    }
    wf_phrase_add(out, "; ");
    wf_phrase_number_of(out, wf_doc_get_count(failures, "resent_packets", 0), "packet",
                        "packets");
    wf_phrase_add(out, " re-sent");
    if (lost > 0) {
        wf_phrase_add(out, ", ");
        wf_phrase_count(out, lost);
        wf_phrase_add(out, " lost");
    }
    return true;
}

/* What a transport lost, marked and paused. */
static bool line_transport(const struct wf_value *transport, struct wf_phrase *out)
{
    static const struct {
        const char *name, *words;
    } counts[] = {{"dropped", "dropped"},
                  {"trimmed", "trimmed"},
                  {"sent_again", "sent again"},
                  {"marked", "marked"},
                  {"pauses", "pauses"}};

    wf_phrase_add(out, "%s; longest queue ", wf_doc_get_text(transport, "name", "?"));
    wf_phrase_size(out, wf_doc_get_count(transport, "max_queue_bytes", 0));
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        uint64_t n = wf_doc_get_count(transport, counts[i].name, 0);
        if (n > 0) {
            wf_phrase_add(out, ", ");
            wf_phrase_count(out, n);
            wf_phrase_add(out, " %s", counts[i].words);
        }
    }
    return true;
}

/* The flows of a transport. */
static bool line_flows(const struct wf_value *transport, struct wf_phrase *out)
{
    uint64_t n = wf_doc_get_count(transport, "flows", 0);

    if (n == 0) {
        return false;
    }
    wf_phrase_count(out, n);
    wf_phrase_add(out, n == 1 ? ", " : ", from ");
    if (n > 1) {
        wf_phrase_time(out, wf_doc_get_count(transport, "flow_time_ps.min", 0));
        wf_phrase_add(out, " to ");
    }
    wf_phrase_time(out, wf_doc_get_count(transport, "flow_time_ps.max", 0));
    wf_phrase_add(out, "; fairness %.3f (Jain)", wf_doc_get_real(transport, "fairness", 1));
    return true;
}

/* How busy the links of each class were. */
static bool line_classes(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *list = wf_doc_find(doc, "result.network.link_classes");
    const struct wf_value *first =
        list != NULL && list->type == WF_VALUE_LIST ? list->first : NULL;

    if (first == NULL || wf_doc_find(first, "mean_busy_percent") == NULL) {
        return false;
    }
    for (const struct wf_value *v = first; v != NULL; v = v->next) {
        wf_phrase_add(out, "%s%s %.1f %% (max %.1f)", v == first ? "busy: " : ", ",
                      wf_doc_get_text(v, "class", ""),
                      wf_doc_get_real(v, "mean_busy_percent", 0),
                      wf_doc_get_real(v, "max_busy_percent", 0));
    }
    return true;
}

/* ---- the report ---- */

static const struct line answer_lines[] = {
    {"Scenario", NULL, line_scenario},
    {"Network", NULL, line_network},
    {"Status", NULL, line_status},
    {"Predicted time", PREDICTED, line_time},
    {"  90 % of runs", "result", line_interval},
    {"  uncertain", "result.uncertainty", line_uncertain},
    {"Collective", "result.collective", line_collective},
    {"Training", "result.training", line_training},
    {"  of the time", "result.training", line_shares},
    {"  memory", "result.training.memory", line_memory},
    {"Recorded time", NULL, wf_writer_text_recorded},
    {"Simulated time", "result.simulated_time_ps", line_time},
    {"Messages", "result", line_messages},
    {"Failures", "result.failures", line_failures},
    {"Message latency", "result.message_latency_ps", line_latency},
    {"Ranks finish", "result.ranks", line_finish},
    {"Ranks compute", "result.ranks.compute_ps", line_spread},
    {"Ranks wait", "result.ranks.wait_ps", line_spread},
    {"  to send", "result.ranks.send_wait_ps", line_if_any},
    {"  to receive", "result.ranks.receive_wait_ps", line_if_any},
    {"  in collectives", "result.ranks.collective_wait_ps", line_if_any},
    {"  for a core", "result.ranks.core_wait_ps", line_if_any},
    {"Ranks overhead", "result.ranks.overhead_ps", line_spread},
    {"Ranks idle", "result.ranks.idle_ps", line_if_any},
    {"Longest waits", NULL, wf_writer_text_waits},
    {"Iterations", NULL, wf_writer_text_iterations},
    {"Energy", "result.energy", line_energy},
    {"Efficiency", "result.efficiency", line_efficiency},
    {"  90 % of runs", "result.efficiency", line_efficiency_interval},
    {"Compute times", "robust", line_robust},
    {"Critical path", NULL, wf_writer_text_path},
    {"What if", NULL, wf_writer_text_what_if},
    {"Load", NULL, line_load},
    {"Latency", NULL, line_cycles},
    {"Links", NULL, line_links},
    {"Link classes", NULL, line_classes},
    {"Transport", "result.network.transport", line_transport},
    {"Flows", "result.network.transport", line_flows},
    {"Busiest link", NULL, line_hot_link},
    {"Digest", NULL, line_digest},
    {NULL, NULL, NULL},
};

static const struct line run_lines[] = {
    {"Simulation took", NULL, line_host},
    {"Schedule", NULL, line_schedule},
    {"Events", NULL, line_events},
    {"Rounds", NULL, line_rounds},
    {NULL, NULL, NULL},
};

static const struct line estimate_lines[] = {
    {"Scenario", NULL, line_scenario},
    {"Network", NULL, line_network},
    {"Memory, about", NULL, line_estimate},
    {"Messages, about", "estimate.messages", line_count},
    {NULL, NULL, NULL},
};

static void write_lines(const struct wf_value *doc, const struct line *lines,
                        const struct wf_write_options *options, FILE *out)
{
    for (; lines->label != NULL; lines++) {
        const struct wf_value *value =
            lines->path != NULL ? wf_doc_find(doc, lines->path) : doc;
        struct wf_phrase phrase = {.used = 0};
        bool bold =
            options->color && lines->path != NULL && strcmp(lines->path, PREDICTED) == 0;

        if (value != NULL && lines->write(value, &phrase)) {
            (void)fprintf(out, "%-*s  %s%s%s\n", LABEL_WIDTH, lines->label,
                          bold ? "\033[1m" : "", phrase.text, bold ? "\033[0m" : "");
        }
    }
}

/* What the prediction leaves out. */
static void write_warnings(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *list = wf_doc_find(doc, "warnings");

    for (const struct wf_value *v = list != NULL && list->type == WF_VALUE_LIST ? list->first
                                                                                : NULL;
         v != NULL; v = v->next) {
        if (v->type == WF_VALUE_TEXT) {
            wf_text_print(out, "%-*s  %s\n", LABEL_WIDTH, "Warning", v->text);
        }
    }
}

/* What weft run --check has found. */
static void write_check(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *list = wf_doc_find(doc, "check.findings");

    if (list == NULL || list->type != WF_VALUE_LIST) {
        return;
    }
    if (list->first == NULL) {
        (void)fprintf(out, "%-*s  no errors in the use of MPI\n", LABEL_WIDTH, "Check");
    }
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        wf_text_print(out, "%-*s  %s\n", LABEL_WIDTH, "Error",
                      wf_doc_get_text(v, "words", "unknown"));
    }
}

/* ---- all values, for a verbose report ---- */

static void write_tree(const struct wf_value *parent, const char *unit_name, int depth,
                       FILE *out)
{
    for (const struct wf_value *v = parent->first; v != NULL; v = v->next) {
        const char *name = v->name != NULL ? v->name : "-";
        /* "min" below "finish_ps" is a time as well. */
        const char *unit = strchr(name, '_') == NULL && wf_phrase_ends_with(unit_name, "_ps")
                               ? unit_name
                               : name;
        struct wf_phrase phrase = {.used = 0};

        if (v->type == WF_VALUE_SECTION || v->type == WF_VALUE_LIST) {
            wf_text_print(out, "%*s%s\n", depth * 2, "", name);
            write_tree(v, unit, depth + 1, out);
            continue;
        }
        wf_phrase_value(&phrase, v, unit);
        wf_text_print(out, "%*s%-*s  %s\n", depth * 2, "", NAME_WIDTH - depth * 2, name,
                      phrase.text);
    }
}

static void text_write(const struct wf_value *doc, const struct wf_write_options *options,
                       FILE *out)
{
    const char *message = wf_doc_get_text(doc, "error.message", NULL);
    const struct wf_value *parameters = wf_doc_find(doc, "scenario.parameters");

    if (message != NULL) {
        wf_text_print(out, "error: %s\n", message);
        return;
    }
    if (wf_doc_find(doc, "estimate") != NULL && parameters != NULL) {
        write_lines(doc, estimate_lines, options, out);
        (void)fputs("\nParameters in force:\n", out);
        write_tree(parameters, "", 1, out);
        return;
    }
    write_lines(doc, answer_lines, options, out);
    write_check(doc, out);
    write_warnings(doc, out);
    wf_writer_text_lists(doc, out);
    (void)fputc('\n', out);
    write_lines(doc, run_lines, options, out);
    if (options->verbose) {
        (void)fputc('\n', out);
        write_tree(doc, "", 0, out);
    }
}

const struct wf_writer_ops wf_writer_text = {
    .name = "text",
    .extension = ".txt",
    .summary = "a short report for people",
    .write = text_write,
};
