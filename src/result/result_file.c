/* SPDX-License-Identifier: Apache-2.0 */
#include "result/result_file.h"

#include "base/file.h"
#include "result/json.h"
#include "result/result.h"

#include <string.h>

/* More than any recording takes. */
#define BYTES_MAX ((size_t)1 << 36)

enum wf_status wf_result_read(const char *path, struct wf_value **out, struct wf_err *err)
{
    struct wf_buf text = {.data = NULL};
    struct wf_value *doc = NULL;

    enum wf_status status = wf_file_read(path, BYTES_MAX, &text, err);
    if (status == WF_OK) {
        status = wf_doc_from_json((const char *)text.data, text.size, path, &doc, err);
    }
    if (status == WF_OK && strcmp(wf_doc_get_text(doc, "schema", ""), WF_RESULT_SCHEMA) != 0) {
        status = wf_err_set(err, WF_EINVAL,
                            "%.200s: no result document: 'schema' is not \"%s\"; 'weft replay "
                            "... -o run.json' writes one",
                            path, WF_RESULT_SCHEMA);
    }
    wf_buf_fini(&text);
    if (status == WF_OK) {
        *out = doc;
    } else {
        wf_doc_free(doc);
    }
    return status;
}
