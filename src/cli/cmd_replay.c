/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulate.h"
#include "sim/scenario.h"

static const struct wf_shortcut shortcuts[] = {
    {"ranks", 'n', "ranks", NULL},
    {"ranks-per-node", 0, "ranks_per_node", NULL},
    {"net", 0, "network", "<model>"},
    {"topo", 0, "topology", "<spec>"},
    {"placement", 0, "placement", "<how>"},
    {"start", 0, "start", NULL},
    {"repeat", 0, "repeat", NULL},
    {"region", 0, "region", "<name>"},
    {"iterations", 0, "iterations", "<first>:<last>"},
    {"repeat-iteration", 0, "repeat_iteration", NULL},
    {"efficiency", 0, "efficiency", NULL},
    {"sched", 0, "engine.sched", NULL},
    {"threads", 0, "engine.threads", NULL},
    {"seed", 0, "seed", NULL},
};

static const struct wf_opt machine_row = {
    .param = {.name = "machine",
              .type = WF_PARAM_TEXT,
              .offset = offsetof(struct wf_simulate_opts, machine),
              .doc = "Topology, network and processors of a machine: a name of 'weft machine "
                     "list' or a .yaml file; other options and -p override it"},
    .arg = "<name|file>",
};

static const struct wf_opt job_row = {
    .param = {.name = "job",
              .offset = offsetof(struct wf_simulate_opts, jobs),
              .doc = "Another program that runs at the same time, with its own ranks, "
                     "ranks_per_node, placement, start, repeat, region, iterations and gen.*"},
    .kind = WF_OPT_LIST,
    .arg = "<source>,<name>=<value>,...",
};

static const struct wf_opt what_if_row = {
    .param = {.name = "what-if",
              .type = WF_PARAM_BOOL,
              .offset = offsetof(struct wf_simulate_opts, what_if),
              .doc =
                  "Run again with half the latency, twice the bandwidth and processors twice "
                  "as fast, and say what that saves; pages of short runs have that anyway"},
};

static void make_table(struct wf_simulate_table *table)
{
    wf_simulate_table_init(table);
    wf_simulate_table_add_row(table, &machine_row);
    for (size_t i = 0; i < sizeof(shortcuts) / sizeof(shortcuts[0]); i++) {
        wf_simulate_table_add(table, &shortcuts[i]);
    }
    wf_simulate_table_add_row(table, &job_row);
    wf_simulate_table_add_recording(table);
    wf_simulate_table_add_row(table, &what_if_row);
    wf_simulate_table_end(table);
}

static void print_help(const struct wf_simulate_table *table, FILE *out)
{
    const struct wf_opt_help help = {
        .synopsis = "weft replay <source> [-n <ranks>] [options]",
        .summary = "Predict how long a program takes: play its operations, of a generator or a "
                   "trace, on "
                   "a simulated network",
        .examples =
            {
                {"weft replay gen:stencil3d -n 4096", "A 3D stencil on 4096 ranks"},
                {"weft replay gen:stencil3d -n 64 --net latency --topo torus:4x4x4 --json",
                 "On a torus, for a program to read"},
            },
        .table = table->rows,
    };

    wf_opt_print_help(&help, out);
}

static enum wf_status set_source(const struct wf_operands *operands,
                                 struct wf_scenario *scenario, struct wf_err *err)
{
    if (operands->args.n == 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "replay: no source; for example: weft replay gen:stencil3d -n 64");
    }
    if (operands->args.n > 1) {
        return wf_err_set(err, WF_EUSAGE,
                          "replay: one source expected, but there is also '%.64s'",
                          operands->args.items[1]);
    }
    return wf_scenario_set(scenario, "source", operands->args.items[0], NULL, err);
}

static enum wf_status replay(struct wf_cli *cli, const struct wf_simulate_table *table,
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

static const struct wf_simulate_verb verb = {make_table, print_help, replay};

static enum wf_status replay_run(struct wf_cli *cli, int argc, char **argv, struct wf_err *err)
{
    return wf_simulate_verb_run(&verb, cli, argc, argv, err);
}

static void replay_help(FILE *out)
{
    wf_simulate_verb_help(&verb, out);
}

const struct wf_verb wf_verb_replay = {
    .name = "replay",
    .summary = "Predict how long a program takes on a simulated network",
    .run = replay_run,
    .help = replay_help,
};
