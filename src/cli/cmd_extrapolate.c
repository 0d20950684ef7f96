/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "cli/progress.h"
#include "cli/trace_input.h"
#include "extrapolate/explain.h"
#include "extrapolate/extrapolate.h"
#include "extrapolate/notes.h"
#include "sim/world.h"

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
               .doc = "Multiply message sizes; solve=2,io=0.5 does it in regions"),
    WF_OPT_ROW(struct extrapolate_opts, scale_compute, TEXT, "scale-compute", 0, "<factor>",
               .doc = "Multiply compute times, likewise"),
    WF_OPT_ROW(struct extrapolate_opts, spread, REAL, "spread-compute", 0, "<share>",
               .min = "0", .max = "1",
               .doc = "Let compute times differ by up to this share, at random but the same "
                      "each time"),
    WF_TRACE_ROW_PARTS,
    WF_TRACE_ROW_FORCE,
    WF_TRACE_ROW_PARAMS,
    WF_OPT_HELP(struct wf_trace_opts),
    WF_OPT_END,
};

static enum wf_status read_trace(struct wf_cli *cli, const char *word,
                                 const struct wf_trace_opts *opts, struct wf_ext_input *input,
                                 struct wf_err *err)
{
    struct wf_trace_opts own = *opts;
    struct wf_trace trace = {.source = NULL};

    own.ranks = 0;
    enum wf_status status = wf_cli_trace_input(cli, word, &own, &trace, err);
    if (status == WF_OK && trace.graph != NULL) {
        status = wf_err_set(err, WF_EINVAL,
                            "'%.200s' has tasks instead of operations, and cannot be "
                            "extrapolated",
                            word);
    }
    if (status == WF_OK) {
        status = wf_ext_read(input, word, trace.source, err);
    }
    wf_trace_close(&trace);
    return status;
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

static void print_difference(const struct wf_ext_difference *found, uint32_t n, FILE *out)
{
    double bytes =
        found->bytes > 0 ? ((double)found->other_bytes / (double)found->bytes - 1) * 100 : 0;
    double compute = found->compute > 0 ? (found->other_compute / found->compute - 1) * 100 : 0;

    (void)fprintf(
        out,
        "%u ranks, predicted from other traces: %llu ops%s, %.1f %% of the sizes "
        "the same, bytes %+.2f %%, compute time %+.2f %% (a rank at most %.1f %%)\n",
        n, (unsigned long long)found->n_other, found->same ? ", all right" : "",
        found->n_sizes > 0 ? 100 * (double)found->n_same_sizes / (double)found->n_sizes : 100.0,
        bytes, compute, 100 * found->worst_compute);
}

/* Compares the trace that was left out with its prediction. */
static enum wf_status compare(struct wf_cli *cli, const char *left_out,
                              const struct wf_trace_opts *opts, const struct wf_source *guess,
                              struct wf_err *err)
{
    struct wf_trace_opts own = *opts;
    struct wf_trace trace = {.source = NULL};
    struct wf_ext_difference found;

    own.ranks = 0;
    enum wf_status status = wf_cli_trace_input(cli, left_out, &own, &trace, err);
    if (status == WF_OK && (trace.source == NULL || trace.source->n_ranks != guess->n_ranks)) {
        status = wf_err_set(err, WF_EINVAL, "'%.200s' is no trace of operations of %u ranks",
                            left_out, guess->n_ranks);
    }
    if (status == WF_OK) {
        status = wf_ext_compare(trace.source, guess, &found, err);
    }
    if (status == WF_OK && wf_world_is_first(cli->world)) {
        print_difference(&found, guess->n_ranks, cli->out);
    }
    if (status == WF_OK && !found.same) {
        status = wf_err_set(err, WF_EINVAL,
                            "'%.200s' is predicted wrongly from the other traces: op %llu of "
                            "rank %u differs, computing not counted",
                            left_out, (unsigned long long)found.op, found.rank);
    }
    wf_trace_close(&trace);
    return status;
}

/* Predicts the largest trace from the others. `all` has read all of them. */
static enum wf_status verify(struct wf_cli *cli, const struct extrapolate_opts *opts,
                             const struct wf_ext_model *all, struct wf_err *err)
{
    const struct wf_ext_count *last = &all->input.counts[all->input.n_counts - 1];
    const struct wf_ext_options options = {.target = last->n};
    struct wf_ext_model *model = wf_xcalloc(1, sizeof(*model));
    struct wf_source *guess = NULL;
    enum wf_status status = WF_OK;

    for (uint32_t i = 0; i + 1 < all->input.n_counts && status == WF_OK; i++) {
        status = read_trace(cli, all->input.counts[i].path, &opts->trace, &model->input, err);
    }
    if (status == WF_OK) {
        status = wf_ext_understand(model, &options, err);
    }
    if (status == WF_OK) {
        status = wf_ext_source(model, &options, &guess, err);
    }
    if (status == WF_OK) {
        status = compare(cli, last->path, &opts->trace, guess, err);
    } else {
        wf_err_prefix(err, "--verify, without the largest trace: ");
    }
    wf_source_free(guess);
    wf_ext_model_fini(model);
    free(model);
    return status;
}

static enum wf_status extrapolate(struct wf_cli *cli, const struct extrapolate_opts *opts,
                                  const struct wf_operands *operands,
                                  struct wf_ext_model *model,
                                  const struct wf_ext_changes *changes, struct wf_err *err)
{
    const struct wf_ext_options options = {.target = (uint32_t)opts->trace.ranks,
                                           .changes = *changes};
    struct wf_trace trace = {.source = NULL};
    struct wf_progress_line line;
    struct wf_ext_grid grid;

    for (size_t i = 0; i < operands->args.n; i++) {
        WF_TRY(read_trace(cli, operands->args.items[i], &opts->trace, &model->input, err));
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
        status = verify(cli, opts, model, err);
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
        status = compare(cli, opts->against, &opts->trace, trace.source, err);
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
    if (status == WF_OK) {
        status = extrapolate(cli, opts, operands, model, &changes, err);
    }
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
             },
         .table = rows},
    .opts_size = sizeof(struct extrapolate_opts),
    .operand = "two or more traces",
    .min_operands = 1,
    .max_operands = 64,
    .run = extrapolate_run,
};
