/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/columns.h"
#include "cli/trace_input.h"
#include "sim/world.h"
#include "trace/reader.h"

static const struct wf_opt rows[] = {
    WF_TRACE_ROW_FORCE, WF_TRACE_ROW_PARTS,  WF_TRACE_ROW_PARTIAL,
    WF_TRACE_ROW_RANKS, WF_TRACE_ROW_PARAMS, WF_OPT_HELP(struct wf_trace_opts),
    WF_OPT_END,
};

#define USAGE "weft convert run.weft run.csv"

static void convert_help(FILE *out)
{
    static const struct wf_opt_help help = {
        .synopsis = "weft convert [options] <trace> <trace>",
        .summary = "Write a trace in another format, which the ending of its name says",
        .examples =
            {
                {USAGE, "A table of operations, for a spreadsheet"},
                {"weft convert --partial broken.weft whole.weft",
                 "What can be read of a truncated trace, as a trace of its own"},
            },
        .table = rows,
    };

    wf_opt_print_help(&help, out);
    (void)fputs("\nFormats that are read:\n", out);
    for (const struct wf_reader_ops *const *ops = wf_reader_table(); *ops != NULL; ops++) {
        wf_columns_row(out, (*ops)->name, (*ops)->summary);
    }
    (void)fputs("\nFormats that are written:\n", out);
    for (const struct wf_trace_writer_ops *const *ops = wf_trace_writer_table(); *ops != NULL;
         ops++) {
        wf_columns_row(out, (*ops)->extension, (*ops)->summary);
    }
}

static enum wf_status convert(struct wf_cli *cli, const struct wf_operands *operands,
                              struct wf_trace_opts *opts, struct wf_err *err)
{
    const char *from = operands->args.items[0];
    struct wf_trace trace = {.source = NULL};

    opts->output = operands->args.items[1];
    enum wf_status status = wf_trace_output_check(opts, err);
    if (status == WF_OK) {
        status = wf_trace_input(from, opts, &trace, err);
    }
    if (status == WF_OK) {
        const struct wf_trace_piece piece = {
            .trace = &trace, .n_ranks = wf_trace_n_ranks(&trace), .creator = from};
        status = wf_trace_output(cli, &piece, opts, err);
    }
    wf_trace_close(&trace);
    return wf_world_agree(cli->world, status, err);
}

static enum wf_status convert_run(struct wf_cli *cli, int argc, char **argv, struct wf_err *err)
{
    struct wf_trace_opts opts = {.help = false};
    struct wf_operands operands;

    enum wf_status status = wf_opt_parse(rows, argc, argv, &opts, &operands, err);
    if (status != WF_OK) {
        return status;
    }
    if (opts.help) {
        convert_help(cli->out);
    } else {
        status = wf_trace_operands(&operands, 2, USAGE, err);
        if (status == WF_OK) {
            status = convert(cli, &operands, &opts, err);
        }
    }
    wf_opt_release(rows, &opts, &operands);
    return status;
}

const struct wf_verb wf_verb_convert = {
    .name = "convert",
    .summary = "Write a trace in another format",
    .run = convert_run,
    .help = convert_help,
};
