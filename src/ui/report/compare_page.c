/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/compare.h"

#include "base/result/result.h"
#include "ui/report/writer.h"

void wf_compare_page(const struct wf_compared *results, size_t n, const char *version,
                     FILE *out)
{
    const struct wf_write_options options = {.verbose = false};
    struct wf_value *root = wf_result_new_as(WF_COMPARE_SCHEMA, version);
    struct wf_value *runs = wf_doc_list(root, "runs");

    /* The documents are part of this one while it is written; they stay the caller's. */
    for (size_t i = 0; i < n; i++) {
        struct wf_value *item = wf_doc_section(runs, NULL);
        wf_doc_text(item, "name", results[i].name);
        struct wf_value *document = wf_doc_section(item, "document");
        document->first = results[i].doc->first;
        document->last = results[i].doc->last;
    }
    wf_writer_html.write(root, &options, out);
    for (struct wf_value *item = runs->first; item != NULL; item = item->next) {
        item->last->first = item->last->last = NULL;
    }
    wf_doc_free(root);
}
