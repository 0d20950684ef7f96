/* SPDX-License-Identifier: Apache-2.0 */
#include "base/columns.h"
#include "program/trace/reader.h"
#include "ui/cli/trace_input.h"

static const struct wf_opt rows[] = {
    WF_TRACE_ROW_FORCE, WF_TRACE_ROW_PARTS,  WF_TRACE_ROW_PARTIAL, WF_TRACE_ROW_EXPAND,
    WF_TRACE_ROW_RANKS, WF_TRACE_ROW_PARAMS, WF_OPT_END,
};

static void list_formats(FILE *out)
{
    (void)fputs("\nFormats that are read:\n", out);
    for (const struct wf_reader_ops *const *ops = wf_reader_table(); *ops != NULL; ops++) {
        wf_columns_row(out, (*ops)->name, (*ops)->summary);
    }
    wf_cli_trace_list_written(out);
}

static enum wf_status convert_run(struct wf_cli *cli, const void *opts,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    struct wf_trace_opts own = *(const struct wf_trace_opts *)opts;

    own.output = operands->args.items[1];
    return wf_cli_trace_rewrite(cli, operands->args.items[0], &own, err);
}

const struct wf_verb wf_verb_convert = {
    .name = "convert",
    .summary = "Write a trace in another format",
    .help = {.synopsis = "weft convert [options] <trace> <trace>",
             .summary =
                 "Write a trace in another format, which the ending of the second name chooses",
             .examples =
                 {
                     {"weft convert run.weft run.csv",
                      "A table of operations, for a spreadsheet"},
                     {"weft convert --partial broken.weft whole.weft",
                      "Rescue the readable part of a truncated trace"},
                     {"weft convert gen:ring ring.goal -n 8",
                      "A generated program for another simulator"},
                     {"weft convert gen:coll p2p.weft -n 8 --expand-collectives",
                      "Collectives as the messages that they consist of"},
                     {"weft convert run.weft four.weft --parts 4",
                      "A directory of four files, for readers in parallel"},
                 },
             .table = rows},
    .opts_size = sizeof(struct wf_trace_opts),
    .operand = "a trace",
    .min_operands = 2,
    .max_operands = 2,
    .run = convert_run,
    .more_help = list_formats,
};
