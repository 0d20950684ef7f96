/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/explain_limit.h"

#include "base/result/times.h"
#include "ui/report/command.h"

#include <string.h>

/*
 * The time of a run is a sum, by the efficiencies of docs/reference/result-document.md:
 *
 *   time = (time - free) + (free - ideal) + (ideal - busiest) + (busiest - mean) + mean
 *          network         messages         dependencies        imbalance          computing
 *
 * free is the time on a network that costs nothing, ideal the time if messages do not cost their nodes
 * anything either; busiest and mean are the compute times of ranks. A result without free has network
 * and messages in one. Bubbles of a pipeline are part of the dependencies and are counted by the
 * training step itself.
 */
enum limit { NETWORK, MESSAGES, DEPENDENCIES, BUBBLES, IMBALANCE, PROCESSORS, N_LIMITS };

/* Below this share of the time, no loss is worth the name of a limit: computing is. */
static const double LIMIT_PERCENT = 10, TOLD_PERCENT = 0.05;

struct limits {
    uint64_t time, saves[N_LIMITS]; /* what removing each saves at most */
    bool known, apart;              /* there are runs without the network: one; both */
};

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static double percent(const struct limits *limits, enum limit limit)
{
    return limits->time > 0 ? 100 * (double)limits->saves[limit] / (double)limits->time : 0;
}

static struct limits limits_of(const struct wf_value *doc)
{
    uint64_t ideal = wf_doc_get_count(doc, "result.efficiency.ideal_time_ps", 0);
    uint64_t free = wf_doc_get_count(doc, "result.efficiency.free_network_ps", ideal);
    uint64_t most = wf_doc_get_count(doc, "result.ranks.compute_ps.max", 0);
    uint64_t mean = wf_doc_get_count(doc, "result.ranks.compute_ps.mean", 0);
    double bubbles = wf_doc_get_real(doc, "result.training.bubble_percent", 0);
    struct limits limits = {
        .time = wf_doc_get_count(doc, "result.predicted_time_ps", 0),
        .known = wf_doc_find(doc, "result.efficiency.ideal_time_ps") != NULL,
        .apart = wf_doc_find(doc, "result.efficiency.free_network_ps") != NULL,
    };

    if (limits.known) {
        limits.saves[NETWORK] = less(limits.time, free);
        limits.saves[MESSAGES] = less(free, ideal);
        limits.saves[DEPENDENCIES] = less(ideal, most);
    }
    if (bubbles > 0 && bubbles <= 100) {
        limits.saves[BUBBLES] = (uint64_t)(bubbles / 100 * (double)limits.time);
        limits.saves[DEPENDENCIES] = less(limits.saves[DEPENDENCIES], limits.saves[BUBBLES]);
    }
    limits.saves[IMBALANCE] = less(most, mean);
    limits.saves[PROCESSORS] = most / 2;
    return limits;
}

/* The largest loss; PROCESSORS if none is large. */
static enum limit largest(const struct limits *limits)
{
    enum limit found = NETWORK;

    for (enum limit limit = NETWORK; limit < PROCESSORS; limit++) {
        found = limits->saves[limit] > limits->saves[found] ? limit : found;
    }
    return percent(limits, found) >= LIMIT_PERCENT ? found : PROCESSORS;
}

bool wf_explain_training(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *training = wf_doc_find(doc, "result.training");
    double use = wf_doc_get_real(doc, "result.training.mfu_percent", 0);
    double computing = wf_doc_get_real(doc, "result.training.compute_percent", 0);

    if (training == NULL) {
        return false;
    }
    (void)wf_phrase_fill(out, training,
                         "A step takes {step_ps:time}[ and uses {mfu_percent:.1} % of the "
                         "devices' peak (MFU)]: compute {compute_percent:.1} %, bubbles of the "
                         "pipeline {bubble_percent:.1} %, exposed communication "
                         "{exposed_communication_percent:.1} %");
    if (use > 0 && computing > 0) {
        wf_phrase_add(out, "; while a device computes, it reaches %.1f %% of its peak",
                      100 * use / computing);
    }
    wf_phrase_add(out, ".");
    return true;
}

/* Without a run on an ideal network: the largest part of the time. */
static bool name_largest_part(const struct wf_value *doc, const struct limits *limits,
                              struct wf_phrase *out)
{
    const struct wf_result_rank_time *found = NULL;
    uint64_t most = 0;

    for (const struct wf_result_rank_time *part = wf_result_rank_times; part->path != NULL;
         part++) {
        uint64_t mean = wf_doc_get_count(doc, part->mean, 0);
        if (mean > most) {
            most = mean;
            found = part;
        }
    }
    if (found == NULL || limits->time == 0) {
        return false;
    }
    wf_phrase_add(out, "Its largest part is %s (%.1f %%).", found->words,
                  100 * (double)most / (double)limits->time);
    return true;
}

bool wf_explain_limit(const struct wf_value *doc, struct wf_phrase *out)
{
    static const char *const sentences[N_LIMITS] = {
        [NETWORK] = "The network limits it most: [if it cost nothing, the run would take "
                    "{result.efficiency.free_network_ps}][{result.efficiency.free_network_ps!}"
                    "if messages cost nothing, the run would take "
                    "{result.efficiency.ideal_time_ps}].",
        [MESSAGES] =
            "What messages cost their nodes limits it most (CPU time, copies, messages "
            "within a node): without that and without the network it would take "
            "{result.efficiency.ideal_time_ps}.",
        [DEPENDENCIES] =
            "Dependencies between ranks limit it most: even if messages cost nothing "
            "it takes {result.efficiency.ideal_time_ps}, and no rank computes "
            "longer than {result.ranks.compute_ps.max} (serialisation "
            "{result.efficiency.serialisation_percent:.1} %).",
        [BUBBLES] = "Bubbles limit it most: stages of the pipeline wait for each other for "
                    "{result.training.bubble_percent:.1} % of the time; more microbatches for "
                    "each stage, or another gen.schedule, make them smaller.",
        [IMBALANCE] =
            ("Load imbalance limits it most: the busiest rank computes "
             "{result.ranks.compute_ps.max}, the mean is {result.ranks.compute_ps.mean}"
             "[ (load balance {result.efficiency.load_balance_percent:.1} %)]."),
        [PROCESSORS] = "Computing limits it: the busiest rank computes for "
                       "{result.ranks.compute_ps.max}, and nothing else saves 10 %.",
    };
    const struct limits limits = limits_of(doc);

    if (limits.time == 0 || wf_doc_find(doc, "result.ranks") == NULL) {
        return false;
    }
    if (limits.saves[PROCESSORS] == 0) {
        wf_phrase_add(out, "It computes nothing: all of its time is communication.");
        return true;
    }
    enum limit limit = largest(&limits);
    if (!limits.known && limit == PROCESSORS) {
        return name_largest_part(doc, &limits, out);
    }
    return wf_phrase_fill(out, doc, sentences[limit]);
}

bool wf_explain_savings(const struct wf_value *doc, struct wf_phrase *out)
{
    static const char *const words[N_LIMITS] = {
        [NETWORK] = "a network that costs nothing",
        [MESSAGES] = ("messages that cost their own node nothing (CPU time, copies, "
                      "transfers within it)"),
        [DEPENDENCIES] = "ranks that never wait for each other's work",
        [BUBBLES] = "no bubbles",
        [IMBALANCE] = "balanced work",
        [PROCESSORS] = "processors twice as fast",
    };
    struct limits limits = limits_of(doc);
    int n = 0;

    for (; limits.known; n++) {
        enum limit most = NETWORK;
        for (enum limit limit = NETWORK; limit < N_LIMITS; limit++) {
            most = limits.saves[limit] > limits.saves[most] ? limit : most;
        }
        if (percent(&limits, most) < TOLD_PERCENT) {
            break;
        }
        wf_phrase_add(out, "%s%s ", n == 0 ? "What would save time, at most: " : ", ",
                      most == NETWORK && !limits.apart ? "messages that cost nothing"
                                                       : words[most]);
        wf_phrase_time(out, limits.saves[most]);
        wf_phrase_add(out, " (%.1f %%)", percent(&limits, most));
        limits.saves[most] = 0;
    }
    wf_phrase_add(out, ".");
    return n > 0;
}

/* The option that tells more about a limit, and what for. */
static const char *next_option(const struct wf_value *doc, const struct limits *limits,
                               const char **tells)
{
    enum limit limit = largest(limits);
    bool replays = strncmp(wf_doc_get_text(doc, "scenario.source", ""), "run:", 4) != 0;

    if (!limits->known && wf_doc_find(doc, "scenario.runs") == NULL) {
        *tells = "measure what the network costs";
        return "--efficiency -o again.json";
    }
    if (limit != BUBBLES && limit != IMBALANCE && limit != DEPENDENCIES && replays &&
        wf_doc_find(doc, "what_if") == NULL) {
        *tells = "simulate half the latency, twice the bandwidth and faster processors";
        return "--what-if -o again.json";
    }
    *tells = "see when each rank waits, and for whom";
    return "-o run.html";
}

bool wf_explain_next(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct limits limits = limits_of(doc);
    const char *tells;

    if (limits.time == 0 || wf_doc_find(doc, "result.ranks") == NULL) {
        return false;
    }
    const char *option = next_option(doc, &limits, &tells);
    wf_phrase_add(out, "To %s: ", tells);
    if (!wf_writer_text_command(doc, option, out)) {
        wf_phrase_add(out, "the same command with %s", option);
    }
    return true;
}
