/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/simulate.h"

#include "base/text.h"
#include "run/execute/run.h"
#include "run/execute/world.h"
#include "run/scenario/scenario.h"
#include "ui/cli/interrupt.h"
#include "ui/cli/trace_input.h"
#include "ui/report/output.h"
#include "ui/report/writer.h"
#include "ui/study/page.h"
#include "ui/study/report_settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* Finds the writer of the output file, if any. Fails before the run if the file cannot be
 * written. */
static enum wf_status prepare_output(const struct wf_simulate_opts *opts,
                                     const struct wf_writer_ops **writer, struct wf_err *err)
{
    if (opts->output == NULL) {
        return WF_OK;
    }

    WF_TRY(wf_writer_for_path(opts->output, writer, err));
    return wf_writer_check(*writer, opts->output, opts->force, err);
}

static enum wf_study_live live_mode(const struct wf_simulate_opts *opts)
{
    return opts->no_live ? WF_STUDY_LIVE_NEVER
           : opts->live  ? WF_STUDY_LIVE_ALWAYS
                         : WF_STUDY_LIVE_AUTO;
}

static enum wf_status write_file(const struct wf_simulate_opts *opts,
                                 const struct wf_writer_ops *writer, const struct wf_value *doc,
                                 struct wf_err *err)
{
    struct wf_value *extra = writer->records ? wf_study_page(doc) : NULL;
    const struct wf_write_options options = {.verbose = opts->verbose, .extra = extra};
    enum wf_status status = writer == &wf_writer_html
                                ? wf_study_page_live(doc, live_mode(opts), extra, err)
                                : WF_OK;

    WF_THEN(status, wf_writer_save(writer, doc, &options, opts->output, opts->force, err));
    wf_doc_free(extra);
    return status;
}

static bool wants_color(FILE *out)
{
    const char *no_color = getenv("NO_COLOR");

    return wf_cli_is_terminal(out) && (no_color == NULL || no_color[0] == '\0');
}

static enum wf_status deliver(struct wf_cli *cli, const struct wf_simulate_opts *opts,
                              const struct wf_writer_ops *writer, const struct wf_value *doc,
                              struct wf_err *err)
{
    const struct wf_write_options options = {
        .verbose = opts->verbose,
        .color = wants_color(cli->out),
    };

    if (writer != NULL) {
        WF_TRY(write_file(opts, writer, doc, err));
    }
    if (opts->json && writer != &wf_writer_json) {
        wf_interrupt_answer();
        wf_writer_json.write(doc, &options, cli->out);
        cli->answered = true;
    } else if (writer == NULL && !opts->silent) {
        wf_writer_text.write(doc, &options, cli->out);
        cli->answered = true;
    }
    return WF_OK;
}

/* Warns if the scheduler leaves threads or processes idle, which is probably a mistake. */
static void note_idle(struct wf_cli *cli, const struct wf_value *doc)
{
    uint64_t threads = wf_doc_get_count(doc, "run.threads", UINT64_MAX);
    uint64_t processes = wf_doc_get_count(doc, "run.processes", UINT64_MAX);

    bool fewer = threads < wf_doc_get_count(doc, "run.parameters.threads", 0) &&
                 wf_doc_find(doc, "run.threads_reason") == NULL;

    if (fewer || processes < wf_world_size(cli->world)) {
        (void)fprintf(cli->err,
                      "weft: note: the %s scheduler uses one thread of one process; "
                      "conservative and optimistic use all\n",
                      wf_doc_get_text(doc, "run.scheduler", ""));
    }
}

static void note_skipped(void *arg, const struct wf_setting *setting)
{
    const struct wf_cli *cli = arg;

    (void)fprintf(cli->err, "weft: note: %s: %s does not apply to this scenario; skipped\n",
                  setting->place, setting->origin);
}

static void print_note(void *arg, const char *note)
{
    const struct wf_cli *cli = arg;

    wf_text_print(cli->err, "weft: note: %s\n", note);
}

/* Reads the ranks and times to record. */
static enum wf_status read_choice(const struct wf_simulate_opts *opts, struct wf_choice *choice,
                                  struct wf_err *err)
{
    enum wf_status status = WF_OK;

    if (opts->record_ranks != NULL) {
        status = wf_choice_ranks("--record-ranks", opts->record_ranks, choice, err);
    }
    if (status == WF_OK && opts->record_time != NULL) {
        status = wf_choice_time("--record-time", opts->record_time, choice, err);
    }
    return status;
}

/* An HTML report simulates the what-if changes if each takes a few seconds at most. */
enum { WHAT_IF_EVENTS = 5000000 };

/* Prints a line about the trace that was written. */
static void report_trace(struct wf_cli *cli, const struct wf_simulate_opts *opts,
                         const struct wf_sim_trace *trace, const struct wf_value *doc)
{
    const struct wf_trace_writer_ops *format = NULL;
    FILE *out = opts->silent && !opts->json ? cli->out : cli->err;

    if (trace->n_open > 0) {
        (void)fprintf(cli->err,
                      "weft: note: %" PRIu64
                      " receives from any source completed so late that the trace does not "
                      "tell which message they matched\n",
                      trace->n_open);
    }
    if (opts->quiet) {
        return;
    }
    if (wf_sim_trace_out_format(opts->trace, &format, NULL) == WF_OK) {
        wf_cli_trace_print_losses(cli, format, &trace->losses);
    }
    (void)fprintf(out, "%s%s: %" PRIu64 " ranks, %" PRIu64 " ops",
                  out == cli->err ? "weft: note: " : "", opts->trace,
                  wf_doc_get_count(doc, "scenario.ranks", 0), trace->n_ops);
    wf_cli_trace_print_size(opts->trace, out);
    cli->answered = cli->answered || out == cli->out;
}

/* The temporary file of the trace is removed. */
#define NO_TRACE "note: no trace was written, because the program did not end"

static enum wf_status run(struct wf_cli *cli, const struct wf_simulate_opts *opts,
                          const struct wf_scenario *scenario, struct wf_value **doc,
                          struct wf_err *err)
{
    /* All processes need the writer, not only the first one. */
    const struct wf_writer_ops *writer = wf_writer_of(opts->output);
    bool records = writer != NULL && writer->records, page = records && !writer->timeline;
    struct wf_scenario *own = wf_scenario_new();
    struct wf_progress_line line;
    struct wf_sim_recording recording = {.spans = opts->record_limit,
                                         .messages = opts->record_limit,
                                         .calls = opts->record_limit,
                                         .has_calls = records || opts->record_calls,
                                         .path_bytes = opts->path_memory};
    struct wf_sim_trace trace = {
        .path = opts->trace, .force = opts->force, .parts = (uint32_t)opts->parts};
    const struct wf_sim_host host = {
        .world = cli->world,
        .stop = wf_interrupt_watch(),
        .running = wf_interrupt_running,
        .progress = wf_progress_draw,
        .progress_arg = &line,
        .expects = !opts->quiet && opts->progress != WF_PROGRESS_NEVER,
        .forecast = opts->verbose,
        .skipped = opts->verbose ? note_skipped : NULL,
        .skipped_arg = cli,
        .noted = opts->quiet || !wf_world_is_first(cli->world) ? NULL : print_note,
        .noted_arg = cli,
        .recording = records || opts->record || opts->record_calls ? &recording : NULL,
        .what_if_events = opts->what_if                    ? UINT64_MAX
                          : page && opts->record_limit > 0 ? WHAT_IF_EVENTS
                                                           : 0,
        .trace = opts->trace != NULL ? &trace : NULL,
    };

    wf_scenario_append(own, scenario);
    enum wf_status status = read_choice(opts, &recording.choice, err);
    if (status == WF_OK && records) {
        status = wf_study_report_settings(own, writer, opts->record_limit > 0, err);
    }
    wf_progress_init(&line,
                     opts->quiet ? WF_PROGRESS_NEVER : (enum wf_progress_mode)opts->progress,
                     cli->err);
    if (opts->trace != NULL && !opts->dry_run) {
        wf_interrupt_loses(NO_TRACE);
    }
    const struct wf_setting *source = wf_scenario_find(own, "source");
    if (source != NULL) {
        wf_progress_read_begin(&line, source->value);
    }
    WF_THEN(status, opts->dry_run ? wf_sim_explain(own, &host, doc, err)
                                  : wf_sim_run(own, &host, doc, err));
    wf_progress_read_end(&line);
    wf_progress_erase(&line);
    wf_scenario_free(own);
    wf_interrupt_loses(NULL);
    if ((status == WF_EINTR || status == WF_ESIM) && opts->trace != NULL) {
        (void)fprintf(cli->err, "weft: " NO_TRACE "\n");
    }
    if (status == WF_OK && opts->trace != NULL && !opts->dry_run) {
        report_trace(cli, opts, &trace, *doc);
    }
    return status;
}

enum wf_status wf_simulate_scenario(struct wf_cli *cli, const struct wf_simulate_opts *opts,
                                    const struct wf_scenario *scenario, struct wf_err *err)
{
    const struct wf_writer_ops *writer = NULL;
    struct wf_value *doc = NULL;
    bool first = wf_world_is_first(cli->world);

    enum wf_status status = first ? prepare_output(opts, &writer, err) : WF_OK;
    status = wf_world_agree(cli->world, status, err);
    if (status != WF_OK) {
        return status;
    }

    status = run(cli, opts, scenario, &doc, err);
    if (doc != NULL && !opts->quiet) {
        note_idle(cli, doc);
        wf_study_notes(scenario, writer, doc, cli->err);
    }
    if (doc != NULL) {
        struct wf_err write_err;
        enum wf_status written = deliver(cli, opts, writer, doc, &write_err);
        if (written != WF_OK) {
            status = written;
            *err = write_err;
        } else if (status == WF_OK && wf_doc_find(doc, "result.failed") != NULL) {
            status = wf_err_set(err, WF_ESIM, "%s; the result is complete",
                                wf_doc_get_text(doc, "result.failed.words", ""));
        }
        wf_doc_free(doc);
    }
    status = wf_world_agree(cli->world, status, err);
    if (status == WF_EINTR) {
        wf_interrupt_agree(cli);
    }
    return status;
}

enum wf_status wf_simulate(
    struct wf_cli *cli, const struct wf_simulate_opts *opts, const struct wf_operands *operands,
    enum wf_status (*prepare)(const struct wf_cli *cli, const struct wf_simulate_opts *opts,
                              const struct wf_operands *operands, struct wf_scenario *scenario,
                              struct wf_err *err),
    struct wf_err *err)
{
    struct wf_scenario *scenario = wf_scenario_new();
    enum wf_status status = prepare(cli, opts, operands, scenario, err);

    WF_THEN(status, wf_simulate_apply(opts, operands, scenario, err));
    WF_THEN(status, wf_simulate_scenario(cli, opts, scenario, err));
    wf_scenario_free(scenario);
    return status;
}
