/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/output.h"

#include "base/guard.h"
#include "base/mem.h"
#include "base/temp.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct wf_output {
    FILE *stream;
    char *path;
    char *temporary; /* null when written directly */
    bool force;
};

static enum wf_status cannot_write(const char *path, struct wf_err *err)
{
    return wf_err_set(err, WF_EIO, "cannot write '%.300s': %s", path, strerror(errno));
}

static enum wf_status exists(const char *path, struct wf_err *err)
{
    return wf_err_set(err, WF_EIO, "'%.300s' exists; -f overwrites it", path);
}

static bool is_link(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

enum wf_status wf_output_open(const char *path, bool force, struct wf_output **out,
                              struct wf_err *err)
{
    struct stat st;
    bool found = stat(path, &st) == 0;
    bool direct = found && !S_ISREG(st.st_mode);
    char real[PATH_MAX];

    /* Replaces the target of a symbolic link, not the link. */
    if (is_link(path) && realpath(path, real) != NULL) {
        path = real;
    }
    if (path[0] == '\0') {
        errno = ENOENT;
        return cannot_write(path, err);
    }
    if (found && !direct && !force) {
        return exists(path, err);
    }
    if (found && !direct && access(path, W_OK) != 0) {
        return cannot_write(path, err);
    }

    char *temporary = direct ? NULL : wf_temp_beside(path, false);
    FILE *stream = direct || temporary != NULL
                       ? wf_guard_file(fopen(direct ? path : temporary, "we"))
                       : NULL;
    if (stream == NULL) {
        enum wf_status status = cannot_write(path, err);
        wf_temp_remove(temporary);
        free(temporary);
        return status;
    }

    struct wf_output *output = wf_xcalloc(1, sizeof(*output));
    *output = (struct wf_output){
        .stream = stream,
        .path = wf_xstrdup(path),
        .temporary = temporary,
        .force = force,
    };
    *out = output;
    return WF_OK;
}

enum wf_status wf_output_check(const char *path, bool force, struct wf_err *err)
{
    struct wf_output *output = NULL;
    struct stat st;

    /* Opening a pipe waits for its reader, at the end of the run and perhaps for ever. */
    if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode)) {
        return wf_err_set(err, WF_EIO, "'%.300s' is a pipe; redirect stdout to it instead",
                          path);
    }

    WF_TRY(wf_output_open(path, force, &output, err));
    wf_output_discard(output);
    return WF_OK;
}

FILE *wf_output_stream(struct wf_output *output)
{
    return output->stream;
}

static void release(struct wf_output *output)
{
    free(output->temporary);
    free(output->path);
    free(output);
}

enum wf_status wf_output_commit(struct wf_output *output, struct wf_err *err)
{
    enum wf_status status = WF_OK;
    bool failed = ferror(output->stream) != 0;

    if (wf_fclose(output->stream) != 0 || failed) {
        status = cannot_write(output->path, err);
    } else if (output->temporary != NULL &&
               !wf_temp_move(output->temporary, output->path, output->force)) {
        /* A file that was created by others during the run is not overwritten either. */
        status = errno == EEXIST ? exists(output->path, err) : cannot_write(output->path, err);
    }
    if (status != WF_OK) {
        wf_temp_remove(output->temporary);
    }
    release(output);
    return status;
}

void wf_output_discard(struct wf_output *output)
{
    if (output == NULL) {
        return;
    }
    (void)wf_fclose(output->stream);
    wf_temp_remove(output->temporary);
    release(output);
}
