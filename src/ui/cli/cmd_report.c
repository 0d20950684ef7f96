/* SPDX-License-Identifier: Apache-2.0 */
#include "base/columns.h"
#include "ui/cli/cli.h"
#include "ui/cli/opt.h"
#include "ui/cli/progress.h"
#include "ui/report/writer.h"
#include "ui/study/page.h"

struct report_opts {
    bool force, verbose;
    const char *output, *ranks, *time;
    uint64_t limit;
};

static const struct wf_opt rows[] = {
    WF_OPT_FILE_ROW(struct report_opts, output, "output", 'o', "<file>", wf_writer_extension,
                    "Write the report to a file instead of printing text, in the format of its "
                    "name:"),
    WF_OPT_FORCE(struct report_opts),
    WF_OPT_ROW(struct report_opts, ranks, TEXT, "ranks", 0, "<first:last,...>",
               .doc = "Show only these ranks of a timeline"),
    WF_OPT_ROW(struct report_opts, time, TEXT, "time", 0, "<from:until>",
               .doc = "Show only this time of a timeline, as in 1ms:2ms"),
    WF_OPT_ROW(struct report_opts, limit, COUNT, "limit", 0, NULL, .def = "0",
               .doc = "Show groups of ranks instead of individual spans if a timeline has more "
                      "spans than this; 0: no limit"),
    WF_OPT_ROW(struct report_opts, verbose, BOOL, "verbose", 'v', NULL,
               .doc = "Report everything, with all parameters in force"),
    WF_OPT_END,
};

/* The part of a timeline to show. */
static enum wf_status read_view(const struct report_opts *opts,
                                const struct wf_writer_ops *writer, const struct wf_value *doc,
                                struct wf_choice *view, struct wf_err *err)
{
    uint64_t n_ranks = wf_doc_get_count(doc, "recording.ranks", 0);
    bool given = opts->ranks != NULL || opts->time != NULL || opts->limit > 0;

    if (given && !writer->timeline) {
        char list[WF_EXTENSION_LIST_MAX];
        return wf_err_set(err, WF_EUSAGE, "--ranks, --time and --limit are for timelines: %s",
                          wf_extension_list(wf_writer_timeline_extension, list));
    }
    if (opts->ranks != NULL) {
        WF_TRY(wf_choice_ranks("--ranks", opts->ranks, view, err));
    }
    if (view->n_ranges > 0 && view->ranges[view->n_ranges - 1].last >= n_ranks) {
        return wf_err_set(err, WF_EUSAGE, "--ranks: there is no rank %u; the run has %llu",
                          view->ranges[view->n_ranges - 1].last, (unsigned long long)n_ranks);
    }
    return opts->time != NULL ? wf_choice_time("--time", opts->time, view, err) : WF_OK;
}

static void list_formats(FILE *out)
{
    (void)fputs("\nFormats:\n", out);
    for (const struct wf_writer_ops *const *ops = wf_writer_table(); *ops != NULL; ops++) {
        wf_columns_row(out, (*ops)->extension, (*ops)->summary);
    }
}

static enum wf_status write_file(const struct report_opts *opts, const struct wf_value *doc,
                                 struct wf_err *err)
{
    const struct wf_writer_ops *writer = NULL;
    struct wf_choice view = {.n_ranges = 0};
    enum wf_status status = wf_writer_for_path(opts->output, &writer, err);

    WF_THEN(status, read_view(opts, writer, doc, &view, err));
    if (status != WF_OK) {
        return status;
    }
    struct wf_value *extra = wf_study_page(doc);
    const struct wf_write_options options = {
        .verbose = opts->verbose, .extra = extra, .view = view, .limit = opts->limit};
    if (writer == &wf_writer_html) {
        status = wf_study_page_live(doc, WF_STUDY_LIVE_AUTO, extra, err);
    }
    WF_THEN(status, wf_writer_save(writer, doc, &options, opts->output, opts->force, err));
    wf_doc_free(extra);
    return status;
}

static enum wf_status report_run(struct wf_cli *cli, const void *opts_arg,
                                 const struct wf_operands *operands, struct wf_err *err)
{
    const struct report_opts *opts = opts_arg;
    struct wf_value *doc = NULL;
    struct wf_progress_line line;

    enum wf_status status = wf_cli_read_result(cli, operands->args.items[0], &doc, err);
    if (status != WF_OK) {
        return status;
    }
    if (opts->output != NULL) {
        wf_progress_init(&line, WF_PROGRESS_AUTO, cli->err);
        wf_progress_busy_begin(&line, "writing the report");
        status = write_file(opts, doc, err);
        wf_progress_read_end(&line);
    } else {
        const struct wf_write_options options = {.verbose = opts->verbose};
        wf_writer_text.write(doc, &options, cli->out);
    }
    wf_doc_free(doc);
    return status;
}

const struct wf_verb wf_verb_report = {
    .name = "report",
    .summary = "Make an HTML page, a timeline or text from a result",
    .help = {.synopsis = "weft report <result.json> [-o <file>]",
             .summary = "Make a report from a result document: an HTML page, a timeline for "
                        "other programs, or text",
             .examples =
                 {
                     {"weft replay gen:stencil3d -n 64 --record -o run.json",
                      "A result to make reports of"},
                     {"weft report run.json -o run.html",
                      "A page for a browser, all in one file"},
                     {"weft report run.json", "As text"},
                     {"weft report run.json -o spans.csv", "The times of the ranks as a table"},
                     {"weft report run.json -o run.perfetto.json",
                      "A timeline for ui.perfetto.dev"},
                 },
             .table = rows},
    .opts_size = sizeof(struct report_opts),
    .operand = "a result document",
    .min_operands = 1,
    .max_operands = 1,
    .run = report_run,
    .more_help = list_formats,
};
