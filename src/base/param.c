/* SPDX-License-Identifier: Apache-2.0 */
#include "base/param.h"

#include "base/mem.h"
#include "base/param_groups.h"
#include "base/text.h"
#include "base/units.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A parsed value. */
struct value {
    uint64_t whole; /* all types but REAL and TEXT; times are never negative */
    double real;
    const char *text;
};

static void *member(const struct wf_param *row, void *params)
{
    return (char *)params + row->offset;
}

static const void *const_member(const struct wf_param *row, const void *params)
{
    return (const char *)params + row->offset;
}

static enum wf_status parse_bool(const char *text, uint64_t *out, struct wf_err *err)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i % 2;
            return WF_OK;
        }
    }
    return wf_err_set(err, WF_EUSAGE, "'%.64s' is neither true nor false", text);
}

static enum wf_status parse_enum(const struct wf_param *row, const char *text, uint64_t *out,
                                 struct wf_err *err)
{
    char syntax[WF_PARAM_TEXT_MAX], hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, text);
    for (size_t i = 0; row->choices[i] != NULL; i++) {
        if (strcmp(text, row->choices[i]) == 0) {
            *out = i;
            return WF_OK;
        }
        wf_nearest_add(&nearest, row->choices[i]);
    }
    return wf_err_set(err, WF_EUSAGE, "'%.64s' is not one of %.256s%s", text,
                      wf_param_syntax(row, syntax), wf_nearest_hint(&nearest, hint));
}

static bool is_word(const struct wf_param *row, const char *text)
{
    return row->word != NULL && strcmp(text, row->word) == 0;
}

static enum wf_status parse_value(const struct wf_param *row, const char *text,
                                  struct value *value, struct wf_err *err)
{
    int64_t ps = 0;
    enum wf_status status = WF_OK;

    if (is_word(row, text)) {
        value->whole = WF_PARAM_WORD;
        return WF_OK;
    }
    switch (row->type) {
    case WF_PARAM_BOOL:
        return parse_bool(text, &value->whole, err);
    case WF_PARAM_COUNT:
        return wf_parse_count(text, &value->whole, err);
    case WF_PARAM_SIZE:
        return wf_parse_size(text, &value->whole, err);
    case WF_PARAM_TIME:
        status = wf_parse_time(text, &ps, err);
        value->whole = (uint64_t)ps;
        return status;
    case WF_PARAM_RATE:
        return wf_parse_rate(text, &value->whole, err);
    case WF_PARAM_REAL:
        return wf_parse_real(text, &value->real, err);
    case WF_PARAM_ENUM:
        return parse_enum(row, text, &value->whole, err);
    case WF_PARAM_TEXT:
        value->text = text;
        return WF_OK;
    case WF_PARAM_TIMES:
    case WF_PARAM_RATES:
    case WF_PARAM_GROUPS:
        break; /* set item by item */
    }
    wf_panic("parameter %s has type %d", row->name, (int)row->type);
}

static bool is_less(const struct wf_param *row, const struct value *a, const struct value *b)
{
    return row->type == WF_PARAM_REAL ? a->real < b->real : a->whole < b->whole;
}

/* The value of a bound. Tables are part of weft: a bad bound is a bug. */
static struct value bound(const struct wf_param *row, const char *text)
{
    struct value value = {0};
    struct wf_err err;

    if (parse_value(row, text, &value, &err) != WF_OK) {
        wf_panic("bound of parameter %s: %s", row->name, err.text);
    }
    return value;
}

static enum wf_status check_range(const struct wf_param *row, const char *text,
                                  const struct value *value, struct wf_err *err)
{
    struct value min = row->min == NULL ? *value : bound(row, row->min);
    struct value max = row->max == NULL ? *value : bound(row, row->max);

    if (is_word(row, text) || (!is_less(row, value, &min) && !is_less(row, &max, value))) {
        return WF_OK;
    }
    if (row->max == NULL) {
        return wf_err_set(err, WF_EUSAGE, "'%.64s' is too small; expected at least %s", text,
                          row->min);
    }
    if (row->min == NULL) {
        return wf_err_set(err, WF_EUSAGE, "'%.64s' is too large; expected at most %s", text,
                          row->max);
    }
    return wf_err_set(err, WF_EUSAGE, "'%.64s' is out of range; expected %s to %s", text,
                      row->min, row->max);
}

static void store(const struct wf_param *row, void *params, const struct value *value)
{
    void *at = member(row, params);

    switch (row->type) {
    case WF_PARAM_BOOL:
        *(bool *)at = value->whole != 0;
        return;
    case WF_PARAM_COUNT:
    case WF_PARAM_SIZE:
    case WF_PARAM_RATE:
        *(uint64_t *)at = value->whole;
        return;
    case WF_PARAM_TIME:
        *(int64_t *)at = (int64_t)value->whole;
        return;
    case WF_PARAM_REAL:
        *(double *)at = value->real;
        return;
    case WF_PARAM_ENUM:
        *(int *)at = (int)value->whole;
        return;
    case WF_PARAM_TEXT: {
        char *copy = wf_xstrdup(value->text); /* before free(): it may be the same text */
        free(*(char **)at);
        *(char **)at = copy;
        return;
    }
    case WF_PARAM_TIMES:
    case WF_PARAM_RATES:
    case WF_PARAM_GROUPS:
        break;
    }
}

/* The row of one item of a list; the same row if it is no list. */
static struct wf_param item_row(const struct wf_param *row)
{
    struct wf_param item = *row;

    item.offset = 0;
    if (row->type == WF_PARAM_TIMES) {
        item.type = WF_PARAM_TIME;
    } else if (row->type == WF_PARAM_RATES) {
        item.type = WF_PARAM_RATE;
    }
    return item;
}

static bool is_list(const struct wf_param *row)
{
    return row->type == WF_PARAM_TIMES || row->type == WF_PARAM_RATES;
}

/* Reads the items between commas. */
static enum wf_status parse_list(const struct wf_param *row, const char *text,
                                 struct wf_list *out, struct wf_err *err)
{
    const struct wf_param item = item_row(row);
    char *copy = wf_xstrdup(text), *rest = copy;
    struct wf_list list = {NULL, 0};
    enum wf_status status = WF_OK;

    while (rest != NULL && status == WF_OK) {
        struct value value = {0};
        char *one = rest;
        char *comma = strchr(one, ',');

        rest = comma != NULL ? comma + 1 : NULL;
        if (comma != NULL) {
            *comma = '\0';
        }
        status = parse_value(&item, one, &value, err);
        WF_THEN(status, check_range(&item, one, &value, err));
        list.items = wf_xrealloc(list.items, list.n + 1, sizeof(*list.items));
        list.items[list.n++] = value.whole;
    }
    free(copy);
    if (status != WF_OK) {
        free(list.items);
        return status;
    }
    *out = list;
    return WF_OK;
}

/* Replaces all values in groups, or one of them if `name` is longer than that of the row. */
static enum wf_status take_groups(const struct wf_param *row, void *params, const char *name,
                                  const char *text, struct wf_err *err)
{
    char **at = member(row, params);
    const char *inside = name + strlen(row->name);
    const char *before = *at != NULL ? *at : "";
    char syntax[WF_PARAM_TEXT_MAX];
    (void)wf_param_syntax(row, syntax);
    char *all = *inside == '.' ? wf_param_groups_put(before, inside + 1, text, syntax, err)
                               : wf_param_groups_read(text, syntax, err);

    if (all == NULL) {
        return WF_EUSAGE;
    }
    free(*at);
    *at = all;
    return WF_OK;
}

/* A wrong value: what was expected includes the word of the row. */
static void add_word(const struct wf_param *row, struct wf_err *err)
{
    if (err != NULL && row->word != NULL) {
        size_t n = strlen(err->text);
        (void)snprintf(err->text + n, sizeof(err->text) - n, ", or %s", row->word);
    }
}

/* Reads, checks and stores one value. */
static enum wf_status take(const struct wf_param *row, void *params, const char *name,
                           const char *text, struct wf_err *err)
{
    struct value value = {0};

    if (row->type == WF_PARAM_GROUPS) {
        return take_groups(row, params, name, text, err);
    }
    if (is_list(row)) {
        struct wf_list list = {NULL, 0}, *at = member(row, params);
        enum wf_status status = parse_list(row, text, &list, err);
        if (status == WF_OK) {
            free(at->items);
            *at = list;
        }
        return status;
    }

    enum wf_status status = parse_value(row, text, &value, err);
    WF_THEN(status, check_range(row, text, &value, err));
    if (status == WF_OK) {
        store(row, params, &value);
    }
    return status;
}

static enum wf_status set_row(const struct wf_param *row, void *params, const char *scope,
                              const char *name, const char *text, struct wf_err *err)
{
    if (take(row, params, name, text, err) != WF_OK) {
        add_word(row, err);
        wf_err_prefix(err, "%s%s: ", scope, name);
        if (err != NULL) {
            err->status = WF_EUSAGE;
        }
        return WF_EUSAGE;
    }
    return WF_OK;
}

enum wf_status wf_param_defaults(const struct wf_param *table, void *params, struct wf_err *err)
{
    for (const struct wf_param *row = table; row->name != NULL; row++) {
        enum wf_status status = WF_OK;
        if (row->def != NULL) {
            status = set_row(row, params, "", row->name, row->def, err);
        }
        if (status != WF_OK) {
            wf_err_prefix(err, "default of ");
            return status;
        }
    }
    return WF_OK;
}

static enum wf_status unknown_name(const struct wf_param *table, const char *scope,
                                   const char *name, struct wf_err *err)
{
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (const struct wf_param *row = table; row->name != NULL; row++) {
        wf_nearest_add(&nearest, row->name);
    }
    if (nearest.best == NULL) {
        char names[128] = "";
        for (const struct wf_param *row = table; row->name != NULL; row++) {
            size_t used = strlen(names);
            (void)snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "",
                           strlen(row->name) + 8 < sizeof(names) - used ? row->name : "...");
            if (strlen(row->name) + 8 >= sizeof(names) - used) {
                break;
            }
        }
        return wf_err_set(err, WF_EUSAGE, "unknown parameter '%s%.64s'; there are %s", scope,
                          name, names[0] != '\0' ? names : "none");
    }
    return wf_err_set(err, WF_EUSAGE, "unknown parameter '%s%.64s'; did you mean '%s%s'?",
                      scope, name, scope, nearest.best);
}

enum wf_status wf_param_set(const struct wf_param *table, void *params, const char *scope,
                            const char *name, const char *value, struct wf_err *err)
{
    const struct wf_param *row = wf_param_find(table, name);

    if (row == NULL) {
        return unknown_name(table, scope, name, err);
    }
    return set_row(row, params, scope, name, value, err);
}

enum wf_status wf_param_missing(const struct wf_param *table, uint64_t given, const char *scope,
                                struct wf_err *err)
{
    char syntax[WF_PARAM_TEXT_MAX];

    for (size_t i = 0; table[i].name != NULL; i++) {
        assert(i < 64);
        if (table[i].def == NULL && (given >> i & 1) == 0) {
            return wf_err_set(err, WF_EUSAGE, "parameter '%s%s' is required: %s=%.128s", scope,
                              table[i].name, table[i].name, wf_param_syntax(&table[i], syntax));
        }
    }
    return WF_OK;
}

const struct wf_param *wf_param_find(const struct wf_param *table, const char *name)
{
    for (const struct wf_param *row = table; row->name != NULL; row++) {
        size_t len = strlen(row->name);
        if (strncmp(row->name, name, len) == 0 &&
            (name[len] == '\0' || (name[len] == '.' && row->type == WF_PARAM_GROUPS))) {
            return row;
        }
    }
    return NULL;
}

static char *copy_text(char *buf, const char *text)
{
    (void)snprintf(buf, WF_PARAM_TEXT_MAX, "%s", text);
    return buf;
}

static char *format_list(const struct wf_param *row, const struct wf_list *list, char *buf)
{
    const struct wf_param item = item_row(row);
    char one[WF_PARAM_TEXT_MAX];
    size_t n = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < list->n && n < WF_PARAM_TEXT_MAX; i++) {
        n += (size_t)snprintf(buf + n, WF_PARAM_TEXT_MAX - n, "%s%s", i == 0 ? "" : ",",
                              wf_param_format(&item, &list->items[i], one));
    }
    return buf;
}

const char *wf_param_format(const struct wf_param *row, const void *params, char *buf)
{
    const void *at = const_member(row, params);

    if (row->word != NULL && !row->writes_number && !is_list(row) &&
        *(const uint64_t *)at == WF_PARAM_WORD) {
        return copy_text(buf, row->word);
    }
    switch (row->type) {
    case WF_PARAM_BOOL:
        return copy_text(buf, *(const bool *)at ? "true" : "false");
    case WF_PARAM_COUNT:
        return wf_format_count(*(const uint64_t *)at, buf);
    case WF_PARAM_SIZE:
        return wf_format_size(*(const uint64_t *)at, buf);
    case WF_PARAM_TIME:
        return wf_format_time(*(const int64_t *)at, buf);
    case WF_PARAM_RATE:
        return wf_format_rate(*(const uint64_t *)at, buf);
    case WF_PARAM_REAL:
        return wf_format_real(*(const double *)at, buf);
    case WF_PARAM_ENUM:
        return copy_text(buf, row->choices[*(const int *)at]);
    case WF_PARAM_TEXT:
    case WF_PARAM_GROUPS:
        return *(char *const *)at != NULL ? *(char *const *)at : "";
    case WF_PARAM_TIMES:
    case WF_PARAM_RATES:
        return format_list(row, at, buf);
    }
    wf_panic("parameter %s has type %d", row->name, (int)row->type);
}

/* Whether a value is one of those that bars separate. */
static bool is_among(const char *values, const char *value)
{
    size_t length = strlen(value);

    for (;;) {
        size_t next = strcspn(values, "|");
        if (next == length && strncmp(values, value, length) == 0) {
            return true;
        }
        if (values[next] == '\0') {
            return false;
        }
        values += next + 1;
    }
}

bool wf_param_has_effect(const struct wf_param *table, const struct wf_param *row,
                         const void *params)
{
    char name[64], value[WF_PARAM_TEXT_MAX];

    if (row->only_with == NULL) {
        return true;
    }
    const char *equals = strchr(row->only_with, '=');
    bool differs = equals > row->only_with && equals[-1] == '!';
    (void)snprintf(name, sizeof(name), "%.*s",
                   (int)(equals - row->only_with) - (differs ? 1 : 0), row->only_with);
    const struct wf_param *other = wf_param_find(table, name);
    if (other == NULL) {
        wf_panic("parameter %s depends on %s", row->name, name);
    }
    return is_among(equals + 1, wf_param_format(other, params, value)) != differs;
}

static char *join_choices(const char *const *choices, char *buf)
{
    size_t n = 0;

    buf[0] = '\0';
    for (size_t i = 0; choices[i] != NULL && n < WF_PARAM_TEXT_MAX; i++) {
        n += (size_t)snprintf(buf + n, WF_PARAM_TEXT_MAX - n, "%s%s", i == 0 ? "" : "|",
                              choices[i]);
    }
    return buf;
}

char *wf_param_syntax(const struct wf_param *row, char *buf)
{
    static const char *const texts[] = {
        [WF_PARAM_BOOL] = "true|false",  [WF_PARAM_COUNT] = "<count>",
        [WF_PARAM_SIZE] = "<size>",      [WF_PARAM_TIME] = "<time>",
        [WF_PARAM_RATE] = "<rate>",      [WF_PARAM_REAL] = "<number>",
        [WF_PARAM_TEXT] = "<text>",      [WF_PARAM_TIMES] = "<time>,...",
        [WF_PARAM_RATES] = "<rate>,...",
    };

    if (row->type == WF_PARAM_GROUPS) {
        (void)snprintf(buf, WF_PARAM_TEXT_MAX, "<%s>:<%s>=<value>,...", row->choices[0],
                       row->choices[1]);
        return buf;
    }

    if (row->word != NULL) {
        (void)snprintf(buf, WF_PARAM_TEXT_MAX, "%s|%s", row->word, texts[row->type]);
        return buf;
    }
    return row->type == WF_PARAM_ENUM ? join_choices(row->choices, buf)
                                      : copy_text(buf, texts[row->type]);
}

void wf_param_release(const struct wf_param *table, void *params)
{
    for (const struct wf_param *row = table; row->name != NULL; row++) {
        if (row->type == WF_PARAM_TEXT || row->type == WF_PARAM_GROUPS) {
            char **text = member(row, params);
            free(*text);
            *text = NULL;
        } else if (is_list(row)) {
            struct wf_list *list = member(row, params);
            free(list->items);
            *list = (struct wf_list){NULL, 0};
        }
    }
}
