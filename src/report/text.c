/* SPDX-License-Identifier: Apache-2.0 */
#include "report/writer.h"

#include "report/path_text.h"
#include "result/result.h"

#include <string.h>

/*
 * The result for a person: first what was asked and the answer, then how the run went. Each
 * line is a row of a table: a label and a function that words it, or declines when the
 * document does not have what it needs. A verbose report lists every value behind that.
 */

enum { LABEL_WIDTH = 16, NAME_WIDTH = 28 };

struct line {
    const char *label;
    bool (*word)(const struct wf_value *doc, struct wf_phrase *out);
};

static double to_real(const struct wf_value *value)
{
    if (value == NULL) {
        return 0;
    }
    return value->type == WF_VALUE_REAL    ? value->real
           : value->type == WF_VALUE_COUNT ? (double)value->count
                                           : 0;
}

static double get_real(const struct wf_value *doc, const char *path)
{
    return to_real(wf_doc_find(doc, path));
}

/* ---- the lines ---- */

static bool word_scenario(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *ranks = wf_doc_find(doc, "scenario.ranks");
    const struct wf_value *jobs = wf_doc_find(doc, "scenario.jobs");

    wf_phrase_add(out, "%s", wf_doc_get_text(doc, "scenario.source", "?"));
    if (ranks != NULL) {
        wf_phrase_add(out, " on ");
        wf_phrase_number_of(out, ranks->count, "rank", "ranks");
    }
    if (jobs != NULL && jobs->type == WF_VALUE_LIST) {
        wf_phrase_add(out, ", and other jobs");
    }
    return true;
}

static bool word_network(const struct wf_value *doc, struct wf_phrase *out)
{
    const char *network = wf_doc_get_text(doc, "scenario.network", NULL);
    const char *topology = wf_doc_get_text(doc, "scenario.topology", NULL);

    if (network == NULL) {
        return false;
    }
    wf_phrase_add(out, "%s", network);
    if (topology != NULL) {
        wf_phrase_add(out, " on %s", topology);
    }
    return true;
}

static void word_left_over(const struct wf_value *doc, struct wf_phrase *out)
{
    uint64_t messages = wf_doc_get_count(doc, "result.unreceived_messages", 0);
    const char *what = wf_doc_get_text(doc, "result.left_over.what", NULL);

    if (messages > 0) {
        wf_phrase_add(out, ": nobody received ");
        wf_phrase_number_of(out, messages, "message", "messages");
    } else if (what != NULL) {
        wf_phrase_add(out, ": %s", what);
    }
}

static bool word_status(const struct wf_value *doc, struct wf_phrase *out)
{
    const char *status = wf_doc_get_text(doc, "result.status", WF_RESULT_COMPLETED);
    const struct wf_value *time = wf_doc_find(doc, "result.time_reached_ps");

    if (strcmp(status, WF_RESULT_COMPLETED) == 0) {
        return false;
    }
    wf_phrase_add(out, "%s", status);
    if (time != NULL) {
        wf_phrase_add(out, " at simulated time ");
        wf_phrase_time(out, time->count);
    } else {
        word_left_over(doc, out);
    }
    if (strcmp(status, WF_RESULT_INTERRUPTED) == 0) {
        wf_phrase_add(out, "; what follows is partial");
    }
    return true;
}

static bool word_predicted(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *time = wf_doc_find(doc, "result.predicted_time_ps");

    if (time == NULL) {
        return false;
    }
    wf_phrase_time(out, time->count);
    return true;
}

static bool word_simulated(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *time = wf_doc_find(doc, "result.simulated_time_ps");

    if (time == NULL) {
        return false;
    }
    wf_phrase_time(out, time->count);
    return true;
}

static bool word_messages(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *messages = wf_doc_find(doc, "result.messages");

    if (messages == NULL) {
        return false;
    }
    wf_phrase_count(out, messages->count);
    wf_phrase_add(out, ", ");
    wf_phrase_size(out, wf_doc_get_count(doc, "result.bytes", 0));
    return true;
}

static bool word_spread(const struct wf_value *doc, const char *path, struct wf_phrase *out)
{
    const struct wf_value *spread = wf_doc_find(doc, path);

    if (spread == NULL) {
        return false;
    }
    wf_phrase_spread(out, spread);
    return true;
}

/* Likewise of what most programs have none of. */
static bool word_if_any(const struct wf_value *doc, const char *path, struct wf_phrase *out)
{
    const struct wf_value *spread = wf_doc_find(doc, path);

    if (spread == NULL || wf_doc_get_count(spread, "max", 0) == 0) {
        return false;
    }
    wf_phrase_spread(out, spread);
    return true;
}

static bool word_latency(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *spread = wf_doc_find(doc, "result.message_latency_ps");

    if (spread == NULL) {
        return false;
    }

    uint64_t min = wf_doc_get_count(spread, "min", 0);
    uint64_t max = wf_doc_get_count(spread, "max", 0);
    wf_phrase_time(out, wf_doc_get_count(spread, "mean", 0));
    if (min == max) {
        wf_phrase_add(out, " each");
        return true;
    }
    wf_phrase_add(out, " mean (");
    wf_phrase_time(out, min);
    wf_phrase_add(out, " .. ");
    wf_phrase_time(out, max);
    wf_phrase_add(out, ")");
    return true;
}

static bool word_finish(const struct wf_value *doc, struct wf_phrase *out)
{
    return wf_doc_get_count(doc, "result.ranks.finished", 1) > 0 &&
           word_spread(doc, "result.ranks.finish_ps", out);
}

static bool word_compute(const struct wf_value *doc, struct wf_phrase *out)
{
    return word_spread(doc, "result.ranks.compute_ps", out);
}

static bool word_wait(const struct wf_value *doc, struct wf_phrase *out)
{
    return word_spread(doc, "result.ranks.wait_ps", out);
}

static bool word_send_wait(const struct wf_value *doc, struct wf_phrase *out)
{
    return word_if_any(doc, "result.ranks.send_wait_ps", out);
}

static bool word_receive_wait(const struct wf_value *doc, struct wf_phrase *out)
{
    return word_if_any(doc, "result.ranks.receive_wait_ps", out);
}

static bool word_collective_wait(const struct wf_value *doc, struct wf_phrase *out)
{
    return word_if_any(doc, "result.ranks.collective_wait_ps", out);
}

static bool word_overhead(const struct wf_value *doc, struct wf_phrase *out)
{
    return word_spread(doc, "result.ranks.overhead_ps", out);
}

static bool word_idle(const struct wf_value *doc, struct wf_phrase *out)
{
    return word_if_any(doc, "result.ranks.idle_ps", out);
}

static bool word_efficiency(const struct wf_value *doc, struct wf_phrase *out)
{
    if (wf_doc_find(doc, "result.efficiency") == NULL) {
        return false;
    }
    wf_phrase_add(out,
                  "%.1f %% = load balance %.1f %% x serialisation %.1f %% x transfer %.1f %%",
                  get_real(doc, "result.efficiency.parallel_percent"),
                  get_real(doc, "result.efficiency.load_balance_percent"),
                  get_real(doc, "result.efficiency.serialisation_percent"),
                  get_real(doc, "result.efficiency.transfer_percent"));
    return true;
}

static bool word_digest(const struct wf_value *doc, struct wf_phrase *out)
{
    wf_phrase_add(out, "%s", wf_doc_get_text(doc, "result.digest", "-"));
    return true;
}

static bool word_estimate(const struct wf_value *doc, struct wf_phrase *out)
{
    wf_phrase_size(out, wf_doc_get_count(doc, "estimate.memory_bytes", 0));
    return true;
}

static bool word_estimated_messages(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *messages = wf_doc_find(doc, "estimate.messages");

    if (messages == NULL) {
        return false;
    }
    wf_phrase_count(out, messages->count);
    return true;
}

static bool word_host(const struct wf_value *doc, struct wf_phrase *out)
{
    wf_phrase_add(out, "%.3f s, %.3f s of CPU, ", get_real(doc, "run.wall_seconds"),
                  get_real(doc, "run.cpu_seconds"));
    wf_phrase_size(out, wf_doc_get_count(doc, "run.peak_rss_bytes", 0));
    return true;
}

static bool word_schedule(const struct wf_value *doc, struct wf_phrase *out)
{
    wf_phrase_add(out, "%s", wf_doc_get_text(doc, "run.scheduler", "?"));
    wf_phrase_add(out, ", ");
    wf_phrase_number_of(out, wf_doc_get_count(doc, "run.threads", 1), "thread", "threads");
    wf_phrase_add(out, ", ");
    wf_phrase_number_of(out, wf_doc_get_count(doc, "run.processes", 1), "process", "processes");
    return true;
}

static bool word_events(const struct wf_value *doc, struct wf_phrase *out)
{
    uint64_t undone = wf_doc_get_count(doc, "run.events_rolled_back", 0);

    wf_phrase_count(out, wf_doc_get_count(doc, "run.events_committed", 0));
    if (undone > 0) {
        wf_phrase_add(out, ", ");
        wf_phrase_count(out, undone);
        wf_phrase_add(out, " rolled back (efficiency %.1f %%)",
                      get_real(doc, "run.efficiency_percent"));
    }
    wf_phrase_add(out, ", ");
    wf_phrase_real(out, get_real(doc, "run.events_per_wall_second"));
    wf_phrase_add(out, "/s");
    return true;
}

static bool word_rounds(const struct wf_value *doc, struct wf_phrase *out)
{
    uint64_t windows = wf_doc_get_count(doc, "run.windows", 0);
    uint64_t rounds = wf_doc_get_count(doc, "run.gvt_rounds", 0);

    if (windows == 0 && rounds == 0) {
        return false;
    }
    if (windows > 0) {
        wf_phrase_count(out, windows);
        wf_phrase_add(out, " windows of ");
        wf_phrase_real(out, get_real(doc, "run.events_per_window"));
        wf_phrase_add(out, " events%s", rounds > 0 ? ", " : "");
    }
    if (rounds > 0) {
        wf_phrase_count(out, rounds);
        wf_phrase_add(out, " GVT rounds in %.3f s", get_real(doc, "run.gvt_seconds"));
    }
    return true;
}

static const struct line answer_lines[] = {
    {"Scenario", word_scenario},
    {"Network", word_network},
    {"Status", word_status},
    {"Predicted time", word_predicted},
    {"Recorded time", wf_text_line_recorded},
    {"Simulated time", word_simulated},
    {"Messages", word_messages},
    {"Message latency", word_latency},
    {"Ranks finish", word_finish},
    {"Ranks compute", word_compute},
    {"Ranks wait", word_wait},
    {"  to send", word_send_wait},
    {"  to receive", word_receive_wait},
    {"  in collectives", word_collective_wait},
    {"Ranks overhead", word_overhead},
    {"Ranks idle", word_idle},
    {"Longest waits", wf_text_line_waits},
    {"Iterations", wf_text_line_iterations},
    {"Efficiency", word_efficiency},
    {"Critical path", wf_text_line_path},
    {"What if", wf_text_line_what_if},
    {"Load", wf_text_line_load},
    {"Latency", wf_text_line_cycles},
    {"Links", wf_text_line_links},
    {"Busiest link", wf_text_line_hot_link},
    {"Digest", word_digest},
    {NULL, NULL},
};

static const struct line run_lines[] = {
    {"Simulation took", word_host},
    {"Schedule", word_schedule},
    {"Events", word_events},
    {"Rounds", word_rounds},
    {NULL, NULL},
};

static const struct line estimate_lines[] = {
    {"Scenario", word_scenario},
    {"Network", word_network},
    {"Memory, about", word_estimate},
    {"Messages, about", word_estimated_messages},
    {NULL, NULL},
};

static void write_lines(const struct wf_value *doc, const struct line *lines,
                        const struct wf_write_options *options, FILE *out)
{
    for (; lines->label != NULL; lines++) {
        struct wf_phrase phrase = {.used = 0};
        bool bold = options->color && lines->word == word_predicted;

        if (lines->word(doc, &phrase)) {
            (void)fprintf(out, "%-*s  %s%s%s\n", LABEL_WIDTH, lines->label,
                          bold ? "\033[1m" : "", phrase.text, bold ? "\033[0m" : "");
        }
    }
}

/* ---- everything, for a verbose report ---- */

static void write_tree(const struct wf_value *parent, const char *unit_name, int depth,
                       FILE *out)
{
    for (const struct wf_value *v = parent->first; v != NULL; v = v->next) {
        const char *name = v->name != NULL ? v->name : "-";
        /* "min" below "finish_ps" is a time as well. */
        const char *unit = strchr(name, '_') == NULL && wf_phrase_ends_with(unit_name, "_ps")
                               ? unit_name
                               : name;
        struct wf_phrase phrase = {.used = 0};

        if (v->type == WF_VALUE_SECTION || v->type == WF_VALUE_LIST) {
            (void)fprintf(out, "%*s%s\n", depth * 2, "", name);
            write_tree(v, unit, depth + 1, out);
            continue;
        }
        wf_phrase_value(&phrase, v, unit);
        (void)fprintf(out, "%*s%-*s  %s\n", depth * 2, "", NAME_WIDTH - depth * 2, name,
                      phrase.text);
    }
}

static void text_write(const struct wf_value *doc, const struct wf_write_options *options,
                       FILE *out)
{
    const char *message = wf_doc_get_text(doc, "error.message", NULL);
    const struct wf_value *parameters = wf_doc_find(doc, "scenario.parameters");

    if (message != NULL) {
        (void)fprintf(out, "error: %s\n", message);
        return;
    }
    if (wf_doc_find(doc, "estimate") != NULL && parameters != NULL) {
        write_lines(doc, estimate_lines, options, out);
        (void)fputs("\nParameters in force:\n", out);
        write_tree(parameters, "", 1, out);
        return;
    }
    write_lines(doc, answer_lines, options, out);
    wf_text_lists(doc, out);
    (void)fputc('\n', out);
    write_lines(doc, run_lines, options, out);
    if (options->verbose) {
        (void)fputc('\n', out);
        write_tree(doc, "", 0, out);
    }
}

const struct wf_writer_ops wf_writer_text = {
    .name = "text",
    .extension = ".txt",
    .summary = "a short report for people",
    .write = text_write,
};
