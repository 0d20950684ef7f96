/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/ti/files.h"

#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLANKS "\r\n\t "

/* Returns whether the first nonblank line looks like an action, as far as it is in `bytes`. */
static bool is_action(const unsigned char *bytes, size_t n)
{
    char text[WF_PROBE_BYTES + 1];

    memcpy(text, bytes, n);
    text[n] = '\0';
    const char *rank = text + strspn(text, BLANKS);
    size_t digits = strspn(rank, "0123456789");
    const char *action = rank + digits + strspn(rank + digits, " \t");
    size_t length = strcspn(action, BLANKS);
    return digits > 0 && action > rank + digits && wf_ti_find(action, length) != NULL;
}

static bool ends_in_ti(const char *path)
{
    size_t length = strlen(path);

    return length > 3 && strcmp(path + length - 3, ".ti") == 0;
}

/* Returns whether the file is a list: it has the names of files with actions. A list that is
 * called .ti may have files that do not exist; they are an error later. */
static bool is_list(const struct wf_reader_probe *probe)
{
    unsigned char bytes[WF_PROBE_BYTES];
    char name[WF_PROBE_BYTES + 1];
    size_t n = 0;

    memcpy(name, probe->bytes, probe->n);
    name[probe->n] = '\0';
    char *first = name + strspn(name, BLANKS);
    first[strcspn(first, BLANKS)] = '\0';
    if (first[0] == '\0') {
        return false;
    }
    n = wf_file_head(first, bytes, sizeof(bytes));
    if (n == 0 && first[0] != '/') {
        n = wf_probe_read(probe, first, bytes, sizeof(bytes));
    }
    return is_action(bytes, n) || (n == 0 && ends_in_ti(probe->path) && ends_in_ti(first));
}

bool wf_ti_detect(const struct wf_reader_probe *probe)
{
    if (probe->is_directory) {
        return wf_probe_entry(probe, "index.ti", NULL) != NULL;
    }
    return is_action(probe->bytes, probe->n) || is_list(probe);
}

static void add_name(struct wf_ti_files *files, const char *name)
{
    WF_PUSH(files->names, files->n, files->capacity, wf_xstrdup(name));
}

static const char *path_of(const struct wf_ti_files *files, uint32_t file, struct wf_buf *path)
{
    const char *name = files->names[file];

    path->size = 0;
    if (name[0] != '/') {
        wf_buf_append(path, files->base, strlen(files->base));
    }
    wf_buf_append(path, name, strlen(name) + 1);
    return (const char *)path->data;
}

/* SimGrid takes the names of a list from the current directory. If the first one is not there,
 * all are beside the list; those of a directory are in it. */
static char *base_of(const struct wf_ti_files *files, const struct wf_reader_probe *probe)
{
    bool is_here = !probe->is_directory && files->n > 0 && access(files->names[0], F_OK) == 0;

    return is_here ? wf_xstrdup("") : wf_probe_path(probe, "");
}

/* As in SimGrid, a list of one name is a file with the actions of all ranks. */
static void take_single(struct wf_ti_files *files)
{
    struct wf_buf path = {.data = NULL};
    char *whole = wf_xstrdup(path_of(files, 0, &path));

    wf_buf_fini(&path);
    free(files->names[0]);
    files->names[0] = whole;
    files->by_rank = false;
}

void wf_ti_files_find(struct wf_ti_files *files, const struct wf_reader_probe *probe,
                      struct wf_err *err)
{
    struct wf_intext list;
    size_t length = 0;

    *files = (struct wf_ti_files){.n = 0};
    if (!probe->is_directory && is_action(probe->bytes, probe->n)) {
        add_name(files, probe->path);
        return;
    }
    files->by_rank = true;
    char *path =
        probe->is_directory ? wf_probe_path(probe, "index.ti") : wf_xstrdup(probe->path);
    enum wf_status status = wf_intext_open(&list, path, err);
    free(path);
    if (status != WF_OK) {
        return;
    }
    for (const char *line; (line = wf_intext_line(&list, &length)) != NULL;) {
        const char *name = line + strspn(line, BLANKS);
        if (name[0] != '\0') {
            add_name(files, name);
        }
    }
    wf_intext_close(&list);
    files->base = base_of(files, probe);
    if (files->n == 1) {
        take_single(files);
    }
}

void wf_ti_files_fini(struct wf_ti_files *files)
{
    for (uint32_t i = 0; i < files->n; i++) {
        free(files->names[i]);
    }
    free(files->names);
    free(files->base);
}

void wf_ti_files_open(const struct wf_ti_files *files, uint32_t file, struct wf_buf *path,
                      struct wf_ti_text *text, struct wf_err *err)
{
    wf_ti_text_open(text, path_of(files, file, path), err);
}

void wf_ti_files_report_missing(const struct wf_ti_files *files, struct wf_err *err)
{
    struct wf_buf buf = {.data = NULL};
    bool missing = false;

    for (uint32_t i = 0; i < files->n && !missing; i++) {
        const char *path = path_of(files, i, &buf);
        missing = access(path, F_OK) != 0;
        if (missing) {
            (void)wf_err_set(err, WF_EIO, "cannot read '%.300s': %s", path, strerror(errno));
        }
    }
    wf_buf_fini(&buf);
}
