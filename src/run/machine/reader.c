/* SPDX-License-Identifier: Apache-2.0 */
#include "run/machine/reader.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "run/scenario/uncertainty.h"

#include <stdio.h>
#include <string.h>

char *wf_machine_place(const struct wf_machine_reader *reader, struct wf_yaml_place at)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "%s:%u:%u", reader->file->label, at.line, at.column);
    return wf_xstrdup(text);
}

enum wf_status wf_machine_blame(const struct wf_machine_reader *reader, struct wf_yaml_place at,
                                struct wf_err *err)
{
    wf_err_prefix(err, "%s:%u:%u: ", reader->file->label, at.line, at.column);
    if (err != NULL) {
        err->status = WF_EINVAL;
    }
    return WF_EINVAL;
}

enum wf_status wf_machine_expect(const struct wf_machine_reader *reader,
                                 const struct wf_yaml *node, enum wf_yaml_kind kind,
                                 struct wf_err *err)
{
    if (node->kind == kind) {
        return WF_OK;
    }
    (void)wf_err_set(err, WF_EINVAL, "%.64s%sexpected %s, but this is %s",
                     node->key != NULL ? node->key : "", node->key != NULL ? ": " : "",
                     wf_yaml_kind_name(kind), wf_yaml_kind_name(node->kind));
    return wf_machine_blame(reader, node->at, err);
}

/* Adds ", name" to a list of names, if it fits. */
static void add_name(char *buf, size_t size, const char *name)
{
    size_t used = strlen(buf);

    (void)snprintf(buf + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

enum wf_status wf_machine_unknown_key(const struct wf_machine_reader *reader,
                                      const struct wf_yaml *node, const char *const *known,
                                      const struct wf_param *row, struct wf_err *err)
{
    char hint[WF_HINT_MAX], all[200] = "";
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, node->key);
    for (; *known != NULL; known++) {
        wf_nearest_add(&nearest, *known);
        add_name(all, sizeof(all), *known);
    }
    for (; row != NULL && row->name != NULL; row++) {
        wf_nearest_add(&nearest, row->name);
        add_name(all, sizeof(all), row->name);
    }
    if (wf_nearest_hint(&nearest, hint)[0] != '\0') {
        (void)wf_err_set(err, WF_EINVAL, "unknown key '%.64s'%s", node->key, hint);
    } else {
        (void)wf_err_set(err, WF_EINVAL, "unknown key '%.64s'; expected one of %s", node->key,
                         all);
    }
    return wf_machine_blame(reader, node->key_at, err);
}

char *wf_machine_join(const struct wf_machine_reader *reader, const struct wf_yaml *node,
                      char separator, struct wf_err *err)
{
    struct wf_buf buf = {.data = NULL};

    if (node->kind == WF_YAML_SCALAR) {
        return wf_xstrdup(node->text);
    }
    if (wf_machine_expect(reader, node, WF_YAML_LIST, err) != WF_OK) {
        return NULL;
    }
    for (const struct wf_yaml *item = node->first; item != NULL; item = item->next) {
        if (wf_machine_expect(reader, item, WF_YAML_SCALAR, err) != WF_OK) {
            wf_buf_fini(&buf);
            return NULL;
        }
        if (item != node->first) {
            wf_buf_append(&buf, &separator, 1);
        }
        wf_buf_append(&buf, item->text, strlen(item->text));
    }
    wf_buf_append(&buf, "", 1);
    return (char *)buf.data;
}

enum wf_status wf_machine_emit(const struct wf_machine_reader *reader, const char *key,
                               const char *origin, char *value, struct wf_yaml_place at,
                               struct wf_err *err)
{
    struct wf_setting setting = {
        .key = wf_xstrdup(key),
        .value = value,
        .origin = wf_xstrdup(origin),
        .place = wf_machine_place(reader, at),
    };

    if ((strncmp(key, "net.", 4) == 0 || wf_sim_uncertainty_is(key)) && reader->model != NULL) {
        setting.model = wf_xstrdup(reader->model);
    }
    return wf_scenario_add(reader->machine->scenario, setting, err);
}

enum wf_status wf_machine_read_entry(const struct wf_machine_reader *reader,
                                     const struct wf_yaml *node, const char *prefix,
                                     const struct wf_param *table, void *entry,
                                     struct wf_err *err)
{
    static const char *const none[] = {NULL};
    uint64_t given = 0;

    WF_TRY(wf_machine_expect(reader, node, WF_YAML_MAP, err));
    if (wf_param_defaults(table, entry, err) != WF_OK) {
        return WF_EINVAL;
    }
    for (const struct wf_yaml *at = node->first; at != NULL; at = at->next) {
        const struct wf_param *row = wf_param_find(table, at->key);

        if (row == NULL) {
            return wf_machine_unknown_key(reader, at, none, table, err);
        }
        WF_TRY(wf_machine_expect(reader, at, WF_YAML_SCALAR, err));
        if (wf_param_set(table, entry, prefix, at->key, at->text, err) != WF_OK) {
            return wf_machine_blame(reader, at->at, err);
        }
        given |= UINT64_C(1) << (row - table);
    }
    if (wf_param_missing(table, given, prefix, err) != WF_OK) {
        return wf_machine_blame(reader, node->at, err);
    }
    return WF_OK;
}
