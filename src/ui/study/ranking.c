/* SPDX-License-Identifier: Apache-2.0 */
/* The points of a study as a table for people, the best first. */
#include "base/array.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "ui/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 96, COLUMNS_MAX = WF_STUDY_KEYS_MAX + 16 };

/* Results that people choose by. A column is left out if no point has it. */
static const struct measure {
    const char *title, *path;
    const char *unit;  /* after the number; null: a time, a count without */
    const char *upper; /* the end of an interval that begins at `path`, or null */
} measures[] = {
    {"nodes", "nodes_used", "", NULL},
    {"time", "predicted_time_ps", NULL, NULL},
    {"90 % of runs", "predicted_time_p05_ps", NULL, "predicted_time_p95_ps"},
    {"energy", "energy.joules", "J", NULL},
    {"cost", "cost.total", "", NULL},
    {"tokens/s", "training.tokens_per_second", "", NULL},
    {"MFU", "training.mfu_percent", "%", NULL},
    {"latency, cycles", "latency_cycles.mean", "", NULL},
    {"accepted load", "accepted_load", "", NULL},
};

enum { N_MEASURES = sizeof(measures) / sizeof(measures[0]) };

static const struct wf_value *result_of(const struct wf_study_point *point, const char *path)
{
    const struct wf_value *result =
        point->doc != NULL ? wf_doc_find(point->doc, "result") : NULL;
    const struct wf_value *value = result != NULL ? wf_doc_find(result, path) : NULL;

    return value != NULL && (value->type == WF_VALUE_COUNT || value->type == WF_VALUE_REAL)
               ? value
               : NULL;
}

static double number(const struct wf_value *value)
{
    return value->type == WF_VALUE_COUNT ? (double)value->count : value->real;
}

/* ---- the order ---- */

struct ranked {
    struct wf_study_point point;
    size_t place;
    double by; /* HUGE_VAL: unknown */
    const char *text;
};

static int better(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int texts = x->text != NULL && y->text != NULL ? strcmp(x->text, y->text) : 0;

    return 4 * WF_ORDER(x->by, y->by) +
           2 * (texts > 0   ? 1
                : texts < 0 ? -1
                            : 0) +
           WF_ORDER(x->place, y->place);
}

/* The path of a measure by its title, or the name itself. */
static const char *path_of(const char *name)
{
    size_t i = WF_LOOKUP_INDEX(measures, N_MEASURES, name);

    return i < N_MEASURES ? measures[i].path : name;
}

/* Whether the points can be ordered by it: a setting that varies, or a number that any has. */
static enum wf_status check_order(const struct wf_study *study, const char *name,
                                  struct wf_err *err)
{
    struct wf_nearest nearest;
    char hint[WF_HINT_MAX];

    wf_nearest_begin(&nearest, name);
    for (size_t k = 0; k < study->n_keys; k++) {
        if (strcmp(study->keys[k], name) == 0) {
            return WF_OK;
        }
        wf_nearest_add(&nearest, study->keys[k]);
    }
    for (size_t i = 0; i < study->n_points; i++) {
        if (result_of(&study->points[i], path_of(name)) != NULL) {
            return WF_OK;
        }
    }
    for (size_t i = 0; i < N_MEASURES; i++) {
        wf_nearest_add(&nearest, measures[i].title);
    }
    return wf_err_set(err, WF_EUSAGE, "--sort: no point has a result or setting '%.64s'%s",
                      name, wf_nearest_hint(&nearest, hint));
}

enum wf_status wf_study_sort(struct wf_study *study, const char *by, struct wf_err *err)
{
    bool falls = by[0] == '-';
    const char *name = falls ? by + 1 : by;

    WF_TRY(check_order(study, name, err));
    struct ranked *all = wf_xcalloc(study->n_points, sizeof(*all));
    for (size_t i = 0; i < study->n_points; i++) {
        const struct wf_value *value = result_of(&study->points[i], path_of(name));
        all[i] = (struct ranked){.point = study->points[i], .place = i, .by = HUGE_VAL};
        all[i].text = wf_study_text(study, i, name);
        if (value != NULL) {
            all[i].by = falls ? -number(value) : number(value);
        }
    }
    WF_SORT(all, study->n_points, better);
    for (size_t i = 0; i < study->n_points; i++) {
        study->points[i] = all[i].point;
    }
    free(all);
    return WF_OK;
}

/* ---- the table ---- */

static void write_number(const struct wf_value *value, const char *unit, char *buf)
{
    char text[WF_UNITS_TEXT_MAX];

    if (unit == NULL) {
        (void)wf_human_time((int64_t)number(value), buf);
    } else if (value->type == WF_VALUE_COUNT) {
        (void)wf_human_count(number(value), buf);
    } else {
        double real = number(value);
        bool large = fabs(real) >= 1e4;
        (void)snprintf(text, sizeof(text), "%.4g", real);
        (void)snprintf(buf, CELL, "%s%s%s", large ? wf_human_count(real, text) : text,
                       unit[0] != '\0' && !large ? " " : "", unit);
    }
}

static void write_cell(const struct wf_study_point *point, const struct measure *measure,
                       char *buf)
{
    const struct wf_value *value = result_of(point, measure->path);
    const struct wf_value *upper =
        measure->upper != NULL ? result_of(point, measure->upper) : NULL;

    buf[0] = '\0';
    if (value == NULL) {
        return;
    }
    write_number(value, measure->unit, buf);
    if (upper != NULL) {
        (void)snprintf(buf + strlen(buf), CELL - strlen(buf), " .. ");
        write_number(upper, measure->unit, buf + strlen(buf));
    }
    if (strcmp(measure->path, "cost.total") == 0) {
        const char *currency = wf_doc_get_text(point->doc, "result.cost.currency", "");
        (void)snprintf(buf + strlen(buf), CELL - strlen(buf), "%s%s",
                       currency[0] != '\0' ? " " : "", currency);
    }
}

/* What a column shows in a row; row 0 has the titles. */
static const char *cell(const struct wf_study *study, size_t row, size_t column, char *buf)
{
    if (column < study->n_keys) {
        const char *key = study->keys[column];
        const struct wf_study_value *value =
            row > 0 ? study->points[row - 1].values[column] : NULL;
        (void)snprintf(buf, CELL, "%s",
                       row == 0        ? (strcmp(key, "source") == 0 ? "program" : key)
                       : value != NULL ? value->text
                                       : "");
        wf_text_safe(buf);
    } else if (row == 0) {
        (void)snprintf(buf, CELL, "%s", measures[column - study->n_keys].title);
    } else {
        write_cell(&study->points[row - 1], &measures[column - study->n_keys], buf);
    }
    return buf;
}

/* Why a point has no prediction; "" if it has one. */
static const char *failure_of(const struct wf_study_point *point)
{
    return point->doc != NULL           ? wf_doc_get_text(point->doc, "error.message", "")
           : point->err.status != WF_OK ? point->err.text
                                        : "not run";
}

void wf_study_ranking(const struct wf_study *study, FILE *out)
{
    size_t n = study->n_keys + N_MEASURES, widths[COLUMNS_MAX];
    char text[CELL + 2 * WF_UNITS_TEXT_MAX];

    for (size_t c = 0; c < n; c++) {
        widths[c] = 0;
        for (size_t row = study->n_points + 1; row-- > 0;) {
            size_t length = strlen(cell(study, row, c, text));
            bool counts = row > 0 || widths[c] > 0; /* a title alone is no column */
            widths[c] = counts && length > widths[c] ? length : widths[c];
        }
    }
    for (size_t row = 0; row <= study->n_points; row++) {
        const char *failure = row > 0 ? failure_of(&study->points[row - 1]) : "";
        size_t spaces = 0; /* none at the end of a line */
        for (size_t c = 0; c < n; c++) {
            bool is_key = c < study->n_keys;
            if (widths[c] == 0) {
                continue;
            }
            size_t length = strlen(cell(study, row, c, text));
            spaces += is_key ? 0 : widths[c] - length;
            if (length > 0) {
                (void)fprintf(out, "%*s%s", (int)spaces, "", text);
                spaces = 0;
            }
            spaces += 2 + (is_key ? widths[c] - length : 0);
        }
        wf_text_print(out, "%s%s\n", failure[0] != '\0' ? "  " : "", failure);
    }
}
