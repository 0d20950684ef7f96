/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/result/result.h"
#include "ui/cli/cli.h"
#include "ui/cli/opt.h"
#include "ui/cli/progress.h"
#include "ui/report/compare.h"
#include "ui/report/output.h"
#include "ui/report/writer.h"

#include <weft/weft.h>

#include <stdint.h>
#include <stdlib.h>

enum { LINES_MAX = 12 };

struct compare_opts {
    bool verbose, force;
    const char *output;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct compare_opts, verbose, BOOL, "verbose", 'v', NULL,
               .doc = "List every difference"),
    WF_OPT_ROW(struct compare_opts, output, TEXT, "output", 'o', "<file.html>",
               .doc = "Write a page for a browser: timelines on one scale, and the differences "
                      "by call, region, rank and link"),
    WF_OPT_FORCE(struct compare_opts),
    WF_OPT_END,
};

static enum wf_status write_page(struct wf_cli *cli, const struct compare_opts *opts,
                                 const struct wf_compared *results, size_t n,
                                 struct wf_err *err)
{
    struct wf_output *output = NULL;
    struct wf_progress_line line;

    WF_TRY(wf_output_open(opts->output, opts->force, &output, err));
    wf_progress_init(&line, WF_PROGRESS_AUTO, cli->err);
    wf_progress_busy_begin(&line, "comparing");
    wf_compare_page(results, n, weft_version(), wf_output_stream(output));
    wf_progress_read_end(&line);
    return wf_output_commit(output, err);
}

static enum wf_status check_output(const struct compare_opts *opts, struct wf_err *err)
{
    if (opts->output == NULL) {
        return WF_OK;
    }
    if (wf_writer_of(opts->output) != &wf_writer_html) {
        return wf_err_set(err, WF_EUSAGE, "output file '%.200s': the name must end in .html",
                          opts->output);
    }
    return wf_output_check(opts->output, opts->force, err);
}

static enum wf_status compare_run(struct wf_cli *cli, const void *opts_arg,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    const struct compare_opts *opts = opts_arg;
    const struct wf_opt_list *args = &operands->args;

    WF_TRY(check_output(opts, err));
    struct wf_compared *results = wf_xcalloc(args->n, sizeof(*results));
    struct wf_value **docs = wf_xcalloc(args->n, sizeof(struct wf_value *));
    enum wf_status status = WF_OK;
    for (size_t i = 0; i < args->n && status == WF_OK; i++) {
        status = wf_cli_read_result(cli, args->items[i], &docs[i], err);
        results[i] = (struct wf_compared){docs[i], args->items[i]};
        if (status == WF_OK && i > 0) {
            FILE *out = opts->output != NULL ? NULL : cli->out;
            cli->differs |=
                out != NULL &&
                wf_compare(&results[0], &results[i], opts->verbose ? SIZE_MAX : LINES_MAX, out);
        }
    }
    if (status == WF_OK && opts->output != NULL) {
        status = write_page(cli, opts, results, args->n, err);
    }
    for (size_t i = 0; i < args->n; i++) {
        wf_doc_free(docs[i]);
    }
    free(docs);
    free(results);
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
                     {"weft compare slow.json fast.json -o page.html",
                      "Both on one page, for a browser"},
                 },
             .table = rows},
    .opts_size = sizeof(struct compare_opts),
    .operand = "a result document",
    .min_operands = 2,
    .max_operands = SIZE_MAX,
    .run = compare_run,
};
