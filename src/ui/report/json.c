/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/writer.h"

#include "base/result/json.h"

#include <stdlib.h>

static void json_write(const struct wf_value *doc, const struct wf_write_options *options,
                       FILE *out)
{
    char *text = wf_doc_to_json(doc);

    (void)fprintf(out, "%s\n", text);
    free(text);
}

const struct wf_writer_ops wf_writer_json = {
    .name = "json",
    .extension = ".json",
    .summary = "the whole result document, for programs",
    .write = json_write,
};
