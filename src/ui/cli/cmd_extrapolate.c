/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "program/extrapolate/explain.h"
#include "program/extrapolate/extrapolate.h"
#include "program/extrapolate/notes.h"
#include "program/extrapolate/verify.h"
#include "run/execute/world.h"
#include "ui/cli/progress.h"
#include "ui/cli/trace_input.h"

#include <stdlib.h>

struct extrapolate_opts {
    struct wf_trace_opts trace;
    bool explain, verify;
    double repeat, spread;
    const char *scale_bytes, *scale_compute, *against;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct wf_trace_opts, ranks, COUNT, "ranks", 'n', NULL, .min = "1",
               .max = "67108864", .doc = "Ranks of the extrapolated program"),
    WF_TRACE_ROW_OUTPUT,
    WF_OPT_ROW(struct extrapolate_opts, explain, BOOL, "explain", 0, NULL,
               .doc = "Print what was understood: the grid, the program and its rules, and how "
                      "well each rule predicts one count from the others"),
    WF_OPT_ROW(struct extrapolate_opts, verify, BOOL, "verify", 0, NULL,
               .doc = "First predict the largest trace from the others, and compare: fails if "
                      "an op, peer or tag differs"),
    WF_OPT_ROW(struct extrapolate_opts, against, TEXT, "against", 0, "<trace>",
               .doc = "Compare the result with a trace of as many ranks, likewise"),
    WF_OPT_ROW(struct extrapolate_opts, repeat, REAL, "repeat", 0, "<factor>", .min = "0",
               .max = "1e9", .doc = "Multiply the rounds of the main loop"),
    WF_OPT_ROW(struct extrapolate_opts, scale_bytes, TEXT, "scale-bytes", 0, "<factor>",
               .doc = "Multiply message sizes; solve=2,io=0.5 does it in regions, and "
                      "uniform:0.8:1.2, normal:1:0.1 or exponential:1 draws factors, the same "
                      "each time"),
    WF_OPT_ROW(struct extrapolate_opts, scale_compute, TEXT, "scale-compute", 0, "<factor>",
               .doc = "Multiply compute times, likewise"),
    WF_OPT_ROW(struct extrapolate_opts, spread, REAL, "spread-compute", 0, "<share>",
               .min = "0", .max = "1",
               .doc = "Let compute times differ by up to this share, at random but the same "
                      "each time"),
    WF_TRACE_ROW_PARTS,
    WF_TRACE_ROW_FORCE,
    WF_TRACE_ROW_PARAMS,
    WF_OPT_END,
};

/* Opens traces as the options say. */
struct opener {
    struct wf_ext_opener base;
    struct wf_cli *cli;
    const struct wf_trace_opts *opts;
};

static enum wf_status open_trace(const struct wf_ext_opener *base, const char *path,
                                 struct wf_trace *out, struct wf_err *err)
{
    const struct opener *opener = (const struct opener *)base;
    struct wf_trace_opts own = *opener->opts;

    own.ranks = 0; /* those of the prediction */
    return wf_cli_trace_input(opener->cli, path, &own, out, err);
}

static enum wf_status check_options(const struct extrapolate_opts *opts,
                                    const struct wf_operands *operands, struct wf_err *err)
{
    if (opts->trace.ranks == 0) {
        return wf_err_set(err, WF_EUSAGE, "the number of ranks is missing: -n <count>");
    }
    if (opts->verify && operands->args.n < 3) {
        return wf_err_set(err, WF_EUSAGE,
                          "--verify needs three traces at least: one is predicted from the "
                          "others");
    }
    if (operands->args.n > WF_EXT_COUNTS_MAX) {
        return wf_err_set(err, WF_EUSAGE, "at most %d traces can be given", WF_EXT_COUNTS_MAX);
    }
    return opts->trace.output == NULL &&
                   (opts->explain || opts->verify || opts->against != NULL)
               ? WF_OK
               : wf_cli_trace_output_check(&opts->trace, err);
}

static enum wf_status extrapolate(struct wf_cli *cli, const struct extrapolate_opts *opts,
                                  const struct wf_operands *operands,
                                  struct wf_ext_model *model,
                                  const struct wf_ext_changes *changes, struct wf_err *err)
{
    const struct wf_ext_options options = {.target = (uint32_t)opts->trace.ranks,
                                           .changes = *changes};
    const struct opener opener = {
        .base = {.open = open_trace}, .cli = cli, .opts = &opts->trace};
    FILE *told = wf_world_is_first(cli->world) ? cli->out : NULL;
    struct wf_trace trace = {.source = NULL};
    struct wf_progress_line line;
    struct wf_ext_grid grid;

    for (size_t i = 0; i < operands->args.n; i++) {
        WF_TRY(wf_ext_read_path(&opener.base, operands->args.items[i], &model->input, err));
    }
    wf_progress_init(&line, WF_PROGRESS_AUTO, cli->err);
    wf_progress_busy_begin(&line, "finding the program in the traces");
    enum wf_status status = wf_ext_understand(model, &options, err);
    wf_progress_read_end(&line);
    /* The program without the rules that were not found helps to see why. */
    if (opts->explain && wf_world_is_first(cli->world) && model->n_steps > 0 &&
        wf_ext_grid_make(&model->rule, options.target, &grid)) {
        wf_ext_explain(model, &grid, cli->out);
    }
    if (status == WF_OK && wf_world_is_first(cli->world)) {
        wf_ext_notes(model, cli->err);
    }
    if (status == WF_OK && opts->verify) {
        status = wf_ext_verify(&opener.base, model, told, err);
    }
    if (status != WF_OK || (opts->trace.output == NULL && opts->against == NULL)) {
        return status;
    }
    WF_TRY(wf_ext_source(model, &options, &trace.source, err));
    struct wf_trace_opts own = opts->trace;
    own.ranks = 0;
    const struct wf_study_trace_part part = {
        .trace = &trace, .n_ranks = options.target, .creator = operands->args.items[0]};
    if (opts->against != NULL) {
        status = wf_ext_check_guess(&opener.base, opts->against, trace.source, told, err);
    }
    if (status == WF_OK && opts->trace.output != NULL) {
        status = wf_cli_trace_output(cli, &part, &own, err);
    }
    wf_trace_close(&trace);
    return status;
}

static enum wf_status extrapolate_run(struct wf_cli *cli, const void *opts_arg,
                                      const struct wf_operands *operands, struct wf_err *err)
{
    const struct extrapolate_opts *opts = opts_arg;
    struct wf_ext_model *model = wf_xcalloc(1, sizeof(*model));
    struct wf_ext_changes changes = {.repeat = opts->repeat, .spread = opts->spread};
    enum wf_status status = check_options(opts, operands, err);

    if (status == WF_OK && opts->scale_bytes != NULL) {
        status = wf_ext_scales_read("scale-bytes", opts->scale_bytes, &changes.bytes, err);
    }
    if (status == WF_OK && opts->scale_compute != NULL) {
        status =
            wf_ext_scales_read("scale-compute", opts->scale_compute, &changes.compute, err);
    }
    WF_THEN(status, extrapolate(cli, opts, operands, model, &changes, err));
    wf_ext_scales_fini(&changes.bytes);
    wf_ext_scales_fini(&changes.compute);
    wf_ext_model_fini(model);
    free(model);
    return wf_world_agree(cli->world, status, err);
}

const struct wf_verb wf_verb_extrapolate = {
    .name = "extrapolate",
    .summary = "Predict the trace of a program at more ranks",
    .help =
        {.synopsis = "weft extrapolate [options] <trace> <trace> ... -n <ranks> -o <trace>",
         .summary =
             "Predict the trace of a program at a number of ranks from its traces at three or "
             "more smaller numbers. What cannot be understood is refused, with an example",
         .examples =
             {
                 {"weft extrapolate t64.weft t128.weft t256.weft -n 4096 -o big.weft",
                  "The trace that 4,096 ranks would write"},
                 {"weft extrapolate t64.weft t128.weft t256.weft -n 4096 --explain",
                  "What weft understands of the program"},
                 {"weft extrapolate t64.weft t128.weft t256.weft -n 512 --verify -o "
                  "checked.weft",
                  "First predict the largest trace from the others"},
                 {"weft extrapolate t64.weft t128.weft t256.weft -n 256 --against t256.weft",
                  "Compare with a trace of as many ranks"},
                 {"weft extrapolate t64.weft t128.weft t256.weft -n 512 --scale-bytes 2 "
                  "--explain",
                  "With twice the data"},
             },
         .table = rows},
    .opts_size = sizeof(struct extrapolate_opts),
    .operand = "two or more traces",
    .min_operands = 1,
    .max_operands = 64,
    .run = extrapolate_run,
    .more_help = wf_cli_trace_list_written,
};
