/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "cli/trace_input.h"
#include "extrapolate/explain.h"
#include "extrapolate/extrapolate.h"
#include "sim/world.h"

#include <stdlib.h>

struct extrapolate_opts {
    struct wf_trace_opts trace;
    bool explain;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct wf_trace_opts, ranks, COUNT, "ranks", 'n', NULL, .min = "1",
               .max = "67108864", .doc = "Ranks of the extrapolated program"),
    WF_TRACE_ROW_OUTPUT,
    WF_OPT_ROW(struct extrapolate_opts, explain, BOOL, "explain", 0, NULL,
               .doc = "Print what was understood: the grid, the program and its rules, and how "
                      "well each rule predicts one count from the others"),
    WF_TRACE_ROW_PARTS,
    WF_TRACE_ROW_FORCE,
    WF_TRACE_ROW_PARAMS,
    WF_OPT_HELP(struct wf_trace_opts),
    WF_OPT_END,
};

static enum wf_status read_trace(const char *word, const struct wf_trace_opts *opts,
                                 struct wf_ext_input *input, struct wf_err *err)
{
    struct wf_trace_opts own = *opts;
    struct wf_trace trace = {.source = NULL};

    own.ranks = 0;
    enum wf_status status = wf_cli_trace_input(word, &own, &trace, err);
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
    if (operands->args.n < 2) {
        return wf_err_set(err, WF_EUSAGE,
                          "two traces are needed at least, with different numbers of ranks; "
                          "three or more predict better");
    }
    if (operands->args.n > WF_EXT_COUNTS_MAX) {
        return wf_err_set(err, WF_EUSAGE, "at most %d traces can be given", WF_EXT_COUNTS_MAX);
    }
    return opts->trace.output == NULL && opts->explain
               ? WF_OK
               : wf_cli_trace_output_check(&opts->trace, err);
}

static void print_notes(struct wf_cli *cli, const struct wf_ext_model *model)
{
    if (!wf_world_is_first(cli->world)) {
        return;
    }
    if (model->n_doubtful > 0) {
        (void)fprintf(cli->err,
                      "weft: note: %u sizes, times or numbers of rounds follow several rules "
                      "that give different values with %u ranks; a trace at a number of ranks "
                      "with another form of grid would decide\n",
                      model->n_doubtful, model->target.n);
    }
    if (model->input.n_tests > 0) {
        (void)fprintf(cli->err,
                      "weft: note: %llu tests that found requests complete became waits\n",
                      (unsigned long long)model->input.n_tests);
    }
    if (model->input.n_wildcards_forgotten > 0) {
        (void)fprintf(cli->err,
                      "weft: note: %llu receives from any source: which message they matched "
                      "is not carried over\n",
                      (unsigned long long)model->input.n_wildcards_forgotten);
    }
    if (model->input.has_counters) {
        (void)fputs("weft: note: hardware counters are not carried over\n", cli->err);
    }
}

static enum wf_status extrapolate(struct wf_cli *cli, const struct extrapolate_opts *opts,
                                  const struct wf_operands *operands,
                                  struct wf_ext_model *model, struct wf_err *err)
{
    const struct wf_ext_options options = {.target = (uint32_t)opts->trace.ranks};
    struct wf_trace trace = {.source = NULL};
    struct wf_ext_grid grid;

    for (size_t i = 0; i < operands->args.n; i++) {
        WF_TRY(read_trace(operands->args.items[i], &opts->trace, &model->input, err));
    }
    enum wf_status status = wf_ext_understand(model, &options, err);
    /* The program without the rules that were not found helps to see why. */
    if (opts->explain && wf_world_is_first(cli->world) && model->n_steps > 0 &&
        wf_ext_grid_make(&model->rule, options.target, &grid)) {
        wf_ext_explain(model, &grid, cli->out);
    }
    if (status == WF_OK) {
        print_notes(cli, model);
    }
    if (status != WF_OK || opts->trace.output == NULL) {
        return status;
    }
    WF_TRY(wf_ext_source(model, &options, &trace.source, err));
    struct wf_trace_opts own = opts->trace;
    own.ranks = 0;
    const struct wf_study_trace_part part = {
        .trace = &trace, .n_ranks = options.target, .creator = operands->args.items[0]};
    status = wf_cli_trace_output(cli, &part, &own, err);
    wf_trace_close(&trace);
    return status;
}

static enum wf_status extrapolate_run(struct wf_cli *cli, const void *opts_arg,
                                      const struct wf_operands *operands, struct wf_err *err)
{
    const struct extrapolate_opts *opts = opts_arg;
    struct wf_ext_model *model = wf_xcalloc(1, sizeof(*model));
    enum wf_status status = check_options(opts, operands, err);

    if (status == WF_OK) {
        status = extrapolate(cli, opts, operands, model, err);
    }
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
