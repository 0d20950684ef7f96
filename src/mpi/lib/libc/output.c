/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/lib/libc/output.h"

#include "mpi/lib/libc/interpose.h"
#include "mpi/lib/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { N_STREAMS = 2 };

/* A rank that has redirected a stream. */
struct wl_streams {
    bool is_own[N_STREAMS]; /* by descriptor, from 1 on */
    FILE *to[N_STREAMS];    /* null: closed */
};

/* Variables of the process, as stdout and stderr are: null while no rank has redirected them. */
static struct {
    pthread_mutex_t lock;
    FILE *before[N_STREAMS], *ours[N_STREAMS];
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct wl_rank *running(void)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    return self != NULL && !wl.in_child ? self->lib : NULL;
}

static FILE **variable(int stream)
{
    return stream == 0 ? &stdout : &stderr;
}

/* 0 for the standard output, 1 for the error output, -1 for any other. */
static int stream_of(const FILE *file)
{
    for (int i = 0; i < N_STREAMS; i++) {
        if (file != NULL && (file == *variable(i) || file == shared.before[i])) {
            return i;
        }
    }
    return -1;
}

static int stream_of_fd(int fd)
{
    return fd == STDOUT_FILENO ? 0 : fd == STDERR_FILENO ? 1 : -1;
}

static ssize_t put(void *cookie, const char *text, size_t size)
{
    int stream = (int)(intptr_t)cookie;
    const struct wl_rank *rank = running();
    FILE *to = shared.before[stream];

    if (rank != NULL && rank->streams != NULL && rank->streams->is_own[stream]) {
        to = rank->streams->to[stream];
    }
    if (to != NULL) {
        (void)fwrite(text, 1, size, to);
    }
    return (ssize_t)size; /* an error here would be one of all ranks */
}

static void take_over(int stream)
{
    (void)pthread_mutex_lock(&shared.lock);
    if (shared.ours[stream] == NULL) {
        FILE *ours =
            fopencookie((void *)(intptr_t)stream, "w", (cookie_io_functions_t){.write = put});
        if (ours != NULL) {
            /* Unbuffered: a buffer would mix the output of ranks. */
            (void)setvbuf(ours, NULL, _IONBF, 0);
            shared.before[stream] = *variable(stream);
            shared.ours[stream] = ours;
            *variable(stream) = ours;
        }
    }
    (void)pthread_mutex_unlock(&shared.lock);
}

void wl_streams_restore(void)
{
    for (int i = 0; i < N_STREAMS; i++) {
        if (shared.ours[i] != NULL) {
            (void)fflush(shared.before[i]);
            *variable(i) = shared.before[i];
            (void)fclose(shared.ours[i]);
            shared.ours[i] = shared.before[i] = NULL;
        }
    }
}

/* ---- the streams of a rank ---- */

static void drop(struct wl_rank *rank, int stream)
{
    if (rank->streams != NULL && rank->streams->to[stream] != NULL) {
        (void)fclose(rank->streams->to[stream]);
        rank->streams->to[stream] = NULL;
    }
}

/* From now on the rank writes to this file; to nothing if it is null. */
static void redirect(struct wl_rank *rank, int stream, FILE *to)
{
    if (rank->streams == NULL) {
        rank->streams = wl_calloc(1, sizeof(*rank->streams));
    }
    drop(rank, stream);
    rank->streams->is_own[stream] = true;
    rank->streams->to[stream] = to;
    take_over(stream);
}

void wl_streams_free(struct wl_rank *rank)
{
    for (int i = 0; i < N_STREAMS; i++) {
        drop(rank, i);
        if (shared.before[i] != NULL) {
            (void)fflush(shared.before[i]);
        }
    }
    free(rank->streams);
    rank->streams = NULL;
}

int wl_stream_fd(int fd)
{
    const struct wl_rank *rank = running();
    int stream = stream_of_fd(fd);

    if (rank == NULL || stream < 0 || rank->streams == NULL || !rank->streams->is_own[stream]) {
        return fd;
    }
    return rank->streams->to[stream] != NULL ? fileno(rank->streams->to[stream]) : -1;
}

void wl_streams_in_child(const struct wl_rank *rank)
{
    for (int i = 0; rank->streams != NULL && i < N_STREAMS; i++) {
        if (rank->streams->is_own[i] && rank->streams->to[i] != NULL) {
            (void)dup2(fileno(rank->streams->to[i]), STDOUT_FILENO + i);
        } else if (rank->streams->is_own[i]) {
            (void)close(STDOUT_FILENO + i);
        }
    }
}

/* ---- what a program calls ---- */

/* A copy that only this file closes. Null, with errno, if there is none. */
static FILE *copy_of(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *file = copy >= 0 ? fdopen(copy, "w") : NULL;

    if (file == NULL && copy >= 0) {
        (void)close(copy);
    }
    return file;
}

/* Whether a descriptor is what the process writes to: a rank that saved its output has it again. */
static bool is_original(int fd, int stream)
{
    struct stat one, other;

    return fstat(fd, &one) == 0 && fstat(STDOUT_FILENO + stream, &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

int wl_libc_dup2(int from, int to)
{
    struct wl_rank *rank = running();
    int stream = stream_of_fd(to);

    from = wl_stream_fd(from);
    if (rank == NULL || stream < 0) {
        return dup2(from, to);
    }
    FILE *copy = copy_of(from);
    if (copy == NULL) {
        return -1;
    }
    if (stream == 1) {
        (void)setvbuf(copy, NULL, _IONBF, 0);
    }
    if (is_original(from, stream)) {
        (void)fclose(copy);
        drop(rank, stream);
        if (rank->streams != NULL) {
            rank->streams->is_own[stream] = false;
        }
    } else {
        redirect(rank, stream, copy);
    }
    return to;
}

int wl_libc_dup3(int from, int to, int flags)
{
    return running() != NULL && stream_of_fd(to) >= 0 ? wl_libc_dup2(from, to)
                                                      : dup3(wl_stream_fd(from), to, flags);
}

int wl_libc_dup(int fd)
{
    return dup(wl_stream_fd(fd));
}

int wl_libc_close(int fd)
{
    struct wl_rank *rank = running();
    int stream = stream_of_fd(fd);

    if (rank == NULL || stream < 0) {
        return close(fd);
    }
    if (wl_stream_fd(fd) < 0) {
        errno = EBADF;
        return -1;
    }
    redirect(rank, stream, NULL);
    return 0;
}

int wl_libc_fclose(FILE *stream)
{
    int number = stream_of(stream);

    return running() != NULL && number >= 0 ? wl_libc_close(STDOUT_FILENO + number)
                                            : fclose(stream);
}

FILE *wl_libc_freopen64(const char *path, const char *mode, FILE *stream)
{
    return wl_libc_freopen(path, mode, stream);
}

FILE *wl_libc_freopen(const char *path, const char *mode, FILE *stream)
{
    struct wl_rank *rank = running();
    int number = stream_of(stream);

    if (rank == NULL || number < 0 || path == NULL) {
        return rank != NULL && number >= 0 ? stream : freopen(path, mode, stream);
    }
    FILE *to = fopen(path, mode);
    if (to != NULL && number == 1) {
        (void)setvbuf(to, NULL, _IONBF, 0);
    }
    redirect(rank, number, to);
    return to != NULL ? *variable(number) : NULL;
}

int wl_libc_fileno(FILE *stream)
{
    int number = running() != NULL ? stream_of(stream) : -1;

    return number >= 0 ? STDOUT_FILENO + number : fileno(stream);
}

int wl_libc_setvbuf(FILE *stream, char *buffer, int mode, size_t size)
{
    int number = running() != NULL ? stream_of(stream) : -1;

    if (number < 0) {
        return setvbuf(stream, buffer, mode, size);
    }
    if (mode != _IOFBF && mode != _IOLBF && mode != _IONBF) {
        return -1;
    }
    /* Not of a stream that asks which rank writes. */
    return mode != _IOFBF && fileno(stream) >= 0 ? setvbuf(stream, NULL, mode, 0) : 0;
}

void wl_libc_setbuf(FILE *stream, char *buffer)
{
    (void)wl_libc_setvbuf(stream, buffer, buffer != NULL ? _IOFBF : _IONBF, BUFSIZ);
}
