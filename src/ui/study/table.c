/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/result.h"
#include "base/text.h"
#include "base/units.h"
#include "run/scenario/scenario.h"
#include "ui/report/writer.h"
#include "ui/study/study.h"

#include <weft/weft.h>

#include <inttypes.h>

/* Results of a point. Each is a column after the keys if any point has it. */
static const char *const measures[] = {
    "predicted_time_ps",
    "predicted_time_p05_ps",
    "predicted_time_p50_ps",
    "predicted_time_p95_ps",
    "time_reached_ps",
    "messages",
    "bytes",
    "message_latency_ps.mean",
    "message_latency_ps.max",
    "ranks.compute_ps.mean",
    "ranks.wait_ps.mean",
    "ranks.overhead_ps.mean",
    "efficiency.parallel_percent",
    "efficiency.parallel_p05_percent",
    "efficiency.parallel_p50_percent",
    "efficiency.parallel_p95_percent",
    "efficiency.load_balance_percent",
    "efficiency.serialisation_percent",
    "efficiency.transfer_percent",
    "training.tokens_per_second",
    "training.mfu_percent",
    "training.bubble_percent",
    "training.exposed_communication_percent",
    "training.memory.total_bytes",
    "nodes_used",
    "energy.joules",
    "cost.total",
    "collective.algorithm_bytes_per_second",
    "collective.bus_bytes_per_second",
    "offered_load",
    "accepted_load",
    "latency_cycles.mean",
    "digest",
};

enum { N_MEASURES = sizeof(measures) / sizeof(measures[0]) };

static const struct wf_value *measure_of(const struct wf_study_point *point, const char *path)
{
    const struct wf_value *result =
        point->doc != NULL ? wf_doc_find(point->doc, "result") : NULL;

    return result != NULL ? wf_doc_find(result, path) : NULL;
}

static bool is_measured(const struct wf_study *study, const char *path)
{
    for (size_t i = 0; i < study->n_points; i++) {
        if (measure_of(&study->points[i], path) != NULL) {
            return true;
        }
    }
    return false;
}

static const char *status_of(const struct wf_study_point *point)
{
    return point->doc != NULL ? wf_doc_get_text(point->doc, "result.status", "completed")
           : point->err.status != WF_OK ? wf_status_text(point->err.status)
                                        : "not run";
}

/* ---- CSV ---- */

static void write_value(const struct wf_value *value, FILE *out)
{
    char buf[WF_UNITS_TEXT_MAX];

    if (value == NULL) {
        return;
    }
    if (value->type == WF_VALUE_COUNT) {
        (void)fprintf(out, "%" PRIu64, value->count);
    } else if (value->type == WF_VALUE_REAL) {
        (void)fputs(wf_format_real(value->real, buf), out);
    } else if (value->type == WF_VALUE_TEXT) {
        wf_text_csv(out, value->text);
    }
}

void wf_study_csv(const struct wf_study *study, FILE *out)
{
    bool measured[N_MEASURES];

    for (size_t k = 0; k < study->n_keys; k++) {
        wf_text_csv(out, study->keys[k]);
        (void)fputc(',', out);
    }
    (void)fputs("status", out);
    for (size_t m = 0; m < N_MEASURES; m++) {
        measured[m] = is_measured(study, measures[m]);
        if (measured[m]) {
            (void)fprintf(out, ",%s", measures[m]);
        }
    }
    (void)fputs(",file\n", out);
    for (size_t i = 0; i < study->n_points; i++) {
        const struct wf_study_point *point = &study->points[i];
        for (size_t k = 0; k < study->n_keys; k++) {
            wf_text_csv(out, point->values[k] != NULL ? point->values[k]->text : "");
            (void)fputc(',', out);
        }
        wf_text_csv(out, status_of(point));
        for (size_t m = 0; m < N_MEASURES; m++) {
            if (measured[m]) {
                (void)fputc(',', out);
                write_value(measure_of(point, measures[m]), out);
            }
        }
        (void)fputc(',', out);
        wf_text_csv(out, point->doc != NULL ? point->name : "");
        (void)fputc('\n', out);
    }
}

/* ---- JSON ---- */

static void add_value(struct wf_value *section, const char *name, const struct wf_value *value)
{
    if (value->type == WF_VALUE_COUNT) {
        wf_doc_count(section, name, value->count);
    } else if (value->type == WF_VALUE_REAL) {
        wf_doc_real(section, name, value->real);
    } else if (value->type == WF_VALUE_TEXT) {
        wf_doc_text(section, name, value->text);
    }
}

static void add_point(struct wf_value *list, const struct wf_study *study,
                      const struct wf_study_point *point)
{
    struct wf_value *item = wf_doc_section(list, NULL);
    struct wf_value *settings = wf_doc_section(item, "settings");

    for (size_t k = 0; k < study->n_keys; k++) {
        if (point->values[k] != NULL) {
            wf_doc_text(settings, study->keys[k], point->values[k]->text);
        }
    }
    wf_doc_text(item, "status", status_of(point));
    if (point->err.status != WF_OK) {
        wf_doc_text(item, "error", point->err.text);
    }
    struct wf_value *result = wf_doc_section(item, "result");
    for (size_t m = 0; m < N_MEASURES; m++) {
        const struct wf_value *value = measure_of(point, measures[m]);
        if (value != NULL) {
            add_value(result, measures[m], value);
        }
    }
    if (point->doc != NULL) {
        wf_doc_text(item, "file", point->name);
    }
}

static struct wf_value *study_document(const struct wf_study *study)
{
    struct wf_value *root = wf_result_new_as("weft-sweep-1", weft_version());
    struct wf_value *settings = NULL;

    wf_doc_text(root, "title", study->title != NULL ? study->title : "");
    settings = wf_doc_section(root, "settings");
    for (size_t s = 0; study->base != NULL && s < study->base->n; s++) {
        wf_doc_text(settings, study->base->settings[s].key, study->base->settings[s].value);
    }
    for (size_t s = 0; s < study->n_settings; s++) {
        wf_doc_text(settings, study->all[s].key, study->all[s].text);
    }
    if (study->plot_x != NULL) {
        struct wf_value *plot = wf_doc_section(root, "plot");
        const char *y = study->plot_y[0];
        wf_doc_text(plot, "x", study->plot_x);
        wf_doc_text(plot, "y", y != NULL ? y : "predicted_time_ps");
    }
    struct wf_value *points = wf_doc_list(root, "points");
    for (size_t i = 0; i < study->n_points; i++) {
        add_point(points, study, &study->points[i]);
    }
    return root;
}

void wf_study_json(const struct wf_study *study, FILE *out)
{
    const struct wf_write_options options = {.verbose = false};
    struct wf_value *root = study_document(study);

    wf_writer_json.write(root, &options, out);
    wf_doc_free(root);
}

void wf_study_html(const struct wf_study *study, FILE *out)
{
    const struct wf_write_options options = {.verbose = false};
    struct wf_value *root = study_document(study);

    wf_writer_html.write(root, &options, out);
    wf_doc_free(root);
}
