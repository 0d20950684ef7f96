/* SPDX-License-Identifier: Apache-2.0 */
/* weft tune finds how to divide a training step among the devices of a machine. */
#include "run/scenario/scenario.h"
#include "ui/cli/simulate.h"
#include "ui/report/output.h"
#include "ui/study/tune.h"

#include <string.h>

struct tune_opts {
    struct wf_simulate_opts common; /* must be the first member: rows of other verbs are used */
    struct wf_opt_list vary;
    const char *fast, *table;
    uint64_t top, side_by_side;
};

static const struct wf_opt rows[] = {
    WF_SIMULATE_ROW_MACHINE,
    WF_OPT_SETTING("ranks", 'n', "ranks", NULL),
    WF_OPT_SETTING("net", 0, "network", "<model>"),
    WF_OPT_SETTING("topo", 0, "topology", "<spec>"),
    {.param = {.name = "vary",
               .offset = offsetof(struct tune_opts, vary),
               .doc = "Vary this parameter too, or with other values"},
     .kind = WF_OPT_LIST,
     .arg = "<parameter>=<value>,<value>..."},
    WF_OPT_ROW(struct tune_opts, fast, TEXT, "fast", 0, "<model>", .def = "loggp",
               .doc = "Network model that ranks all that fit"),
    WF_OPT_ROW(struct tune_opts, top, COUNT, "top", 0, NULL, .def = "3", .max = "100",
               .doc = "Simulate this many of the best on the network of the machine"),
    WF_OPT_ROW(struct tune_opts, side_by_side, COUNT, "jobs", 'j', NULL, .def = "0",
               .max = "1024", .doc = "Simulations that run in parallel; 0: one per core"),
    WF_OPT_ROW(struct tune_opts, table, TEXT, "table", 0, "<file>",
               .doc = "Write all that was ranked to a file, .csv or .json"),
    {.param = {.name = "param",
               .offset = WF_SIMULATE_MEMBER(params),
               .doc = "Set a parameter, which is then not varied; 'weft help' lists all"},
     .kind = WF_OPT_PAIRS,
     .letter = 'p'},
    WF_SIMULATE_ROW(json, BOOL, "json", 0, NULL,
                    .doc = "Print all that was ranked as JSON instead of a table"),
    WF_SIMULATE_ROW(quiet, BOOL, "quiet", 'q', NULL, .doc = "No progress line"),
    WF_OPT_END,
};

static enum wf_status deliver(struct wf_cli *cli, const struct tune_opts *opts,
                              struct wf_tune *tune, struct wf_err *err)
{
    struct wf_output *output = NULL;

    if (!opts->common.json) {
        wf_study_tune_print(tune, cli->out);
    }
    wf_study_tune_keep_results(tune);
    if (opts->common.json) {
        wf_study_json(&tune->study, cli->out);
    }
    cli->answered = true;
    if (opts->table == NULL) {
        return WF_OK;
    }
    WF_TRY(wf_output_open(opts->table, true, &output, err));
    (wf_extension_is(opts->table, ".csv") ? wf_study_csv : wf_study_json)(
        &tune->study, wf_output_stream(output));
    return wf_output_commit(output, err);
}

static enum wf_status tune_run(struct wf_cli *cli, const void *opts_arg,
                               const struct wf_operands *operands, struct wf_err *err)
{
    const struct tune_opts *opts = opts_arg;
    struct wf_progress_line line;
    struct wf_tune *tune = NULL;

    if (opts->table != NULL && !wf_extension_is(opts->table, ".csv") &&
        !wf_extension_is(opts->table, ".json")) {
        return wf_err_set(err, WF_EUSAGE, "table '%.200s': the name must end in .csv or .json",
                          opts->table);
    }
    if (strcmp(operands->args.items[0], "gen:llm") != 0) {
        return wf_err_set(err, WF_EUSAGE, "tune: '%.100s': only gen:llm can be divided",
                          operands->args.items[0]);
    }
    struct wf_scenario *scenario = wf_scenario_new();
    enum wf_status status =
        wf_scenario_set(scenario, "source", operands->args.items[0], NULL, err);
    WF_THEN(status, wf_simulate_apply(&opts->common, operands, scenario, err));
    if (status == WF_OK) {
        wf_progress_init(&line, opts->common.quiet ? WF_PROGRESS_NEVER : WF_PROGRESS_AUTO,
                         cli->err);
        const struct wf_points_host host =
            wf_progress_points(&line, "configurations", opts->side_by_side);
        const struct wf_tune_options options = {.fast = opts->fast,
                                                .top = opts->top,
                                                .vary = opts->vary.items,
                                                .checks = host,
                                                .ranks = host,
                                                .details = host};
        status = wf_study_tune_run(scenario, &options, &tune, err);
        wf_progress_erase(&line);
    }
    WF_THEN(status, deliver(cli, opts, tune, err));
    wf_study_tune_free(tune);
    wf_scenario_free(scenario);
    return status;
}

const struct wf_verb wf_verb_tune = {
    .name = "tune",
    .summary = "Find the best way to divide a training step among devices",
    .help = {.synopsis =
                 "weft tune gen:llm -n <devices> --machine <name|file> -p gen.batch=<n>",
             .summary =
                 "Find the parallelism, microbatch, schedule and recomputation with which a "
                 "training step fits into memory and takes least time",
             .examples =
                 {
                     {"weft tune gen:llm -n 8 --machine h100-rail -p gen.batch=32",
                      "The model that gen:llm has if none is named, on eight GPUs"},
                     {"weft tune gen:llm -n 8 --machine h100-rail --net loggp -p gen.batch=8",
                      "On one network model, which is faster"},
                     {"weft tune gen:llm -n 16 --machine h100-rail --net loggp -p gen.batch=16",
                      "On two nodes"},
                     {"weft tune gen:llm -n 8 --machine a100-rail --net loggp -p gen.batch=8",
                      "On other devices"},
                     {"weft tune gen:llm -n 8 --machine h100-rail --net loggp -p gen.batch=8 "
                      "--json",
                      "For a program to read"},
                 },
             .table = rows},
    .opts_size = sizeof(struct tune_opts),
    .operand = "gen:llm",
    .min_operands = 1,
    .max_operands = 1,
    .run = tune_run,
};
