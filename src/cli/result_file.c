/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/result_file.h"

#include "base/buf.h"
#include "result/json.h"
#include "result/result.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static enum wf_status cannot_read(const char *path, struct wf_err *err)
{
    return wf_err_set(err, WF_EIO, "cannot read '%.200s': %s", path, strerror(errno));
}

static enum wf_status read_all(const char *path, struct wf_buf *text, struct wf_err *err)
{
    enum { STEP = 1 << 16 };
    FILE *in = fopen(path, "r");
    size_t n = 1;

    if (in == NULL) {
        return cannot_read(path, err);
    }
    while (n > 0) {
        wf_buf_reserve(text, text->size + STEP);
        n = fread(text->data + text->size, 1, STEP, in);
        text->size += n;
    }
    enum wf_status status = ferror(in) ? cannot_read(path, err) : WF_OK;
    (void)fclose(in);
    return status;
}

enum wf_status wf_result_read(const char *path, struct wf_value **out, struct wf_err *err)
{
    struct wf_buf text = {.data = NULL};
    struct wf_value *doc = NULL;

    enum wf_status status = read_all(path, &text, err);
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
