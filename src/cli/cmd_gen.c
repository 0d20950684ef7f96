/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/columns.h"
#include "cli/trace_input.h"
#include "gen/gen.h"
#include "gen/graphs.h"
#include "ops/source.h"
#include "sim/world.h"

#include <string.h>

static const struct wf_opt rows[] = {
    WF_TRACE_ROW_RANKS, WF_TRACE_ROW_OUTPUT, WF_TRACE_ROW_PARAMS,
    WF_TRACE_ROW_PARTS, WF_TRACE_ROW_FORCE,  WF_OPT_HELP(struct wf_trace_opts),
    WF_OPT_END,
};

#define USAGE "weft gen stencil3d -n 64 -o stencil.weft"

static void gen_help(FILE *out)
{
    static const struct wf_opt_help help = {
        .synopsis = "weft gen <generator> -n <ranks> -o <trace> [options]",
        .summary = "Write the program of a generator as a trace",
        .examples =
            {
                {USAGE, "A 3D stencil on 64 ranks"},
                {"weft gen ring -n 8 -o ring.csv -p gen.bytes=1KiB",
                 "A ring, as a table of operations"},
            },
        .table = rows,
    };

    wf_opt_print_help(&help, out);
    (void)fputs("\nGenerators:\n", out);
    for (const struct wf_source_ops *const *ops = wf_gen_table(); *ops != NULL; ops++) {
        wf_columns_row(out, (*ops)->name, (*ops)->summary);
    }
    for (const struct wf_graph_ops *const *ops = wf_graph_table(); *ops != NULL; ops++) {
        wf_columns_row(out, (*ops)->name, (*ops)->summary);
    }
}

/* "gen:" before the name is what other commands want, and does no harm here. */
static enum wf_status write_program(struct wf_cli *cli, const char *name,
                                    const struct wf_trace_opts *opts, struct wf_err *err)
{
    struct wf_trace trace = {.source = NULL};
    char word[128];

    (void)snprintf(word, sizeof(word), "%s%.100s",
                   strncmp(name, "gen:", 4) == 0 ? "" : "gen:", name);
    enum wf_status status = wf_trace_output_check(opts, err);
    if (status == WF_OK) {
        status = wf_trace_input(word, opts, &trace, err);
    }
    if (status == WF_OK) {
        const struct wf_trace_piece piece = {
            .trace = &trace, .n_ranks = wf_trace_n_ranks(&trace), .creator = word};
        status = wf_trace_output(cli, &piece, opts, err);
    }
    wf_trace_close(&trace);
    return wf_world_agree(cli->world, status, err);
}

static enum wf_status gen_run(struct wf_cli *cli, int argc, char **argv, struct wf_err *err)
{
    struct wf_trace_opts opts = {.help = false};
    struct wf_operands operands;

    enum wf_status status = wf_opt_parse(rows, argc, argv, &opts, &operands, err);
    if (status != WF_OK) {
        return status;
    }
    if (opts.help) {
        gen_help(cli->out);
    } else {
        status = wf_trace_operands(&operands, 1, USAGE, err);
        if (status == WF_OK) {
            status = write_program(cli, operands.args.items[0], &opts, err);
        }
    }
    wf_opt_release(rows, &opts, &operands);
    return status;
}

const struct wf_verb wf_verb_gen = {
    .name = "gen",
    .summary = "Write the program of a generator as a trace",
    .run = gen_run,
    .help = gen_help,
};
