/* SPDX-License-Identifier: Apache-2.0 */
/* Curves of a study, the description that all plots of many points have in common. Points that differ
 * only by their seed are drawn as one point, with their standard deviation as error bar. A single point
 * with repeated runs has an error bar from the 5 % to the 95 % quantile, one of synthetic traffic its
 * confidence interval. */
#include "ui/draw/plot.h"
#include "base/array.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "ui/report/output.h"
#include "ui/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_Y "predicted_time_ps"

enum { SERIES_MAX = 64, NAME_MAX_LENGTH = 160, NAMES_MAX = 64 };

/* A curve under construction. */
struct curve {
    char name[NAME_MAX_LENGTH];
    struct wf_draw_plot_point *points;
    double *squares; /* sum of squares at each point; until done, y is the sum */
    size_t *counts;
    bool quantiles, intervals; /* a point has an error bar of quantiles, or an interval */
    size_t n;
};

struct plan {
    const struct wf_study *study;
    const char *x, *y;
    double x_unit, y_unit; /* divisors of values */
    char x_label[128], y_label[128];
    double least, most; /* range of x */
    bool bytes;         /* x is a size */
    bool by_place;      /* x is not a number: its texts are categories */
    const char *names[NAMES_MAX];
    size_t n_names;
    char legend[NAME_MAX_LENGTH];
    struct curve *curves;
    struct wf_draw_plot_series *series;
    size_t n;
};

/* What people call it, where the name says less. */
static const struct {
    const char *name, *label;
} labels[] = {
    {"traffic.load", "offered load, phits per node and cycle"},
    {"offered_load", "offered load, phits per node and cycle"},
    {"accepted_load", "accepted load, phits per node and cycle"},
    {"latency_cycles.mean", "latency, cycles"},
};

/* Sets the label, if there is one. */
static bool label_of(const char *name, char *buf, size_t size)
{
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        if (strcmp(labels[i].name, name) == 0) {
            (void)snprintf(buf, size, "%s", labels[i].label);
            return true;
        }
    }
    return false;
}

/* Whether the key is a seed of random numbers. */
static bool is_seed(const char *key)
{
    const char *last = strrchr(key, '.');

    return strcmp(last != NULL ? last + 1 : key, "seed") == 0;
}

/* Whether the key tells points apart: prices follow the machine, and what is the same everywhere does not. */
static bool tells_apart(const struct wf_study *study, size_t k)
{
    const char *first = wf_study_text(study, 0, study->keys[k]);

    for (size_t i = 1; i < study->n_points && strncmp(study->keys[k], "price.", 6) != 0; i++) {
        const char *text = wf_study_text(study, i, study->keys[k]);
        if ((text == NULL) != (first == NULL) || (text != NULL && strcmp(text, first) != 0)) {
            return !is_seed(study->keys[k]);
        }
    }
    return false;
}

/* A value with or without a unit as a number, and the unit for a label. */
static bool read_number(const char *text, double *out, const char **unit)
{
    struct wf_err ignored; /* the text may be of another kind */
    uint64_t count;
    int64_t time;

    if (wf_parse_real(text, out, &ignored) == WF_OK) {
        *unit = "";
    } else if (wf_parse_time(text, &time, &ignored) == WF_OK) {
        *out = (double)time / 1e6;
        *unit = ", us";
    } else if (wf_parse_size(text, &count, &ignored) == WF_OK) {
        *out = (double)count;
        *unit = ", bytes";
    } else if (wf_parse_rate(text, &count, &ignored) == WF_OK) {
        bool bits = strstr(text, "bit") != NULL;
        *out = (double)count / (bits ? 1e12 : 8e12);
        *unit = bits ? ", Gbit/s" : ", GB/s";
    } else {
        return false;
    }
    return true;
}

/* The value of a member of the result at a point. */
static bool value_of(const struct plan *plan, size_t i, const char *name, double *out)
{
    const struct wf_value *doc = plan->study->points[i].doc;
    const struct wf_value *result = doc != NULL ? wf_doc_find(doc, "result") : NULL;
    const struct wf_value *value = result != NULL ? wf_doc_find(result, name) : NULL;

    if (value == NULL || (value->type != WF_VALUE_COUNT && value->type != WF_VALUE_REAL)) {
        return false;
    }
    *out = (value->type == WF_VALUE_COUNT ? (double)value->count : value->real) / plan->y_unit;
    return true;
}

static bool y_of(const struct plan *plan, size_t i, double *out)
{
    return value_of(plan, i, plan->y, out);
}

/* A quantile of y at a point: "predicted_time_p05_ps" for "predicted_time_ps". */
static bool quantile_of(const struct plan *plan, size_t i, const char *which, double *out)
{
    const char *unit = strrchr(plan->y, '_');
    char name[NAME_MAX_LENGTH];

    if (unit == NULL) {
        return false;
    }
    (void)snprintf(name, sizeof(name), "%.*s_%s%s", (int)(unit - plan->y), plan->y, which,
                   unit);
    return value_of(plan, i, name, out);
}

/* A member beside y: "latency_cycles.half_width" for "latency_cycles.mean". */
static bool sibling_of(const struct plan *plan, size_t i, const char *which, double *out)
{
    const char *dot = strrchr(plan->y, '.');
    char name[NAME_MAX_LENGTH];

    if (dot == NULL) {
        return false;
    }
    (void)snprintf(name, sizeof(name), "%.*s.%s", (int)(dot - plan->y), plan->y, which);
    return value_of(plan, i, name, out);
}

/* The first key with numbers that tells points apart; else the last one with names that does. */
static const char *choose_x(const struct wf_study *study)
{
    const char *names = study->keys[0];

    for (size_t k = 0; k < study->n_keys; k++) {
        const struct wf_study_value *value = study->points[0].values[k];
        const char *unit;
        double number;
        if (!tells_apart(study, k)) {
            continue;
        }
        if (value != NULL && read_number(value->text, &number, &unit)) {
            return study->keys[k];
        }
        names = study->keys[k];
    }
    return names;
}

/* Units of results, by the end of their names. A value is shown in the largest unit of which there is one. */
static const struct unit {
    const char *ending;
    double one; /* in the result's own unit */
    const char *name;
} units[] = {
    {"_ps", 1e12, "s"},
    {"_ps", 1e9, "ms"},
    {"_ps", 1e6, "us"},
    {"_ps", 1e3, "ns"},
    {"_ps", 1, "ps"},
    {"bytes_per_second", 1e9, "GB/s"},
    {"bytes_per_second", 1, "B/s"},
    {"bytes", 1073741824, "GiB"},
    {"bytes", 1048576, "MiB"},
    {"bytes", 1024, "KiB"},
    {"bytes", 1, "B"},
    {"_percent", 1, "%"},
    {"_joules", 1, "J"},
};

/* Finds the ending as a whole word of the name: "finish_ps.max" has "_ps". */
static const char *ending_of(const char *name, const char *ending)
{
    const char *at = strstr(name, ending);
    bool ends = at != NULL && (at[strlen(ending)] == '\0' || at[strlen(ending)] == '.');

    return ends ? at : NULL;
}

/* Makes "predicted_time_ps" "predicted time, ms". */
static void scale_y(struct plan *plan)
{
    double most = 0, y;
    const struct unit *unit = NULL;

    plan->y_unit = 1;
    for (size_t i = 0; i < plan->study->n_points; i++) {
        most = y_of(plan, i, &y) && y > most ? y : most;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (ending_of(plan->y, units[i].ending) != NULL) {
            unit = &units[i];
            if (most >= unit->one) {
                break;
            }
        }
    }
    const char *at = unit != NULL ? ending_of(plan->y, unit->ending) : NULL;
    bool whole = at == NULL || at == plan->y; /* "bytes": the ending is the name */
    const char *rest = whole ? "" : at + strlen(unit->ending);
    (void)snprintf(plan->y_label, sizeof(plan->y_label), "%.*s%s%s%s",
                   whole ? (int)strlen(plan->y) : (int)(at - plan->y), plan->y, rest,
                   unit != NULL ? ", " : "", unit != NULL ? unit->name : "");
    for (char *c = plan->y_label; *c != '\0'; c++) {
        if (*c == '_' || *c == '.') {
            *c = ' ';
        }
    }
    plan->y_unit = unit != NULL ? unit->one : 1;
    (void)label_of(plan->y, plan->y_label, sizeof(plan->y_label));
}

/* Likewise for x: times have units that fit the least; the ticks of sizes have their own. */
static const char *scale_x(struct plan *plan, const char *unit)
{
    static const struct {
        const char *unit;
        double one;
        const char *name;
    } scales[] = {
        {", us", 1e6, ", s"},
        {", us", 1e3, ", ms"},
    };

    plan->x_unit = 1;
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        if (strcmp(scales[i].unit, unit) == 0 && plan->least >= scales[i].one) {
            plan->x_unit = scales[i].one;
            return scales[i].name;
        }
    }
    return unit;
}

/* The number of a category from 1 on; a new one gets the next. */
static double place_of(struct plan *plan, const char *text)
{
    text = text != NULL ? text : "";
    size_t at = WF_LOOKUP_INDEX(plan->names, plan->n_names, text);

    if (at == plan->n_names && plan->n_names < NAMES_MAX) {
        plan->names[plan->n_names++] = text;
    }
    return (double)at + 1;
}

static void look_at_x(struct plan *plan)
{
    const char *unit = "";

    plan->least = HUGE_VAL;
    plan->most = 0;
    for (size_t i = 0; i < plan->study->n_points; i++) {
        const char *text = wf_study_text(plan->study, i, plan->x);
        double x;
        if (text == NULL || !read_number(text, &x, &unit)) {
            plan->by_place = true;
            continue;
        }
        plan->least = x < plan->least ? x : plan->least;
        plan->most = x > plan->most ? x : plan->most;
    }
    plan->bytes = strcmp(unit, ", bytes") == 0;
    unit = scale_x(plan, unit);
    (void)snprintf(plan->x_label, sizeof(plan->x_label), "%s%s", plan->x,
                   plan->by_place || plan->bytes ? "" : unit);
    (void)label_of(plan->x, plan->x_label, sizeof(plan->x_label));
}

/* What varies besides x and the seed: names, or the values at a point. */
static void list_others(const struct plan *plan, const struct wf_study_point *point, char *text)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t k = 0; k < plan->study->n_keys; k++) {
        const char *key = plan->study->keys[k];
        const struct wf_study_value *value = point != NULL ? point->values[k] : NULL;
        if (strcmp(key, plan->x) == 0 || !tells_apart(plan->study, k) ||
            (point != NULL && value == NULL)) {
            continue;
        }
        int n = snprintf(text + used, NAME_MAX_LENGTH - used, "%s%s", used > 0 ? ", " : "",
                         value != NULL ? value->text : key);
        used += n > 0 && (size_t)n < NAME_MAX_LENGTH - used ? (size_t)n : 0;
    }
}

/* The error bar of a point that stands for one run; a point outside of its interval has a bar
 * on one side. */
static void add_quantiles(const struct plan *plan, struct curve *curve,
                          struct wf_draw_plot_point *point, size_t number)
{
    double low, high, y;

    if (y_of(plan, number, &y) && quantile_of(plan, number, "p05", &low) &&
        quantile_of(plan, number, "p95", &high)) {
        point->below = fmax(0, y - low);
        point->above = fmax(0, high - y);
        curve->quantiles = true;
    } else if (sibling_of(plan, number, "half_width", &high)) {
        point->below = point->above = high;
        curve->intervals = true;
    }
}

static bool is_saturated(const struct wf_study_point *point)
{
    return wf_doc_is_true(point->doc, "result.saturated");
}

static void add_point(const struct plan *plan, struct curve *curve, size_t number, double x)
{
    size_t at = 0;

    while (at < curve->n && curve->points[at].x != x) {
        at++;
    }
    if (at == curve->n) {
        if (curve->points == NULL) {
            curve->points = wf_xcalloc(plan->study->n_points, sizeof(*curve->points));
            curve->squares = wf_xcalloc(plan->study->n_points, sizeof(*curve->squares));
            curve->counts = wf_xcalloc(plan->study->n_points, sizeof(*curve->counts));
        }
        curve->points[at].x = x;
        curve->n++;
    }
    double y = 0;
    (void)y_of(plan, number, &y); /* the caller knows that there is one */
    curve->points[at].y += y;
    curve->points[at].hollow |= is_saturated(&plan->study->points[number]);
    curve->squares[at] += y * y;
    curve->counts[at]++;
    add_quantiles(plan, curve, &curve->points[at], number);
}

static void end_curve(struct curve *curve)
{
    for (size_t i = 0; i < curve->n; i++) {
        double n = (double)curve->counts[i], mean = curve->points[i].y / n;
        double rest = curve->squares[i] - n * mean * mean;
        curve->points[i].y = mean;
        if (n > 1) {
            curve->points[i].below = curve->points[i].above =
                rest > 0 ? sqrt(rest / (n - 1)) : 0;
        }
    }
}

static void make_curves(struct plan *plan)
{
    struct curve *curves = plan->curves;
    size_t n = 0;

    for (size_t i = 0; i < plan->study->n_points; i++) {
        const char *text = wf_study_text(plan->study, i, plan->x), *unit;
        char name[NAME_MAX_LENGTH];
        double x, y;
        size_t at = 0;
        if (!y_of(plan, i, &y)) {
            continue;
        }
        if (plan->by_place || text == NULL || !read_number(text, &x, &unit)) {
            x = place_of(plan, text);
            if (x > NAMES_MAX) {
                continue;
            }
        } else {
            x /= plan->x_unit;
        }
        list_others(plan, &plan->study->points[i], name);
        while (at < n && strcmp(curves[at].name, name) != 0) {
            at++;
        }
        if (at == SERIES_MAX) {
            continue;
        }
        if (at == n) {
            (void)snprintf(curves[n++].name, NAME_MAX_LENGTH, "%s", name);
        }
        add_point(plan, &curves[at], i, x);
    }
    for (size_t i = 0; i < n; i++) {
        end_curve(&curves[i]);
        plan->series[i] =
            (struct wf_draw_plot_series){curves[i].name, curves[i].points, curves[i].n};
    }
    plan->n = n;
}

/* What the error bars are, and the hollow points; "" if there are none. */
static void name_bars(const struct plan *plan, char *text, size_t size)
{
    bool seeds = false, quantiles = false, intervals = false, saturated = false;

    for (size_t i = 0; i < plan->n; i++) {
        const struct curve *curve = &plan->curves[i];
        quantiles = quantiles || curve->quantiles;
        intervals = intervals || curve->intervals;
        for (size_t k = 0; k < curve->n; k++) {
            seeds = seeds || curve->counts[k] > 1;
            saturated = saturated || curve->points[k].hollow;
        }
    }
    (void)snprintf(text, size, "%s%s",
                   seeds ? "error bars: standard deviation over seeds"
                   : quantiles
                       ? "error bars: from the 5 % to the 95 % quantile of repeated runs"
                   : intervals ? "error bars: confidence intervals"
                               : "",
                   !saturated                        ? ""
                   : seeds || quantiles || intervals ? "; hollow points: beyond saturation"
                                                     : "hollow points: beyond saturation");
}

/* Names of results, which live as long as the search for the nearest one. */
struct names {
    char **list;
    size_t n, capacity;
};

static void add_names(const struct wf_value *section, const char *before, struct names *names)
{
    for (const struct wf_value *v = section->first; v != NULL; v = v->next) {
        char path[NAME_MAX_LENGTH];

        (void)snprintf(path, sizeof(path), "%.79s%s%.79s", before, before[0] != '\0' ? "." : "",
                       v->name);
        if (v->type == WF_VALUE_SECTION) {
            add_names(v, path, names);
        } else if (v->type == WF_VALUE_COUNT || v->type == WF_VALUE_REAL) {
            WF_PUSH(names->list, names->n, names->capacity, wf_xstrdup(path));
        }
    }
}

/* What is on the i-th axis y; null after the last one. */
static const char *y_name(const struct wf_study *study, size_t i)
{
    return i == 0 && study->plot_y[0] == NULL ? USUAL_Y
           : i < WF_STUDY_PLOTS_MAX           ? study->plot_y[i]
                                              : NULL;
}

static enum wf_status lacks(const struct wf_study *study, const char *y, struct wf_err *err)
{
    struct names names = {.list = NULL};
    struct wf_nearest nearest;
    char hint[WF_HINT_MAX];

    for (size_t i = 0; i < study->n_points && names.n == 0; i++) {
        const struct wf_value *doc = study->points[i].doc;
        const struct wf_value *result = doc != NULL ? wf_doc_find(doc, "result") : NULL;
        if (result != NULL && result->type == WF_VALUE_SECTION) {
            add_names(result, "", &names);
        }
    }
    wf_nearest_begin(&nearest, y);
    for (size_t i = 0; i < names.n; i++) {
        wf_nearest_add(&nearest, names.list[i]);
    }
    enum wf_status status = wf_err_set(err, WF_EINVAL, "no point has the result '%.64s'%s", y,
                                       wf_nearest_hint(&nearest, hint));
    for (size_t i = 0; i < names.n; i++) {
        free(names.list[i]);
    }
    free(names.list);
    return status;
}

static void begin_panel(struct plan *plan, const struct wf_study *study, const char *y)
{
    *plan = (struct plan){.study = study,
                          .x = study->plot_x != NULL ? study->plot_x : choose_x(study),
                          .y = y,
                          .y_unit = 1,
                          .curves = wf_xcalloc(SERIES_MAX, sizeof(*plan->curves)),
                          .series = wf_xcalloc(SERIES_MAX, sizeof(*plan->series))};
    scale_y(plan);
    look_at_x(plan);
    list_others(plan, NULL, plan->legend);
    make_curves(plan);
}

static void end_panel(struct plan *plan)
{
    for (size_t i = 0; i < plan->n; i++) {
        free(plan->curves[i].points);
        free(plan->curves[i].squares);
        free(plan->curves[i].counts);
    }
    free(plan->curves);
    free(plan->series);
}

enum wf_status wf_study_plot(const struct wf_study *study,
                             const struct wf_draw_plot_format *format, FILE *out,
                             struct wf_err *err)
{
    struct plan *plans = wf_xcalloc(WF_STUDY_PLOTS_MAX, sizeof(*plans));
    struct wf_draw_plot_panel panels[WF_STUDY_PLOTS_MAX];
    char bars[128] = "";
    enum wf_status status = WF_OK;
    size_t n = 0;

    while (status == WF_OK && y_name(study, n) != NULL) {
        struct plan *plan = &plans[n];
        begin_panel(plan, study, y_name(study, n));
        bool wide = !plan->by_place && plan->least > 0 && plan->most / plan->least > 20;
        char *unit =
            wide && ending_of(plan->y, "_ps") != NULL ? strrchr(plan->y_label, ',') : NULL;
        if (unit != NULL) {
            *unit = '\0'; /* its ticks have units of their own */
        }
        panels[n++] =
            (struct wf_draw_plot_panel){{.label = plan->x_label,
                                         .log = wide,
                                         .bytes = plan->bytes,
                                         .names = plan->by_place ? plan->names : NULL,
                                         .n_names = plan->n_names},
                                        {.label = plan->y_label,
                                         .log = wide,
                                         .picoseconds = unit != NULL ? plan->y_unit : 0},
                                        plan->series,
                                        plan->n};
        status = plan->n == 0 ? lacks(study, plan->y, err) : WF_OK;
    }
    name_bars(&plans[0], bars, sizeof(bars));
    if (status == WF_OK) {
        wf_draw_plot(&(struct wf_draw_plot){.title = study->title != NULL ? study->title : "",
                                            .subtitle = bars,
                                            .legend = plans[0].legend,
                                            .panels = panels,
                                            .n = n},
                     format, out);
    }
    for (size_t i = 0; i < n; i++) {
        end_panel(&plans[i]);
    }
    free(plans);
    return status;
}

enum wf_status wf_study_plot_file(const struct wf_study *study, const char *path, bool force,
                                  struct wf_err *err)
{
    struct wf_output *output = NULL;

    WF_TRY(wf_output_open(path, force, &output, err));
    enum wf_status status =
        wf_study_plot(study, wf_draw_plot_for_path(path), wf_output_stream(output), err);
    if (status != WF_OK) {
        wf_output_discard(output);
        wf_err_prefix(err, "plot '%.200s': ", path);
        return status;
    }
    return wf_output_commit(output, err);
}
