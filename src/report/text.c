/* SPDX-License-Identifier: Apache-2.0 */
#include "report/writer.h"

#include "base/units.h"
#include "result/result.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/*
 * The result for a person: first what was asked and the answer, then how the run went. Each
 * line is a row of a table: a label and a function that words it, or declines when the
 * document does not have what it needs. A verbose report lists every value behind that.
 */

enum { PHRASE_MAX = 256, LABEL_WIDTH = 16, NAME_WIDTH = 28 };

struct phrase {
    char text[PHRASE_MAX];
    size_t used;
};

struct line {
    const char *label;
    bool (*word)(const struct wf_value *doc, struct phrase *out);
};

WF_PRINTF(2, 3)
static void say(struct phrase *out, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(out->text + out->used, sizeof(out->text) - out->used, fmt, ap);
    va_end(ap);
    if (n > 0) {
        size_t room = sizeof(out->text) - out->used - 1;
        out->used += (size_t)n < room ? (size_t)n : room;
    }
}

/* ---- single values ---- */

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), s = strlen(suffix);

    return n >= s && strcmp(name + n - s, suffix) == 0;
}

static void say_time(struct phrase *out, uint64_t ps)
{
    char buf[WF_UNITS_TEXT_MAX];

    say(out, "%s", wf_human_time(ps <= WF_TIME_MAX ? (int64_t)ps : WF_TIME_MAX, buf));
}

static void say_size(struct phrase *out, uint64_t bytes)
{
    char buf[WF_UNITS_TEXT_MAX];

    say(out, "%s", wf_human_size(bytes, buf));
}

/* 1234567 as "1,234,567". */
static void say_count(struct phrase *out, uint64_t count)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);

    for (int i = 0; i < n; i++) {
        say(out, "%s%c", i > 0 && (n - i) % 3 == 0 ? "," : "", digits[i]);
    }
}

static void say_real(struct phrase *out, double real)
{
    char buf[WF_UNITS_TEXT_MAX];

    say(out, "%s", wf_human_count(real, buf));
}

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

/* Any single value, its unit told by the end of its name or of its parent's. */
static void say_value(struct phrase *out, const struct wf_value *value, const char *unit_name)
{
    switch (value->type) {
    case WF_VALUE_NULL:
        say(out, "-");
        return;
    case WF_VALUE_BOOL:
        say(out, "%s", value->truth ? "yes" : "no");
        return;
    case WF_VALUE_COUNT:
        if (ends_with(unit_name, "_ps")) {
            say_time(out, value->count);
        } else if (ends_with(unit_name, "bytes")) {
            say_size(out, value->count);
        } else {
            say_count(out, value->count);
        }
        return;
    case WF_VALUE_REAL:
        say(out, "%.10g%s", value->real, ends_with(unit_name, "_percent") ? " %" : "");
        return;
    case WF_VALUE_TEXT:
        say(out, "%s", value->text);
        return;
    case WF_VALUE_SECTION:
    case WF_VALUE_LIST:
        return;
    }
}

/* ---- the lines ---- */

static bool word_scenario(const struct wf_value *doc, struct phrase *out)
{
    const struct wf_value *ranks = wf_doc_find(doc, "scenario.ranks");

    say(out, "%s", wf_doc_get_text(doc, "scenario.source", "?"));
    if (ranks != NULL) {
        say(out, " on ");
        say_count(out, ranks->count);
        say(out, ranks->count == 1 ? " rank" : " ranks");
    }
    return true;
}

static bool word_network(const struct wf_value *doc, struct phrase *out)
{
    const char *network = wf_doc_get_text(doc, "scenario.network", NULL);
    const char *topology = wf_doc_get_text(doc, "scenario.topology", NULL);

    if (network == NULL) {
        return false;
    }
    say(out, "%s", network);
    if (topology != NULL) {
        say(out, " on %s", topology);
    }
    return true;
}

static bool word_status(const struct wf_value *doc, struct phrase *out)
{
    const char *status = wf_doc_get_text(doc, "result.status", WF_RESULT_COMPLETED);
    const struct wf_value *time = wf_doc_find(doc, "result.time_reached_ps");

    if (time == NULL) {
        return false;
    }
    say(out, "%s at simulated time ", status);
    say_time(out, time->count);
    if (strcmp(status, WF_RESULT_INTERRUPTED) == 0) {
        say(out, "; what follows is partial");
    }
    return true;
}

static bool word_predicted(const struct wf_value *doc, struct phrase *out)
{
    const struct wf_value *time = wf_doc_find(doc, "result.predicted_time_ps");

    if (time == NULL) {
        return false;
    }
    say_time(out, time->count);
    return true;
}

static bool word_simulated(const struct wf_value *doc, struct phrase *out)
{
    const struct wf_value *time = wf_doc_find(doc, "result.simulated_time_ps");

    if (time == NULL) {
        return false;
    }
    say_time(out, time->count);
    return true;
}

static bool word_messages(const struct wf_value *doc, struct phrase *out)
{
    const struct wf_value *messages = wf_doc_find(doc, "result.messages");

    if (messages == NULL) {
        return false;
    }
    say_count(out, messages->count);
    say(out, ", ");
    say_size(out, wf_doc_get_count(doc, "result.bytes", 0));
    return true;
}

static bool word_spread(const struct wf_value *doc, const char *path, struct phrase *out)
{
    const struct wf_value *spread = wf_doc_find(doc, path);

    if (spread == NULL) {
        return false;
    }

    uint64_t min = wf_doc_get_count(spread, "min", 0);
    uint64_t max = wf_doc_get_count(spread, "max", 0);
    say_time(out, min);
    if (min == max) {
        say(out, " each");
        return true;
    }
    say(out, " to ");
    say_time(out, max);
    say(out, ", mean ");
    say_time(out, wf_doc_get_count(spread, "mean", 0));
    return true;
}

static bool word_latency(const struct wf_value *doc, struct phrase *out)
{
    const struct wf_value *spread = wf_doc_find(doc, "result.message_latency_ps");

    if (spread == NULL) {
        return false;
    }

    uint64_t min = wf_doc_get_count(spread, "min", 0);
    uint64_t max = wf_doc_get_count(spread, "max", 0);
    say_time(out, wf_doc_get_count(spread, "mean", 0));
    if (min == max) {
        say(out, " each");
        return true;
    }
    say(out, " mean (");
    say_time(out, min);
    say(out, " .. ");
    say_time(out, max);
    say(out, ")");
    return true;
}

static double real_of(const struct wf_value *doc, const char *path)
{
    const struct wf_value *value = wf_doc_find(doc, path);

    return value != NULL && value->type == WF_VALUE_REAL ? value->real : 0;
}

static bool truth_of(const struct wf_value *doc, const char *path)
{
    const struct wf_value *value = wf_doc_find(doc, path);

    return value != NULL && value->type == WF_VALUE_BOOL && value->truth;
}

static bool word_load(const struct wf_value *doc, struct phrase *out)
{
    if (wf_doc_find(doc, "result.accepted_load") == NULL) {
        return false;
    }
    say(out, "%.5f offered, %.5f accepted, in phits per node and cycle%s",
        real_of(doc, "result.offered_load"), real_of(doc, "result.accepted_load"),
        truth_of(doc, "result.saturated") ? "; saturated" : "");
    return true;
}

static bool word_cycles(const struct wf_value *doc, struct phrase *out)
{
    const struct wf_value *latency = wf_doc_find(doc, "result.latency_cycles");

    if (latency == NULL) {
        return false;
    }
    say(out, "%.2f cycles mean", real_of(latency, "mean"));
    if (wf_doc_find(latency, "half_width") != NULL) {
        say(out, ", +- %.2f with %g %% confidence", real_of(latency, "half_width"),
            real_of(latency, "confidence_percent"));
        say(out, "%s", truth_of(doc, "result.converged") ? "" : " (not converged)");
    }
    say(out, "; 99 %% within %.0f, most %.0f", real_of(latency, "p99"),
        real_of(latency, "max"));
    return true;
}

static bool word_links(const struct wf_value *doc, struct phrase *out)
{
    if (wf_doc_find(doc, "result.network.mean_link_use") == NULL) {
        return false;
    }
    say(out, "%.1f %% used, the busiest %.1f %%; %.3f hops a packet",
        100 * real_of(doc, "result.network.mean_link_use"),
        100 * real_of(doc, "result.network.busiest_link_use"),
        real_of(doc, "result.network.mean_hops"));
    return true;
}

static bool word_finish(const struct wf_value *doc, struct phrase *out)
{
    return wf_doc_get_count(doc, "result.ranks.finished", 1) > 0 &&
           word_spread(doc, "result.ranks.finish_ps", out);
}

static bool word_compute(const struct wf_value *doc, struct phrase *out)
{
    return word_spread(doc, "result.ranks.compute_ps", out);
}

static bool word_wait(const struct wf_value *doc, struct phrase *out)
{
    return word_spread(doc, "result.ranks.wait_ps", out);
}

static bool word_overhead(const struct wf_value *doc, struct phrase *out)
{
    return word_spread(doc, "result.ranks.overhead_ps", out);
}

static bool word_digest(const struct wf_value *doc, struct phrase *out)
{
    say(out, "%s", wf_doc_get_text(doc, "result.digest", "-"));
    return true;
}

static bool word_estimate(const struct wf_value *doc, struct phrase *out)
{
    say_size(out, wf_doc_get_count(doc, "estimate.memory_bytes", 0));
    return true;
}

static bool word_estimated_messages(const struct wf_value *doc, struct phrase *out)
{
    const struct wf_value *messages = wf_doc_find(doc, "estimate.messages");

    if (messages == NULL) {
        return false;
    }
    say_count(out, messages->count);
    return true;
}

static bool word_host(const struct wf_value *doc, struct phrase *out)
{
    say(out, "%.3f s, %.3f s of CPU, ", get_real(doc, "run.wall_seconds"),
        get_real(doc, "run.cpu_seconds"));
    say_size(out, wf_doc_get_count(doc, "run.peak_rss_bytes", 0));
    return true;
}

static void say_plural(struct phrase *out, uint64_t count, const char *one, const char *many)
{
    say(out, ", ");
    say_count(out, count);
    say(out, " %s", count == 1 ? one : many);
}

static bool word_schedule(const struct wf_value *doc, struct phrase *out)
{
    say(out, "%s", wf_doc_get_text(doc, "run.scheduler", "?"));
    say_plural(out, wf_doc_get_count(doc, "run.threads", 1), "thread", "threads");
    say_plural(out, wf_doc_get_count(doc, "run.processes", 1), "process", "processes");
    return true;
}

static bool word_events(const struct wf_value *doc, struct phrase *out)
{
    uint64_t undone = wf_doc_get_count(doc, "run.events_rolled_back", 0);

    say_count(out, wf_doc_get_count(doc, "run.events_committed", 0));
    if (undone > 0) {
        say(out, ", ");
        say_count(out, undone);
        say(out, " rolled back (efficiency %.1f %%)", get_real(doc, "run.efficiency_percent"));
    }
    say(out, ", ");
    say_real(out, get_real(doc, "run.events_per_wall_second"));
    say(out, "/s");
    return true;
}

static bool word_rounds(const struct wf_value *doc, struct phrase *out)
{
    uint64_t windows = wf_doc_get_count(doc, "run.windows", 0);
    uint64_t rounds = wf_doc_get_count(doc, "run.gvt_rounds", 0);

    if (windows == 0 && rounds == 0) {
        return false;
    }
    if (windows > 0) {
        say_count(out, windows);
        say(out, " windows of ");
        say_real(out, get_real(doc, "run.events_per_window"));
        say(out, " events%s", rounds > 0 ? ", " : "");
    }
    if (rounds > 0) {
        say_count(out, rounds);
        say(out, " GVT rounds in %.3f s", get_real(doc, "run.gvt_seconds"));
    }
    return true;
}

static const struct line answer_lines[] = {
    {"Scenario", word_scenario},
    {"Network", word_network},
    {"Status", word_status},
    {"Predicted time", word_predicted},
    {"Simulated time", word_simulated},
    {"Messages", word_messages},
    {"Message latency", word_latency},
    {"Ranks finish", word_finish},
    {"Ranks compute", word_compute},
    {"Ranks wait", word_wait},
    {"Ranks overhead", word_overhead},
    {"Load", word_load},
    {"Latency", word_cycles},
    {"Links", word_links},
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
        struct phrase phrase = {.used = 0};
        bool bold = options->color && lines->word == word_predicted;

        if (lines->word(doc, &phrase)) {
            (void)fprintf(out, "%-*s  %s%s%s\n", LABEL_WIDTH, lines->label,
                          bold ? "\033[1m" : "", phrase.text, bold ? "\033[0m" : "");
        }
    }
}

/* Who waits for what, of a program that cannot go on. */
static void write_waiting(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *list = wf_doc_find(doc, "result.waiting.ranks");
    uint64_t total = wf_doc_get_count(doc, "result.waiting.count", 0);
    uint64_t shown = 0;

    if (list == NULL || list->type != WF_VALUE_LIST) {
        return;
    }
    (void)fprintf(out, "\n%" PRIu64 " %s for something that never happens:\n", total,
                  total == 1 ? "rank waits" : "ranks wait");
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        (void)fprintf(out, "  rank %" PRIu64 " %s\n", wf_doc_get_count(v, "rank", 0),
                      wf_doc_get_text(v, "waits", "waits"));
        shown++;
    }
    if (shown < total) {
        (void)fprintf(out, "  and %" PRIu64 " more\n", total - shown);
    }
}

/* ---- everything, for a verbose report ---- */

static void write_tree(const struct wf_value *parent, const char *unit_name, int depth,
                       FILE *out)
{
    for (const struct wf_value *v = parent->first; v != NULL; v = v->next) {
        const char *name = v->name != NULL ? v->name : "-";
        /* "min" below "finish_ps" is a time as well. */
        const char *unit =
            strchr(name, '_') == NULL && ends_with(unit_name, "_ps") ? unit_name : name;
        struct phrase phrase = {.used = 0};

        if (v->type == WF_VALUE_SECTION || v->type == WF_VALUE_LIST) {
            (void)fprintf(out, "%*s%s\n", depth * 2, "", name);
            write_tree(v, unit, depth + 1, out);
            continue;
        }
        say_value(&phrase, v, unit);
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
    write_waiting(doc, out);
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
