/* SPDX-License-Identifier: Apache-2.0 */
/* A single HTML file that draws itself in a browser: the page of share/report, with the
 * document in it. */
#include "base/buf.h"
#include "base/result/json.h"
#include "ui/report/compare.h"
#include "ui/report/page.h"
#include "ui/report/writer.h"

#include <stdlib.h>
#include <string.h>

/* Longer lists are left out, so that a page has at most about 5 MB. */
enum { LINKS_MAX = 8000, TEXT_MAX = 1800000, MESSAGES_MAX = 2000000, CALLS_MAX = 1000000 };

static size_t length(const struct wf_value *list)
{
    size_t n = 0;

    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        n++;
    }
    return n;
}

static size_t text_size(const struct wf_value *list)
{
    size_t size = 0;

    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        size += v->type == WF_VALUE_TEXT ? strlen(v->text) + 3 : 0;
    }
    return size;
}

static bool has_child(const struct wf_value *list, const struct wf_value *child)
{
    for (const struct wf_value *item = list->first; item != NULL; item = item->next) {
        for (const struct wf_value *v = item->first; v != NULL; v = v->next) {
            if (v == child) {
                return true;
            }
        }
    }
    return false;
}

/* For most links the page shows only how busy they are. */
static bool is_detail(const struct wf_value *doc, const struct wf_value *value)
{
    static const char *const names[] = {"load_bytes", "load_window_ps", "filled_by",
                                        "filled_by_more_bytes"};
    const struct wf_value *hot = wf_doc_find(doc, "result.network.hot_links");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(value->name, names[i]) == 0) {
            return hot == NULL || hot->type != WF_VALUE_LIST || !has_child(hot, value);
        }
    }
    return false;
}

/* Pages of several results show sums and bins: lists of texts, such as spans, are left out. */
static bool is_single(const struct wf_value *doc, const struct wf_value *value)
{
    static const char *const names[] = {"spans", "messages", "calls", "regions"};
    bool several = strcmp(wf_doc_get_text(doc, "schema", ""), WF_COMPARE_SCHEMA) == 0;

    for (size_t i = 0; several && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(value->name, names[i]) == 0) {
            return value->type == WF_VALUE_LIST && value->first != NULL &&
                   value->first->type == WF_VALUE_TEXT;
        }
    }
    return false;
}

static bool is_too_much(const void *doc, const struct wf_value *value)
{
    if (value->name == NULL) {
        return false;
    }
    if (is_single(doc, value)) {
        return true;
    }
    if (value->type != WF_VALUE_LIST || strcmp(value->name, "filled_by") == 0) {
        return is_detail(doc, value);
    }
    return (strcmp(value->name, "links") == 0 && length(value) > LINKS_MAX) ||
           (strcmp(value->name, "spans") == 0 && text_size(value) > TEXT_MAX) ||
           (strcmp(value->name, "calls") == 0 && text_size(value) > CALLS_MAX) ||
           (strcmp(value->name, "regions") == 0 && text_size(value) > CALLS_MAX / 4) ||
           (strcmp(value->name, "messages") == 0 && text_size(value) > MESSAGES_MAX);
}

/* "</script" in a text must not end the script element that holds it. */
static void write_json(const struct wf_value *doc, FILE *out)
{
    char *text = wf_doc_to_compact_json(doc, is_too_much, doc);

    for (const char *p = text; *p != '\0';) {
        size_t n = strcspn(p, "<");
        (void)fwrite(p, 1, n, out);
        p += n;
        if (*p == '<') {
            (void)fputs("\\u003c", out);
            p++;
        }
    }
    free(text);
}

/* A page that simulates has the simulator in it. */
static void write_simulator(const struct wf_value *extra, FILE *out)
{
    struct wf_buf text = {.data = NULL};

    (void)fputs((const char *)wf_page_part_simulator, out);
    if (extra != NULL && wf_doc_find(extra, "live") != NULL) {
        wf_buf_base64(&text, wf_page_simulator, wf_page_simulator_size);
        (void)fwrite(text.data, 1, text.size, out);
    }
    wf_buf_fini(&text);
}

static void html_write(const struct wf_value *doc, const struct wf_write_options *options,
                       FILE *out)
{
    (void)fputs((const char *)wf_page_part_head, out);
    wf_writer_html_plain(doc, out);
    (void)fputs((const char *)wf_page_part_before, out);
    write_json(doc, out);
    (void)fputs((const char *)wf_page_part_between, out);
    if (options->extra != NULL) {
        write_json(options->extra, out);
    } else {
        (void)fputs("{}", out);
    }
    write_simulator(options->extra, out);
    (void)fputs((const char *)wf_page_part_after, out);
}

const struct wf_writer_ops wf_writer_html = {
    .name = "html",
    .extension = ".html",
    .summary = "an HTML report, one file for a browser",
    .records = true,
    .links = true,
    .write = html_write,
};
