/* SPDX-License-Identifier: Apache-2.0 */
/* Documents as JSON without the library that the program uses. Numbers are exact, but their
 * digits may be others than those that base/result/json.c writes. */
#include "base/result/json.h"

#include "base/buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SAFE_INTEGER_MAX (UINT64_C(1) << 53)

static void put(struct wf_buf *out, const char *text)
{
    wf_buf_append(out, text, strlen(text));
}

static void put_text(struct wf_buf *out, const char *text)
{
    char escape[8];

    put(out, "\"");
    while (*text != '\0') {
        size_t n = 0;
        while ((unsigned char)text[n] >= 0x20 && text[n] != '"' && text[n] != '\\') {
            n++;
        }
        wf_buf_append(out, text, n);
        text += n;
        if (*text != '\0') {
            (void)snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)(unsigned char)*text);
            put(out, escape);
            text++;
        }
    }
    put(out, "\"");
}

static void put_value(struct wf_buf *out, const struct wf_value *value);

static void put_children(struct wf_buf *out, const struct wf_value *value)
{
    bool is_list = value->type == WF_VALUE_LIST;

    put(out, is_list ? "[" : "{");
    for (const struct wf_value *v = value->first; v != NULL; v = v->next) {
        if (v != value->first) {
            put(out, ",");
        }
        if (!is_list) {
            put_text(out, v->name);
            put(out, ":");
        }
        put_value(out, v);
    }
    put(out, is_list ? "]" : "}");
}

static void put_number(struct wf_buf *out, const struct wf_value *value)
{
    char text[40];
    const char *quote =
        value->type == WF_VALUE_COUNT && value->count > SAFE_INTEGER_MAX ? "\"" : "";

    if (value->type == WF_VALUE_COUNT) {
        (void)snprintf(text, sizeof(text), "%s%" PRIu64 "%s", quote, value->count, quote);
    } else {
        (void)snprintf(text, sizeof(text), "%.17g", value->real);
    }
    put(out, text);
}

static void put_value(struct wf_buf *out, const struct wf_value *value)
{
    switch (value->type) {
    case WF_VALUE_NULL:
        put(out, "null");
        break;
    case WF_VALUE_BOOL:
        put(out, value->truth ? "true" : "false");
        break;
    case WF_VALUE_COUNT:
    case WF_VALUE_REAL:
        put_number(out, value);
        break;
    case WF_VALUE_TEXT:
        put_text(out, value->text);
        break;
    case WF_VALUE_SECTION:
    case WF_VALUE_LIST:
        put_children(out, value);
        break;
    }
}

char *wf_doc_to_compact_json(const struct wf_value *doc,
                             bool (*skips)(const void *arg, const struct wf_value *value),
                             const void *arg)
{
    struct wf_buf out = {.data = NULL};

    put_value(&out, doc);
    wf_buf_append(&out, "", 1);
    return (char *)out.data;
}
