/* SPDX-License-Identifier: Apache-2.0 */
/* Studies without a file: of values that commands name, and of results that are there. */
#include "base/array.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "base/result/result.h"
#include "ui/study/study.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- values that a command names ---- */

void wf_study_axes_push(struct wf_study_axes *axes, struct wf_study_axis axis)
{
    axes->list = wf_xrealloc(axes->list, axes->n + 1, sizeof(*axes->list));
    axes->list[axes->n++] = axis;
}

enum wf_status wf_study_axes_add(struct wf_study_axes *axes, const char *text,
                                 struct wf_err *err)
{
    const char *equals = strchr(text, '=');
    struct wf_study_axis axis = {.key = NULL};
    size_t capacity = 0;

    if (equals == NULL || equals == text || equals[1] == '\0') {
        return wf_err_set(err, WF_EUSAGE,
                          "--vary '%.64s': expected a setting and its values, as in "
                          "net.routing=minimal,valiant",
                          text);
    }
    if (axes->n == WF_STUDY_KEYS_MAX - 2) { /* loads and files may be added */
        return wf_err_set(err, WF_EUSAGE, "--vary: more than %d settings vary",
                          WF_STUDY_KEYS_MAX);
    }
    char *key = wf_xstrdup(text), *rest = key + (equals - text), *value;
    const char *separator = strchr(rest, ';') != NULL ? ";" : ",";

    *rest++ = '\0';
    axis.key = key;
    while ((value = strsep(&rest, separator)) != NULL) {
        WF_PUSH(axis.texts, axis.n, capacity, wf_xstrdup(value));
    }
    wf_study_axes_push(axes, axis);
    for (size_t i = 0; i < axis.n; i++) {
        if (axis.texts[i][0] == '\0') {
            return wf_err_set(err, WF_EUSAGE, "--vary '%.64s': a value is missing", text);
        }
    }
    return WF_OK;
}

void wf_study_axes_free(struct wf_study_axes *axes)
{
    for (size_t i = 0; i < axes->n; i++) {
        for (size_t k = 0; k < axes->list[i].n; k++) {
            free(axes->list[i].texts[k]);
        }
        free(axes->list[i].texts);
        free(wf_unconst(axes->list[i].key));
    }
    free(axes->list);
    *axes = (struct wf_study_axes){.n = 0};
}

static void add_value(struct wf_study *study, const char *key, const char *text)
{
    study->all[study->n_all++] =
        (struct wf_study_value){.key = wf_xstrdup(key), .text = wf_xstrdup(text)};
}

enum wf_status wf_study_grid(const struct wf_scenario *base, const struct wf_study_axes *axes,
                             struct wf_study **out, struct wf_err *err)
{
    struct wf_study *study = wf_xcalloc(1, sizeof(*study));
    size_t lengths[WF_STUDY_KEYS_MAX], n_values = 0;
    double n_points = 1;

    for (size_t i = 0; i < axes->n; i++) {
        n_values += axes->list[i].n;
        n_points *= (double)axes->list[i].n;
    }
    if (n_points > WF_STUDY_POINTS_MAX) {
        free(study);
        return wf_err_set(err, WF_EUSAGE, "%.0f points; %d are possible", n_points,
                          WF_STUDY_POINTS_MAX);
    }
    study->base = base;
    study->all = wf_xcalloc(2 * n_values + 1, sizeof(*study->all));
    for (size_t i = 0; i < axes->n; i++) {
        const struct wf_study_axis *axis = &axes->list[i];
        study->keys[study->n_keys++] = axis->key;
        lengths[i] = axis->n;
        for (size_t k = 0; k < axis->n; k++) {
            add_value(study, axis->key, axis->texts[k]);
        }
        study->keys[i] = study->all[study->n_all - 1].key;
    }
    study->n_points = (size_t)n_points;
    study->points = wf_xcalloc(study->n_points, sizeof(*study->points));
    wf_study_combine(study, lengths);
    *out = study;
    return WF_OK;
}

bool wf_study_follow(struct wf_study *study, const char *key, const char *text,
                     const char *leader, const char *value)
{
    size_t k = WF_LOOKUP_INDEX(study->keys, study->n_keys, key);
    size_t l = WF_LOOKUP_INDEX(study->keys, study->n_keys, leader);
    bool found = false;
    for (size_t i = 0; i < study->n_points && l < study->n_keys; i++) {
        struct wf_study_point *point = &study->points[i];
        if (strcmp(point->values[l]->text, value) == 0) {
            if (!found) {
                add_value(study, key, text);
                study->keys[k] = study->all[study->n_all - 1].key;
                study->n_keys = k == study->n_keys ? k + 1 : study->n_keys;
            }
            found = true;
            point->values[k] = &study->all[study->n_all - 1];
        }
    }
    return found;
}

/* ---- results that are there ---- */

struct found {
    struct {
        char *path;
        struct wf_value *doc;
    } * results;
    size_t n, capacity, n_other;
};

static enum wf_status add_file(struct found *found, const char *path, bool named,
                               struct wf_err *err)
{
    struct wf_value *doc = NULL;
    struct wf_err other;
    enum wf_status status = wf_result_read(path, &doc, named ? err : &other);

    if (status != WF_OK || wf_doc_find(doc, "result") == NULL) {
        wf_doc_free(doc);
        found->n_other += named && status != WF_OK ? 0 : 1;
        return named ? status : WF_OK;
    }
    WF_GROW(found->results, found->n, found->capacity);
    found->results[found->n].doc = doc;
    found->results[found->n++].path = wf_xstrdup(path);
    return WF_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The results of a folder, in the order of their names; links that lead in circles end at some depth. */
static enum wf_status add_path(struct found *found, const char *path, unsigned depth,
                               struct wf_err *err)
{
    enum { DEPTH_MAX = 8 };
    struct stat info;
    struct dirent *entry;
    char **names = NULL;
    size_t n = 0, capacity = 0;
    DIR *dir = stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? opendir(path) : NULL;

    if (dir == NULL) {
        size_t length = strlen(path);
        bool is_json = length > 5 && strcmp(path + length - 5, ".json") == 0;
        return depth == 0 || is_json ? add_file(found, path, depth == 0, err) : WF_OK;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            size_t size = strlen(path) + strlen(entry->d_name) + 2;
            WF_GROW(names, n, capacity);
            names[n] = wf_xmalloc(size);
            (void)snprintf(names[n++], size, "%s/%s", path, entry->d_name);
        }
    }
    (void)closedir(dir);
    WF_SORT(names, n, by_text);
    for (size_t i = 0; i < n; i++) {
        if (depth < DEPTH_MAX) {
            (void)add_path(found, names[i], depth + 1, err); /* no errors within a folder */
        }
        free(names[i]);
    }
    free(names);
    return WF_OK;
}

/* Settings of a document, with the machine as one; `at` is null for the first. Returns the next. */
struct setting {
    const char *key, *text;
    const struct wf_value *at;
    bool began;
};

static bool next_setting(const struct wf_value *doc, struct setting *setting)
{
    const struct wf_value *settings = wf_doc_find(doc, "scenario.settings");

    if (!setting->began) {
        setting->began = true;
        setting->at =
            settings != NULL && settings->type == WF_VALUE_SECTION ? settings->first : NULL;
        setting->key = "machine";
        setting->text = wf_doc_get_text(doc, "scenario.machine", NULL);
        if (setting->text != NULL) {
            return true;
        }
    }
    while (setting->at != NULL) {
        const struct wf_value *value = setting->at;
        setting->at = value->next;
        if (value->type == WF_VALUE_TEXT) {
            setting->key = value->name;
            setting->text = value->text;
            return true;
        }
    }
    return false;
}

/* The setting of a document with that key, or null. */
static const char *setting_of(const struct wf_value *doc, const char *key)
{
    struct setting setting = {.key = NULL};

    while (next_setting(doc, &setting)) {
        if (strcmp(setting.key, key) == 0) {
            return setting.text;
        }
    }
    return NULL;
}

static bool is_same(const struct found *found, const char *key)
{
    const char *first = setting_of(found->results[0].doc, key);

    for (size_t i = 1; i < found->n; i++) {
        const char *text = setting_of(found->results[i].doc, key);
        if ((text == NULL) != (first == NULL) || (text != NULL && strcmp(text, first) != 0)) {
            return false;
        }
    }
    return true;
}

static bool is_known(const struct wf_study *study, const char *key)
{
    for (size_t s = 0; s < study->n_all; s++) {
        if (strcmp(study->all[s].key, key) == 0) {
            return true;
        }
    }
    return WF_LOOKUP_AMONG(study->keys, study->n_keys, key) != NULL;
}

/* Finds what varies, and what all have in common. */
static void find_keys(const struct found *found, struct wf_study *study)
{
    for (size_t i = 0; i < found->n; i++) {
        struct setting setting = {.key = NULL};
        while (next_setting(found->results[i].doc, &setting)) {
            if (is_known(study, setting.key)) {
                continue;
            }
            if (is_same(found, setting.key)) {
                add_value(study, setting.key, setting.text);
            } else if (study->n_keys < WF_STUDY_KEYS_MAX - 1) {
                study->keys[study->n_keys++] = setting.key;
            }
        }
    }
    study->n_settings = study->n_all;
}

/* Whether two documents have the same settings, so that only their files tell them apart. */
static bool has_equals(const struct wf_study *study)
{
    for (size_t i = 1; i < study->n_points; i++) {
        for (size_t j = 0; j < i; j++) {
            size_t k = 0;
            while (k < study->n_keys) {
                const struct wf_study_value *a = study->points[i].values[k],
                                            *b = study->points[j].values[k];
                if ((a == NULL) != (b == NULL) ||
                    (a != NULL && strcmp(a->text, b->text) != 0)) {
                    break;
                }
                k++;
            }
            if (k == study->n_keys) {
                return true;
            }
        }
    }
    return false;
}

static void fill_points(const struct found *found, struct wf_study *study)
{
    static const char file_key[] = "file";

    for (size_t i = 0; i < found->n; i++) {
        study->points[i].doc = found->results[i].doc;
        for (size_t k = 0; k < study->n_keys; k++) {
            const char *text = setting_of(found->results[i].doc, study->keys[k]);
            if (text != NULL) {
                add_value(study, study->keys[k], text);
                study->points[i].values[k] = &study->all[study->n_all - 1];
            }
        }
    }
    if (has_equals(study)) {
        for (size_t i = 0; i < found->n; i++) {
            add_value(study, file_key, found->results[i].path);
            study->points[i].values[study->n_keys] = &study->all[study->n_all - 1];
        }
        study->keys[study->n_keys++] = file_key;
    }
}

enum wf_status wf_study_results(const char *const *paths, size_t n, struct wf_study **out,
                                size_t *n_other, struct wf_err *err)
{
    struct found found = {.n = 0};
    enum wf_status status = WF_OK;
    size_t n_values = 0;

    for (size_t i = 0; i < n && status == WF_OK; i++) {
        status = add_path(&found, paths[i], 0, err);
    }
    if (status == WF_OK && (found.n == 0 || found.n > WF_STUDY_POINTS_MAX)) {
        status = found.n == 0
                     ? wf_err_set(err, WF_EINVAL, "'%.200s' has no result of weft", paths[0])
                     : wf_err_set(err, WF_EINVAL, "%zu results; %d are possible", found.n,
                                  WF_STUDY_POINTS_MAX);
    }
    for (size_t i = 0; i < found.n; i++) {
        struct setting setting = {.key = NULL};
        while (next_setting(found.results[i].doc, &setting)) {
            n_values++;
        }
    }
    if (status == WF_OK) {
        struct wf_study *study = wf_xcalloc(1, sizeof(*study));
        study->all = wf_xcalloc(n_values + 2 * found.n + 1, sizeof(*study->all));
        study->n_points = found.n;
        study->points = wf_xcalloc(found.n, sizeof(*study->points));
        find_keys(&found, study);
        fill_points(&found, study);
        *out = study;
    }
    *n_other = found.n_other;
    for (size_t i = 0; i < found.n; i++) {
        if (status != WF_OK) {
            wf_doc_free(found.results[i].doc);
        }
        free(found.results[i].path);
    }
    free(found.results);
    return status;
}
