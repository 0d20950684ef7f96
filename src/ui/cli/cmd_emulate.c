/* SPDX-License-Identifier: Apache-2.0 */
/* weft emulate runs a program on a network without cost and writes the trace that it would have
 * on a machine that does not exist. */
#include "run/execute/run.h"
#include "run/scenario/scenario.h"
#include "ui/cli/run_options.h"

#include <sys/stat.h>

static const struct wf_opt rows[] = {
    WF_RUN_ROW_COMPUTE,
    WF_OPT_ROW(struct wf_simulate_opts, parts, COUNT, "parts", 0, NULL, .min = "1",
               .max = "256",
               .doc = "Write a directory with this many files instead of one .weft file"),
    WF_OPT_SETTING("ranks", 'n', "ranks", NULL),
    WF_OPT_SETTING("spare", 0, "run.spare", "<ranks>"),
    WF_OPT_SETTING("stack", 0, "run.stack", NULL),
    WF_OPT_SETTING("labels", 0, "run.labels", NULL),
    WF_OPT_SETTING("no-payload", 0, "run.no_payload", NULL),
    WF_OPT_SETTING("sched", 0, "engine.sched", NULL),
    WF_OPT_SETTING("threads", 0, "engine.threads", NULL),
    WF_SIMULATE_ROWS("The trace to write, in the format of its name, as 'weft convert' does; "
                     "without an ending it is a .weft",
                     "<trace>", NULL),
};

/* A trace name without an extension may be the path of the program itself. */
static bool is_same_file(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static enum wf_status check_output(const struct wf_simulate_opts *opts, const char *program,
                                   struct wf_err *err)
{
    const struct wf_trace_writer_ops *format;

    if (opts->output == NULL) {
        return wf_err_set(err, WF_EUSAGE, "emulate: no output; -o names it, as in -o app.weft");
    }
    if (is_same_file(opts->output, program)) {
        return wf_err_set(err, WF_EUSAGE, "emulate: '%.200s' is the program itself",
                          opts->output);
    }
    return wf_sim_trace_out_format(opts->output, &format, err);
}

static enum wf_status set_program(const struct wf_cli *cli, const struct wf_simulate_opts *opts,
                                  const struct wf_operands *operands,
                                  struct wf_scenario *scenario, struct wf_err *err)
{
    WF_TRY(wf_cli_run_set_program(operands, scenario, err));
    WF_TRY(wf_scenario_set(scenario, "network", "none", NULL, err));
    WF_TRY(wf_scenario_set(scenario, "mpi.local", "no", NULL, err));
    /* The trace has the times as measured. */
    WF_TRY(wf_scenario_set(scenario, "run.robust", "no", NULL, err));
    return wf_cli_run_set_compute(opts->compute, scenario, err);
}

static enum wf_status emulate_run(struct wf_cli *cli, const void *opts,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    struct wf_simulate_opts own = *(const struct wf_simulate_opts *)opts;
    enum wf_status status = check_output(&own, operands->args.items[0], err);

    own.trace = own.output;
    own.output = NULL;
    own.silent = !own.dry_run;
    return status == WF_OK ? wf_simulate(cli, &own, operands, set_program, err) : status;
}

const struct wf_verb wf_verb_emulate = {
    .name = "emulate",
    .summary = "Write the trace of an MPI program on a machine you do not have",
    .help = {.synopsis =
                 "weft emulate -n <ranks> -o <trace> [options] -- <program> [arguments]",
             .summary =
                 "Run an MPI program that was built with weftcc as virtual ranks without a "
                 "network, and write its trace: a trace of a machine you do not have",
             .examples =
                 {
                     {"weft emulate -n 4096 -o app.weft -- ./app",
                      "The trace of 4096 ranks, for 'weft replay' on any network"},
                     {"weft emulate -n 64 --compute none -o app.csv -- ./app",
                      "Only the communication, as a table"},
                     {"weft emulate -n 16 --labels -o labels.weft -- ./app",
                      "With the rank before each line of the program"},
                     {"weft emulate -n 16 -o parts.weft --parts 4 -- ./app", "In four files"},
                     {"weft emulate -n 256 -o small.weft -q --stack 64KiB -- ./app",
                      "Many ranks in little memory"},
                 },
             .table = rows},
    .opts_size = sizeof(struct wf_simulate_opts),
    .operand = "a program",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = emulate_run,
};
