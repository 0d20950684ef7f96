/* SPDX-License-Identifier: Apache-2.0 */
#include "result/json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A count above 2^53 was written as a string; nothing else looks like one, but a digest may. */
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
        return wf_err_set(err, WF_EINVAL, "%.200s:%d:%d: no JSON: %.100s", name, fault.line,
                          fault.column, fault.text);
    }
    if (!json_is_object(json)) {
        json_decref(json);
        return wf_err_set(err, WF_EINVAL, "%.200s: a list, where an object is expected", name);
    }
    *out = wf_doc_new();
    add_members(*out, json);
    json_decref(json);
    return WF_OK;
}
