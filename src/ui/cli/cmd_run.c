/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/run_options.h"

#include "base/mem.h"
#include "run/program/program.h"
#include "run/scenario/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct wf_opt rows[] = {
    WF_SIMULATE_ROW_MACHINE,
    WF_RUN_ROW_COMPUTE,
    WF_OPT_ROW(struct wf_simulate_opts, trace, TEXT, "trace", 0, "<trace>",
               .doc = "Also record the program as a trace, in the format of this name"),
    WF_OPT_ROW(struct wf_simulate_opts, libraries, BOOL, "libraries", 0, NULL,
               .doc =
                   "Run nothing: print which libraries of the program have variables of their "
                   "own for each rank, and which are shared"),
    WF_OPT_SETTING("ranks", 'n', "ranks", NULL),
    WF_OPT_SETTING("ranks-per-node", 0, "ranks_per_node", NULL),
    WF_OPT_SETTING("net", 0, "network", "<model>"),
    WF_OPT_SETTING("topo", 0, "topology", "<spec>"),
    WF_OPT_SETTING("placement", 0, "placement", "<how>"),
    WF_OPT_SETTING("spare", 0, "run.spare", "<ranks>"),
    WF_OPT_SETTING("stack", 0, "run.stack", NULL),
    WF_OPT_SETTING("spill", 0, "run.spill", "<directory>"),
    WF_OPT_SETTING("kernels", 0, "run.kernels", "<file>"),
    WF_OPT_SETTING("labels", 0, "run.labels", NULL),
    WF_OPT_SETTING("no-payload", 0, "run.no_payload", NULL),
    {.param = {.name = "check"},
     .key = "run.check_use",
     .word = "all-orders",
     .word_key = "run.all_orders"},
    WF_OPT_SETTING("orders", 0, "run.orders_max", NULL),
    WF_OPT_SETTING("schedule", 0, "run.schedule", "<words>"),
    WF_OPT_SETTING("sched", 0, "engine.sched", NULL),
    WF_OPT_SETTING("threads", 0, "engine.threads", NULL),
    WF_OPT_SETTING("seed", 0, "seed", NULL),
    WF_OPT_SETTING("until", 0, "until", NULL),
    WF_OPT_SETTING("efficiency", 0, "efficiency", NULL),
    WF_OPT_SETTING("runs", 0, "runs", NULL),
    WF_SIMULATE_ROWS_RECORDING,
    WF_SIMULATE_ROW_WHAT_IF,
    WF_SIMULATE_ROWS(WF_SIMULATE_OUTPUT_DOC, "<file>", wf_writer_extension),
};

enum wf_status wf_cli_run_set_program(const struct wf_operands *operands,
                                      struct wf_scenario *scenario, struct wf_err *err)
{
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

enum wf_status wf_cli_run_set_compute(const char *how, struct wf_scenario *scenario,
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

static enum wf_status set_program(const struct wf_cli *cli, const struct wf_simulate_opts *opts,
                                  const struct wf_operands *operands,
                                  struct wf_scenario *scenario, struct wf_err *err)
{
    WF_TRY(wf_cli_run_set_program(operands, scenario, err));
    return wf_cli_run_set_compute(opts->compute, scenario, err);
}

static enum wf_status run_run(struct wf_cli *cli, const void *opts,
                              const struct wf_operands *operands, struct wf_err *err)
{
    const struct wf_simulate_opts *own = opts;

    return own->libraries ? wf_program_print_libraries(operands->args.items[0], cli->out, err)
                          : wf_simulate(cli, opts, operands, set_program, err);
}

const struct wf_verb wf_verb_run = {
    .name = "run",
    .summary = "Run an MPI program as virtual ranks on a simulated network",
    .help = {.synopsis = "weft run -n <ranks> [options] -- <program> [arguments]",
             .summary =
                 "Run an MPI program that was built with weftcc, as many virtual ranks on a "
                 "simulated network, in virtual time",
             .examples =
                 {
                     {"weftcc hello.c -o hello && weft run -n 1024 -- ./hello",
                      "A thousand ranks on the cores that are here"},
                     {"weft run -n 64 --topo torus:4x4x4 --net latency --compute none -- ./app",
                      "Only what communication costs, on a torus"},
                     {"weft run -n 16 --machine gige -o there.json -- ./app",
                      "On a machine, as a document"},
                     {"weft run -n 16 --labels -- ./app",
                      "With the rank before each line that it prints"},
                     {"weft run -n 8 --ranks-per-node 2 --machine gige -- ./app",
                      "Two ranks on each node"},
                 },
             .table = rows},
    .opts_size = sizeof(struct wf_simulate_opts),
    .operand = "a program",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = run_run,
};
