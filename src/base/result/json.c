/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/json.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Many JSON readers lose digits above 2^53, so larger numbers are written as strings. */
#define SAFE_INTEGER_MAX (UINT64_C(1) << 53)

/* Significant digits that identify a double: 15 are enough for numbers that people wrote, 17
 * for any number. */
enum { DIGITS_SHORT = 15, DIGITS_FULL = 17 };

/* Options of the JSON output. */
struct style {
    int digits;
    bool (*skips)(const void *arg, const struct wf_value *value); /* may be null */
    const void *arg;
};

static json_t *to_json(const struct wf_value *value, struct style *style);

/* The only reason why the library cannot make what a document has. */
static WF_NORETURN void no_memory(void)
{
    volatile size_t more_than_there_is = SIZE_MAX; /* or the compiler objects */

    (void)wf_xrealloc(NULL, more_than_there_is, 2);
    abort();
}

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

/* File names and arguments may contain bytes that are not UTF-8. */
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
            no_memory();
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

static int put(const char *bytes, size_t size, void *buf)
{
    wf_buf_append(buf, bytes, size);
    return 0;
}

/* Not by json_dumps(), which leaves out what it has no memory for. */
static char *dump(const struct wf_value *doc, struct style *style, size_t flags)
{
    json_t *json = to_json(doc, style);
    struct wf_buf text = {.size = 0};

    if (json_dump_callback(json, put, &text,
                           flags | JSON_REAL_PRECISION((size_t)style->digits)) != 0) {
        no_memory();
    }
    json_decref(json);
    wf_buf_append(&text, "", 1);
    return (char *)text.data;
}

void wf_doc_json_allocate(void)
{
    json_set_alloc_funcs(wf_xmalloc, free);
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

/* ---- reading ---- */

/* Counts above 2^53 were written as strings. The only other text of that form is a digest. */
static bool is_large_count(const char *name, const char *text, uint64_t *count)
{
    enum { DIGITS_MIN = 16, DIGITS_MAX = 20 };
    size_t len = strlen(text);

    if (len < DIGITS_MIN || len > DIGITS_MAX || strspn(text, "0123456789") != len ||
        text[0] == '0' || (name != NULL && strcmp(name, "digest") == 0)) {
        return false;
    }
    errno = 0;
    *count = strtoull(text, NULL, 10);
    return errno == 0;
}

static void add(struct wf_value *parent, const char *name, json_t *json);

static void add_number(struct wf_value *parent, const char *name, const json_t *json)
{
    if (json_is_integer(json) && json_integer_value(json) >= 0) {
        wf_doc_count(parent, name, (uint64_t)json_integer_value(json));
    } else {
        wf_doc_real(parent, name, json_number_value(json));
    }
}

static void add_string(struct wf_value *parent, const char *name, const char *text)
{
    uint64_t count;

    if (is_large_count(name, text, &count)) {
        wf_doc_count(parent, name, count);
    } else {
        wf_doc_text(parent, name, text);
    }
}

static void add_members(struct wf_value *section, json_t *json)
{
    const char *name;
    json_t *value;

    json_object_foreach(json, name, value)
    {
        add(section, name, value);
    }
}

static void add(struct wf_value *parent, const char *name, json_t *json)
{
    if (json_is_object(json)) {
        add_members(wf_doc_section(parent, name), json);
    } else if (json_is_array(json)) {
        struct wf_value *list = wf_doc_list(parent, name);
        for (size_t i = 0; i < json_array_size(json); i++) {
            add(list, NULL, json_array_get(json, i));
        }
    } else if (json_is_string(json)) {
        add_string(parent, name, json_string_value(json));
    } else if (json_is_number(json)) {
        add_number(parent, name, json);
    } else if (json_is_boolean(json)) {
        wf_doc_bool(parent, name, json_is_true(json));
    } else {
        wf_doc_null(parent, name);
    }
}

enum wf_status wf_doc_from_json(const char *text, size_t size, const char *name,
                                struct wf_value **out, struct wf_err *err)
{
    json_error_t fault;
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &fault);

    if (json == NULL) {
        return wf_err_set(err, WF_EINVAL, "%.200s:%d:%d: not JSON: %.100s", name, fault.line,
                          fault.column, fault.text);
    }
    if (!json_is_object(json)) {
        json_decref(json);
        return wf_err_set(err, WF_EINVAL, "%.200s: a list instead of an object", name);
    }
    *out = wf_doc_new();
    add_members(*out, json);
    json_decref(json);
    return WF_OK;
}
