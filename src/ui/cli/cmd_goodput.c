/* SPDX-License-Identifier: Apache-2.0 */
#include "base/extension.h"
#include "ui/cli/cli.h"
#include "ui/cli/opt.h"
#include "ui/draw/plot.h"
#include "ui/report/output.h"
#include "ui/study/goodput.h"

struct goodput_opts {
    struct wf_study_goodput_options run;
    struct wf_opt_list fail;
    const char *output;
    bool json, force;
};

/* A picture, or a page with it. */
static const char *extension(size_t i)
{
    return i == 0 ? ".html" : wf_draw_plot_extension(i - 1);
}

#define ROW(member, kind, ...) WF_OPT_ROW(struct goodput_opts, member, kind, __VA_ARGS__)

static const struct wf_opt rows[] = {
    {.param = {.name = "fail",
               .offset = offsetof(struct goodput_opts, fail),
               .doc = "A class of parts that fail, as in gpu:count=16384,mtbf=5y,repair=4h; "
                      "also law=weibull,shape=0.7 or times=<file>; several classes add up"},
     .kind = WF_OPT_LIST,
     .arg = "<class>"},
    ROW(run.time, TEXT, "time", 0, "<time>", .doc = "Wall time of the job: us ms s min h d y"),
    ROW(run.work, TEXT, "work", 0, "<time>",
        .doc = "Or: time that the job would take without failures and checkpoints"),
    ROW(run.steps, COUNT, "steps", 0, NULL, .def = "0", .doc = "Or: its steps, of --step"),
    ROW(run.step, TEXT, "step", 0, "<time|file>",
        .doc = "Time of a step, or a result document (.json) of weft that has it; checkpoints "
               "come after whole steps"),
    ROW(run.interval, TEXT, "interval", 0, "<time|best|young|daly>", .def = "best",
        .doc = "Work between two checkpoints: a time, the best one by simulation, or that of a "
               "formula"),
    ROW(run.cost, TEXT, "checkpoint-cost", 0, "<time>",
        .doc = "Time for which a checkpoint stops the job"),
    ROW(run.size, SIZE, "checkpoint-size", 0, NULL, .def = "0", .max = "1EB",
        .doc = "Or: its size, which is written at --checkpoint-rate"),
    ROW(run.rate, RATE, "checkpoint-rate", 0, NULL, .doc = "Bandwidth at which it is written"),
    ROW(run.write, TEXT, "checkpoint-write", 0, "<time>",
        .doc = "Time after that stop until the checkpoint can be used, while the job works"),
    ROW(run.detect, TEXT, "detect", 0, "<time>", .doc = "Time until a failure is noticed"),
    ROW(run.restart, TEXT, "restart", 0, "<time>",
        .doc = "Time from then, or from when all nodes are there, until the job works again"),
    ROW(run.spares, COUNT, "spares", 0, NULL, .def = "0", .max = "16777216",
        .doc = "Nodes that replace failed ones until these are repaired"),
    ROW(run.runs, COUNT, "runs", 0, NULL, .def = "20", .min = "1", .max = "10000",
        .doc = "Simulations with different seeds for each interval"),
    ROW(run.seed, COUNT, "seed", 0, NULL, .def = "1", .doc = "Seed of the first of them"),
    ROW(json, BOOL, "json", 0, NULL, .doc = "Print the result as one JSON document"),
    WF_OPT_FILE_ROW(struct goodput_opts, output, "output", 'o', "<file>", extension,
                    "Draw it to a file instead; .html is a page:"),
    WF_OPT_FORCE(struct goodput_opts),
    WF_OPT_END,
};

static enum wf_status save(const struct goodput_opts *opts,
                           const struct wf_study_goodput *study, struct wf_err *err)
{
    const struct wf_draw_plot_format *format = wf_draw_plot_for_path(opts->output);
    struct wf_output *output = NULL;

    WF_TRY(wf_output_open(opts->output, opts->force, &output, err));
    if (format != NULL) {
        wf_study_goodput_plot(study, format, wf_output_stream(output));
    } else {
        wf_study_goodput_page(study, wf_output_stream(output));
    }
    return wf_output_commit(output, err);
}

static enum wf_status goodput_run(struct wf_cli *cli, const void *opts_arg,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    struct goodput_opts opts = *(const struct goodput_opts *)opts_arg;
    struct wf_study_goodput study;

    opts.run.fail = opts.fail.items;
    opts.run.n_fail = opts.fail.n;
    if (opts.output != NULL) {
        size_t format;
        WF_TRY(wf_extension_find(extension, "output", opts.output, &format, err));
        WF_TRY(wf_output_check(opts.output, opts.force, err));
    }
    WF_TRY(wf_study_goodput_run(&opts.run, &study, err));
    enum wf_status status = opts.output != NULL ? save(&opts, &study, err) : WF_OK;
    if (opts.json) {
        wf_cli_answer(cli, wf_study_goodput_document(&study));
    } else if (opts.output == NULL) {
        wf_study_goodput_print(&study, cli->out);
    }
    wf_study_goodput_fini(&study);
    return status;
}

const struct wf_verb wf_verb_goodput = {
    .name = "goodput",
    .summary = "Play failures and checkpoints of a long job: how much time is useful",
    .help =
        {.synopsis = "weft goodput --fail <class> --time <time> --checkpoint-cost <time> "
                     "[options]",
         .summary = "Play failures, checkpoints and restarts of a long job: useful time, lost "
                    "work, the best interval of checkpoints",
         .examples =
             {
                 {"weft goodput --fail gpu:count=16384,mtbf=5y --time 54d --checkpoint-cost 5s",
                  "54 days on 16,384 GPUs, each of which fails every five years"},
                 {"weft goodput --fail node:mtbf=1d,repair=8h --work 9d --checkpoint-cost 9s",
                  "One node fails every day, and the job waits 8 hours for it; --spares helps"},
                 {"weft goodput --fail node:mtbf=2d --time 9d --checkpoint-cost 9s --runs 9",
                  "More simulations, for a narrower interval"},
                 {"weft goodput --fail node:mtbf=2d --time 9d --checkpoint-cost 9s --spares 2",
                  "With two spare nodes"},
                 {"weft goodput --fail node:mtbf=2d --work 9d --checkpoint-cost 9s -o "
                  "nine.html",
                  "As a page with a plot; .svg, .png and .pdf are the plot alone"},
             },
         .table = rows},
    .opts_size = sizeof(struct goodput_opts),
    .run = goodput_run,
    .more_help = wf_failure_list,
};
