/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/writer.h"

#include "base/extension.h"
#include "base/mem.h"
#include "ui/report/output.h"

#include <stdlib.h>
#include <string.h>

static const struct wf_writer_ops *const writer_table[] = {
#define WF_REPORT_WRITER(name) &wf_writer_##name,
#include "ui/report/writers.def"
    NULL,
};

struct wf_registry wf_writer_registry =
    WF_REGISTRY("output format", writer_table, .with = NULL);

const struct wf_writer_ops *const *wf_writer_table(void)
{
    return (const struct wf_writer_ops *const *)wf_registry_entries(&wf_writer_registry);
}

const char *wf_writer_extension(size_t i)
{
    return wf_writer_table()[i] != NULL ? wf_writer_table()[i]->extension : NULL;
}

const char *wf_writer_timeline_extension(size_t i)
{
    for (const struct wf_writer_ops *const *w = wf_writer_table(); *w != NULL; w++) {
        if ((*w)->timeline && i-- == 0) {
            return (*w)->extension;
        }
    }
    return NULL;
}

enum wf_status wf_writer_for_path(const char *path, const struct wf_writer_ops **out,
                                  struct wf_err *err)
{
    size_t i;

    WF_TRY(wf_extension_find(wf_writer_extension, "output", path, &i, err));
    *out = wf_writer_table()[i];
    return WF_OK;
}

const struct wf_writer_ops *wf_writer_of(const char *path)
{
    const struct wf_writer_ops *writer = NULL;
    struct wf_err ignored; /* reported when the file is written */

    return path != NULL && wf_writer_for_path(path, &writer, &ignored) == WF_OK ? writer : NULL;
}

static enum wf_status save_one(const struct wf_writer_beside *file, const struct wf_value *doc,
                               const struct wf_write_options *options, const char *path,
                               bool force, struct wf_err *err)
{
    struct wf_output *output = NULL;
    WF_TRY(wf_output_open(path, force, &output, err));
    file->write(doc, options, wf_output_stream(output));
    return wf_output_commit(output, err);
}

enum wf_status wf_writer_save(const struct wf_writer_ops *writer, const struct wf_value *doc,
                              const struct wf_write_options *options, const char *path,
                              bool force, struct wf_err *err)
{
    const struct wf_writer_beside first = {writer->extension, writer->write};
    size_t stem = strlen(path) - strlen(writer->extension);

    if (writer->save != NULL) {
        return writer->save(doc, options, path, force, err);
    }
    enum wf_status status = save_one(&first, doc, options, path, force, err);

    for (const struct wf_writer_beside *file = writer->beside;
         file != NULL && file->extension != NULL && status == WF_OK; file++) {
        size_t size = stem + strlen(file->extension) + 1;
        char *name = wf_xmalloc(size);
        (void)snprintf(name, size, "%.*s%s", (int)stem, path, file->extension);
        status = save_one(file, doc, options, name, force, err);
        free(name);
    }
    return status;
}

enum wf_status wf_writer_check(const struct wf_writer_ops *writer, const char *path, bool force,
                               struct wf_err *err)
{
    return writer->check != NULL ? writer->check(path, force, err)
                                 : wf_output_check(path, force, err);
}
