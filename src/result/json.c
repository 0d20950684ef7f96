/* SPDX-License-Identifier: Apache-2.0 */
#include "result/json.h"

#include "base/mem.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* Above 2^53 many readers of JSON lose digits; such a number is written as a string. */
#define SAFE_INTEGER_MAX (UINT64_C(1) << 53)

/* Digits that bring a double back: 15 do for numbers people wrote, 17 for any. */
enum { DIGITS_SHORT = 15, DIGITS_FULL = 17 };

/* How it is written. */
struct style {
    int digits;
    bool (*skips)(const void *arg, const struct wf_value *value); /* null: nothing */
    const void *arg;
};

static json_t *to_json(const struct wf_value *value, struct style *style);

static json_t *count_to_json(uint64_t count)
{
    char text[24];

    if (count <= SAFE_INTEGER_MAX) {
        return json_integer((json_int_t)count);
    }
    (void)snprintf(text, sizeof(text), "%" PRIu64, count);
    return json_string(text);
}

static json_t *real_to_json(double real, struct style *style)
{
    char text[40];

    (void)snprintf(text, sizeof(text), "%.*g", DIGITS_SHORT, real);
    if (strtod(text, NULL) != real) {
        style->digits = DIGITS_FULL;
    }
    return json_real(real);
}

/* Text may hold bytes of a file name or an argument that are not UTF-8. */
static json_t *text_to_json(const char *text)
{
    json_t *json = json_string(text);

    if (json == NULL) {
        char *copy = wf_xstrdup(text);
        for (char *p = copy; *p != '\0'; p++) {
            if ((unsigned char)*p >= 0x80) {
                *p = '?';
            }
        }
        json = json_string(copy);
        free(copy);
    }
    return json;
}

static json_t *children_to_json(const struct wf_value *value, struct style *style)
{
    bool is_list = value->type == WF_VALUE_LIST;
    json_t *json = is_list ? json_array() : json_object();

    for (const struct wf_value *v = value->first; v != NULL; v = v->next) {
        if (style->skips != NULL && style->skips(style->arg, v)) {
            continue;
        }
        json_t *item = to_json(v, style);
        int failed = is_list ? json_array_append_new(json, item)
                             : json_object_set_new(json, v->name, item);
        if (failed != 0) {
            wf_panic("a document cannot be written as JSON (at '%s')", is_list ? "" : v->name);
        }
    }
    return json;
}

static json_t *to_json(const struct wf_value *value, struct style *style)
{
    switch (value->type) {
    case WF_VALUE_NULL:
        return json_null();
    case WF_VALUE_BOOL:
        return json_boolean(value->truth);
    case WF_VALUE_COUNT:
        return count_to_json(value->count);
    case WF_VALUE_REAL:
        return real_to_json(value->real, style);
    case WF_VALUE_TEXT:
        return text_to_json(value->text);
    case WF_VALUE_SECTION:
    case WF_VALUE_LIST:
        return children_to_json(value, style);
    }
    return NULL;
}

static char *dump(const struct wf_value *doc, struct style *style, size_t flags)
{
    json_t *json = to_json(doc, style);
    char *text = json_dumps(json, flags | JSON_REAL_PRECISION((size_t)style->digits));

    json_decref(json);
    if (text == NULL) {
        wf_panic("a document cannot be written as JSON");
    }
    return text;
}

char *wf_doc_to_json(const struct wf_value *doc)
{
    struct style style = {.digits = DIGITS_SHORT};

    return dump(doc, &style, JSON_INDENT(2));
}

char *wf_doc_to_compact_json(const struct wf_value *doc,
                             bool (*skips)(const void *arg, const struct wf_value *value),
                             const void *arg)
{
    struct style style = {.digits = DIGITS_SHORT, .skips = skips, .arg = arg};

    return dump(doc, &style, JSON_COMPACT);
}
