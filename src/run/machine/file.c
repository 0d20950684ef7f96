/* SPDX-License-Identifier: Apache-2.0 */
#include "run/machine/file.h"

#include "base/file.h"
#include "base/file_kind.h"
#include "base/mem.h"
#include "base/text.h"
#include "run/machine/machine.h"
#include "run/machine/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Every message contains the label. A long path is cut at its beginning, because its end says
 * more. */
enum { LABEL_MAX = 160 };

/* The length of `name` without the extension .yaml, .yml or .conf. */
static size_t stem_length(const char *name)
{
    static const char *const endings[] = {".yaml", ".yml", ".conf"};
    size_t len = strlen(name);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t ending = strlen(endings[i]);
        if (len > ending && strcmp(name + len - ending, endings[i]) == 0) {
            return len - ending;
        }
    }
    return len;
}

static bool is_path(const char *which)
{
    return strchr(which, '/') != NULL || which[stem_length(which)] != '\0';
}

static char *join(const char *a, size_t a_len, const char *b)
{
    size_t b_len = strlen(b);
    char *text = wf_xmalloc(a_len + b_len + 1);

    memcpy(text, a, a_len);
    memcpy(text + a_len, b, b_len + 1);
    return text;
}

static char *make_label(const char *path)
{
    size_t len = strlen(path);

    return len <= LABEL_MAX ? wf_xstrdup(path) : join("...", 3, path + len - LABEL_MAX);
}

static enum wf_status unknown(const char *which, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, which);
    for (const struct wf_machine_text *m = wf_machine_library(); m->name != NULL; m++) {
        wf_nearest_add(&nearest, m->name);
    }
    (void)wf_nearest_hint(&nearest, hint);
    return wf_err_set(
        err, WF_EINVAL, "unknown machine '%.64s'%s", which,
        hint[0] != '\0'
            ? hint
            : "; 'weft machine list' lists all; the name of a file must end in .yaml or .conf");
}

static enum wf_status open_library(const char *which, struct wf_machine_file *out,
                                   struct wf_err *err)
{
    size_t len = stem_length(which);

    for (const struct wf_machine_text *m = wf_machine_library(); m->name != NULL; m++) {
        if (strlen(m->name) == len && memcmp(m->name, which, len) == 0) {
            *out = (struct wf_machine_file){
                .label = join(which, len, ".yaml"),
                .text = wf_xcalloc(m->size + 1, 1),
                .size = m->size,
            };
            memcpy(out->text, m->text, m->size);
            return WF_OK;
        }
    }
    return unknown(which, err);
}

static enum wf_status open_path(const char *path, struct wf_machine_file *out,
                                struct wf_err *err)
{
    struct stat info = {.st_dev = 0};
    struct wf_buf text = {.data = NULL};
    enum wf_status status = wf_file_read(path, WF_YAML_BYTES_MAX, &text, err);

    WF_THEN(status, wf_file_refuse(path, (const char *)text.data, "a machine file", err));
    if (status != WF_OK || stat(path, &info) != 0) {
        wf_buf_fini(&text);
        return status != WF_OK ? status : wf_err_set(err, WF_EIO, "'%.160s' is gone", path);
    }
    *out = (struct wf_machine_file){
        .label = make_label(path),
        .path = wf_xstrdup(path),
        .text = (char *)text.data,
        .size = text.size,
        .device = (uint64_t)info.st_dev,
        .inode = (uint64_t)info.st_ino,
    };
    return WF_OK;
}

enum wf_status wf_machine_file_open(const char *which, const struct wf_machine_file *from,
                                    struct wf_machine_file *out, struct wf_err *err)
{
    bool from_library = from != NULL && from->path == NULL;

    if (from_library || !is_path(which)) {
        return open_library(which, out, err);
    }

    const char *slash = from != NULL && which[0] != '/' ? strrchr(from->path, '/') : NULL;
    size_t directory = slash != NULL ? (size_t)(slash + 1 - from->path) : 0;
    char *path = join(directory > 0 ? from->path : "", directory, which);
    enum wf_status status = open_path(path, out, err);
    free(path);
    return status;
}

void wf_machine_file_fini(struct wf_machine_file *file)
{
    free(file->label);
    free(file->path);
    free(file->text);
    *file = (struct wf_machine_file){.label = NULL};
}

bool wf_machine_file_same(const struct wf_machine_file *a, const struct wf_machine_file *b)
{
    if (a->path == NULL || b->path == NULL) {
        return a->path == b->path && strcmp(a->label, b->label) == 0;
    }
    return a->device == b->device && a->inode == b->inode;
}

char *wf_machine_file_stem(const struct wf_machine_file *file)
{
    const char *slash = strrchr(file->label, '/');
    char *name = wf_xstrdup(slash != NULL ? slash + 1 : file->label);

    name[stem_length(name)] = '\0';
    return name;
}

enum wf_status wf_machine_read(const char *which, char **text, size_t *size, struct wf_err *err)
{
    struct wf_machine_file file = {.label = NULL};

    WF_TRY(wf_machine_file_open(which, NULL, &file, err));
    *text = file.text;
    *size = file.size;
    file.text = NULL;
    wf_machine_file_fini(&file);
    return WF_OK;
}
