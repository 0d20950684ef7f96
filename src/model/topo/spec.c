/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/spec.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/topo/nested.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct wf_topo_ops *find_kind(const char *name, size_t len)
{
    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        if (strlen((*ops)->name) == len && memcmp((*ops)->name, name, len) == 0) {
            return *ops;
        }
    }
    return NULL;
}

static enum wf_status unknown_kind(const char *spec, size_t at, size_t len, struct wf_err *err)
{
    char name[WF_HINT_MAX], hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    (void)snprintf(name, sizeof(name), "%.*s", (int)(len < 64 ? len : 64), spec + at);
    wf_nearest_begin(&nearest, name);
    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        wf_nearest_add(&nearest, (*ops)->name);
    }
    (void)wf_nearest_hint(&nearest, hint);
    return wf_err_set(err, WF_EINVAL, "unknown topology '%.64s' at character %zu of '%.64s'%s",
                      name, at + 1, spec, hint[0] != '\0' ? hint : "; see 'weft topo list'");
}

/* Whether the text after a "/" is another level of the hierarchy; `ops` is the kind of the
 * level before it. Only in paths may a word that begins no level follow a "/". After a kind
 * without paths any word begins a level, so that a misspelt topology gets its own error. */
static bool begins_level(const struct wf_topo_ops *ops, const char *text)
{
    bool has_paths = ops->examples[0] == NULL;
    size_t name = strcspn(text, ":/,=");

    return has_paths ? text[name] == ':' && find_kind(text, name) != NULL
                     : (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
}

/* The number of characters up to the "/" before the next level, or the end. */
static size_t level_length(const struct wf_topo_ops *ops, const char *text)
{
    size_t len = 0;

    while (text[len] != '\0' && !(text[len] == '/' && begins_level(ops, text + len + 1))) {
        len++;
    }
    return len;
}

enum wf_status wf_topo_spec_next(const char *spec, size_t *at, struct wf_topo_spec_level *level,
                                 struct wf_err *err)
{
    const char *text = spec + *at;

    level->ops = NULL;
    if (*at > 0) {
        if (*text == '\0') {
            return WF_OK;
        }
        text++; /* skip the "/" */
    }

    size_t name = strcspn(text, ":/,=");
    const struct wf_topo_ops *ops = find_kind(text, name);
    if (ops == NULL) {
        return unknown_kind(spec, (size_t)(text - spec), name, err);
    }

    size_t len = level_length(ops, text);
    if (len > name && text[name] != ':') {
        return wf_err_set(err, WF_EINVAL,
                          "expected a ':' after '%s' at character %zu of '%.64s'", ops->name,
                          (size_t)(text - spec) + name + 1, spec);
    }
    *level = (struct wf_topo_spec_level){.ops = ops, .text = text, .len = len};
    *at = (size_t)(text - spec) + len;
    return WF_OK;
}

/* The level that is being read. */
struct reader {
    const struct wf_topo_spec_level *level;
    void *params;
    uint64_t given; /* bit i: row i was given */
};

static size_t row_number(const struct wf_topo_ops *ops, const struct wf_param *row)
{
    return (size_t)(row - ops->params);
}

/* Adds to the error the position of the item in the level. */
static enum wf_status blame_item(const struct reader *reader, size_t at, struct wf_err *err)
{
    if (err != NULL) {
        size_t used = strlen(err->text);
        (void)snprintf(err->text + used, sizeof(err->text) - used, " (character %zu of '%.*s')",
                       at + 1, (int)(reader->level->len < 64 ? reader->level->len : 64),
                       reader->level->text);
        err->status = WF_EINVAL;
    }
    return WF_EINVAL;
}

/* Sets one parameter; `at` is the position of its item in the level. */
static enum wf_status set_item(struct reader *reader, const char *key, const char *value,
                               size_t at, struct wf_err *err)
{
    const struct wf_topo_ops *ops = reader->level->ops;
    const struct wf_param *row = wf_param_find(ops->params, key);
    uint64_t bit = row != NULL ? UINT64_C(1) << row_number(ops, row) : 0;
    char scope[64];
    enum wf_status status;

    (void)snprintf(scope, sizeof(scope), "%s: ", ops->name);
    if ((reader->given & bit) != 0) {
        status = wf_err_set(err, WF_EINVAL, "%s%s is given twice", scope, key);
    } else {
        status = wf_param_set(ops->params, reader->params, row != NULL ? scope : "", key, value,
                              err);
    }
    if (row == NULL) {
        wf_err_prefix(err, "%s", scope);
    }
    if (status != WF_OK) {
        return blame_item(reader, at, err);
    }
    reader->given |= bit;
    return WF_OK;
}

static bool is_flag(const struct wf_topo_ops *ops, const char *item, size_t len)
{
    for (const struct wf_param *row = ops->params; row->name != NULL; row++) {
        if (row->type == WF_PARAM_BOOL && strlen(row->name) == len &&
            memcmp(row->name, item, len) == 0) {
            return true;
        }
    }
    return false;
}

/* The length of the item at `item`: up to the comma before the next key or flag, or the end. */
static size_t item_length(const struct wf_topo_ops *ops, const char *item)
{
    size_t len = strcspn(item, ",");

    while (item[len] == ',') {
        const char *next = item + len + 1;
        size_t word = strcspn(next, ",=");
        if (next[word] == '=' || is_flag(ops, next, word)) {
            break;
        }
        len += 1 + strcspn(next, ",");
    }
    return len;
}

static enum wf_status read_items(struct reader *reader, char *args, size_t args_at,
                                 struct wf_err *err)
{
    const struct wf_topo_ops *ops = reader->level->ops;
    enum wf_status status = WF_OK;

    for (char *item = args; status == WF_OK;) {
        size_t at = args_at + (size_t)(item - args);
        size_t len = item_length(ops, item);
        bool last = item[len] == '\0';
        char *equals = memchr(item, '=', len);

        item[len] = '\0';
        if (equals != NULL) {
            *equals = '\0';
            status = set_item(reader, item, equals + 1, at, err);
        } else if (is_flag(ops, item, len)) {
            status = set_item(reader, item, "true", at, err);
        } else {
            status = set_item(reader, ops->params[0].name, item, at, err);
        }
        if (last) {
            break;
        }
        item += len + 1;
    }
    return status;
}

static enum wf_status read_level(struct reader *reader, struct wf_err *err)
{
    const struct wf_topo_spec_level *level = reader->level;
    size_t name = strlen(level->ops->name);

    enum wf_status status = wf_param_defaults(level->ops->params, reader->params, err);
    if (status == WF_OK && level->len > name + 1) {
        char *args = wf_xcalloc(level->len - name, 1);
        memcpy(args, level->text + name + 1, level->len - name - 1);
        status = read_items(reader, args, name + 1, err);
        free(args);
    }
    if (status == WF_OK &&
        wf_param_missing(level->ops->params, reader->given, level->ops->name, err) != WF_OK) {
        status = wf_err_set(err, WF_EINVAL, "%s needs its %s: %s:%s", level->ops->name,
                            level->ops->params[0].name, level->ops->name, level->ops->args);
    }
    return status;
}

enum wf_status wf_topo_spec_create(const struct wf_topo_spec_level *level, struct wf_topo **out,
                                   struct wf_err *err)
{
    struct reader reader = {.level = level, .params = wf_xcalloc(1, level->ops->params_size)};

    enum wf_status status = read_level(&reader, err);
    WF_THEN(status, level->ops->create(reader.params, out, err));
    wf_param_release(level->ops->params, reader.params);
    free(reader.params);
    return status;
}

/* Levels are read from the left. The text to the right of a level is its inner network,
 * hence the recursion. */
static enum wf_status create_from(const char *spec, size_t at, uint32_t depth,
                                  struct wf_topo **out, struct wf_err *err)
{
    struct wf_topo_spec_level level;
    struct wf_topo *outer = NULL, *inner = NULL;

    enum wf_status status = wf_topo_spec_next(spec, &at, &level, err);
    if (status != WF_OK || level.ops == NULL) {
        *out = NULL;
        return status;
    }
    if (depth == WF_TOPO_NESTED_LEVELS_MAX) {
        return wf_err_set(err, WF_EINVAL, "more than %d levels of networks",
                          WF_TOPO_NESTED_LEVELS_MAX);
    }
    status = wf_topo_spec_create(&level, &outer, err);
    if (status != WF_OK) {
        return status;
    }
    status = create_from(spec, at, depth + 1, &inner, err);
    if (status != WF_OK) {
        wf_topo_free(outer);
        return status;
    }
    if (inner == NULL) {
        *out = outer;
        return WF_OK;
    }
    return wf_topo_nested_create(outer, inner, out, err);
}

enum wf_status wf_topo_create(const char *spec, struct wf_topo **out, struct wf_err *err)
{
    struct wf_topo *topo = NULL;

    WF_TRY(create_from(spec, 0, 0, &topo, err));
    *out = topo;
    return WF_OK;
}
