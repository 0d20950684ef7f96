/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP_MIN = 1 << 12, STEP_MAX = 1 << 20 };
enum { WRITER_TRIES = 100, WRITER_WAIT_MS = 10 };

/* Reads some bytes, as read() does. The file is open without blocking: the call waits for a
 * pipe that has a writer, and a pipe that `begins` has a second to get one. */
static ssize_t read_some(int fd, bool begins, unsigned char *to, size_t size)
{
    int tries = begins ? WRITER_TRIES : 0;

    for (;;) {
        ssize_t n = read(fd, to, size);

        if (n == 0 && tries > 0) {
            tries--;
            (void)poll(NULL, 0, WRITER_WAIT_MS);
        } else if (n < 0 && errno == EAGAIN) {
            struct pollfd wait = {.fd = fd, .events = POLLIN};
            (void)poll(&wait, 1, -1);
        } else if (n >= 0 || errno != EINTR) {
            return n;
        }
    }
}

static enum wf_status cannot_read(const char *path, const char *why, struct wf_err *err)
{
    return wf_err_set(err, WF_EIO, "cannot read '%.200s': %s", path, why);
}

static enum wf_status too_long(const char *path, size_t max_bytes, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL, "'%.200s' is longer than %zu bytes", path, max_bytes);
}

static enum wf_status read_all(int fd, const char *path, size_t max_bytes, struct wf_buf *out,
                               struct wf_err *err)
{
    struct stat st;
    size_t first = out->size;

    if (fstat(fd, &st) != 0) {
        return cannot_read(path, strerror(errno), err);
    }
    if ((S_ISCHR(st.st_mode) && isatty(fd) == 0) || S_ISBLK(st.st_mode)) {
        return cannot_read(path, "it is a device; expected a file", err);
    }
    if (S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size > max_bytes) {
        return too_long(path, max_bytes, err);
    }
    bool is_pipe = S_ISFIFO(st.st_mode);
    size_t step = S_ISREG(st.st_mode) && st.st_size > STEP_MIN && st.st_size < STEP_MAX
                      ? (size_t)st.st_size + 1
                      : STEP_MIN;
    for (;;) {
        size_t left = max_bytes - (out->size - first);
        size_t wanted = step <= left ? step : left + 1;

        wf_buf_reserve(out, out->size + wanted + 1);
        bool begins = is_pipe && out->size == first;
        ssize_t n = read_some(fd, begins, out->data + out->size, wanted);
        if (n < 0) {
            return cannot_read(path, strerror(errno), err);
        }
        if (n == 0) {
            out->data[out->size] = '\0';
            return begins ? cannot_read(path, "nothing writes to this pipe", err) : WF_OK;
        }
        if ((size_t)n > left) {
            return too_long(path, max_bytes, err);
        }
        out->size += (size_t)n;
        step = step < STEP_MAX ? 2 * step : step;
    }
}

enum wf_status wf_file_read(const char *path, size_t max_bytes, struct wf_buf *out,
                            struct wf_err *err)
{
    int fd = wf_guard_fd(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));

    if (fd < 0) {
        return cannot_read(path, strerror(errno), err);
    }
    enum wf_status status = read_all(fd, path, max_bytes, out, err);
    (void)wf_close(fd);
    return status;
}

size_t wf_file_head(const char *path, void *bytes, size_t n)
{
    int fd = wf_guard_fd(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat st;
    size_t got = 0;
    ssize_t more = 1;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        while (got < n && more > 0) {
            more = read_some(fd, false, (unsigned char *)bytes + got, n - got);
            got += more > 0 ? (size_t)more : 0;
        }
    }
    if (fd >= 0) {
        (void)wf_close(fd);
    }
    return got;
}
