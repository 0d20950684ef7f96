/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/trace_input.h"

#include "base/columns.h"
#include "base/text.h"
#include "base/units.h"
#include "run/execute/world.h"
#include "ui/cli/progress.h"

#include <inttypes.h>
#include <sys/stat.h>

/* Converts the options to those of ui/study/trace_io.h; the texts are borrowed. */
static struct wf_study_trace_options to_options(const struct wf_trace_opts *opts)
{
    return (struct wf_study_trace_options){
        .params = opts->params.items,
        .n_params = opts->params.n,
        .ranks = opts->ranks,
        .partial = opts->partial,
        .expand = opts->expand,
        .force = opts->force,
        .parts = (uint32_t)opts->parts,
    };
}

enum wf_status wf_cli_trace_input(struct wf_cli *cli, const char *word,
                                  const struct wf_trace_opts *opts, struct wf_trace *out,
                                  struct wf_err *err)
{
    const struct wf_study_trace_options options = to_options(opts);
    struct wf_progress_line line;

    wf_progress_init(&line, WF_PROGRESS_AUTO, cli->err);
    wf_progress_read_begin(&line, word);
    enum wf_status status = wf_study_trace_open(word, &options, out, err);
    wf_progress_read_end(&line);
    return status;
}

void wf_cli_trace_list_written(FILE *out)
{
    (void)fputs("\nFormats that are written:\n", out);
    for (const struct wf_trace_writer_ops *const *ops = wf_trace_writer_table(); *ops != NULL;
         ops++) {
        wf_columns_row(out, (*ops)->extension, (*ops)->summary);
    }
}

enum wf_status wf_cli_trace_output_check(const struct wf_trace_opts *opts, struct wf_err *err)
{
    const struct wf_study_trace_options options = to_options(opts);

    if (opts->output == NULL) {
        return wf_err_set(err, WF_EUSAGE, "no output; -o names it, as in -o x.weft");
    }
    return wf_study_trace_check(opts->output, &options, err);
}

static void print_notes(struct wf_cli *cli, const struct wf_trace *trace, bool partial,
                        const struct wf_study_trace_written *written)
{
    struct wf_err err;

    if (trace->graph == NULL && partial && wf_source_check(trace->source, &err) != WF_OK) {
        wf_err_tame(&err);
        wf_text_print(cli->err, "weft: note: %s\n", err.text);
    }
    for (size_t i = 0; i < trace->n_notes; i++) {
        wf_text_print(cli->err, "weft: note: %s\n", trace->notes[i]);
    }
    wf_cli_trace_print_losses(cli, written->format, &written->losses);
}

void wf_cli_trace_print_losses(struct wf_cli *cli, const struct wf_trace_writer_ops *format,
                               const struct wf_losses *losses)
{
    if (format->lacks != NULL) {
        (void)fprintf(cli->err, "weft: note: not in a %s: %s\n", format->extension,
                      format->lacks);
    }
    for (uint32_t i = 0; i < losses->n; i++) {
        (void)fprintf(cli->err, "weft: note: not carried over: %" PRIu64 " %s\n",
                      losses->items[i].count, losses->items[i].what);
    }
}

void wf_cli_trace_print_size(const char *path, FILE *out)
{
    char size[WF_UNITS_TEXT_MAX];
    struct stat st;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        (void)fprintf(out, ", %s", wf_human_size((uint64_t)st.st_size, size));
    }
    (void)fputc('\n', out);
}

enum wf_status wf_cli_trace_output(struct wf_cli *cli, const struct wf_study_trace_part *part,
                                   const struct wf_trace_opts *opts, struct wf_err *err)
{
    const struct wf_study_trace_options options = to_options(opts);
    struct wf_study_trace_part heard = *part;
    struct wf_study_trace_written written;
    struct wf_progress_line line;
    bool tasks = part->trace->graph != NULL;
    char what[96];

    if (!wf_world_is_first(cli->world)) {
        return WF_OK;
    }
    (void)snprintf(what, sizeof(what), "writing %.80s", opts->output);
    wf_progress_init(&line, WF_PROGRESS_AUTO, cli->err);
    heard.pass = wf_progress_pass(&line, what);
    enum wf_status status = wf_study_trace_write(opts->output, &heard, &options, &written, err);
    wf_progress_erase(&line);
    WF_TRY(status);
    print_notes(cli, part->trace, opts->partial, &written);
    wf_text_print(cli->out, "%s: %" PRIu32 " %s%s, %" PRIu64 " %s", opts->output, part->n_ranks,
                  tasks ? "PE" : "rank", part->n_ranks == 1 ? "" : "s", written.n,
                  tasks ? "tasks" : "ops");
    wf_cli_trace_print_size(opts->output, cli->out);
    return WF_OK;
}

enum wf_status wf_cli_trace_rewrite(struct wf_cli *cli, const char *word,
                                    const struct wf_trace_opts *opts, struct wf_err *err)
{
    struct wf_trace trace = {.source = NULL};

    enum wf_status status = wf_cli_trace_output_check(opts, err);
    WF_THEN(status, wf_cli_trace_input(cli, word, opts, &trace, err));
    if (status == WF_OK) {
        const struct wf_study_trace_part part = {
            .trace = &trace, .n_ranks = wf_study_trace_n_ranks(&trace), .creator = word};
        status = wf_cli_trace_output(cli, &part, opts, err);
    }
    wf_trace_close(&trace);
    return wf_world_agree(cli->world, status, err);
}
