/* SPDX-License-Identifier: Apache-2.0 */
#include "result/result.h"

struct wf_value *wf_result_new(const char *version)
{
    struct wf_value *root = wf_doc_new();

    wf_doc_text(root, "schema", WF_RESULT_SCHEMA);
    wf_doc_text(root, "version", version);
    return root;
}

struct wf_value *wf_result_new_error(const char *version, const struct wf_err *err)
{
    struct wf_value *root = wf_result_new(version);
    struct wf_value *error = wf_doc_section(root, "error");

    wf_doc_text(error, "status", wf_status_text(err->status));
    wf_doc_text(error, "message", err->text);
    wf_doc_count(error, "exit_code", (uint64_t)wf_status_exit_code(err->status));
    return root;
}
