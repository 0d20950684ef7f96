/* SPDX-License-Identifier: Apache-2.0 */
/* What every report writer must do, whatever the document. */
#include "ui/report/writer.h"

#include "base/result/result.h"

#include "harness/wf_test.h"

#include <string.h>

static struct wf_value *empty_document(void)
{
    return wf_doc_new();
}

static struct wf_value *error_document(void)
{
    struct wf_err err;

    (void)wf_err_set(&err, WF_EIO, "no such luck");
    return wf_result_new_error("0.0.0", &err, wf_status_exit_code(err.status));
}

static struct wf_value *result_document(void)
{
    struct wf_value *doc = wf_result_new("0.0.0");
    struct wf_value *result = wf_doc_section(doc, "result");

    wf_doc_text(result, "status", WF_RESULT_DEADLOCK);
    wf_doc_count(result, "time_reached_ps", UINT64_MAX);
    wf_doc_count(result, "bytes", UINT64_MAX);
    struct wf_value *waiting = wf_doc_section(result, "waiting");
    wf_doc_count(waiting, "count", 3);
    struct wf_value *item = wf_doc_section(wf_doc_list(waiting, "ranks"), NULL);
    wf_doc_count(item, "rank", 17);
    wf_doc_text(item, "waits", "waits for a message from rank 4");
    return doc;
}

/* Longer than any buffer, and with a name nobody knows. */
static struct wf_value *strange_document(void)
{
    struct wf_value *doc = wf_result_new("0.0.0");
    struct wf_value *scenario = wf_doc_section(doc, "scenario");
    char text[5000];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    wf_doc_text(scenario, "source", text);
    wf_doc_null(scenario, "what_is_this");
    (void)wf_doc_list(scenario, "empty");
    return doc;
}

/* What the writer makes of the document; to be freed. */
static char *written(const struct wf_writer_ops *writer, const struct wf_value *doc,
                     bool verbose, size_t *length)
{
    const struct wf_write_options options = {.verbose = verbose};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    writer->write(doc, &options, out);
    if (fclose(out) != 0) {
        abort();
    }
    *length = size;
    return text;
}

static struct wf_value *(*const documents[])(void) = {
    empty_document,
    error_document,
    result_document,
    strange_document,
};

static void every_document_can_be_written_and_always_alike(void)
{
    for (const struct wf_writer_ops *const *w = wf_writer_table(); *w != NULL; w++) {
        if (!wf_test_wants((*w)->name)) {
            continue;
        }
        for (size_t i = 0; (*w)->write != NULL && i < sizeof(documents) / sizeof(documents[0]);
             i++) {
            struct wf_value *doc = documents[i]();
            for (int verbose = 0; verbose < 2; verbose++) {
                size_t n, m;
                char *a = written(*w, doc, verbose != 0, &n);
                char *b = written(*w, doc, verbose != 0, &m);
                CHECK(n > 0 && ((*w)->timeline || a[n - 1] == '\n'));
                CHECK(n == m && memcmp(a, b, n) == 0);
                free(a);
                free(b);
            }
            wf_doc_free(doc);
        }
    }
}

static void a_deadlock_names_who_waits(void)
{
    for (const struct wf_writer_ops *const *w = wf_writer_table(); *w != NULL; w++) {
        if (!wf_test_wants((*w)->name)) {
            continue;
        }
        size_t length;
        if ((*w)->timeline) {
            continue;
        }
        struct wf_value *doc = result_document();
        char *text = written(*w, doc, false, &length);
        CHECK(strstr(text, "17") != NULL);
        CHECK(strstr(text, "waits for a message from rank 4") != NULL);
        free(text);
        wf_doc_free(doc);
    }
}

static void an_error_is_told(void)
{
    for (const struct wf_writer_ops *const *w = wf_writer_table(); *w != NULL; w++) {
        if (!wf_test_wants((*w)->name)) {
            continue;
        }
        size_t length;
        if ((*w)->timeline) {
            continue;
        }
        struct wf_value *doc = error_document();
        char *text = written(*w, doc, false, &length);
        CHECK(strstr(text, "no such luck") != NULL);
        free(text);
        wf_doc_free(doc);
    }
}

static void a_writer_is_found_by_the_name_of_a_file(void)
{
    for (const struct wf_writer_ops *const *w = wf_writer_table(); *w != NULL; w++) {
        if (!wf_test_wants((*w)->name)) {
            continue;
        }
        const struct wf_writer_ops *found = NULL;
        char path[64];
        (void)snprintf(path, sizeof(path), "some.dir/file%s", (*w)->extension);
        CHECK(wf_writer_for_path(path, &found, NULL) == WF_OK);
        CHECK(found == *w);
    }
}

static void other_names_are_refused(void)
{
    static const char *const paths[] = {"", "x", ".json", "x.jsonx", "x.json/", "-"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const struct wf_writer_ops *found = NULL;
        struct wf_err err;
        CHECK(wf_writer_for_path(paths[i], &found, &err) == WF_EUSAGE);
        CHECK(found == NULL);
        CHECK(strstr(err.text, ".json") != NULL);
    }
}

int main(void)
{
    RUN(every_document_can_be_written_and_always_alike);
    RUN(a_deadlock_names_who_waits);
    RUN(an_error_is_told);
    RUN(a_writer_is_found_by_the_name_of_a_file);
    RUN(other_names_are_refused);
    return wf_test_done();
}
