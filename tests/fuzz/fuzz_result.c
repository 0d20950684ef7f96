/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever a result document says, every writer copes with it, and nothing that is
 * printed for people has control characters in it. */
#include "base/result/json.h"
#include "base/result/result.h"
#include "fuzz/foreign.h"
#include "ui/report/compare.h"
#include "ui/report/explain.h"
#include "ui/report/writer.h"

enum { INPUT_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_printed(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        require((c >= ' ' || c == '\n') && c != 0x7f);
    }
}

/* Formats of several files, in place of those of the input before. */
static void write_files(const struct wf_writer_ops *writer, const struct wf_value *doc)
{
    const struct wf_write_options options = {.verbose = true};
    struct wf_err err = {.status = WF_OK};
    char name[32], path[128];

    (void)snprintf(name, sizeof(name), "out%s", writer->extension);
    require(wf_writer_save(writer, doc, &options, foreign_path(name, path, sizeof(path)), true,
                           &err) == WF_OK ||
            err.text[0] != '\0');
}

static void write_all(const struct wf_value *doc)
{
    for (const struct wf_writer_ops *const *writer = wf_writer_table(); *writer != NULL;
         writer++) {
        if ((*writer)->save != NULL || (*writer)->beside != NULL) {
            write_files(*writer, doc);
        }
        for (int verbose = 0; verbose < 2 && (*writer)->write != NULL; verbose++) {
            const struct wf_write_options options = {.verbose = verbose == 1};
            char *text = NULL;
            size_t size = 0;
            FILE *out = open_memstream(&text, &size);

            (*writer)->write(doc, &options, out);
            (void)fclose(out);
            if (strcmp((*writer)->name, "text") == 0) {
                check_printed(text, size);
            }
            free(text);
        }
    }
}

static void print_all(const struct wf_value *doc, const struct wf_value *other)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const struct wf_compared base = {doc, "a"}, changed = {other, "b"};

    wf_explain(doc, NULL, out);
    require(!wf_compare(&base, &base, 100, out));
    (void)wf_compare(&base, &changed, 100, out);
    (void)fclose(out);
    check_printed(text, size);
    free(text);

    const struct wf_compared both[] = {base, changed, base};
    out = open_memstream(&text, &size);
    wf_compare_page(both, 3, "1", out);
    (void)fclose(out);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_value *doc = NULL, *other = wf_doc_new();
    struct wf_err err = {.status = WF_OK};

    if (size > INPUT_MAX) {
        wf_doc_free(other);
        return 0;
    }
    if (wf_doc_from_json((const char *)data, size, "f", &doc, &err) == WF_OK &&
        wf_result_check(doc, "f", &err) == WF_OK) {
        write_all(doc);
        print_all(doc, other);
    } else {
        require(err.status == WF_EINVAL && err.text[0] != '\0');
    }
    wf_doc_free(doc);
    wf_doc_free(other);
    return 0;
}
