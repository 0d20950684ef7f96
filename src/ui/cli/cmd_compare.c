/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/units.h"
#include "ui/cli/measured.h"
#include "ui/draw/plot.h"
#include "ui/report/compare.h"
#include "ui/report/output.h"
#include "ui/report/writer.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 6 };

struct compare_opts {
    bool verbose, force, json;
    const char *output, *machine, *plot;
    struct wf_opt_list measured, params;
    uint64_t ranks, ranks_per_node;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct compare_opts, verbose, BOOL, "verbose", 'v', NULL,
               .doc = "List every difference"),
    WF_OPT_ROW(struct compare_opts, output, TEXT, "output", 'o', "<file.html>",
               .doc = "Write a page for a browser: timelines on one scale, and the differences "
                      "by call, region, rank and link"),
    WF_OPT_FORCE(struct compare_opts),
    {.param = {.name = "measured",
               .offset = offsetof(struct compare_opts, measured),
               .doc =
                   "Compare with measurements: what nccl-tests, OSU, IMB or NetPIPE printed, "
                   "simulated on --machine; or a .csv with the columns result and time, for "
                   "runs that were predicted"},
     .kind = WF_OPT_LIST,
     .arg = "<file>"},
    WF_OPT_ROW(struct compare_opts, machine, TEXT, "machine", 0, "<name|file>",
               .doc = "--measured: a name of 'weft machine list' or a machine file"),
    WF_OPT_SETTING("net", 0, "network", "<model>"),
    WF_OPT_ROW(struct compare_opts, ranks, COUNT, "ranks", 'n', NULL, .def = "0",
               .max = "1073741824",
               .doc = "--measured: ranks of a collective; 0: as the output says"),
    WF_OPT_ROW(struct compare_opts, ranks_per_node, COUNT, "ranks-per-node", 0, NULL,
               .def = "0", .max = "1073741824",
               .doc = "--measured: ranks on each node; 0: as output or machine say"),
    {.param = {.name = "param",
               .offset = offsetof(struct compare_opts, params),
               .doc = "--measured: set a parameter; 'weft help' lists all"},
     .kind = WF_OPT_PAIRS,
     .letter = 'p'},
    WF_OPT_FILE_ROW(struct compare_opts, plot, "plot", 0, "<file>", wf_draw_plot_extension,
                    "--measured: draw measured and predicted values"),
    WF_OPT_ROW(struct compare_opts, json, BOOL, "json", 0, NULL,
               .doc = "--measured: print everything as one JSON document"),
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

/* ---- measured runs ---- */

/* The table of a file that ends in .csv: lines with a result document and a measured time. */
struct runs {
    struct wf_cli *cli;
    const char *path;
    size_t line, n;
    double sum; /* of the errors */
};

static enum wf_status take_run(struct runs *runs, char *line, struct wf_err *err)
{
    char *time = strrchr(line, ',');
    struct wf_value *doc = NULL;
    struct wf_err ignored;
    int64_t ps = 0;

    if (time == NULL) {
        return wf_err_set(err, WF_EINVAL, "%s: line %zu: expected result,time", runs->path,
                          runs->line);
    }
    *time++ = '\0';
    if (wf_parse_time(time, &ps, &ignored) != WF_OK || ps <= 0) {
        return wf_err_set(err, WF_EINVAL, "%s: line %zu: '%.40s' is no time, such as 2.5s",
                          runs->path, runs->line, time);
    }
    WF_TRY(wf_cli_read_result(runs->cli, line, &doc, err));
    double predicted = (double)wf_doc_get_count(doc, "result.predicted_time_ps", 0);
    double off = 100 * (predicted / (double)ps - 1);
    (void)fprintf(runs->cli->out, "%-40s  %14.6f  %14.6f  %+7.1f %%\n", line, (double)ps / 1e12,
                  predicted / 1e12, off);
    runs->sum += fabs(off);
    runs->n++;
    wf_doc_free(doc);
    return WF_OK;
}

static enum wf_status compare_runs(struct wf_cli *cli, const char *path, struct wf_err *err)
{
    enum { BYTES_MAX = 64 << 20 };
    struct runs runs = {.cli = cli, .path = path};
    struct wf_buf text = {.data = NULL};
    enum wf_status status = wf_file_read(path, BYTES_MAX, &text, err);
    char *rest = (char *)text.data, *line;

    while (status == WF_OK && (line = strsep(&rest, "\n")) != NULL) {
        line[strcspn(line, "\r")] = '\0';
        if (runs.line++ == 0 && strcmp(line, "result,time") != 0) {
            status = wf_err_set(err, WF_EINVAL,
                                "%s: the first line must be result,time: result documents and "
                                "the times that were measured",
                                path);
        } else if (runs.line == 1) {
            (void)fprintf(cli->out, "%-40s  %14s  %14s  %9s\n", "run", "measured s",
                          "predicted s", "off");
        } else if (line[0] != '\0') {
            status = take_run(&runs, line, err);
        }
    }
    wf_buf_fini(&text);
    if (status == WF_OK && runs.n > 0) {
        (void)fprintf(cli->out, "%zu runs: mean error %.1f %%\n", runs.n,
                      runs.sum / (double)runs.n);
    }
    return status;
}

static enum wf_status compare_measured(struct wf_cli *cli, const struct compare_opts *opts,
                                       const struct wf_operands *operands, struct wf_err *err)
{
    struct wf_cli_measured_opts measured = {.machine = opts->machine,
                                            .plot = opts->plot,
                                            .params = opts->params,
                                            .logs = opts->measured,
                                            .ranks = (uint32_t)opts->ranks,
                                            .ranks_per_node = (uint32_t)opts->ranks_per_node,
                                            .json = opts->json,
                                            .force = opts->force};
    struct wf_measured_log log = {.n = 0};
    const char *first = opts->measured.items[0];
    size_t length = strlen(first);

    if (operands->args.n > 0 || opts->output != NULL) {
        return wf_err_set(err, WF_EUSAGE,
                          "compare: --measured takes no result documents and no --output; "
                          "a .csv with the columns result and time names them");
    }
    if (length > 4 && strcmp(first + length - 4, ".csv") == 0) {
        return compare_runs(cli, first, err);
    }
    if (opts->machine == NULL && opts->params.n == 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "compare --measured: a machine is missing; for example: weft compare "
                          "--measured osu.log --machine infiniband-hdr");
    }
    return wf_cli_measured_run(cli, &measured, operands, &log, err);
}

static enum wf_status compare_run(struct wf_cli *cli, const void *opts_arg,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    const struct compare_opts *opts = opts_arg;
    const struct wf_opt_list *args = &operands->args;

    if (opts->measured.n > 0) {
        return compare_measured(cli, opts, operands, err);
    }
    if (args->n < 2) {
        return wf_err_set(err, WF_EUSAGE, "compare: a result document is missing");
    }
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
    .help =
        {.synopsis = "weft compare (<result.json> <result.json> ... | --measured <file>)",
         .summary = "Show the differences between the scenarios and outcomes of results; "
                    "the exit code is 1 if there are any",
         .examples =
             {
                 {"weft compare slow.json fast.json", "How much faster, and why"},
                 {"weft compare slow.json fast.json -o page.html",
                  "Both on one page, for a browser"},
                 {"weft compare --measured osu.log --machine infiniband-hdr --plot both.svg",
                  "What benchmarks measured against their simulation, row by row"},
                 {"weft compare base.json a.json b.json -v",
                  "Each with the first, every difference"},
                 {"weft compare base.json base.json", "Equal results: the exit code is 0"},
             },
         .table = rows},
    .opts_size = sizeof(struct compare_opts),
    .operand = "a result document",
    .min_operands = 0, /* with --measured */
    .max_operands = SIZE_MAX,
    .run = compare_run,
};
