/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/opt.h"
#include "report/compare.h"
#include "result/result.h"

#include <stdint.h>

enum { LINES_MAX = 12 };

struct compare_opts {
    bool help, verbose;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct compare_opts, verbose, BOOL, "verbose", 'v', NULL,
               .doc = "List every difference"),
    WF_OPT_HELP(struct compare_opts),
    WF_OPT_END,
};

static enum wf_status compare_run(struct wf_cli *cli, const void *opts_arg,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    const struct compare_opts *opts = opts_arg;
    const struct wf_opt_list *args = &operands->args;
    struct wf_value *base = NULL;

    enum wf_status status = wf_result_read(args->items[0], &base, err);
    for (size_t i = 1; i < args->n && status == WF_OK; i++) {
        struct wf_value *doc = NULL;
        status = wf_result_read(args->items[i], &doc, err);
        if (status == WF_OK) {
            const struct wf_compared a = {base, args->items[0]}, b = {doc, args->items[i]};
            cli->differs |= wf_compare(&a, &b, opts->verbose ? SIZE_MAX : LINES_MAX, cli->out);
            wf_doc_free(doc);
        }
    }
    wf_doc_free(base);
    return status;
}

const struct wf_verb wf_verb_compare = {
    .name = "compare",
    .summary = "Show the differences between results",
    .help = {.synopsis = "weft compare <result.json> <result.json> ...",
             .summary = "Show the differences between the scenarios and outcomes of results; "
                        "the exit code is 1 if there are any",
             .examples =
                 {
                     {"weft compare slow.json fast.json", "How much faster, and why"},
                     {"weft compare base.json a.json b.json -v",
                      "Compare each with the first, and list everything"},
                 },
             .table = rows},
    .opts_size = sizeof(struct compare_opts),
    .operand = "a result document",
    .min_operands = 2,
    .max_operands = SIZE_MAX,
    .run = compare_run,
};
