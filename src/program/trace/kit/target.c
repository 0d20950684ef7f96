/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/kit/target.h"

#include "base/guard.h"
#include "base/mem.h"
#include "base/temp.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct wf_target {
    char *path;
    char *temporary; /* null if the target is written directly */
    bool directory, force;
};

enum wf_status wf_target_cannot_write(const struct wf_target *target, struct wf_err *err)
{
    return wf_err_set(err, WF_EIO, "cannot write '%.300s': %s", target->path, strerror(errno));
}

static enum wf_status exists(const char *path, struct wf_err *err)
{
    return wf_err_set(err, WF_EIO, "'%.300s' exists; -f overwrites it", path);
}

static void release(struct wf_target *target)
{
    free(target->path);
    free(target->temporary);
    free(target);
}

static bool is_trace_directory(const char *path)
{
    static const char *const files[] = {"index.weft", "traces.otf2", "index.ti"};
    bool is = false;

    for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !is; i++) {
        char *file = wf_text_make("%s/%s", path, files[i]);
        is = access(file, F_OK) == 0;
        free(file);
    }
    return is;
}

/* Whether weft could have written a file of this name into a trace that is a directory; one of OTF2
 * has a directory of its own in it. */
static bool is_part(const char *name)
{
    static const char *const ends[] = {".weft", ".otf2", ".def", ".evt", ".marker", ".ti"};
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        size_t n = strlen(ends[i]);
        if (length > n && strcmp(name + length - n, ends[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The path of something in a directory that weft did not write there, to be freed; or null. */
static char *find_foreign(const char *path, bool inner)
{
    DIR *directory = opendir(path);
    char *found = NULL;

    for (struct dirent *entry = directory != NULL ? readdir(directory) : NULL;
         entry != NULL && found == NULL; entry = readdir(directory)) {
        const char *name = entry->d_name;
        char *inside = wf_text_make("%s/%s", path, name);
        struct stat st = {.st_mode = 0};

        (void)lstat(inside, &st);
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            found = S_ISREG(st.st_mode) && is_part(name) ? NULL
                    : S_ISDIR(st.st_mode) && !inner && strcmp(name, "traces") == 0
                        ? find_foreign(inside, true)
                        : wf_xstrdup(inside);
        }
        free(inside);
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    return found;
}

static enum wf_status check_contents(const char *path, struct wf_err *err)
{
    char *foreign = find_foreign(path, false);
    enum wf_status status =
        foreign == NULL
            ? WF_OK
            : wf_err_set(err, WF_EIO,
                         "'%.300s' is not a part of a trace that weft wrote, and would "
                         "be lost with its directory; move it away, or choose another "
                         "name for the output",
                         foreign);
    free(foreign);
    return status;
}

/* Checks that the existing file or directory may be replaced by the target. */
static enum wf_status check_found(const struct wf_target *target, const struct stat *st,
                                  struct wf_err *err)
{
    if (!target->force) {
        return exists(target->path, err);
    }
    if (S_ISDIR(st->st_mode) != target->directory) {
        return wf_err_set(err, WF_EIO, "'%.300s' is %s, and %s would replace it", target->path,
                          target->directory ? "a file" : "a directory",
                          target->directory ? "a directory" : "a file");
    }
    if (target->directory && !is_trace_directory(target->path)) {
        return wf_err_set(err, WF_EIO, "'%.300s' is a directory without index.weft: no trace",
                          target->path);
    }
    if (target->directory) {
        WF_TRY(check_contents(target->path, err));
    }
    return access(target->path, W_OK) == 0 ? WF_OK : wf_target_cannot_write(target, err);
}

/* Returns the path without trailing slashes, and with a symbolic link resolved. */
static char *real_path(const char *path)
{
    char resolved[PATH_MAX];
    struct stat st;
    char *copy = wf_xstrdup(path);
    size_t length = strlen(copy);

    while (length > 1 && copy[length - 1] == '/') {
        copy[--length] = '\0';
    }
    if (lstat(copy, &st) == 0 && S_ISLNK(st.st_mode) && realpath(copy, resolved) != NULL) {
        free(copy);
        copy = wf_xstrdup(resolved);
    }
    return copy;
}

enum wf_status wf_target_open(const char *path, bool directory, bool force,
                              struct wf_target **out, struct wf_err *err)
{
    struct wf_target *target = wf_xcalloc(1, sizeof(*target));
    enum wf_status status = WF_OK;
    struct stat st;

    *target =
        (struct wf_target){.path = real_path(path), .directory = directory, .force = force};
    bool found = stat(target->path, &st) == 0;
    bool direct = found && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
    if (path[0] == '\0') {
        errno = ENOENT;
        status = wf_target_cannot_write(target, err);
    } else if (direct && directory) {
        errno = ENOTDIR;
        status = wf_target_cannot_write(target, err);
    } else if (found && !direct) {
        status = check_found(target, &st, err);
    }
    if (status == WF_OK && !direct) {
        target->temporary = wf_temp_beside(target->path, directory);
        status = target->temporary != NULL ? WF_OK : wf_target_cannot_write(target, err);
    }
    if (status != WF_OK) {
        release(target);
        return status;
    }
    *out = target;
    return WF_OK;
}

const char *wf_target_place(const struct wf_target *target)
{
    return target->temporary != NULL ? target->temporary : target->path;
}

FILE *wf_target_create(struct wf_target *target, const char *name)
{
    const char *at = wf_target_place(target);
    char *path = target->directory ? wf_text_make("%s/%s", at, name) : wf_xstrdup(at);
    FILE *file = wf_guard_file(fopen(path, "we"));

    free(path);
    return file;
}

enum wf_status wf_target_commit(struct wf_target *target, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    if (target->temporary != NULL &&
        !wf_temp_move(target->temporary, target->path, target->force)) {
        status =
            errno == EEXIST ? exists(target->path, err) : wf_target_cannot_write(target, err);
        wf_temp_remove(target->temporary);
    }
    release(target);
    return status;
}

void wf_target_discard(struct wf_target *target)
{
    if (target != NULL) {
        wf_temp_remove(target->temporary);
        release(target);
    }
}

enum wf_status wf_target_open_file(const char *path, bool force, struct wf_target **out,
                                   FILE **file, struct wf_err *err)
{
    enum wf_status status = wf_target_open(path, false, force, out, err);

    if (status == WF_OK) {
        *file = wf_target_create(*out, "");
        if (*file == NULL) {
            status = wf_target_cannot_write(*out, err);
            wf_target_discard(*out);
        }
    }
    return status;
}
