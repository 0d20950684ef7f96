/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/result.h"

#include "base/arith.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/result/json.h"
#include "base/result/schema.h"

#include <string.h>

struct wf_value *wf_result_new_as(const char *schema, const char *version)
{
    struct wf_value *root = wf_doc_new();

    wf_doc_text(root, "schema", schema);
    wf_doc_text(root, "version", version);
    return root;
}

struct wf_value *wf_result_new(const char *version)
{
    return wf_result_new_as(WF_RESULT_SCHEMA, version);
}

struct wf_value *wf_result_new_error(const char *version, const struct wf_err *err,
                                     int exit_code)
{
    struct wf_value *root = wf_result_new(version);
    struct wf_value *error = wf_doc_section(root, "error");

    wf_doc_text(error, "status", wf_status_text(err->status));
    wf_doc_text(error, "message", err->text);
    wf_doc_count(error, "exit_code", (uint64_t)exit_code);
    return root;
}

/* Limit on the file size; more than any recording needs. The tree takes more than the text, so
 * a larger part of the memory is of no use. */
#define BYTES_MAX (UINT64_C(1) << 36)
enum { MEMORY_SHARE = 4 };

enum wf_status wf_result_check(struct wf_value *doc, const char *name, struct wf_err *err)
{
    struct wf_value *schema = NULL;

    if (strcmp(wf_doc_get_text(doc, "schema", ""), WF_RESULT_SCHEMA) != 0) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: not a result document: 'schema' is not \"%s\"; 'weft replay "
                          "... -o run.json' writes one",
                          name, WF_RESULT_SCHEMA);
    }
    enum wf_status status = wf_doc_from_json(
        wf_result_schema_text, strlen(wf_result_schema_text), WF_RESULT_SCHEMA, &schema, err);
    WF_THEN(status, wf_doc_check_schema(schema, doc, name, err));
    wf_doc_free(schema);
    return status;
}

enum wf_status wf_result_read(const char *path, struct wf_value **out, struct wf_err *err)
{
    struct wf_buf text = {.data = NULL};
    struct wf_value *doc = NULL;

    size_t most = (size_t)wf_min_u64(BYTES_MAX, wf_clock_memory() / MEMORY_SHARE);
    enum wf_status status = wf_file_read(path, most, &text, err);
    if (status == WF_OK && text.data[0] != '{') {
        status = wf_file_refuse(path, (const char *)text.data, "a result of weft", err);
    }
    WF_THEN(status, wf_doc_from_json((const char *)text.data, text.size, path, &doc, err));
    WF_THEN(status, wf_result_check(doc, path, err));
    wf_buf_fini(&text);
    if (status == WF_OK) {
        *out = doc;
    } else {
        wf_doc_free(doc);
    }
    return status;
}
