/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/kit/infile.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16, AT_ONCE = 4096 };

/* Opens a regular file only: opening a pipe would block until a process writes to it. */
static enum wf_status open_file(const char *path, int *fd, uint64_t *size, struct wf_err *err)
{
    struct stat st;

    *fd = -1;
    if (stat(path, &st) != 0 ||
        (S_ISREG(st.st_mode) && (*fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)) {
        return wf_err_set(err, WF_EIO, "cannot read '%.300s': %s", path, strerror(errno));
    }
    *size = (uint64_t)st.st_size;
    return *fd >= 0 ? WF_OK
                    : wf_err_set(err, WF_EINVAL,
                                 "'%.300s' is no file: traces are read from files", path);
}

enum wf_status wf_infile_open(struct wf_infile *in, const char *path, struct wf_err *err)
{
    *in = (struct wf_infile){.fd = -1, .place.err = err};
    WF_TRY(open_file(path, &in->fd, &in->size, err));
    in->place.path = wf_xstrdup(path);
    in->buffer = wf_xmalloc(BUFFER_BYTES);
    return WF_OK;
}

void wf_infile_close(struct wf_infile *in)
{
    if (in->place.path != NULL) {
        (void)close(in->fd);
        free(wf_unconst(in->place.path));
        free(in->buffer);
    }
    *in = (struct wf_infile){.fd = -1};
}

void wf_infile_seek(struct wf_infile *in, uint64_t offset)
{
    if (offset > in->size) {
        in->failed = true;
        offset = in->size;
    }
    if (offset >= in->base && offset - in->base <= in->n) {
        in->next = (size_t)(offset - in->base);
        return;
    }
    in->base = offset;
    in->n = 0;
    in->next = 0;
}

/* Reads until `n` bytes are in the buffer. Returns false if the file ends before. */
static bool fill(struct wf_infile *in, size_t n)
{
    size_t kept = in->n - in->next;

    memmove(in->buffer, in->buffer + in->next, kept);
    in->base += in->next;
    in->next = 0;
    in->n = kept;
    while (in->n < n) {
        ssize_t got =
            pread(in->fd, in->buffer + in->n, BUFFER_BYTES - in->n, (off_t)(in->base + in->n));
        if (got <= 0) {
            if (got < 0 && errno == EINTR) {
                continue;
            }
            return false;
        }
        in->n += (size_t)got;
    }
    return true;
}

const unsigned char *wf_infile_bytes(struct wf_infile *in, size_t n)
{
    static const unsigned char zeros[AT_ONCE];

    assert(n <= AT_ONCE);
    if (in->failed || (in->n - in->next < n && !fill(in, n))) {
        in->failed = true;
        return zeros;
    }
    const unsigned char *bytes = in->buffer + in->next;
    in->next += n;
    return bytes;
}

void wf_infile_skip(struct wf_infile *in, uint64_t n)
{
    if (n > wf_infile_left(in)) {
        in->failed = true;
    } else {
        wf_infile_seek(in, wf_infile_at(in) + n);
    }
}

uint64_t wf_infile_unsigned(struct wf_infile *in, unsigned width)
{
    const unsigned char *bytes = wf_infile_bytes(in, width);
    uint64_t value = 0;

    for (unsigned i = 0; i < width; i++) {
        value = value << 8 | bytes[in->swapped ? width - 1 - i : i];
    }
    return value;
}

int64_t wf_infile_signed(struct wf_infile *in, unsigned width)
{
    assert(width >= 1 && width <= 8);
    uint64_t value = wf_infile_unsigned(in, width);
    uint64_t sign = UINT64_C(1) << (width * 8 - 1);

    return (int64_t)((value ^ sign) - sign);
}

/* ---- text ---- */

enum wf_status wf_intext_open(struct wf_intext *text, const char *path, struct wf_err *err)
{
    int fd = -1;

    *text = (struct wf_intext){.place.err = err};
    enum wf_status status = open_file(path, &fd, &text->size, err);
    if (status != WF_OK) {
        return status;
    }
    text->in = fdopen(fd, "rb");
    if (text->in == NULL) {
        status = wf_err_set(err, WF_EIO, "cannot read '%.300s': %s", path, strerror(errno));
        (void)close(fd);
        return status;
    }
    text->place.path = wf_xstrdup(path);
    return WF_OK;
}

void wf_intext_close(struct wf_intext *text)
{
    if (text->in != NULL) {
        (void)fclose(text->in);
    }
    free(wf_unconst(text->place.path));
    *text = (struct wf_intext){.in = NULL};
}

/* ---- errors ---- */

void wf_trace_prefix(const struct wf_trace_place *place)
{
    char line[40] = "", whose[48] = "";

    if (place->line > 0) {
        (void)snprintf(line, sizeof(line), "line %" PRIu64 " (", place->line);
    }
    if (place->unit != NULL) {
        (void)snprintf(whose, sizeof(whose), ", %s %" PRId64, place->unit, place->rank);
    }
    wf_err_prefix(place->err, "%.200s: %s%s %" PRIu64 "%s%s: ", place->path, line,
                  place->counts != NULL ? place->counts : "byte", place->byte,
                  place->line > 0 ? ")" : "", whose);
}

void wf_trace_bad(const struct wf_trace_place *place, const char *fmt, ...)
{
    struct wf_err *err = place->err;
    va_list args;

    if (!wf_trace_failed(err)) {
        va_start(args, fmt);
        (void)vsnprintf(err->text, sizeof(err->text), fmt, args);
        va_end(args);
        err->status = WF_EINVAL;
        wf_trace_prefix(place);
    }
}
