/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_options.h"

#include "base/mem.h"
#include "sim/program.h"
#include "sim/scenario.h"
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct wf_shortcut shortcuts[] = {
    {"ranks", 'n', "ranks", NULL},
    {"ranks-per-node", 0, "ranks_per_node", NULL},
    {"net", 0, "network", "<model>"},
    {"topo", 0, "topology", "<spec>"},
    {"placement", 0, "placement", "<how>"},
    {"stack", 0, "run.stack", NULL},
    {"labels", 0, "run.labels", NULL},
    {"no-payload", 0, "run.no_payload", NULL},
    {"sched", 0, "engine.sched", NULL},
    {"threads", 0, "engine.threads", NULL},
    {"seed", 0, "seed", NULL},
    {"efficiency", 0, "efficiency", NULL},
};

static const struct wf_opt machine_row = {
    .param = {.name = "machine",
              .type = WF_PARAM_TEXT,
              .offset = offsetof(struct wf_simulate_opts, machine),
              .doc = "Topology, network and processors of a machine: a name of 'weft machine "
                     "list' or a .yaml file; other options and -p override it"},
    .arg = "<name|file>",
};

const struct wf_opt wf_run_compute_row = {
    .param = {.name = "compute",
              .type = WF_PARAM_TEXT,
              .offset = offsetof(struct wf_simulate_opts, compute),
              .doc = "What computing costs a rank: 'measured', the processor time it takes "
                     "here; 'scaled:<factor>', that times a factor; 'counted:<rate>', the "
                     "instructions it takes, so many in a second; 'model', what the program "
                     "says with WEFT_COMPUTE; 'none'"},
    .arg = "<how>",
};

static const struct wf_opt trace_row = {
    .param = {.name = "trace",
              .type = WF_PARAM_TEXT,
              .offset = offsetof(struct wf_simulate_opts, trace),
              .doc = "Also write what the program did as a trace, of the format that its name "
                     "says"},
    .arg = "<trace>",
};

static void make_table(struct wf_simulate_table *table)
{
    wf_simulate_table_init(table);
    wf_simulate_table_add_row(table, &machine_row);
    wf_simulate_table_add_row(table, &wf_run_compute_row);
    wf_simulate_table_add_row(table, &trace_row);
    for (size_t i = 0; i < sizeof(shortcuts) / sizeof(shortcuts[0]); i++) {
        wf_simulate_table_add(table, &shortcuts[i]);
    }
    wf_simulate_table_add_recording(table);
    wf_simulate_table_end(table);
}

static void print_help(const struct wf_simulate_table *table, FILE *out)
{
    const struct wf_opt_help help = {
        .synopsis = "weft run -n <ranks> [options] -- <program> [arguments]",
        .summary = "Run an MPI program that was built with weftcc, as many virtual ranks on a "
                   "simulated network, in virtual time",
        .examples =
            {
                {"weftcc hello.c -o hello && weft run -n 1024 -- ./hello",
                 "A thousand ranks on the cores that are here"},
                {"weft run -n 64 --topo torus:4x4x4 --net latency --compute none -- ./app",
                 "Only what communication costs, on a torus"},
            },
        .table = table->rows,
    };

    wf_opt_print_help(&help, out);
}

enum wf_status wf_run_set_program(const char *verb, const struct wf_operands *operands,
                                  struct wf_scenario *scenario, struct wf_err *err)
{
    if (operands->args.n == 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "%s: no program; for example: weft %s -n 64 -- ./hello", verb, verb);
    }
    char *args = NULL;

    for (size_t i = 1; i < operands->args.n; i++) {
        args = wf_program_add_arg(args, operands->args.items[i]);
    }
    size_t size = strlen(WF_PROGRAM_PREFIX) + strlen(operands->args.items[0]) + 1;
    char *source = wf_xmalloc(size);
    (void)snprintf(source, size, "%s%s", WF_PROGRAM_PREFIX, operands->args.items[0]);
    enum wf_status status = wf_scenario_set(scenario, "source", source, NULL, err);
    if (status == WF_OK && args != NULL) {
        status = wf_scenario_set(scenario, "run.args", args, NULL, err);
    }
    free(args);
    free(source);
    return status;
}

enum wf_status wf_run_set_compute(const char *how, struct wf_scenario *scenario,
                                  struct wf_err *err)
{
    static const struct {
        const char *prefix, *compute, *key;
    } kinds[] = {{"scaled:", "measured", "cpu.scale"}, {"counted:", "counted", "run.rate"}};

    for (size_t i = 0; how != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t length = strlen(kinds[i].prefix);
        if (strncmp(how, kinds[i].prefix, length) == 0) {
            enum wf_status status =
                wf_scenario_set(scenario, "run.compute", kinds[i].compute, "--compute", err);
            return status == WF_OK
                       ? wf_scenario_set(scenario, kinds[i].key, how + length, "--compute", err)
                       : status;
        }
    }
    return how != NULL ? wf_scenario_set(scenario, "run.compute", how, "--compute", err)
                       : WF_OK;
}

static enum wf_status run_program(struct wf_cli *cli, const struct wf_simulate_table *table,
                                  const struct wf_simulate_opts *opts,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    struct wf_scenario *scenario = wf_scenario_new();

    enum wf_status status = wf_run_set_program("run", operands, scenario, err);
    if (status == WF_OK && wf_world_size(cli->world) > 1) {
        /* Who starts several wants ranks in all of them; --sched comes later and counts. */
        status = wf_scenario_set(scenario, "engine.sched", "conservative", NULL, err);
    }
    if (status == WF_OK) {
        status = wf_run_set_compute(opts->compute, scenario, err);
    }
    if (status == WF_OK) {
        status = wf_simulate_apply(table, opts, operands->given, scenario, err);
    }
    if (status == WF_OK) {
        status = wf_simulate(cli, opts, scenario, err);
    }
    wf_scenario_free(scenario);
    return status;
}

static const struct wf_simulate_verb verb = {make_table, print_help, run_program};

static enum wf_status run_run(struct wf_cli *cli, int argc, char **argv, struct wf_err *err)
{
    return wf_simulate_verb_run(&verb, cli, argc, argv, err);
}

static void run_help(FILE *out)
{
    wf_simulate_verb_help(&verb, out);
}

const struct wf_verb wf_verb_run = {
    .name = "run",
    .summary = "Run an MPI program as virtual ranks on a simulated network",
    .run = run_run,
    .help = run_help,
};
