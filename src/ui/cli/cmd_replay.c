/* SPDX-License-Identifier: Apache-2.0 */
#include "run/scenario/scenario.h"
#include "ui/cli/simulate.h"

static const struct wf_opt rows[] = {
    WF_SIMULATE_ROW_MACHINE,
    WF_OPT_SETTING("ranks", 'n', "ranks", NULL),
    WF_OPT_SETTING("ranks-per-node", 0, "ranks_per_node", NULL),
    WF_OPT_SETTING("net", 0, "network", "<model>"),
    WF_OPT_SETTING("topo", 0, "topology", "<spec>"),
    WF_OPT_SETTING("placement", 0, "placement", "<how>"),
    WF_OPT_SETTING("start", 0, "start", NULL),
    WF_OPT_SETTING("until", 0, "until", NULL),
    WF_OPT_SETTING("repeat", 0, "repeat", NULL),
    WF_OPT_SETTING("region", 0, "region", "<name>"),
    WF_OPT_SETTING("iterations", 0, "iterations", "<first>:<last>"),
    WF_OPT_SETTING("repeat-iteration", 0, "repeat_iteration", NULL),
    WF_OPT_SETTING("efficiency", 0, "efficiency", NULL),
    WF_OPT_SETTING("alone", 0, "alone", NULL),
    WF_OPT_SETTING("runs", 0, "runs", NULL),
    WF_OPT_SETTING("sched", 0, "engine.sched", NULL),
    WF_OPT_SETTING("threads", 0, "engine.threads", NULL),
    WF_OPT_SETTING("seed", 0, "seed", NULL),
    {.param = {.name = "job",
               .offset = WF_SIMULATE_MEMBER(jobs),
               .doc = "Another program that runs at the same time, with its own ranks, "
                      "ranks_per_node, placement, start, repeat, region, iterations and gen.*"},
     .kind = WF_OPT_LIST,
     .arg = "<source>,<name>=<value>,..."},
    WF_SIMULATE_ROWS_RECORDING,
    WF_SIMULATE_ROW_WHAT_IF,
    WF_SIMULATE_ROWS_LIVE,
    WF_SIMULATE_ROWS(WF_SIMULATE_OUTPUT_DOC, "<file>", wf_writer_extension),
};

static enum wf_status set_source(const struct wf_cli *cli, const struct wf_simulate_opts *opts,
                                 const struct wf_operands *operands,
                                 struct wf_scenario *scenario, struct wf_err *err)
{
    return wf_scenario_set(scenario, "source", operands->args.items[0], NULL, err);
}

static enum wf_status replay_run(struct wf_cli *cli, const void *opts,
                                 const struct wf_operands *operands, struct wf_err *err)
{
    return wf_simulate(cli, opts, operands, set_source, err);
}

const struct wf_verb wf_verb_replay = {
    .name = "replay",
    .summary = "Predict how long a program takes on a simulated network",
    .help = {.synopsis = "weft replay <source> [-n <ranks>] [options]",
             .summary = "Predict how long a program takes: replay the operations of a trace or "
                        "generator on a simulated network",
             .examples =
                 {
                     {"weft replay gen:stencil3d -n 4096", "A 3D stencil on 4096 ranks"},
                     {"weft replay gen:stencil3d -n 64 --net latency --topo torus:4x4x4 --json",
                      "On a torus, for a program to read"},
                     {"weft replay gen:stencil3d -n 64 --machine frontier -o frontier.html",
                      "On a machine, as a page for a browser"},
                     {"weft replay run.weft --machine gige -p cpu.scale=0.5",
                      "A recorded program, with processors twice as fast"},
                     {"weft replay gen:cg -n 64 --machine gige --what-if",
                      "What would help: latency, bandwidth, processors"},
                 },
             .table = rows},
    .opts_size = sizeof(struct wf_simulate_opts),
    .operand = "a source",
    .min_operands = 1,
    .max_operands = 1,
    .run = replay_run,
};
