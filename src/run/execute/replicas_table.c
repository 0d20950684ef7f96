/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/replicas_table.h"

#include "base/mem.h"
#include "base/quantile.h"
#include "base/result/doc.h"
#include "base/units.h"
#include "run/document/document.h"
#include "run/document/efficiency.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANKS_MAX = 1024, /* ranks whose quantiles are in the document */
    TIMES_MAX = 1000, /* replicas whose times are in the document */
    RUNS_FOR_TAILS = 19,
    PERCENT_DECIMALS = 3,
};

/* Bytes of the ends of ranks. */
static const size_t TABLE_MAX = (size_t)64 << 20;

/* 1 % in the columns of efficiencies. */
static const double PERCENT = 1e6;

static const struct {
    unsigned percent;
    const char *suffix;
} quantiles[] = {{5, "p05"}, {50, "p50"}, {95, "p95"}};

enum { N_QUANTILES = sizeof(quantiles) / sizeof(quantiles[0]) };

static const char *const efficiencies[WF_REPLICAS_EFFICIENCIES] = {
    "load_balance", "serialisation", "transfer", "parallel"};

void wf_replicas_table_init(struct wf_replicas_table *table, size_t n_rows, uint64_t all_ranks,
                            uint32_t n_jobs, bool efficiency)
{
    uint64_t n = TABLE_MAX / sizeof(int64_t) / n_rows;

    n = n < RANKS_MAX ? n : RANKS_MAX;
    n = n < all_ranks ? n : all_ranks;
    *table = (struct wf_replicas_table){.n_rows = n_rows,
                                        .efficiency = efficiency,
                                        .n_jobs = n_jobs > 1 ? n_jobs : 0,
                                        .n_ranks = (uint32_t)n};
    table->n_columns = 1 + WF_REPLICAS_EFFICIENCIES + table->n_jobs + table->n_ranks;
    table->ranks = wf_xcalloc(n + 1, sizeof(*table->ranks));
    for (uint64_t i = 0; i < n; i++) {
        table->ranks[i] = (uint32_t)(n > 1 ? i * (all_ranks - 1) / (n - 1) : 0);
    }
    table->values = wf_xcalloc(n_rows * table->n_columns, sizeof(*table->values));
    for (size_t i = 0; i < n_rows * table->n_columns; i++) {
        table->values[i] = WF_REPLICAS_MISSING;
    }
}

void wf_replicas_table_fini(struct wf_replicas_table *table)
{
    free(table->ranks);
    free(table->values);
    memset(table, 0, sizeof(*table));
}

void wf_replicas_set_efficiency(int64_t *row, const struct wf_efficiency_times *times)
{
    const struct wf_efficiency e = wf_efficiency(times);
    const double values[WF_REPLICAS_EFFICIENCIES] = {e.load_balance, e.serialisation,
                                                     e.transfer, e.parallel};

    for (int i = 0; i < WF_REPLICAS_EFFICIENCIES; i++) {
        row[1 + i] = (int64_t)(100 * values[i] * PERCENT + 0.5);
    }
}

/* ---- the document ---- */

/* The values of a column over the replicas that completed, sorted. */
struct sample {
    int64_t *values;
    size_t n;
};

static void take_column(const struct wf_replicas_table *table, size_t column,
                        struct sample *sample)
{
    sample->n = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const int64_t *row = table->values + i * table->n_columns;
        if (row[0] >= 0) {
            sample->values[sample->n++] = row[column];
        }
    }
    wf_quantile_sort(sample->values, sample->n);
}

/* Adds "<name>_p05_ps" and so on. */
static void add_times(struct wf_value *section, const char *name, const struct sample *sample)
{
    for (size_t q = 0; q < N_QUANTILES && sample->n > 0; q++) {
        char member[64];
        (void)snprintf(member, sizeof(member), "%s_%s_ps", name, quantiles[q].suffix);
        wf_doc_count(section, member,
                     (uint64_t)wf_quantile(sample->values, sample->n, quantiles[q].percent));
    }
}

static void add_efficiencies(const struct wf_replicas_table *table, struct sample *sample,
                             struct wf_value *section)
{
    for (size_t i = 0; i < WF_REPLICAS_EFFICIENCIES; i++) {
        take_column(table, 1 + i, sample);
        for (size_t q = 0; q < N_QUANTILES && sample->n > 0; q++) {
            char member[64];
            int64_t value = wf_quantile(sample->values, sample->n, quantiles[q].percent);
            (void)snprintf(member, sizeof(member), "%s_%s_percent", efficiencies[i],
                           quantiles[q].suffix);
            wf_doc_measured(section, member, (double)value / PERCENT, PERCENT_DECIMALS);
        }
    }
}

static void add_jobs(const struct wf_replicas_table *table, struct sample *sample,
                     const struct wf_value *list)
{
    struct wf_value *item = list != NULL ? list->first : NULL;

    for (uint32_t i = 0; i < table->n_jobs && item != NULL; i++, item = item->next) {
        take_column(table, 1 + WF_REPLICAS_EFFICIENCIES + i, sample);
        add_times(item, "time", sample);
    }
}

static void add_ranks(const struct wf_replicas_table *table, struct sample *sample,
                      const struct wf_document_jobs *jobs, struct wf_value *section)
{
    struct wf_value *list = wf_doc_list(section, "ranks");
    size_t first = 1 + WF_REPLICAS_EFFICIENCIES + (size_t)table->n_jobs;

    for (uint32_t i = 0; i < table->n_ranks; i++) {
        struct wf_value *item = wf_doc_section(list, NULL);

        wf_document_add_rank(item, jobs, table->ranks[i]);
        take_column(table, first + i, sample);
        add_times(item, "finish", sample);
    }
}

static void add_drawn(struct wf_value *section, const struct wf_replicas_drawn *drawn)
{
    struct wf_value *compute;

    wf_doc_count(section, "settings", drawn->settings);
    wf_doc_bool(section, "noise", drawn->noise);
    compute = wf_doc_section(section, "compute");
    if (drawn->kept != NULL) {
        wf_doc_text(compute, "kept", drawn->kept);
    } else {
        wf_doc_count(compute, "spans", drawn->spans);
        wf_doc_count(compute, "varied_spans", drawn->varied);
        wf_doc_count(compute, "varied_time_percent", drawn->varied_percent);
    }
}

static void add_list(struct wf_value *section, const struct wf_replicas_table *table)
{
    struct wf_value *list = wf_doc_list(section, "times_ps");

    for (size_t i = 0; i < table->n_rows && i < TIMES_MAX; i++) {
        int64_t time = table->values[i * table->n_columns];
        if (time >= 0) {
            wf_doc_count(list, NULL, (uint64_t)time);
        } else {
            wf_doc_null(list, NULL);
        }
    }
}

static size_t count_rows(const struct wf_replicas_table *table, int64_t time)
{
    size_t n = 0;

    for (size_t i = 0; i < table->n_rows; i++) {
        n += table->values[i * table->n_columns] == time;
    }
    return n;
}

/* Why nothing is uncertain: no input, or none that matters. */
static const char *why_certain(const struct wf_replicas_table *table,
                               const struct sample *times)
{
    if (table == NULL) {
        return "no setting has an uncertainty, nodes have no noise, and no compute time is "
               "known to vary; a calibrated machine file or -p uncertainty.<setting>=<percent> "
               "would give one";
    }
    return times->n > 1 && times->values[0] == times->values[times->n - 1]
               ? "nothing that was drawn changes the predicted time"
               : NULL;
}

static void add_warnings(const struct wf_replicas_table *table, size_t completed,
                         struct wf_value *root)
{
    size_t failed = count_rows(table, WF_REPLICAS_FAILED);

    if (failed > 0) {
        wf_sim_warn(root,
                    "the program did not end in %zu of %zu repeated runs, which are not in the "
                    "quantiles",
                    failed, table->n_rows);
    }
    if (completed > 0 && completed < RUNS_FOR_TAILS) {
        wf_sim_warn(root,
                    "the 5 %% and 95 %% quantiles of %zu runs are their smallest and largest; "
                    "--runs %d or more makes the interval meaningful",
                    completed, RUNS_FOR_TAILS);
    }
}

/* Noise and outliers only add time, so a run without them may be faster than most runs with them. */
static void warn_outside(const struct wf_value *result, struct wf_value *root)
{
    uint64_t time = wf_doc_get_count(result, "predicted_time_ps", 0);
    uint64_t low = wf_doc_get_count(result, "predicted_time_p05_ps", 0);
    uint64_t high = wf_doc_get_count(result, "predicted_time_p95_ps", UINT64_MAX);
    char text[WF_UNITS_TEXT_MAX];

    if (time < low || time > high) {
        wf_sim_warn(
            root,
            "the run with every figure as given lies outside of 90 %% of the runs with "
            "uncertain ones: their median, %s, is the prediction",
            wf_human_time((int64_t)wf_doc_get_count(result, "predicted_time_p50_ps", 0), text));
    }
}

void wf_replicas_describe(const struct wf_replicas_table *table, size_t runs,
                          const struct wf_replicas_drawn *drawn,
                          const struct wf_document_jobs *jobs, struct wf_value *root)
{
    /* parts of `root`, which the caller may change */
    struct wf_value *result = wf_unconst(wf_doc_find(root, "result"));
    struct wf_value *efficiency = wf_unconst(wf_doc_find(result, "efficiency"));
    struct sample sample = {.values = wf_xcalloc(runs + 1, sizeof(int64_t))};

    if (table != NULL) {
        take_column(table, 0, &sample);
    }
    const char *certain = why_certain(table, &sample);
    size_t completed = sample.n;
    if (certain == NULL) {
        add_times(result, "predicted_time", &sample);
    }
    struct wf_value *section = wf_doc_section(result, "uncertainty");
    wf_doc_count(section, "runs", runs);
    add_drawn(section, drawn);
    if (certain != NULL) {
        wf_doc_text(section, "none", certain);
    }
    if (table != NULL) {
        wf_doc_count(section, "completed", completed);
        wf_doc_count(section, "failed", count_rows(table, WF_REPLICAS_FAILED));
        add_warnings(table, completed, root);
    }
    if (certain == NULL) {
        warn_outside(result, root);
        add_list(section, table);
        add_ranks(table, &sample, jobs, section);
        add_jobs(table, &sample, wf_doc_find(result, "jobs"));
        if (table->efficiency && efficiency != NULL) {
            add_efficiencies(table, &sample, efficiency);
        }
    }
    free(sample.values);
}
