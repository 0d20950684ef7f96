/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/result/doc.h"
#include "run/execute/run.h"
#include "run/scenario/scenario.h"
#include "ui/study/bench.h"

#include <inttypes.h>
#include <stdlib.h>

enum { WINDOW = 64, ROUNDS = 4 };

/* The most bytes of all messages of a row. */
#define ROW_MAX (UINT64_C(8) << 30)

/* A benchmark that is being simulated. */
struct bench {
    const struct wf_measured_curve *curve;
    const struct wf_scenario *base;
    uint32_t ranks, ranks_per_node; /* 0: what the machine says */
    struct wf_scenario *scenario;   /* of one row */
    double half, all; /* seconds of the largest row that is simulated, and of half its size */
    struct wf_err *err;
    enum wf_status status;
};

static void set(struct bench *b, const char *key, const char *value)
{
    if (b->status == WF_OK) {
        b->status = wf_scenario_set(b->scenario, key, value, NULL, b->err);
    }
}

static void set_count(struct bench *b, const char *key, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    set(b, key, text);
}

static void set_collective(struct bench *b, uint64_t bytes)
{
    set(b, "source", "gen:coll");
    set(b, "gen.kind", wf_coll_name(b->curve->kind));
    set_count(b, "gen.bytes", bytes);
    set_count(b, "gen.iterations", ROUNDS);
}

static void set_messages(struct bench *b, uint64_t bytes)
{
    bool stream = b->curve->what != WF_MEASURED_LATENCY;

    set(b, "source", "gen:pingpong");
    set_count(b, "gen.bytes", bytes);
    set_count(b, "gen.window", stream ? WINDOW : 1);
    set_count(b, "gen.rounds", ROUNDS);
    set(b, "gen.both", b->curve->what == WF_MEASURED_BOTH_WAYS ? "true" : "false");
}

/* The time of the whole program as the value that the benchmark prints. */
static double value_of(const struct bench *b, const struct wf_measured_row *row, double seconds)
{
    switch (b->curve->what) {
    case WF_MEASURED_LATENCY:
        return seconds / (2.0 * ROUNDS);
    case WF_MEASURED_BANDWIDTH:
    case WF_MEASURED_BOTH_WAYS:
        return 2.0 * ROUNDS * WINDOW * (double)row->bytes / seconds;
    case WF_MEASURED_COLLECTIVE:
    case WF_MEASURED_STREAM:
    case WF_MEASURED_HPL:
    case WF_MEASURED_DGEMM:
    case WF_MEASURED_WHATS:
        break;
    }
    return seconds / ROUNDS;
}

/* The seconds of the whole program. */
static double simulate(struct bench *b, uint64_t bytes, const struct wf_points_host *host)
{
    const struct wf_sim_host sim = {
        .stop = host->stop, .running = host->running, .running_arg = host->running_arg};
    struct wf_value *doc = NULL;
    double ps = 1;

    b->scenario = wf_scenario_new();
    wf_scenario_append(b->scenario, b->base);
    if (b->curve->what == WF_MEASURED_COLLECTIVE) {
        set_collective(b, bytes);
    } else {
        set_messages(b, bytes);
    }
    if (b->ranks > 0) {
        set_count(b, "ranks", b->ranks);
    }
    if (b->ranks_per_node > 0) {
        set_count(b, "ranks_per_node", b->ranks_per_node);
    }
    if (b->status == WF_OK) {
        b->status = wf_sim_run(b->scenario, &sim, &doc, b->err);
    }
    if (b->status == WF_OK) {
        ps = (double)wf_doc_get_count(doc, "result.predicted_time_ps", 1);
    }
    wf_doc_free(doc);
    wf_scenario_free(b->scenario);
    return ps / 1e12;
}

/* What is sent in a row of one byte: to and fro, or 2 ROUNDS windows; of a collective each round. */
static uint64_t largest_of(const struct bench *b)
{
    const struct wf_measured_curve *curve = b->curve;
    uint64_t times = curve->what == WF_MEASURED_COLLECTIVE
                         ? ROUNDS * wf_measured_parts(curve->kind, b->ranks)
                     : curve->what == WF_MEASURED_LATENCY ? UINT64_C(2) * ROUNDS
                                                          : UINT64_C(2) * ROUNDS * WINDOW;
    const uint64_t least = UINT64_C(1) << 20;

    return ROW_MAX / times > least ? ROW_MAX / times : least;
}

static double run_row(struct bench *b, const struct wf_measured_row *row, uint64_t largest,
                      const struct wf_points_host *host)
{
    if (row->bytes <= largest) {
        return value_of(b, row, simulate(b, row->bytes, host));
    }
    if (b->all == 0) {
        b->half = simulate(b, largest / 2, host);
        b->all = simulate(b, largest, host);
    }
    uint64_t half = largest / 2;
    double more = (double)(row->bytes - largest) / (double)(largest - half);

    return value_of(b, row, b->all + (b->all - b->half) * more);
}

/* How many ranks take part, and how many of them on each node. */
static enum wf_status find_ranks(struct bench *b, const struct wf_measured_on *on)
{
    uint32_t ranks = on->ranks, per_node = on->ranks_per_node;
    const struct wf_measured_curve *curve = b->curve;

    if (curve->what != WF_MEASURED_COLLECTIVE) {
        b->ranks = 2;
        b->ranks_per_node = per_node > 0 ? per_node : 1;
        return WF_OK;
    }
    b->ranks = ranks > 0 ? ranks : curve->ranks;
    b->ranks_per_node = per_node;
    if (per_node == 0 && ranks == 0 && curve->nodes > 0 && curve->ranks % curve->nodes == 0) {
        b->ranks_per_node = curve->ranks / curve->nodes;
    }
    if (b->ranks == 0) {
        return wf_err_set(b->err, WF_EUSAGE,
                          "%s: line %zu: the output of %s does not say how many ranks took "
                          "part; give --ranks",
                          curve->path != NULL ? curve->path : "coll", curve->line, curve->tool);
    }
    return WF_OK;
}

static bool is_simulated(const struct wf_measured_curve *curve)
{
    return curve->what < WF_MEASURED_COLLECTIVE ||
           (curve->what == WF_MEASURED_COLLECTIVE && curve->kind < WF_COLL_KINDS);
}

static enum wf_status predict_curve(struct bench *b, struct wf_measured_pair *pair,
                                    const struct wf_points_host *host, size_t *done,
                                    size_t total)
{
    pair->curve = b->curve;
    pair->ranks = b->ranks;
    pair->largest = largest_of(b);
    pair->predicted = wf_xcalloc(b->curve->n, sizeof(double));
    for (size_t i = 0; i < b->curve->n && b->status == WF_OK; i++) {
        if (host->progress != NULL) {
            host->progress(host->progress_arg, *done, total);
        }
        pair->predicted[i] = run_row(b, &b->curve->rows[i], pair->largest, host);
        ++*done;
    }
    return b->status;
}

enum wf_status wf_measured_predict(const struct wf_measured_log *log,
                                   const struct wf_measured_on *on,
                                   const struct wf_points_host *host,
                                   struct wf_measured_pairs *out, struct wf_err *err)
{
    size_t done = 0, total = 0;

    *out = (struct wf_measured_pairs){.pairs = wf_xcalloc(log->n + 1, sizeof(*out->pairs))};
    for (size_t i = 0; i < log->n; i++) {
        total += is_simulated(&log->curves[i]) ? log->curves[i].n : 0;
    }
    for (size_t i = 0; i < log->n; i++) {
        struct bench b = {.curve = &log->curves[i], .base = on->base, .err = err};

        if (!is_simulated(b.curve)) {
            out->n_skipped++;
            continue;
        }
        WF_TRY(find_ranks(&b, on));
        WF_TRY(predict_curve(&b, &out->pairs[out->n++], host, &done, total));
    }
    return WF_OK;
}

void wf_measured_pairs_fini(struct wf_measured_pairs *pairs)
{
    for (size_t i = 0; i < pairs->n; i++) {
        free(pairs->pairs[i].predicted);
    }
    free(pairs->pairs);
    *pairs = (struct wf_measured_pairs){.n = 0};
}
