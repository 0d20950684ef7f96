/* SPDX-License-Identifier: Apache-2.0 */
#include "base/columns.h"
#include "program/gen/gen.h"
#include "program/gen/graphs.h"
#include "program/ops/source.h"
#include "ui/cli/trace_input.h"

#include <string.h>

static const struct wf_opt rows[] = {
    WF_TRACE_ROW_RANKS, WF_TRACE_ROW_OUTPUT, WF_TRACE_ROW_PARAMS,
    WF_TRACE_ROW_PARTS, WF_TRACE_ROW_FORCE,  WF_OPT_END,
};

static void list_generators(FILE *out)
{
    (void)fputs("\nGenerators:\n", out);
    for (const struct wf_source_ops *const *ops = wf_gen_table(); *ops != NULL; ops++) {
        wf_columns_row(out, (*ops)->name, (*ops)->summary);
    }
    for (const struct wf_graph_ops *const *ops = wf_gen_graph_table(); *ops != NULL; ops++) {
        wf_columns_row(out, (*ops)->name, (*ops)->summary);
    }
    wf_cli_trace_list_written(out);
}

/* The name may begin with "gen:", which other commands require. */
static enum wf_status gen_run(struct wf_cli *cli, const void *opts,
                              const struct wf_operands *operands, struct wf_err *err)
{
    const char *name = operands->args.items[0];
    char word[128];

    (void)snprintf(word, sizeof(word), "%s%.100s",
                   strncmp(name, "gen:", 4) == 0 ? "" : "gen:", name);
    return wf_cli_trace_rewrite(cli, word, opts, err);
}

const struct wf_verb wf_verb_gen = {
    .name = "gen",
    .summary = "Write the program of a generator as a trace",
    .help = {.synopsis = "weft gen <generator> -n <ranks> -o <trace> [options]",
             .summary = "Write the program of a generator as a trace",
             .examples =
                 {
                     {"weft gen stencil3d -n 64 -o stencil.weft", "A 3D stencil on 64 ranks"},
                     {"weft gen ring -n 8 -o ring.csv -p gen.bytes=1KiB",
                      "A ring, as a table of operations"},
                     {"weft gen llm -n 8 -o step.weft -p gen.layers=4",
                      "A training step of a small transformer"},
                     {"weft gen fft -n 16 -o fft.goal", "For LogGOPSim"},
                     {"weft gen cg -n 64 -o cg.weft --parts 8", "In eight files"},
                 },
             .table = rows},
    .opts_size = sizeof(struct wf_trace_opts),
    .operand = "a generator",
    .min_operands = 1,
    .max_operands = 1,
    .run = gen_run,
    .more_help = list_generators,
};
