/* SPDX-License-Identifier: Apache-2.0 */
#include "report/writer.h"

#include <string.h>

/* The one place that lists writers. */
static const struct wf_writer_ops *const writer_table[] = {
    &wf_writer_text, &wf_writer_json, &wf_writer_csv, &wf_writer_html, NULL,
};

const struct wf_writer_ops *const *wf_writer_table(void)
{
    return writer_table;
}

static enum wf_status unknown_extension(const char *path, struct wf_err *err)
{
    char known[128] = "";
    size_t used = 0;

    for (const struct wf_writer_ops *const *w = writer_table; *w != NULL; w++) {
        const char *between = used == 0 ? "" : w[1] == NULL ? " or " : ", ";
        int n = snprintf(known + used, sizeof(known) - used, "%s%s", between, (*w)->extension);
        used += (size_t)n < sizeof(known) - used ? (size_t)n : 0;
    }
    return wf_err_set(err, WF_EUSAGE, "output '%.200s': the name must end in %s", path, known);
}

enum wf_status wf_writer_for_path(const char *path, const struct wf_writer_ops **out,
                                  struct wf_err *err)
{
    size_t len = strlen(path);

    for (const struct wf_writer_ops *const *w = writer_table; *w != NULL; w++) {
        size_t ext = strlen((*w)->extension);
        if (len > ext && strcmp(path + len - ext, (*w)->extension) == 0) {
            *out = *w;
            return WF_OK;
        }
    }
    return unknown_extension(path, err);
}

bool wf_writer_records(const char *path)
{
    const struct wf_writer_ops *writer = NULL;
    struct wf_err ignored;

    return path != NULL && wf_writer_for_path(path, &writer, &ignored) == WF_OK &&
           writer->records;
}
