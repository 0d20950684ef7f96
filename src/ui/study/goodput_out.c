/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/result.h"
#include "base/text.h"
#include "base/units.h"
#include "ui/draw/plot.h"
#include "ui/study/goodput.h"
#include "ui/study/plain_page.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <math.h>

#define SECOND 1e6

static const char *const shares[WF_STUDY_GOODPUT_SHARES][2] = {
    {"goodput", "goodput_percent"},           {"work lost by failures", "lost_percent"},
    {"checkpoints", "checkpoint_percent"},    {"detection and restart", "down_percent"},
    {"waiting for nodes", "waiting_percent"},
};

/* "2.50 h" of a number of microseconds. */
static const char *span(double us, char *buf)
{
    return us < 1 ? "0 s" : wf_human_span(llround(us), buf);
}

/* ---- text ---- */

static void print_step(const struct wf_study_goodput *study, FILE *out)
{
    const struct wf_study_goodput_point *point = &study->chosen;
    const double day = 86400 * SECOND;
    char text[WF_UNITS_TEXT_MAX];

    if (study->step > 0) {
        (void)fprintf(out, "%-24s%10.0f  of %s, %.0f per day\n", "steps",
                      floor(point->share[0] * point->wall / study->step),
                      span(study->step, text), point->share[0] * day / study->step);
    }
    if (study->tokens > 0) {
        (void)fprintf(out, "%-24s%10s  on average, of %.4g without failures\n",
                      "tokens per second",
                      wf_human_count(study->tokens * point->share[0], text), study->tokens);
    }
}

void wf_study_goodput_print(const struct wf_study_goodput *study, FILE *out)
{
    const struct wf_study_goodput_point *point = &study->chosen;
    const struct wf_study_goodput_point *best = &study->points[study->best];
    char text[WF_UNITS_TEXT_MAX], young[WF_UNITS_TEXT_MAX], daly[WF_UNITS_TEXT_MAX];

    for (size_t i = 0; i < study->config.n_classes; i++) {
        wf_text_print(out, "%s: %" PRIu64 " part%s, %s%s\n", study->classes[i].name,
                      study->classes[i].count, study->classes[i].count == 1 ? "" : "s",
                      study->classes[i].law->gap == NULL ? "" : "each fails every ",
                      study->classes[i].law->gap == NULL
                          ? "which fail at the times of a list"
                          : span((double)study->classes[i].mtbf, text));
    }
    (void)fprintf(out, "a failure every %s; a checkpoint of %s every ", span(study->mtbf, text),
                  span((double)study->config.cost, young));
    (void)fprintf(out, "%s; %" PRIu64 " runs\n\n", span((double)point->interval, text),
                  study->options->runs);
    (void)fprintf(out, "%-24s%10s\n", "wall time", span(point->wall, text));
    for (size_t i = 0; i < WF_STUDY_GOODPUT_SHARES; i++) {
        (void)fprintf(out, "%-24s%8.2f %%", shares[i][0], 100 * point->share[i]);
        if (i == 0) {
            (void)fprintf(out, "  (5 %% to 95 %% of runs: %.2f to %.2f %%)", 100 * point->low,
                          100 * point->high);
        }
        (void)fputc('\n', out);
    }
    (void)fprintf(out, "%-24s%10.1f\n", "failures", point->failures);
    print_step(study, out);
    (void)fprintf(out,
                  "\nbest interval: %s by simulation, %s by Young's formula, %s by Daly's\n\n"
                  "%12s  %12s  %12s\n",
                  span((double)best->interval, text), span(study->young, young),
                  span(study->daly, daly), "interval", "goodput", "Daly's model");
    for (size_t i = 0; i < study->n_points; i++) {
        point = &study->points[i];
        (void)fprintf(out, "%12s  %10.2f %%  %10.2f %%%s\n",
                      span((double)point->interval, text), 100 * point->share[0],
                      100 * point->expected, i == study->best ? "  best" : "");
    }
}

/* ---- the plot and the page ---- */

void wf_study_goodput_plot(const struct wf_study_goodput *study,
                           const struct wf_draw_plot_format *format, FILE *out)
{
    struct wf_draw_plot_point played[WF_STUDY_GOODPUT_POINTS], daly[WF_STUDY_GOODPUT_POINTS];
    size_t n = study->n_points;
    bool hours = study->points[n - 1].interval > (int64_t)(7200 * SECOND);
    char title[96], text[WF_UNITS_TEXT_MAX];

    for (size_t i = 0; i < n; i++) {
        const struct wf_study_goodput_point *point = &study->points[i];
        double x = (double)point->interval / SECOND / (hours ? 3600 : 60);

        played[i] = (struct wf_draw_plot_point){.x = x,
                                                .y = 100 * (1 - point->share[0]),
                                                .below = 100 * (point->high - point->share[0]),
                                                .above = 100 * (point->share[0] - point->low)};
        daly[i] = (struct wf_draw_plot_point){.x = x, .y = 100 * (1 - point->expected)};
    }
    const struct wf_draw_plot_series series[] = {{"simulated", played, n},
                                                 {"Daly's model", daly, n}};
    const struct wf_draw_plot_panel panel = {
        .x = {.label = hours ? "work between checkpoints, h" : "work between checkpoints, min",
              .log = true},
        .y = {.label = "time that is not useful, %"},
        .series = series,
        .n = 2};

    (void)snprintf(title, sizeof(title), "a failure every %s", span(study->mtbf, text));
    wf_draw_plot(&(struct wf_draw_plot){.title = title,
                                        .subtitle = "error bars: 90 % of the simulations",
                                        .panels = &panel,
                                        .n = 1},
                 format, out);
}

void wf_study_goodput_page(const struct wf_study_goodput *study, FILE *out)
{
    char title[96], text[WF_UNITS_TEXT_MAX];

    (void)snprintf(title, sizeof(title), "%.2f %% of %s are useful",
                   100 * study->chosen.share[0], span(study->chosen.wall, text));
    wf_study_plain_begin("goodput", title, out);
    wf_study_goodput_plot(study, wf_draw_plot_for_path("page.svg"), out);
    (void)fputs("<pre>", out);
    wf_study_goodput_print(study, out);
    (void)fputs("</pre>\n", out);
    wf_study_plain_end(out);
}

/* ---- the document ---- */

static void add_point(const struct wf_study_goodput_point *point, struct wf_value *section)
{
    wf_doc_measured(section, "interval_seconds", (double)point->interval / SECOND, 6);
    for (size_t i = 0; i < WF_STUDY_GOODPUT_SHARES; i++) {
        wf_doc_measured(section, shares[i][1], 100 * point->share[i], 6);
    }
    wf_doc_measured(section, "goodput_p05_percent", 100 * point->low, 4);
    wf_doc_measured(section, "goodput_p95_percent", 100 * point->high, 4);
    wf_doc_measured(section, "failures", point->failures, 3);
    wf_doc_measured(section, "wall_seconds", point->wall / SECOND, 6);
    wf_doc_measured(section, "daly_model_percent", 100 * point->expected, 6);
}

static void add_scenario(const struct wf_study_goodput *study, struct wf_value *doc)
{
    const struct wf_goodput_config *config = &study->config;
    const struct {
        const char *name;
        double value;
    } times[] = {
        {"horizon_seconds", (double)config->horizon},
        {"work_seconds", (double)config->work},
        {"step_seconds", study->step},
        {"checkpoint_seconds", (double)config->cost},
        {"checkpoint_write_seconds", (double)config->write},
        {"detect_seconds", (double)config->detect},
        {"restart_seconds", (double)config->restart},
    };
    struct wf_value *s = wf_doc_section(doc, "scenario");
    struct wf_value *list = wf_doc_list(s, "fail");

    for (size_t i = 0; i < config->n_classes; i++) {
        const struct wf_failure_class *class = &config->classes[i];
        struct wf_value *section = wf_doc_section(list, NULL);

        wf_doc_text(section, "name", class->name);
        wf_doc_text(section, "law", class->law->name);
        wf_doc_count(section, "count", class->count);
        wf_doc_measured(section, "mtbf_seconds", (double)class->mtbf / SECOND, 6);
        wf_doc_measured(section, "shape", class->shape, 6);
        wf_doc_measured(section, "age_seconds", (double)class->age / SECOND, 6);
        wf_doc_measured(section, "repair_seconds", (double)class->repair / SECOND, 6);
    }
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        wf_doc_measured(s, times[i].name, times[i].value / SECOND, 6);
    }
    wf_doc_count(s, "spares", config->spares);
    wf_doc_count(s, "runs", study->options->runs);
    wf_doc_count(s, "seed", study->options->seed);
}

struct wf_value *wf_study_goodput_document(const struct wf_study_goodput *study)
{
    struct wf_value *doc = wf_result_new_as("weft-goodput-1", weft_version());

    add_scenario(study, doc);
    struct wf_value *result = wf_doc_section(doc, "result");
    add_point(&study->chosen, wf_doc_section(result, "chosen"));
    wf_doc_measured(result, "mtbf_seconds", study->mtbf / SECOND, 6);
    wf_doc_measured(result, "best_interval_seconds",
                    (double)study->points[study->best].interval / SECOND, 6);
    wf_doc_measured(result, "young_interval_seconds", study->young / SECOND, 6);
    wf_doc_measured(result, "daly_interval_seconds", study->daly / SECOND, 6);
    struct wf_value *list = wf_doc_list(result, "intervals");
    for (size_t i = 0; i < study->n_points; i++) {
        add_point(&study->points[i], wf_doc_section(list, NULL));
    }
    return doc;
}
