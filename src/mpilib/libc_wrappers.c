/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls in which the system writes to memory of the program. A page of its variables that no
 * rank has written to yet is protected, and while the program's own writes are noticed, the
 * system's only fail. So weftcc has the program call these, which make the place ready before.
 * And what goes to the standard output past stdio takes the way of the rest, and who looks at
 * files waits for those who may have written them.
 */
#include "mpilib/library.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void ready(void *place, size_t bytes)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    if (self != NULL && place != NULL && bytes > 0) {
        wl.port->touch(self, place, bytes);
    }
}

/* NOLINTBEGIN(bugprone-macro-parentheses): they are types and parameter lists */
/* A function, its parameters, its arguments, and what of them is written to. */
#define WRAP(type, name, parameters, arguments, place, bytes) \
    type __wrap_##name parameters;                            \
    type __wrap_##name parameters                             \
    {                                                         \
        ready(place, bytes);                                  \
        return (name)arguments;                               \
    }

WRAP(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), to, n)
WRAP(ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at), to, n)
WRAP(ssize_t, pread64, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at), to, n)
WRAP(ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags), to, n)
WRAP(size_t, fread, (void *to, size_t size, size_t n, FILE *file), (to, size, n, file), to,
     size *n)
WRAP(size_t, fread_unlocked, (void *to, size_t size, size_t n, FILE *file), (to, size, n, file),
     to, size *n)
WRAP(ssize_t, readlink, (const char *path, char *to, size_t n), (path, to, n), to, n)
WRAP(char *, getcwd, (char *to, size_t n), (to, n), to, n)
WRAP(int, fstat, (int fd, struct stat *to), (fd, to), to, sizeof(*to))
WRAP(int, fstat64, (int fd, struct stat64 *to), (fd, to), to, sizeof(*to))
WRAP(int, uname, (struct utsname * to), (to), to, sizeof(*to))
WRAP(int, getrusage, (int who, struct rusage *to), (who, to), to, sizeof(*to))
WRAP(clock_t, times, (struct tms * to), (to), to, sizeof(*to))
WRAP(int, clock_gettime, (clockid_t clock, struct timespec *to), (clock, to), to, sizeof(*to))
WRAP(int, gettimeofday, (struct timeval * to, void *zone), (to, zone), to, sizeof(*to))
WRAP(int, pipe, (int to[2]), (to), to, 2 * sizeof(int))

/* What compilers make of the above when they check bounds. */
ssize_t __wrap___read_chk(int fd, void *to, size_t n, size_t room);
size_t __wrap___fread_chk(void *to, size_t room, size_t size, size_t n, FILE *file);

ssize_t __wrap___read_chk(int fd, void *to, size_t n, size_t room)
{
    return n <= room ? __wrap_read(fd, to, n) : -1;
}

size_t __wrap___fread_chk(void *to, size_t room, size_t size, size_t n, FILE *file)
{
    return size == 0 || n <= room / size ? __wrap_fread(to, size, n, file) : 0;
}

ssize_t __wrap_readv(int fd, const struct iovec *parts, int n);
ssize_t __wrap_readv(int fd, const struct iovec *parts, int n)
{
    for (int i = 0; i < n; i++) {
        ready(parts[i].iov_base, parts[i].iov_len);
    }
    return readv(fd, parts, n);
}

/* ---- files ---- */

/* What a rank finds there is what others have left before: by then, all that it waited for must
 * have come to pass, which a program that runs ahead of its time does not know. */
static void look_at_files(void)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    if (self != NULL && self->lib != NULL) {
        struct wl_rank *rank = wl_enter();
        wl_catch_up(rank);
        wl_leave(rank);
    }
}

#define WRAP_PATH(type, name, parameters, arguments) \
    type __wrap_##name parameters;                   \
    type __wrap_##name parameters                    \
    {                                                \
        look_at_files();                             \
        return (name)arguments;                      \
    }

WRAP_PATH(FILE *, fopen, (const char *path, const char *mode), (path, mode))
WRAP_PATH(FILE *, fopen64, (const char *path, const char *mode), (path, mode))
WRAP_PATH(DIR *, opendir, (const char *path), (path))
WRAP_PATH(int, access, (const char *path, int mode), (path, mode))
WRAP_PATH(int, unlink, (const char *path), (path))
WRAP_PATH(int, remove, (const char *path), (path))
WRAP_PATH(int, rename, (const char *from, const char *to), (from, to))
WRAP_PATH(int, mkdir, (const char *path, mode_t mode), (path, mode))

#define WRAP_STAT(name, type)                      \
    int __wrap_##name(const char *path, type *to); \
    int __wrap_##name(const char *path, type *to)  \
    {                                              \
        look_at_files();                           \
        ready(to, sizeof(*to));                    \
        return (name)(path, to);                   \
    }

WRAP_STAT(stat, struct stat)
WRAP_STAT(lstat, struct stat)
WRAP_STAT(stat64, struct stat64)
WRAP_STAT(lstat64, struct stat64)
/* NOLINTEND(bugprone-macro-parentheses) */

int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

static mode_t mode_of(int flags, va_list ap)
{
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(ap, int) : 0;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list ap;

    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    look_at_files();
    return open(path, flags, mode);
}

int __wrap_open64(const char *path, int flags, ...)
{
    va_list ap;

    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    look_at_files();
    return open64(path, flags, mode);
}

/* ---- output ---- */

/* A stdout without a file behind it is the simulator's, which puts labels before lines. */
ssize_t __wrap_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n)
{
    if (fd == STDOUT_FILENO && fileno(stdout) < 0) {
        return (ssize_t)fwrite(from, 1, n, stdout);
    }
    return write(fd, from, n);
}
