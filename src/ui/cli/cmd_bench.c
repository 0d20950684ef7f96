/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "run/scenario/catalog.h"
#include "run/scenario/scenario.h"
#include "ui/cli/simulate.h"

#include <string.h>

static const struct wf_opt rows[] = {
    WF_OPT_SETTING("sched", 0, "engine.sched", NULL),
    WF_OPT_SETTING("threads", 0, "engine.threads", NULL),
    WF_OPT_SETTING("seed", 0, "seed", NULL),
    WF_SIMULATE_ROWS(WF_SIMULATE_OUTPUT_DOC, "<file>", wf_writer_extension),
};

static void print_models(FILE *out)
{
    struct wf_catalog_entry entry;
    size_t at = 0;

    (void)fputs("\nModels:\n", out);
    while (wf_catalog_next(&at, &entry)) {
        if (strcmp(entry.kind, "bench") == 0) {
            (void)fprintf(out, "  %-10s %s\n", entry.name, entry.summary);
        }
    }
}

static enum wf_status unknown_model(const char *name, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;
    struct wf_catalog_entry entry;
    size_t at = 0;

    wf_nearest_begin(&nearest, name);
    while (wf_catalog_next(&at, &entry)) {
        if (strcmp(entry.kind, "bench") == 0) {
            wf_nearest_add(&nearest, entry.name);
        }
    }
    return wf_err_set(err, WF_EUSAGE, "unknown model '%.64s'%s", name,
                      wf_nearest_hint(&nearest, hint));
}

/* Each parameter of the model is an option too: phold.start_events is --start-events. */
static void add_options(struct wf_opt_table *table, const struct wf_catalog_entry *model)
{
    for (const struct wf_param *row = model->params; row->name != NULL; row++) {
        char option[64], key[128];

        (void)snprintf(option, sizeof(option), "%s", row->name);
        for (char *p = option; *p != '\0'; p++) {
            if (*p == '_') {
                *p = '-';
            }
        }
        (void)snprintf(key, sizeof(key), "%s.%s", model->scope, row->name);
        const struct wf_opt one[] = {WF_OPT_SETTING(option, 0, key, NULL), WF_OPT_END};
        wf_opt_table_add(table, one);
    }
}

/* The options depend on the model, so the model is found before they are parsed. */
static enum wf_status add_model(struct wf_opt_table *table, int argc, char *const *argv,
                                struct wf_err *err)
{
    struct wf_catalog_entry model;

    for (int i = 0; i < argc; i++) {
        if (wf_catalog_find("bench", argv[i], &model)) {
            add_options(table, &model);
            return WF_OK;
        }
    }
    return argc > 0 && argv[0][0] != '-' ? unknown_model(argv[0], err) : WF_OK;
}

static enum wf_status set_source(const struct wf_cli *cli, const struct wf_simulate_opts *opts,
                                 const struct wf_operands *operands,
                                 struct wf_scenario *scenario, struct wf_err *err)
{
    char source[80];

    (void)snprintf(source, sizeof(source), "bench:%.64s", operands->args.items[0]);
    return wf_scenario_set(scenario, "source", source, NULL, err);
}

static enum wf_status bench_run(struct wf_cli *cli, const void *opts,
                                const struct wf_operands *operands, struct wf_err *err)
{
    return wf_simulate(cli, opts, operands, set_source, err);
}

const struct wf_verb wf_verb_bench = {
    .name = "bench",
    .summary = "Measure the speed of the engine with a benchmark model",
    .help = {.synopsis = "weft bench <model> [options]",
             .summary = "Measure the speed of the engine with a benchmark model; 'weft bench "
                        "<model> --help' "
                        "shows a model's options too",
             .examples =
                 {
                     {"weft bench phold --lps 65536 --remote 0.1",
                      "Events that hop between 65536 processes, one in ten to another process"},
                     {"weft bench phold --sched optimistic --threads 2 --json",
                      "The same model in parallel, for a program to read"},
                     {"weft bench phold --lps 4096 --dry-run",
                      "What would be simulated, with all defaults"},
                     {"weft bench phold --lps 4096 --sched check-undo",
                      "Every event undone and executed again, and compared"},
                     {"weft bench phold --lps 4096 -o phold.json", "The result as a document"},
                 },
             .table = rows},
    .opts_size = sizeof(struct wf_simulate_opts),
    .operand = "a model",
    .min_operands = 1,
    .max_operands = 1,
    .run = bench_run,
    .extend = add_model,
    .more_help = print_models,
};
