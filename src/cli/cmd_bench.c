/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "cli/simulate.h"
#include "sim/catalog.h"
#include "sim/scenario.h"

#include <string.h>

static const struct wf_shortcut shortcuts[] = {
    {"sched", 0, "engine.sched", NULL},
    {"threads", 0, "engine.threads", NULL},
    {"seed", 0, "seed", NULL},
};

/* Each parameter of the model is an option too: phold.start_events is --start-events. */
static void add_model_options(struct wf_simulate_table *table,
                              const struct wf_catalog_entry *model)
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
        wf_simulate_table_add(table, &(struct wf_shortcut){option, 0, key, NULL});
    }
}

/* `model` may be null. */
static void make_table(struct wf_simulate_table *table, const struct wf_catalog_entry *model)
{
    wf_simulate_table_init(table);
    if (model != NULL) {
        add_model_options(table, model);
    }
    for (size_t i = 0; i < sizeof(shortcuts) / sizeof(shortcuts[0]); i++) {
        wf_simulate_table_add(table, &shortcuts[i]);
    }
    wf_simulate_table_end(table);
}

static void print_help(const struct wf_simulate_table *table, FILE *out)
{
    const struct wf_opt_help help = {
        .synopsis = "weft bench <model> [options]",
        .summary = "Measure the engine with a model of its own; 'weft bench <model> --help' "
                   "shows a model's options too",
        .examples =
            {
                {"weft bench phold --lps 65536 --remote 0.1",
                 "Events that hop between 65536 processes, one in ten to another process"},
                {"weft bench phold --sched optimistic --threads 2 --json",
                 "The same model in parallel, for a program to read"},
            },
        .table = table->rows,
    };

    wf_opt_print_help(&help, out);
}

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

static void bench_help(FILE *out)
{
    struct wf_simulate_table table;

    make_table(&table, NULL);
    print_help(&table, out);
    print_models(out);
    wf_simulate_table_fini(&table);
}

/* The model decides which options there are, so it is looked for first. */
static bool find_model(int argc, char **argv, struct wf_catalog_entry *model)
{
    for (int i = 0; i < argc; i++) {
        if (wf_catalog_find("bench", argv[i], model)) {
            return true;
        }
    }
    return false;
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

static enum wf_status bench(struct wf_cli *cli, const struct wf_simulate_table *table,
                            const struct wf_simulate_opts *opts,
                            const struct wf_operands *operands, struct wf_err *err)
{
    struct wf_scenario *scenario = wf_scenario_new();
    char source[80];

    (void)snprintf(source, sizeof(source), "bench:%.64s", operands->args.items[0]);
    enum wf_status status = wf_scenario_set(scenario, "source", source, NULL, err);
    if (status == WF_OK) {
        status = wf_simulate_apply(table, opts, operands->given, scenario, err);
    }
    if (status == WF_OK) {
        status = wf_simulate(cli, opts, scenario, err);
    }
    wf_scenario_free(scenario);
    return status;
}

static enum wf_status check_operands(const struct wf_operands *operands, struct wf_err *err)
{
    if (operands->args.n == 0) {
        return wf_err_set(err, WF_EUSAGE, "bench: no model; for example: weft bench phold");
    }
    if (operands->args.n > 1) {
        return wf_err_set(err, WF_EUSAGE,
                          "bench: one model expected, but there is also '%.64s'",
                          operands->args.items[1]);
    }
    return WF_OK;
}

static enum wf_status bench_run(struct wf_cli *cli, int argc, char **argv, struct wf_err *err)
{
    struct wf_simulate_table table;
    struct wf_simulate_opts opts = {.help = false};
    struct wf_operands operands;
    struct wf_catalog_entry model;
    bool known = find_model(argc, argv, &model);

    if (!known && argc > 0 && argv[0][0] != '-') {
        return unknown_model(argv[0], err);
    }

    make_table(&table, known ? &model : NULL);
    enum wf_status status = wf_opt_parse(table.rows, argc, argv, &opts, &operands, err);
    if (status == WF_OK) {
        if (opts.help) {
            print_help(&table, cli->out);
            if (!known) {
                print_models(cli->out);
            }
        } else {
            status = check_operands(&operands, err);
            status = status == WF_OK ? bench(cli, &table, &opts, &operands, err) : status;
        }
        wf_opt_release(table.rows, &opts, &operands);
    }
    wf_simulate_table_fini(&table);
    return status;
}

const struct wf_verb wf_verb_bench = {
    .name = "bench",
    .summary = "Measure the engine with a model of its own",
    .run = bench_run,
    .help = bench_help,
};
