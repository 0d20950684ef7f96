/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulate.h"
#include "sim/scenario.h"

#include <stdio.h>

static const struct wf_shortcut shortcuts[] = {
    {"topo", 0, "topology", "<spec>"},      {"net", 0, "network", "<model>"},
    {"load", 0, "traffic.load", NULL},      {"cycles", 0, "traffic.cycles", NULL},
    {"sched", 0, "engine.sched", NULL},     {"threads", 0, "engine.threads", NULL},
    {"seed", 0, "seed", NULL},
};

static void make_table(struct wf_simulate_table *table)
{
    wf_simulate_table_init(table);
    for (size_t i = 0; i < sizeof(shortcuts) / sizeof(shortcuts[0]); i++) {
        wf_simulate_table_add(table, &shortcuts[i]);
    }
    wf_simulate_table_end(table);
}

static void print_help(const struct wf_simulate_table *table, FILE *out)
{
    const struct wf_opt_help help = {
        .synopsis = "weft traffic <pattern> --topo <spec> [options]",
        .summary = "Load a network with synthetic traffic: latency and accepted load",
        .examples =
            {
                {"weft traffic uniform --topo torus:8x8 --load 0.3", "One load"},
                {"weft traffic transpose --topo torus:8x8 --load 0.05:0.9:0.05",
                 "A curve"},
            },
        .table = table->rows,
    };

    wf_opt_print_help(&help, out);
}

static void traffic_help(FILE *out)
{
    struct wf_simulate_table table;

    make_table(&table);
    print_help(&table, out);
    wf_simulate_table_fini(&table);
}

static enum wf_status set_source(const struct wf_operands *operands,
                                 struct wf_scenario *scenario, struct wf_err *err)
{
    char source[80];

    if (operands->args.n != 1) {
        return wf_err_set(err, WF_EUSAGE,
                          "traffic: one pattern expected; for example: weft traffic uniform");
    }
    (void)snprintf(source, sizeof(source), "traffic:%.64s", operands->args.items[0]);
    enum wf_status status = wf_scenario_set(scenario, "source", source, NULL, err);
    return status == WF_OK ? wf_scenario_set(scenario, "network", "router", NULL, err) : status;
}

static enum wf_status traffic(struct wf_cli *cli, const struct wf_simulate_table *table,
                              const struct wf_simulate_opts *opts,
                              const struct wf_operands *operands, struct wf_err *err)
{
    struct wf_scenario *scenario = wf_scenario_new();

    enum wf_status status = set_source(operands, scenario, err);
    if (status == WF_OK) {
        status = wf_simulate_apply(table, opts, operands->given, scenario, err);
    }
    if (status == WF_OK) {
        status = wf_simulate(cli, opts, scenario, err);
    }
    wf_scenario_free(scenario);
    return status;
}

static enum wf_status traffic_run(struct wf_cli *cli, int argc, char **argv, struct wf_err *err)
{
    struct wf_simulate_table table;
    struct wf_simulate_opts opts = {.help = false};
    struct wf_operands operands;

    make_table(&table);
    enum wf_status status = wf_opt_parse(table.rows, argc, argv, &opts, &operands, err);
    if (status == WF_OK) {
        if (opts.help) {
            print_help(&table, cli->out);
        } else {
            status = traffic(cli, &table, &opts, &operands, err);
        }
        wf_opt_release(table.rows, &opts, &operands);
    }
    wf_simulate_table_fini(&table);
    return status;
}

const struct wf_verb wf_verb_traffic = {
    .name = "traffic",
    .summary = "Load a network with synthetic traffic",
    .run = traffic_run,
    .help = traffic_help,
};
