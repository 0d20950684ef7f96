/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "program/trace/cut/cut.h"
#include "program/trace/cut/graph.h"
#include "program/trace/cut/parse.h"
#include "program/trace/reader.h"
#include "run/execute/world.h"
#include "ui/cli/progress.h"
#include "ui/cli/trace_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct cut_opts {
    struct wf_trace_opts trace;
    const char *ranks, *time, *region, *iterations;
};

static const struct wf_opt rows[] = {
    WF_TRACE_ROW_OUTPUT,
    WF_OPT_ROW(struct cut_opts, ranks, TEXT, "ranks", 0, "0-15,20",
               .doc = "Keep these ranks, and number them from 0"),
    WF_OPT_ROW(
        struct cut_opts, time, TEXT, "time", 0, "1ms:2ms",
        .doc = "Keep operations that begin in this interval of a rank's own time, the "
               "sum of its computing so far (a trace has no other clock); of a task graph the "
               "tasks"),
    WF_OPT_ROW(struct cut_opts, region, TEXT, "region", 0, "<name>",
               .doc = "Keep the region of this name, every time it is entered"),
    WF_OPT_ROW(
        struct cut_opts, iterations, TEXT, "iterations", 0, "3:5",
        .doc = "Keep these iterations, first to last, counted from 0 as the trace marks them"),
    WF_TRACE_ROW_PARTS,
    WF_TRACE_ROW_FORCE,
    WF_TRACE_ROW_PARAMS,
    WF_OPT_END,
};

/* ---- the options of the cut ---- */

static enum wf_status parse_options(const struct cut_opts *opts, uint32_t n_ranks, bool *kept,
                                    struct wf_cut_options *options, struct wf_err *err)
{
    options->region = opts->region;
    if (opts->time != NULL) {
        WF_TRY(wf_cut_parse_time(opts->time, options, err));
    }
    if (opts->iterations != NULL) {
        WF_TRY(wf_cut_parse_iterations(opts->iterations, options, err));
    }
    if (opts->ranks != NULL) {
        options->ranks = kept;
        WF_TRY(wf_cut_parse_ranks(opts->ranks, n_ranks, kept, err));
    }
    if (opts->time == NULL && opts->iterations == NULL && opts->ranks == NULL &&
        opts->region == NULL) {
        return wf_err_set(err, WF_EUSAGE,
                          "nothing to cut; choose what to keep with --ranks, --time, "
                          "--region or --iterations");
    }
    return WF_OK;
}

/* ---- writing the part ---- */

static void print_losses(struct wf_cli *cli, const struct wf_cut_losses *losses)
{
    if (losses->n_messages > 0) {
        (void)fprintf(cli->err,
                      "weft: note: left out: %" PRIu64
                      " sends and receives whose other end was cut off\n",
                      losses->n_messages);
    }
    if (losses->n_collectives > 0) {
        (void)fprintf(
            cli->err,
            "weft: note: left out: %" PRIu64
            " calls of collectives that not all ranks make, or that lack their root\n",
            losses->n_collectives);
    }
    if (losses->n_open > 0) {
        (void)fprintf(cli->err,
                      "weft: note: %" PRIu64 " receives from any source are kept; the trace "
                      "does not tell which message they matched\n",
                      losses->n_open);
    }
}

static enum wf_status write_piece(struct wf_cli *cli, const struct wf_trace *trace,
                                  const struct wf_cut_options *options,
                                  const struct cut_opts *opts, const char *name,
                                  struct wf_err *err)
{
    struct wf_cut_options heard = *options;
    struct wf_progress_line line;
    struct wf_cut *cut = NULL;

    wf_progress_init(&line, WF_PROGRESS_AUTO, cli->err);
    heard.pass = wf_progress_pass(&line, "matching messages");
    enum wf_status status = wf_cut_new(trace->source, &heard, &cut, err);
    wf_progress_erase(&line);
    WF_TRY(status);
    const struct wf_study_trace_part part = {
        .trace = trace,
        .n_ranks = wf_cut_n_ranks(cut),
        .changes = wf_cut_changes(cut),
        .creator = name,
    };
    status = wf_cli_trace_output(cli, &part, &opts->trace, err);
    if (status == WF_OK) {
        print_losses(cli, wf_cut_losses(cut));
    }
    wf_cut_free(cut);
    return status;
}

/* Task graphs have PEs and time, but no regions and iterations. */
static enum wf_status write_tasks(struct wf_cli *cli, const struct wf_trace *trace,
                                  const struct wf_cut_options *options,
                                  const struct cut_opts *opts, const char *name,
                                  struct wf_err *err)
{
    struct wf_cut_losses losses = {.n_messages = 0};
    struct wf_trace piece = {.source = NULL};

    if (options->region != NULL || options->has_iterations) {
        return wf_err_set(err, WF_EUSAGE,
                          "'%.200s' has tasks instead of operations: it has no regions and "
                          "iterations; choose what to keep with --ranks and --time",
                          name);
    }
    WF_TRY(wf_cut_graph(trace->graph, options, &piece.graph, &losses.n_messages, err));
    const struct wf_study_trace_part part = {
        .trace = &piece, .n_ranks = piece.graph->n_pes, .creator = name};
    enum wf_status status = wf_cli_trace_output(cli, &part, &opts->trace, err);
    if (status == WF_OK) {
        print_losses(cli, &losses);
    }
    wf_graph_free(piece.graph);
    return status;
}

static enum wf_status open_trace(struct wf_cli *cli, const char *name,
                                 const struct wf_trace_opts *opts, struct wf_trace *out,
                                 struct wf_err *err)
{
    if (strncmp(name, "gen:", 4) == 0) {
        return wf_err_set(err, WF_EUSAGE, "'%.64s' is not a trace; 'weft gen' writes it as one",
                          name);
    }
    return wf_cli_trace_input(cli, name, opts, out, err);
}

static enum wf_status cut_run(struct wf_cli *cli, const void *opts_arg,
                              const struct wf_operands *operands, struct wf_err *err)
{
    const struct cut_opts *opts = opts_arg;
    const char *name = operands->args.items[0];
    struct wf_cut_options options = {.ranks = NULL};
    struct wf_trace trace = {.source = NULL};
    bool *kept = NULL;

    enum wf_status status = wf_cli_trace_output_check(&opts->trace, err);
    WF_THEN(status, open_trace(cli, name, &opts->trace, &trace, err));
    if (status == WF_OK) {
        uint32_t n = wf_study_trace_n_ranks(&trace);
        kept = wf_xcalloc(n, sizeof(*kept));
        status = parse_options(opts, n, kept, &options, err);
    }
    WF_THEN(status, trace.graph != NULL ? write_tasks(cli, &trace, &options, opts, name, err)
                                        : write_piece(cli, &trace, &options, opts, name, err));
    free(kept);
    wf_trace_close(&trace);
    return wf_world_agree(cli->world, status, err);
}

const struct wf_verb wf_verb_cut = {
    .name = "cut",
    .summary = "Write a part of a trace as a new trace",
    .help = {.synopsis = "weft cut [options] <trace> -o <trace>",
             .summary =
                 "Write a part of a trace as a new trace. Messages whose other end is cut off, "
                 "and collectives that not all remaining ranks call, are left out and counted",
             .examples =
                 {
                     {"weft cut run.weft -o part.weft --ranks 0-15", "The first 16 ranks"},
                     {"weft cut run.weft -o steps.weft --iterations 3:5",
                      "What all ranks do in three iterations"},
                     {"weft cut run.weft -o early.weft --time 0ms:2ms",
                      "What begins within the first two milliseconds"},
                     {"weft cut run.weft -o two.csv --ranks 0,8",
                      "Two ranks as a table, without messages to others"},
                     {"weft cut run.weft -o halves.weft --ranks 0-7 -f",
                      "Overwrite what is there"},
                 },
             .table = rows},
    .opts_size = sizeof(struct cut_opts),
    .operand = "a trace",
    .min_operands = 1,
    .max_operands = 1,
    .run = cut_run,
    .more_help = wf_cli_trace_list_written,
};
