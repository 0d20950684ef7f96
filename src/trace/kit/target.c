/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/kit/target.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct wf_target {
    char *path;
    char *temporary; /* null when written directly */
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

static char *join(const char *directory, const char *name)
{
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = wf_xmalloc(size);

    (void)snprintf(path, size, "%s/%s", directory, name);
    return path;
}

/* Makes the file or directory to be written to, under a name that nobody has. */
static bool make_temporary(struct wf_target *target)
{
    size_t size = strlen(target->path) + 32;

    target->temporary = wf_xmalloc(size);
    for (unsigned i = 0; i < 100; i++) {
        (void)snprintf(target->temporary, size, "%s.%ld-%u.tmp", target->path, (long)getpid(),
                       i);
        if (target->directory) {
            if (mkdir(target->temporary, 0777) == 0) {
                return true;
            }
        } else {
            int fd = open(target->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
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
    static const char *const files[] = {"index.weft", "traces.otf2"};
    bool is = false;

    for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !is; i++) {
        char *file = join(path, files[i]);
        is = access(file, F_OK) == 0;
        free(file);
    }
    return is;
}

/* Whether what is there may be replaced by what is to be written. */
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
    return access(target->path, W_OK) == 0 ? WF_OK : wf_target_cannot_write(target, err);
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
    if (status == WF_OK && !direct && !make_temporary(target)) {
        status = wf_target_cannot_write(target, err);
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
    const char *at = target->temporary != NULL ? target->temporary : target->path;
    char *path = target->directory ? join(at, name) : wf_xstrdup(at);
    FILE *file = fopen(path, "we");

    free(path);
    return file;
}

static void remove_files(const char *path)
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

/* Traces have no directories in them but that of an OTF2 archive, which has files. */
static void remove_directory(const char *path)
{
    char *inner = join(path, "traces");

    remove_files(inner);
    remove_files(path);
    free(inner);
}

static bool move(const struct wf_target *target, unsigned flags)
{
    if (renameat2(AT_FDCWD, target->temporary, AT_FDCWD, target->path, flags) == 0) {
        return true;
    }
    /* Not every file system can do that. */
    if ((errno == EINVAL || errno == ENOSYS) && flags == RENAME_NOREPLACE) {
        if (access(target->path, F_OK) == 0) {
            errno = EEXIST;
            return false;
        }
        return rename(target->temporary, target->path) == 0;
    }
    return false;
}

static bool put_in_place(const struct wf_target *target)
{
    if (!target->force) {
        return move(target, RENAME_NOREPLACE);
    }
    if (!target->directory) {
        return rename(target->temporary, target->path) == 0;
    }
    if (access(target->path, F_OK) != 0) {
        return move(target, RENAME_NOREPLACE);
    }
    if (!move(target, RENAME_EXCHANGE)) {
        return false;
    }
    remove_directory(target->temporary);
    return true;
}

static void forget(const struct wf_target *target)
{
    if (target->temporary == NULL) {
        return;
    }
    if (target->directory) {
        remove_directory(target->temporary);
    } else {
        (void)unlink(target->temporary);
    }
}

enum wf_status wf_target_commit(struct wf_target *target, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    if (target->temporary != NULL && !put_in_place(target)) {
        status =
            errno == EEXIST ? exists(target->path, err) : wf_target_cannot_write(target, err);
        forget(target);
    }
    release(target);
    return status;
}

void wf_target_discard(struct wf_target *target)
{
    if (target != NULL) {
        forget(target);
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
