/* SPDX-License-Identifier: Apache-2.0 */
#include "base/temp.h"

#include "base/guard.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LISTED_MAX = 256, NAMES_TRIED = 100, DEPTH_MAX = 8, BASE_MAX = 220 };

/* The list. A slot is free when its path is null. Threads change slots under the lock. A signal
 * handler cannot take the lock: it takes the path out of the slot in one atomic step, and
 * whoever took a path out owns it. */
static struct {
    _Atomic(char *) path;
    pid_t owner;
    int lock; /* descriptor; -1: none */
} listed[LISTED_MAX];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool cleans_at_exit;

static void clean(bool may_free);

static void clean_at_exit(void)
{
    clean(true);
}

/* Under the lock. Owns the path, which the caller allocates before it makes the file: without memory there
 * must be none. Beyond LISTED_MAX paths the rest is not listed, and only a killed process
 * leaves it behind. */
static void enlist(char *path, int lock_fd)
{
    if (!cleans_at_exit) {
        cleans_at_exit = atexit(clean_at_exit) == 0;
    }
    for (size_t i = 0; i < LISTED_MAX; i++) {
        if (atomic_load(&listed[i].path) == NULL) {
            listed[i].owner = getpid();
            listed[i].lock = lock_fd;
            atomic_store(&listed[i].path, path);
            wf_guard_temporary(path);
            return;
        }
    }
    free(path);
}

/* Nothing comes between making a file and listing it: neither a signal to this thread nor
 * another thread that ends the process. */
static void begin_making(sigset_t *before)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, before);
    (void)pthread_mutex_lock(&lock);
}

static void end_making(const sigset_t *before)
{
    int error = errno;

    (void)pthread_mutex_unlock(&lock);
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = error;
}

static void delist(const char *path)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < LISTED_MAX; i++) {
        char *known = atomic_load(&listed[i].path);

        if (known != NULL && strcmp(known, path) == 0) {
            if (atomic_compare_exchange_strong(&listed[i].path, &known, NULL)) {
                free(known);
            }
            if (listed[i].lock >= 0) {
                (void)close(listed[i].lock);
            }
            break;
        }
    }
    (void)pthread_mutex_unlock(&lock);
}

/* Removes what a directory holds. Uses system calls only, because readdir() allocates memory
 * and a signal handler may not. */
static void empty_directory(int fd, int depth)
{
    _Alignas(struct dirent64) char entries[4096];
    ssize_t n;

    while ((n = getdents64(fd, entries, sizeof(entries))) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            const char *name = entry->d_name;

            at += entry->d_reclen;
            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
                unlinkat(fd, name, 0) == 0) {
                continue;
            }
            int inner = depth < DEPTH_MAX
                            ? openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                            : -1;
            if (inner >= 0) {
                empty_directory(inner, depth + 1);
                (void)close(inner);
                (void)unlinkat(fd, name, AT_REMOVEDIR);
            }
        }
    }
}

/* Tries several times: another thread may still write files into the directory. */
static void remove_path(const char *path)
{
    enum { TRIES = 8 };

    for (int i = 0; i < TRIES && unlink(path) != 0; i++) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0) {
            return;
        }
        empty_directory(fd, 0);
        (void)close(fd);
        if (rmdir(path) == 0 || errno != ENOTEMPTY) {
            return;
        }
    }
}

const char *wf_temp_parent(void)
{
    const char *parent = getenv("TMPDIR");

    return parent != NULL && parent[0] != '\0' ? parent : "/tmp";
}

/* A template for mkstemp() and mkdtemp(), to be freed. */
static char *template(void)
{
    size_t size = strlen(wf_temp_parent()) + sizeof("/weft-XXXXXX");
    char *path = wf_xmalloc(size);

    (void)snprintf(path, size, "%s/weft-XXXXXX", wf_temp_parent());
    return path;
}

int wf_temp_unnamed(void)
{
    char *path = template();
    int fd = mkostemp(path, O_CLOEXEC);

    if (fd >= 0) {
        (void)unlink(path);
    }
    free(path);
    return fd;
}

char *wf_temp_directory(void)
{
    char *path = template(), *known = wf_xstrdup(path);
    sigset_t before;

    begin_making(&before);
    bool made = mkdtemp(path) != NULL;
    if (made) {
        memcpy(known, path, strlen(path) + 1);
        enlist(known, -1);
    }
    end_making(&before);
    if (!made) {
        free(known);
        free(path);
    }
    return made ? path : NULL;
}

/* Locks a file or directory as long as the descriptor is open; -1 if another process has it, or it is not
 * there any more. */
static int lock_file(const char *name)
{
    int fd = open(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    struct stat here, there;

    if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &here) != 0 ||
                    lstat(name, &there) != 0 || here.st_ino != there.st_ino)) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

/* Removes what a process that was killed has left: nobody has the lock. */
static bool remove_stale(const char *name)
{
    int fd = lock_file(name);

    if (fd >= 0) {
        remove_path(name);
        (void)close(fd);
    }
    return fd >= 0;
}

/* Makes a file or directory of this name, locks and lists it. */
static bool make(const char *name, bool directory)
{
    char *known = wf_xstrdup(name);
    sigset_t before;

    begin_making(&before);
    int fd = directory ? mkdir(name, 0777)
                       : open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
        if (!directory) {
            (void)close(fd);
        }
        enlist(known, lock_file(name));
    }
    end_making(&before);
    if (fd < 0) {
        free(known);
    }
    return fd >= 0;
}

char *wf_temp_beside(const char *path, bool directory)
{
    size_t size = strlen(path) + 32, length = strlen(path);
    const char *slash = strrchr(path, '/');
    size_t base = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char *name = wf_xmalloc(size);

    /* A name may have 255 bytes; a long one is cut. */
    length = length - base < BASE_MAX ? length : base + BASE_MAX;
    for (unsigned i = 0; i < NAMES_TRIED; i++) {
        (void)snprintf(name, size, "%.*s.weft-%u.tmp", (int)length, path, i);
        if (make(name, directory)) {
            return name;
        }
        if (errno != EEXIST) {
            break;
        }
        if (remove_stale(name) && make(name, directory)) {
            return name;
        }
    }
    free(name);
    return NULL;
}

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return true;
    }
    /* Not every file system has this call. */
    if (errno != EINVAL && errno != ENOSYS) {
        return false;
    }
    if (access(to, F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(from, to) == 0;
}

bool wf_temp_move(const char *temporary, const char *path, bool replace)
{
    bool moved;

    if (!replace) {
        moved = rename_new(temporary, path);
    } else if (!is_directory(temporary)) {
        moved = rename(temporary, path) == 0;
    } else if (access(path, F_OK) != 0) {
        moved = rename_new(temporary, path);
    } else {
        /* A directory that is not empty cannot be replaced: swap the two and remove the old. */
        moved = renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_EXCHANGE) == 0;
        if (moved) {
            remove_path(temporary);
        }
    }
    if (moved) {
        delist(temporary);
    }
    return moved;
}

void wf_temp_remove(const char *temporary)
{
    if (temporary != NULL) {
        remove_path(temporary);
        delist(temporary);
    }
}

/* Removes all that this process has listed. A signal handler may not free memory. */
static void clean(bool may_free)
{
    for (size_t i = 0; i < LISTED_MAX; i++) {
        char *path =
            listed[i].owner == getpid() ? atomic_exchange(&listed[i].path, NULL) : NULL;
        if (path != NULL) {
            remove_path(path);
        }
        if (may_free) {
            free(path);
        }
    }
}

void wf_temp_clean(void)
{
    clean(false);
}

void wf_temp_seal(void)
{
    (void)pthread_mutex_lock(&lock); /* never released */
    clean(false);
}
