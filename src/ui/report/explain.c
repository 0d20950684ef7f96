/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/explain.h"

#include "base/text.h"
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
    const char *status = wf_doc_get_text(doc, "result.status", "");
    const char *topology = wf_doc_get_text(doc, "scenario.topology", NULL);

    if (wf_doc_find(doc, "result.ranks") == NULL) {
        return false;
    }
    if (strcmp(status, "completed") == 0) {
        wf_phrase_add(out, "The program takes ");
        wf_phrase_time(out, predicted(doc));
    } else {
        wf_phrase_add(out, "The program does not complete (%s); it reaches ", status);
        wf_phrase_time(out, predicted(doc));
    }
    wf_phrase_add(out, " on ");
    wf_phrase_number_of(out, wf_doc_get_count(doc, "scenario.ranks", 0), "rank", "ranks");
    wf_phrase_add(out, ", predicted with the network model %s",
                  wf_doc_get_text(doc, "scenario.network", "?"));
    if (topology != NULL) {
        wf_phrase_add(out, " on %s", topology);
    }
    uint64_t recorded = wf_doc_get_count(doc, "result.recorded_time_ps", 0);
    if (recorded > 0) {
        wf_phrase_add(out, "; when it was recorded it took ");
        wf_phrase_time(out, recorded);
    }
    wf_phrase_add(out, ".");
    return true;
}

/* How far the prediction can be off because of uncertain inputs. */
static bool explain_interval(const struct wf_value *doc, struct wf_phrase *out)
{
    uint64_t low = wf_doc_get_count(doc, "result.predicted_time_p05_ps", 0);
    uint64_t high = wf_doc_get_count(doc, "result.predicted_time_p95_ps", 0);

    wf_phrase_add(out, "In 90 %% of ");
    wf_phrase_number_of(out, wf_doc_get_count(doc, "result.uncertainty.completed", 0),
                        "repeated run", "repeated runs");
    wf_phrase_add(out, " with uncertain inputs it takes ");
    wf_phrase_time(out, low);
    wf_phrase_add(out, " to ");
    wf_phrase_time(out, high);
    wf_phrase_add(out, ".");
    return low > 0 && high > 0;
}

static bool explain_failure(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *ranks = wf_doc_find(doc, "result.waiting.ranks");

    if (ranks == NULL || ranks->first == NULL) {
        return false;
    }
    wf_phrase_add(out, "Rank %llu %s.",
                  (unsigned long long)wf_doc_get_count(ranks->first, "rank", 0),
                  wf_doc_get_text(ranks->first, "waits", "waits"));
    return true;
}

static const struct {
    const char *path, *words;
} parts[] = {
    {"result.ranks.compute_ps.mean", "computes"},
    {"result.ranks.receive_wait_ps.mean", "waits for messages"},
    {"result.ranks.collective_wait_ps.mean", "waits in collectives"},
    {"result.ranks.send_wait_ps.mean", "waits in sends"},
    {"result.ranks.core_wait_ps.mean", "waits for its core"},
    {"result.ranks.overhead_ps.mean", "spends CPU time on messages"},
    {"result.ranks.idle_ps.mean", "has finished before the last rank"},
};

static bool explain_split(const struct wf_value *doc, struct wf_phrase *out)
{
    const char *between = "A rank ";

    if (wf_doc_find(doc, "result.ranks") == NULL || predicted(doc) == 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        double percent = share(wf_doc_get_count(doc, parts[i].path, 0), predicted(doc));
        if (percent >= 0.05) {
            wf_phrase_add(out, "%s%s for %.1f %% of the time", between, parts[i].words,
                          percent);
            between = ", ";
        }
    }
    wf_phrase_add(out, " (means over all ranks).");
    return between[0] == ',';
}

/* Names the worst of the three factors of the efficiency. */
static bool explain_bound(const struct wf_value *doc, struct wf_phrase *out)
{
    double balance = wf_doc_get_real(doc, "result.efficiency.load_balance_percent", -1);
    double order = wf_doc_get_real(doc, "result.efficiency.serialisation_percent", 100);
    double transfer = wf_doc_get_real(doc, "result.efficiency.transfer_percent", 100);
    uint64_t most = wf_doc_get_count(doc, "result.ranks.compute_ps.max", 0);

    if (balance < 0 && wf_doc_find(doc, "critical_path.shares") != NULL) {
        return false; /* the critical path says more */
    }
    if (balance < 0) {
        wf_phrase_add(
            out, "What limits it is unknown: --efficiency compares it with an ideal network.");
        return wf_doc_find(doc, "result.ranks") != NULL;
    }
    if (most == 0) {
        wf_phrase_add(out, "It computes nothing: all of its time is communication.");
        return true;
    }
    if (balance <= order && balance <= transfer) {
        wf_phrase_add(out, "Load imbalance limits it most: the busiest rank computes ");
        wf_phrase_time(out, most);
        wf_phrase_add(out, ", the mean is ");
        wf_phrase_time(out, wf_doc_get_count(doc, "result.ranks.compute_ps.mean", 0));
        wf_phrase_add(out, " (load balance %.1f %%).", balance);
    } else if (transfer <= order) {
        wf_phrase_add(out, "The network limits it most: on an ideal network it takes ");
        wf_phrase_time(out, wf_doc_get_count(doc, "result.efficiency.ideal_time_ps", 0));
        wf_phrase_add(out, " (transfer %.1f %%).", transfer);
    } else {
        wf_phrase_add(
            out,
            "Dependencies between ranks limit it most: even on an ideal network it takes ");
        wf_phrase_time(out, wf_doc_get_count(doc, "result.efficiency.ideal_time_ps", 0));
        wf_phrase_add(out, ", and no rank computes longer than ");
        wf_phrase_time(out, most);
        wf_phrase_add(out, " (serialisation %.1f %%).", order);
    }
    return true;
}

static void explain_saving(struct wf_phrase *out, const char *words, uint64_t saved,
                           uint64_t whole)
{
    wf_phrase_add(out, "%s at most ", words);
    wf_phrase_time(out, saved);
    wf_phrase_add(out, " (%.1f %%)", share(saved, whole));
}

static bool explain_help(const struct wf_value *doc, struct wf_phrase *out)
{
    uint64_t time = predicted(doc);
    uint64_t ideal = wf_doc_get_count(doc, "result.efficiency.ideal_time_ps", 0);
    uint64_t most = wf_doc_get_count(doc, "result.ranks.compute_ps.max", 0);
    uint64_t mean = wf_doc_get_count(doc, "result.ranks.compute_ps.mean", 0);

    if (ideal == 0 || ideal > time) {
        return false;
    }
    uint64_t by_network = time - ideal, by_balance = most - mean;
    bool network_first = by_network > by_balance;

    wf_phrase_add(out, "What would help: ");
    explain_saving(out, network_first ? "a faster network saves" : "balanced work saves",
                   network_first ? by_network : by_balance, time);
    explain_saving(out, network_first ? ", balanced work saves" : ", a faster network saves",
                   network_first ? by_balance : by_network, time);
    wf_phrase_add(out, ".");
    return true;
}

static bool explain_longest_wait(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *waits = wf_doc_find(doc, "result.top_waits");

    /* The critical path says more. */
    if (waits == NULL || waits->first == NULL ||
        wf_doc_find(doc, "critical_path.shares") != NULL) {
        return false;
    }
    wf_phrase_add(out, "Rank %llu waits longest: ",
                  (unsigned long long)wf_doc_get_count(waits->first, "rank", 0));
    wf_phrase_time(out, wf_doc_get_count(waits->first, "time_ps", 0));
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
    wf_phrase_number_of(out, n, "message", "messages");
    wf_phrase_add(out, " of ");
    wf_phrase_size(out, wf_doc_get_count(doc, "result.bytes", 0) / n);
    wf_phrase_add(out, " on average");
    if (wf_doc_find(doc, "result.message_latency_ps") != NULL) {
        wf_phrase_add(out, " take ");
        wf_phrase_time(out, wf_doc_get_count(doc, "result.message_latency_ps.mean", 0));
        wf_phrase_add(out, ", the slowest ");
        wf_phrase_time(out, wf_doc_get_count(doc, "result.message_latency_ps.max", 0));
    }
    wf_phrase_add(out, ".");
    return true;
}

static bool explain_links(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *hot = wf_doc_find(doc, "result.network.hot_links");

    if (hot == NULL || hot->first == NULL) {
        return false;
    }
    double percent = wf_doc_get_real(hot->first, "busy_percent", 0);
    wf_phrase_add(out,
                  "The busiest link, from vertex %llu to %llu, is busy for %.1f %% of the time",
                  (unsigned long long)wf_doc_get_count(hot->first, "vertex", 0),
                  (unsigned long long)wf_doc_get_count(hot->first, "to", 0), percent);
    if (wf_doc_find(hot->first, "peak_wait_ps") != NULL) {
        wf_phrase_add(out, percent >= busy_percent ? ": packets queue there, the longest for "
                                                   : ", and packets wait there for at most ");
        wf_phrase_time(out, wf_doc_get_count(hot->first, "peak_wait_ps", 0));
    }
    wf_phrase_add(out, ".");
    return true;
}

static bool explain_traffic(const struct wf_value *doc, struct wf_phrase *out)
{
    if (wf_doc_find(doc, "result.accepted_load") == NULL) {
        return false;
    }
    wf_phrase_add(
        out,
        "The network accepts %.4f of the %.4f phits per node and cycle that are offered; "
        "",
        wf_doc_get_real(doc, "result.accepted_load", 0),
        wf_doc_get_real(doc, "result.offered_load", 0));
    wf_phrase_add(out,
                  "a message takes %.1f cycles on average; the 99th percentile is %.0f cycles.",
                  wf_doc_get_real(doc, "result.latency_cycles.mean", 0),
                  wf_doc_get_real(doc, "result.latency_cycles.p99", 0));
    return true;
}

void wf_explain(const struct wf_value *doc, const char *limits, FILE *out)
{
    static bool (*const lines[])(const struct wf_value *, struct wf_phrase *) = {
        explain_result,     explain_interval, explain_failure,      explain_traffic,
        explain_split,      explain_bound,    wf_explain_path,      wf_explain_path_places,
        wf_explain_what_if, explain_help,     explain_longest_wait, explain_messages,
        explain_links,
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct wf_phrase phrase = {.used = 0};
        if (lines[i](doc, &phrase)) {
            (void)fprintf(out, "%s\n", phrase.text);
        }
    }
    if (limits != NULL) {
        wf_text_print(out, "Note: with the model %s %s.\n",
                      wf_doc_get_text(doc, "scenario.network", ""), limits);
    }
}
