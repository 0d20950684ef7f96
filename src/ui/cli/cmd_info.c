/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/world.h"
#include "ui/cli/progress.h"
#include "ui/cli/trace_input.h"
#include "ui/study/trace_info.h"

struct info_opts {
    struct wf_trace_opts trace;
    bool per_rank;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct info_opts, per_rank, BOOL, "per-rank", 0, NULL,
               .doc = "Show the figures of each rank too"),
    WF_TRACE_ROW_RANKS,
    WF_TRACE_ROW_PARAMS,
    WF_OPT_ROW(struct wf_trace_opts, json, BOOL, "json", 0, NULL,
               .doc = "Print everything as one JSON document"),
    WF_OPT_END,
};

/* Shows a damaged trace as far as it can be read; the command still fails. */
static enum wf_status info_run(struct wf_cli *cli, const void *opts_arg,
                               const struct wf_operands *operands, struct wf_err *err)
{
    const struct info_opts *opts = opts_arg;
    const char *name = operands->args.items[0];
    struct wf_trace trace;
    struct wf_study_info info;
    struct wf_progress_line line;

    enum wf_status status = wf_cli_trace_input(cli, name, &opts->trace, &trace, err);
    if (status != WF_OK) {
        return wf_world_agree(cli->world, status, err);
    }
    wf_progress_init(&line, WF_PROGRESS_AUTO, cli->err);
    const struct wf_pass pass = wf_progress_pass(&line, "counting");
    status = wf_study_info_init(&info, name, &trace, &pass, err);
    wf_progress_erase(&line);
    if (opts->trace.json) {
        wf_cli_answer(cli, wf_study_info_document(&info, opts->per_rank));
    } else {
        wf_study_info_print(&info, opts->per_rank, cli->out);
    }
    wf_study_info_fini(&info);
    wf_trace_close(&trace);
    return wf_world_agree(cli->world, status, err);
}

const struct wf_verb wf_verb_info = {
    .name = "info",
    .summary = "Show what is in a trace",
    .help = {.synopsis = "weft info [options] <trace> | gen:<generator> -n <ranks>",
             .summary =
                 "Show what is in a trace: ranks, operations, messages, communicators, "
                 "computing. Bytes of collectives are summed over the calls of the ranks",
             .examples =
                 {
                     {"weft info run.weft", "All operations counted"},
                     {"weft info gen:stencil3d -n 64 --json", "A generated program, as JSON"},
                     {"weft info run.weft --per-rank", "Each rank too"},
                     {"weft info gen:llm -n 8 -p gen.layers=4", "How much a model sends"},
                     {"weft info run.weft --json", "Of a recording, for a program to read"},
                 },
             .table = rows},
    .opts_size = sizeof(struct info_opts),
    .operand = "a trace",
    .min_operands = 1,
    .max_operands = 1,
    .run = info_run,
};
