/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/study.h"

#include "base/file.h"
#include "base/file_kind.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "base/text.h"
#include "run/machine/machine.h"
#include "run/machine/yaml.h"
#include "run/scenario/scenario.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Maximum size of a study file. */
enum { BYTES_MAX = 64 << 20 };

struct reading {
    const char *path;
    struct wf_study *study;
    size_t lengths[WF_STUDY_KEYS_MAX]; /* numbers of values of each key of a grid */
    struct wf_err *err;
};

WF_PRINTF(3, 4)
static enum wf_status fault(const struct reading *reading, const struct wf_yaml *at,
                            const char *fmt, ...)
{
    char words[WF_ERR_TEXT_MAX / 2];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    return wf_err_set(reading->err, WF_EINVAL, "%.120s:%u:%u: %s", reading->path, at->at.line,
                      at->at.column, words);
}

static const struct wf_yaml *child(const struct wf_yaml *map, const char *key)
{
    const struct wf_yaml *at = map->first;

    while (at != NULL && strcmp(at->key, key) != 0) {
        at = at->next;
    }
    return at;
}

/* ---- values ---- */

static void add_value(struct reading *reading, const char *key, const struct wf_yaml *scalar)
{
    struct wf_study *study = reading->study;
    char place[256];

    (void)snprintf(place, sizeof(place), "%.200s:%u:%u", reading->path, scalar->at.line,
                   scalar->at.column);
    study->all[study->n_all++] = (struct wf_study_value){
        .key = wf_xstrdup(key), .text = wf_xstrdup(scalar->text), .place = wf_xstrdup(place)};
}

static enum wf_status read_map(struct reading *reading, const struct wf_yaml *map)
{
    for (const struct wf_yaml *at = map->first; at != NULL; at = at->next) {
        if (at->kind != WF_YAML_SCALAR) {
            return fault(reading, at, "'%.64s' is %s, but one value is expected", at->key,
                         wf_yaml_kind_name(at->kind));
        }
        add_value(reading, at->key, at);
    }
    return WF_OK;
}

static enum wf_status add_key(struct reading *reading, const struct wf_yaml *at,
                              const char *key)
{
    struct wf_study *study = reading->study;

    for (size_t i = 0; i < study->n_keys; i++) {
        if (strcmp(study->keys[i], key) == 0) {
            return WF_OK;
        }
    }
    if (study->n_keys == WF_STUDY_KEYS_MAX) {
        return fault(reading, at, "more than %d parameters vary", WF_STUDY_KEYS_MAX);
    }
    study->keys[study->n_keys++] = key;
    return WF_OK;
}

/* ---- points ---- */

static size_t length(const struct wf_yaml *list)
{
    size_t n = 0;

    for (const struct wf_yaml *at = list->first; at != NULL; at = at->next) {
        n++;
    }
    return n;
}

/* The number may be larger than any integer. */
static enum wf_status make_points(struct reading *reading, const struct wf_yaml *at, double n)
{
    if (n < 1 || n > WF_STUDY_POINTS_MAX) {
        return fault(reading, at, "%.*g points; 1 to %d are possible", n < 1e15 ? 15 : 3, n,
                     WF_STUDY_POINTS_MAX);
    }
    reading->study->n_points = (size_t)n;
    reading->study->points =
        wf_xcalloc(reading->study->n_points, sizeof(*reading->study->points));
    return WF_OK;
}

void wf_study_combine(struct wf_study *study, const size_t *lengths)
{
    for (size_t i = 0; i < study->n_points; i++) {
        size_t rest = i, end = study->n_all;
        for (size_t k = study->n_keys; k-- > 0;) {
            study->points[i].values[k] = &study->all[end - lengths[k] + rest % lengths[k]];
            rest /= lengths[k];
            end -= lengths[k];
        }
    }
}

static enum wf_status read_grid(struct reading *reading, const struct wf_yaml *grid)
{
    struct wf_study *study = reading->study;
    double n = 1;

    for (const struct wf_yaml *at = grid->first; at != NULL; at = at->next) {
        if (at->kind != WF_YAML_LIST || at->first == NULL) {
            return fault(reading, at, "'%.64s' needs a list of values: [a, b]", at->key);
        }
        reading->lengths[study->n_keys < WF_STUDY_KEYS_MAX ? study->n_keys : 0] = length(at);
        WF_TRY(add_key(reading, at, at->key));
        for (const struct wf_yaml *v = at->first; v != NULL; v = v->next) {
            if (v->kind != WF_YAML_SCALAR) {
                return fault(reading, v, "%s, but a value is expected",
                             wf_yaml_kind_name(v->kind));
            }
            add_value(reading, at->key, v);
        }
        n *= (double)length(at);
    }
    WF_TRY(make_points(reading, grid, n));
    wf_study_combine(study, reading->lengths);
    return WF_OK;
}

/* Sets the value of a key of the study at a point. */
static void set_value(const struct wf_study *study, struct wf_study_point *point,
                      const struct wf_study_value *value)
{
    for (size_t k = 0; k < study->n_keys; k++) {
        if (strcmp(study->keys[k], value->key) == 0) {
            point->values[k] = value;
        }
    }
}

static enum wf_status read_list(struct reading *reading, const struct wf_yaml *list)
{
    struct wf_study *study = reading->study;
    size_t i = 0;

    WF_TRY(make_points(reading, list, (double)length(list)));
    for (const struct wf_yaml *at = list->first; at != NULL; at = at->next, i++) {
        size_t first = study->n_all;
        if (at->kind != WF_YAML_MAP) {
            return fault(reading, at, "%s, but a point is expected: {key: value}",
                         wf_yaml_kind_name(at->kind));
        }
        WF_TRY(read_map(reading, at));
        for (size_t v = first; v < study->n_all; v++) {
            WF_TRY(add_key(reading, at, study->all[v].key));
            set_value(study, &study->points[i], &study->all[v]);
        }
    }
    return WF_OK;
}

/* FNV-1a over everything that affects the result of a point. */
static void hash_text(uint64_t *hash, const char *text)
{
    for (const char *p = text;; p++) {
        *hash = (*hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
        if (*p == '\0') {
            return;
        }
    }
}

static void name_points(struct wf_study *study)
{
    for (size_t i = 0; i < study->n_points; i++) {
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        hash_text(&hash, weft_version());
        for (size_t s = 0; s < study->n_settings; s++) {
            hash_text(&hash, study->all[s].key);
            hash_text(&hash, study->all[s].text);
        }
        for (size_t k = 0; k < study->n_keys; k++) {
            if (study->points[i].values[k] != NULL) {
                hash_text(&hash, study->keys[k]);
                hash_text(&hash, study->points[i].values[k]->text);
            }
        }
        (void)snprintf(study->points[i].name, sizeof(study->points[i].name),
                       "%016" PRIx64 ".json", hash);
    }
}

/* ---- the file ---- */

/* Whether the name is one of `n`; the message names the nearest one. */
static enum wf_status check_member(const struct reading *reading, const struct wf_yaml *at,
                                   const char *const *names, size_t n, const char *of)
{
    struct wf_nearest nearest;
    char hint[WF_HINT_MAX];

    wf_nearest_begin(&nearest, at->key);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], at->key) == 0) {
            return WF_OK;
        }
        wf_nearest_add(&nearest, names[i]);
    }
    wf_nearest_hint(&nearest, hint);
    return fault(reading, at, "unknown member '%.64s'%s%s", at->key, of, hint);
}

static enum wf_status check_members(const struct reading *reading, const struct wf_yaml *root)
{
    static const char *const names[] = {"title", "settings", "grid", "list", "plot"};
    static const enum wf_yaml_kind kinds[] = {WF_YAML_SCALAR, WF_YAML_MAP, WF_YAML_MAP,
                                              WF_YAML_LIST, WF_YAML_MAP};
    enum { MEMBERS = sizeof(names) / sizeof(names[0]) };

    for (const struct wf_yaml *at = root->first; at != NULL; at = at->next) {
        WF_TRY(check_member(reading, at, names, MEMBERS, ""));
        size_t i = WF_LOOKUP_INDEX(names, MEMBERS, at->key);
        if (at->kind != kinds[i]) {
            return fault(reading, at, "'%s' is %s, but %s is expected", at->key,
                         wf_yaml_kind_name(at->kind), wf_yaml_kind_name(kinds[i]));
        }
    }
    if ((child(root, "grid") == NULL) == (child(root, "list") == NULL)) {
        return fault(reading, root, "a study has a 'grid' or a 'list' of points");
    }
    return WF_OK;
}

static char *copy_of(const struct wf_yaml *map, const char *key)
{
    const struct wf_yaml *at = map != NULL ? child(map, key) : NULL;

    return at != NULL && at->kind == WF_YAML_SCALAR ? wf_xstrdup(at->text) : NULL;
}

/* Makes keys point to the names of values, because the tree of the file is freed soon. */
static void keep_keys(struct wf_study *study)
{
    for (size_t k = 0; k < study->n_keys; k++) {
        size_t v = study->n_settings;
        while (v < study->n_all && strcmp(study->keys[k], study->all[v].key) != 0) {
            v++;
        }
        study->keys[k] = v < study->n_all ? study->all[v].key : study->keys[k];
    }
}

/* The results on the axes y, whose names only results know. */
static enum wf_status read_y(struct reading *reading, const struct wf_yaml *y)
{
    const struct wf_yaml *at = y != NULL && y->kind == WF_YAML_LIST ? y->first : y;
    bool is_list = at != y;

    for (size_t i = 0; at != NULL; at = is_list ? at->next : NULL, i++) {
        if (at->kind != WF_YAML_SCALAR || i == WF_STUDY_PLOTS_MAX) {
            return fault(reading, at,
                         "y: the name of a result is expected, or a list of up to %d",
                         WF_STUDY_PLOTS_MAX);
        }
        reading->study->plot_y[i] = wf_xstrdup(at->text);
    }
    return WF_OK;
}

/* The axes: x is a setting that varies. */
static enum wf_status read_plot(struct reading *reading, const struct wf_yaml *plot)
{
    static const char *const members[] = {"x", "y"};
    struct wf_study *study = reading->study;
    const struct wf_yaml *x = plot != NULL ? child(plot, "x") : NULL;
    struct wf_nearest nearest;
    char hint[WF_HINT_MAX];

    for (const struct wf_yaml *at = plot != NULL ? plot->first : NULL; at != NULL;
         at = at->next) {
        WF_TRY(check_member(reading, at, members, 2, " of a plot: it has x and y"));
    }
    study->plot_x = copy_of(plot, "x");
    WF_TRY(read_y(reading, plot != NULL ? child(plot, "y") : NULL));
    if (study->plot_x == NULL) {
        return WF_OK;
    }
    wf_nearest_begin(&nearest, study->plot_x);
    for (size_t k = 0; k < study->n_keys; k++) {
        if (strcmp(study->keys[k], study->plot_x) == 0) {
            return WF_OK;
        }
        wf_nearest_add(&nearest, study->keys[k]);
    }
    return fault(reading, x, "x: the study does not vary '%.64s'%s", study->plot_x,
                 wf_nearest_hint(&nearest, hint));
}

static enum wf_status read_root(struct reading *reading, const struct wf_yaml *root)
{
    struct wf_study *study = reading->study;

    if (root->kind != WF_YAML_MAP) {
        return fault(reading, root, "a study has 'settings' and a 'grid' or a 'list'");
    }
    WF_TRY(check_members(reading, root));
    const struct wf_yaml *settings = child(root, "settings"), *grid = child(root, "grid");
    if (settings != NULL) {
        WF_TRY(read_map(reading, settings));
    }
    study->n_settings = study->n_all;
    WF_TRY(grid != NULL ? read_grid(reading, grid) : read_list(reading, child(root, "list")));
    study->title = copy_of(root, "title");
    keep_keys(study);
    name_points(study);
    return read_plot(reading, child(root, "plot"));
}

enum wf_status wf_study_read(const char *path, struct wf_study **out, struct wf_err *err)
{
    struct wf_buf text = {.data = NULL};
    struct wf_yaml *root = NULL;
    struct wf_study *study = wf_xcalloc(1, sizeof(*study));
    struct reading reading = {.path = path, .study = study, .err = err};

    study->all = wf_xcalloc(WF_YAML_NODES_MAX, sizeof(*study->all));
    enum wf_status status = wf_file_read(path, BYTES_MAX, &text, err);
    WF_THEN(status, wf_file_refuse(path, (const char *)text.data, "a study", err));
    if (status == WF_OK) {
        status = wf_yaml_parse((const char *)text.data, text.size, &root, err);
        if (status != WF_OK) {
            wf_err_prefix(err, "%.200s:", path);
        }
    }
    WF_THEN(status, read_root(&reading, root));
    wf_yaml_free(root);
    wf_buf_fini(&text);
    if (status == WF_OK) {
        *out = study;
    } else {
        wf_study_free(study);
    }
    return status;
}

void wf_study_free(struct wf_study *study)
{
    if (study == NULL) {
        return;
    }
    for (size_t i = 0; i < study->n_all; i++) {
        free(study->all[i].key);
        free(study->all[i].text);
        free(study->all[i].place);
    }
    for (size_t i = 0; i < study->n_points; i++) {
        wf_doc_free(study->points[i].doc);
    }
    free(study->all);
    free(study->points);
    free(study->title);
    free(study->plot_x);
    for (size_t i = 0; i < WF_STUDY_PLOTS_MAX; i++) {
        free(study->plot_y[i]);
    }
    free(study);
}

/* ---- scenarios ---- */

const char *wf_study_text(const struct wf_study *study, size_t point, const char *key)
{
    for (size_t k = 0; k < study->n_keys; k++) {
        if (strcmp(study->keys[k], key) == 0 && study->points[point].values[k] != NULL) {
            return study->points[point].values[k]->text;
        }
    }
    for (size_t s = study->n_settings; s-- > 0;) {
        if (strcmp(study->all[s].key, key) == 0) {
            return study->all[s].text;
        }
    }
    return NULL;
}

static enum wf_status set(struct wf_scenario *scenario, const struct wf_study_value *value,
                          struct wf_err *err)
{
    struct wf_setting setting = {
        .key = wf_xstrdup(value->key),
        .value = wf_xstrdup(value->text),
        .origin = wf_xstrdup(value->key),
        .place = value->place != NULL ? wf_xstrdup(value->place) : NULL,
    };

    return wf_scenario_add(scenario, setting, err);
}

struct wf_scenario *wf_study_scenario(const struct wf_study *study, size_t point,
                                      struct wf_err *err)
{
    struct wf_scenario *scenario = wf_scenario_new();
    const char *machine = wf_study_text(study, point, "machine");
    enum wf_status status = machine != NULL ? wf_machine_apply(machine, scenario, err) : WF_OK;

    if (study->base != NULL) {
        wf_scenario_append(scenario, study->base);
    }
    for (size_t s = 0; s < study->n_settings && status == WF_OK; s++) {
        if (strcmp(study->all[s].key, "machine") != 0) {
            status = set(scenario, &study->all[s], err);
        }
    }
    for (size_t k = 0; k < study->n_keys && status == WF_OK; k++) {
        const struct wf_study_value *value = study->points[point].values[k];
        if (value != NULL && strcmp(value->key, "machine") != 0) {
            status = set(scenario, value, err);
        }
    }
    if (status != WF_OK) {
        wf_scenario_free(scenario);
        return NULL;
    }
    return scenario;
}
