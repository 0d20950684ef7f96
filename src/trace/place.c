/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/place.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct wf_place {
    char *path;
    char *temporary; /* null when written directly */
    bool directory, force;
};

enum wf_status wf_place_cannot_write(const struct wf_place *place, struct wf_err *err)
{
    return wf_err_set(err, WF_EIO, "cannot write '%.300s': %s", place->path, strerror(errno));
}

static enum wf_status exists(const char *path, struct wf_err *err)
{
    return wf_err_set(err, WF_EIO, "'%.300s' exists; -f overwrites it", path);
}

static void release(struct wf_place *place)
{
    free(place->path);
    free(place->temporary);
    free(place);
}

static char *join(const char *directory, const char *name)
{
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = wf_xmalloc(size);

    (void)snprintf(path, size, "%s/%s", directory, name);
    return path;
}

/* Makes the file or directory to be written to, under a name that nobody has. */
static bool make_temporary(struct wf_place *place)
{
    size_t size = strlen(place->path) + 32;

    place->temporary = wf_xmalloc(size);
    for (unsigned i = 0; i < 100; i++) {
        (void)snprintf(place->temporary, size, "%s.%ld-%u.tmp", place->path, (long)getpid(), i);
        if (place->directory) {
            if (mkdir(place->temporary, 0777) == 0) {
                return true;
            }
        } else {
            int fd = open(place->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (fd >= 0) {
                (void)close(fd);
                return true;
            }
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return false;
}

static bool is_trace_directory(const char *path)
{
    char *index = join(path, "index.weft");
    bool is = access(index, F_OK) == 0;

    free(index);
    return is;
}

/* Whether what is there may be replaced by what is to be written. */
static enum wf_status check_found(const struct wf_place *place, const struct stat *st,
                                  struct wf_err *err)
{
    if (!place->force) {
        return exists(place->path, err);
    }
    if (S_ISDIR(st->st_mode) != place->directory) {
        return wf_err_set(err, WF_EIO, "'%.300s' is %s, and %s would replace it", place->path,
                          place->directory ? "a file" : "a directory",
                          place->directory ? "a directory" : "a file");
    }
    if (place->directory && !is_trace_directory(place->path)) {
        return wf_err_set(err, WF_EIO, "'%.300s' is a directory without index.weft: no trace",
                          place->path);
    }
    return access(place->path, W_OK) == 0 ? WF_OK : wf_place_cannot_write(place, err);
}

/* Without slashes at the end, and what a link points at instead of the link. */
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

enum wf_status wf_place_open(const char *path, bool directory, bool force,
                             struct wf_place **out, struct wf_err *err)
{
    struct wf_place *place = wf_xcalloc(1, sizeof(*place));
    enum wf_status status = WF_OK;
    struct stat st;

    *place = (struct wf_place){.path = real_path(path), .directory = directory, .force = force};
    bool found = stat(place->path, &st) == 0;
    bool direct = found && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
    if (path[0] == '\0') {
        errno = ENOENT;
        status = wf_place_cannot_write(place, err);
    } else if (direct && directory) {
        errno = ENOTDIR;
        status = wf_place_cannot_write(place, err);
    } else if (found && !direct) {
        status = check_found(place, &st, err);
    }
    if (status == WF_OK && !direct && !make_temporary(place)) {
        status = wf_place_cannot_write(place, err);
    }
    if (status != WF_OK) {
        release(place);
        return status;
    }
    *out = place;
    return WF_OK;
}

FILE *wf_place_create(struct wf_place *place, const char *name)
{
    const char *at = place->temporary != NULL ? place->temporary : place->path;
    char *path = place->directory ? join(at, name) : wf_xstrdup(at);
    FILE *file = fopen(path, "we");

    free(path);
    return file;
}

/* Traces have no directories in them. */
static void remove_directory(const char *path)
{
    DIR *dir = opendir(path);

    if (dir != NULL) {
        for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
        }
        (void)closedir(dir);
    }
    (void)rmdir(path);
}

static bool move(const struct wf_place *place, unsigned flags)
{
    if (renameat2(AT_FDCWD, place->temporary, AT_FDCWD, place->path, flags) == 0) {
        return true;
    }
    /* Not every file system can do that. */
    if ((errno == EINVAL || errno == ENOSYS) && flags == RENAME_NOREPLACE) {
        if (access(place->path, F_OK) == 0) {
            errno = EEXIST;
            return false;
        }
        return rename(place->temporary, place->path) == 0;
    }
    return false;
}

static bool put_in_place(const struct wf_place *place)
{
    if (!place->force) {
        return move(place, RENAME_NOREPLACE);
    }
    if (!place->directory) {
        return rename(place->temporary, place->path) == 0;
    }
    if (access(place->path, F_OK) != 0) {
        return move(place, RENAME_NOREPLACE);
    }
    if (!move(place, RENAME_EXCHANGE)) {
        return false;
    }
    remove_directory(place->temporary);
    return true;
}

static void forget(const struct wf_place *place)
{
    if (place->temporary == NULL) {
        return;
    }
    if (place->directory) {
        remove_directory(place->temporary);
    } else {
        (void)unlink(place->temporary);
    }
}

enum wf_status wf_place_commit(struct wf_place *place, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    if (place->temporary != NULL && !put_in_place(place)) {
        status = errno == EEXIST ? exists(place->path, err) : wf_place_cannot_write(place, err);
        forget(place);
    }
    release(place);
    return status;
}

void wf_place_discard(struct wf_place *place)
{
    if (place != NULL) {
        forget(place);
        release(place);
    }
}
