/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the C library that must behave differently in a rank. weftcc links programs with
 * --wrap, so that they call __wrap_x() in place of x(). libc/process.c has those that begin and
 * end processes.
 *
 * - Signals that the simulator handles cannot be caught.
 * - The system writes to memory of the program, as in read(). Pages of its variables are
 *   protected until a rank first writes to them, which makes such calls fail: the page is
 *   unprotected before.
 * - A rank that opens or looks at a file first catches up with its simulated time, so that it
 *   finds what other ranks wrote before.
 * - Opening, reading, writing and closing of regular files take the time of the machine's storage
 *   model (wl_file_take_posix_time()). Their contents are those of the host, at once.
 * - write() to the standard output goes through stdout, which all ranks share: lines get their
 *   labels there, and what printf() and Fortran write stays in order.
 */
#include "mpi/lib/io/file.h"
#include "mpi/lib/libc/interpose.h"
#include "mpi/lib/libc/output.h"
#include "mpi/lib/library.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- signals ---- */

typedef void handler(int);

handler *__wrap_signal(int number, handler *function);
int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *old);

/* These report a crash or the first write to a page, or end the run. Programs, and the Fortran
 * run-time library, only believe that they have set a handler. */
static bool is_reserved(int number)
{
    return wl.port != NULL && !wl.in_child &&
           (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
            number == SIGABRT || number == SIGINT || number == SIGTERM || number == SIGHUP);
}

/* What signals did before the program set handlers of its own, which is the default to it: weft tells which
 * rank a signal ended. Signal handlers belong to the process. */
static struct {
    struct sigaction before;
    bool is_set;
} signals[NSIG];

int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction now = {.sa_handler = SIG_DFL};

    if (is_reserved(number)) {
        if (old != NULL) {
            *old = now;
        }
        return 0;
    }
    if (wl.port == NULL || wl.in_child || number <= 0 || number >= NSIG) {
        return sigaction(number, action, old);
    }
    bool was_set = signals[number].is_set;
    bool to_default = action != NULL && action->sa_handler == SIG_DFL;
    if (sigaction(number,
                  to_default && was_set ? &signals[number].before
                                        : (to_default ? NULL : action),
                  &now) != 0) {
        return -1;
    }
    if (!was_set && !to_default && action != NULL) {
        signals[number].before = now;
    }
    if (action != NULL) {
        signals[number].is_set = !to_default;
    }
    if (old != NULL) {
        *old = was_set ? now : (struct sigaction){.sa_handler = SIG_DFL};
    }
    return 0;
}

handler *__wrap_signal(int number, handler *function)
{
    const struct sigaction action = {.sa_handler = function, .sa_flags = SA_RESTART};
    struct sigaction old;

    return __wrap_sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* ---- calls that write to memory ---- */

static void unprotect(void *place, size_t bytes)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    if (self != NULL && place != NULL && bytes > 0) {
        wl.port->touch(self, place, bytes);
    }
}

/* NOLINTBEGIN(bugprone-macro-parentheses): they are types and parameter lists */
/* A function, its parameters, its arguments, and the memory that it writes to. */
#define WRAP(type, name, parameters, arguments, place, bytes) \
    type __wrap_##name parameters;                            \
    type __wrap_##name parameters                             \
    {                                                         \
        unprotect(place, bytes);                              \
        return (name)arguments;                               \
    }

WRAP(ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags), to, n)
WRAP(ssize_t, readlink, (const char *path, char *to, size_t n), (path, to, n), to, n)
WRAP(char *, getcwd, (char *to, size_t n), (to, n), to, n)
WRAP(int, fstat, (int fd, struct stat *to), (fd, to), to, sizeof(*to))
WRAP(int, fstat64, (int fd, struct stat64 *to), (fd, to), to, sizeof(*to))
WRAP(int, uname, (struct utsname * to), (to), to, sizeof(*to))
WRAP(int, pipe, (int to[2]), (to), to, 2 * sizeof(int))

/* ---- files: time ---- */

/* The simulated time of an operation on a file. `at` is where it began, or -1: `n` bytes before the
 * position. */
static void take_time(int fd, enum wf_op_kind kind, off_t at, ssize_t n)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;
    int error = errno;

    if (self != NULL && self->lib != NULL && !wl.in_child && fd > STDERR_FILENO && n >= 0) {
        struct wl_rank *rank = wl_enter();
        wl_file_take_posix_time(rank, fd, kind, at, (size_t)n);
        wl_leave(rank);
    }
    errno = error;
}

/* Likewise of a stream, whose position is not that of its descriptor. */
static void take_stream_time(FILE *file, enum wf_op_kind kind, size_t bytes)
{
    off_t at = ftello(file);

    take_time(fileno(file), kind, at > (off_t)bytes ? at - (off_t)bytes : 0, (ssize_t)bytes);
}

/* A function that moves `n` bytes, and what it prepares; the result is `got`. */
#define WRAP_MOVE(type, name, parameters, arguments, prepare, time) \
    type __wrap_##name parameters;                                  \
    type __wrap_##name parameters                                   \
    {                                                               \
        prepare;                                                    \
        type got = (name)arguments;                                 \
        time;                                                       \
        return got;                                                 \
    }

WRAP_MOVE(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), unprotect(to, n),
          take_time(fd, WF_OP_FILE_READ, -1, got))
WRAP_MOVE(ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at),
          unprotect(to, n), take_time(fd, WF_OP_FILE_READ, at, got))
WRAP_MOVE(ssize_t, pread64, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at),
          unprotect(to, n), take_time(fd, WF_OP_FILE_READ, at, got))
WRAP_MOVE(size_t, fread, (void *to, size_t size, size_t n, FILE *file), (to, size, n, file),
          unprotect(to, size *n), take_stream_time(file, WF_OP_FILE_READ, got *size))
WRAP_MOVE(size_t, fread_unlocked, (void *to, size_t size, size_t n, FILE *file),
          (to, size, n, file), unprotect(to, size *n),
          take_stream_time(file, WF_OP_FILE_READ, got *size))
WRAP_MOVE(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at), ,
          take_time(fd, WF_OP_FILE_WRITE, at, got))
WRAP_MOVE(ssize_t, pwrite64, (int fd, const void *from, size_t n, off64_t at),
          (fd, from, n, at), , take_time(fd, WF_OP_FILE_WRITE, at, got))
WRAP_MOVE(size_t, fwrite, (const void *from, size_t size, size_t n, FILE *file),
          (from, size, n, file), , take_stream_time(file, WF_OP_FILE_WRITE, got *size))
WRAP_MOVE(int, fsync, (int fd), (fd), , take_time(fd, WF_OP_FILE_SYNC, 0, 0))
WRAP_MOVE(int, fdatasync, (int fd), (fd), , take_time(fd, WF_OP_FILE_SYNC, 0, 0))

/* Standard streams are those of the rank (output.h). */
int __wrap_fclose(FILE *file);
int __wrap_close(int fd);

int __wrap_fclose(FILE *file)
{
    take_time(fileno(file), WF_OP_FILE_CLOSE, 0, 0);
    return wl_libc_fclose(file);
}

int __wrap_close(int fd)
{
    take_time(fd, WF_OP_FILE_CLOSE, 0, 0);
    return wl_libc_close(fd);
}

/* The variants that compilers call to check bounds. */
ssize_t __wrap___read_chk(int fd, void *to, size_t n, size_t capacity);
size_t __wrap___fread_chk(void *to, size_t capacity, size_t size, size_t n, FILE *file);

ssize_t __wrap___read_chk(int fd, void *to, size_t n, size_t capacity)
{
    return n <= capacity ? __wrap_read(fd, to, n) : -1;
}

size_t __wrap___fread_chk(void *to, size_t capacity, size_t size, size_t n, FILE *file)
{
    return size == 0 || n <= capacity / size ? __wrap_fread(to, size, n, file) : 0;
}

ssize_t __wrap_readv(int fd, const struct iovec *parts, int n);
ssize_t __wrap_readv(int fd, const struct iovec *parts, int n)
{
    for (int i = 0; i < n; i++) {
        unprotect(parts[i].iov_base, parts[i].iov_len);
    }
    return readv(fd, parts, n);
}

/* ---- files ---- */

static void catch_up(void)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    if (self != NULL && self->lib != NULL && !wl.in_child) {
        struct wl_rank *rank = wl_enter();
        wl_catch_up(rank);
        wl_leave(rank);
    }
}

#define WRAP_PATH(type, name, parameters, arguments) \
    type __wrap_##name parameters;                   \
    type __wrap_##name parameters                    \
    {                                                \
        catch_up();                                  \
        return (name)arguments;                      \
    }

WRAP_PATH(DIR *, opendir, (const char *path), (path))
WRAP_PATH(int, access, (const char *path, int mode), (path, mode))
WRAP_PATH(int, unlink, (const char *path), (path))
WRAP_PATH(int, remove, (const char *path), (path))
WRAP_PATH(int, rename, (const char *from, const char *to), (from, to))
WRAP_PATH(int, mkdir, (const char *path, mode_t mode), (path, mode))

static FILE *opened(FILE *file)
{
    if (file != NULL) {
        take_time(fileno(file), WF_OP_FILE_OPEN, 0, 0);
    }
    return file;
}

static int opened_fd(int fd)
{
    take_time(fd, WF_OP_FILE_OPEN, 0, 0);
    return fd;
}

FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    catch_up();
    return opened(fopen(path, mode));
}

FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode)
{
    catch_up();
    return opened(fopen64(path, mode));
}

#define WRAP_STAT(name, type)                      \
    int __wrap_##name(const char *path, type *to); \
    int __wrap_##name(const char *path, type *to)  \
    {                                              \
        catch_up();                                \
        unprotect(to, sizeof(*to));                \
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
    catch_up();
    return opened_fd(open(path, flags, mode));
}

int __wrap_open64(const char *path, int flags, ...)
{
    va_list ap;

    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    catch_up();
    return opened_fd(open64(path, flags, mode));
}

/* ---- output ---- */

ssize_t __wrap_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n)
{
    if (fd == STDOUT_FILENO && wl.port != NULL && wl.port->self() != NULL && !wl.in_child) {
        return (ssize_t)fwrite(from, 1, n, stdout);
    }
    ssize_t got = write(wl_stream_fd(fd), from, n);
    take_time(fd, WF_OP_FILE_WRITE, -1, got);
    return got;
}
