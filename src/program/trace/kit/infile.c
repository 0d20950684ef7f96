/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/kit/infile.h"

#include "base/guard.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16, AT_ONCE = 4096 };

/* Opens a regular file only. Opening a pipe must not block until a process writes to it. */
static enum wf_status open_file(const char *path, int *fd, uint64_t *size, struct wf_err *err)
{
    struct stat st;

    *fd = wf_guard_fd(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (*fd < 0 || fstat(*fd, &st) != 0) {
        (void)wf_err_set(err, WF_EIO, "cannot read '%.300s': %s", path, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        (void)wf_err_set(err, WF_EINVAL, "'%.300s' is no file: traces are read from files",
                         path);
    } else {
        *size = (uint64_t)st.st_size;
        return WF_OK;
    }
    if (*fd >= 0) {
        (void)wf_close(*fd);
    }
    return err->status;
}

/* Reads up to `n` bytes at a place; 0 at the end, negative on failure. */
static ssize_t read_at(int fd, void *bytes, size_t n, uint64_t offset)
{
    ssize_t got;

    do {
        got = pread(fd, bytes, n, (off_t)offset);
    } while (got < 0 && errno == EINTR);
    return got;
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
        (void)wf_close(in->fd);
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
        if (in->base + in->n >= in->size) {
            return false; /* without asking the system: many files are short */
        }
        ssize_t got =
            read_at(in->fd, in->buffer + in->n, BUFFER_BYTES - in->n, in->base + in->n);
        if (got <= 0) {
            return false;
        }
        in->n += (size_t)got;
    }
    return true;
}

const unsigned char *wf_infile_fetch(struct wf_infile *in, size_t n)
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

const unsigned char *wf_infile_look_far(struct wf_infile *in, size_t n)
{
    assert(n <= WF_INFILE_LOOK_MAX);
    if (!in->failed && fill(in, n)) {
        return in->buffer;
    }
    memset(in->rest, 0, sizeof(in->rest));
    if (!in->failed) {
        memcpy(in->rest, in->buffer, in->n); /* all that is left: fewer than n */
    }
    return in->rest;
}

void wf_infile_skip(struct wf_infile *in, uint64_t n)
{
    if (n > wf_infile_left(in)) {
        in->failed = true;
    } else {
        wf_infile_seek(in, wf_infile_at(in) + n);
    }
}

/* ---- text ---- */

/* Closes the file, if there is one. Nothing is left but the buffer. */
static void leave_file(struct wf_intext *text)
{
    if (text->place.path != NULL) {
        (void)wf_close(text->fd);
        free(wf_unconst(text->place.path));
    }
    *text = (struct wf_intext){.fd = -1, .buffer = text->buffer, .capacity = text->capacity};
}

enum wf_status wf_intext_turn_to(struct wf_intext *text, const char *path, struct wf_err *err)
{
    leave_file(text);
    text->place.err = err;
    WF_TRY(open_file(path, &text->fd, &text->size, err));
    text->place.path = wf_xstrdup(path);
    return WF_OK;
}

enum wf_status wf_intext_open(struct wf_intext *text, const char *path, struct wf_err *err)
{
    *text = (struct wf_intext){.fd = -1};
    return wf_intext_turn_to(text, path, err);
}

void wf_intext_close(struct wf_intext *text)
{
    leave_file(text);
    free(text->buffer);
    *text = (struct wf_intext){.fd = -1};
}

void wf_intext_part(struct wf_intext *text, uint64_t begin, uint64_t end, uint64_t line)
{
    assert(begin <= end);
    text->offset = begin;
    text->size = end;
    text->place.line = line;
    text->n = 0;
    text->next = 0;
    text->nul = 0;
}

size_t wf_intext_block(struct wf_intext *text, void *bytes, size_t n)
{
    uint64_t left = text->size - text->offset;
    ssize_t got = read_at(text->fd, bytes, n < left ? n : (size_t)left, text->offset);

    if (got < 0 && !wf_trace_failed(text->place.err)) {
        (void)wf_err_set(text->place.err, WF_EIO, "cannot read '%.300s': %s", text->place.path,
                         strerror(errno));
    }
    text->offset += got > 0 ? (uint64_t)got : 0;
    return got > 0 ? (size_t)got : 0;
}

/* Makes the buffer large enough for more behind what is left in it: for all of a short file. */
static void make_room(struct wf_intext *text, size_t left)
{
    bool is_full = left + 1 >= text->capacity && text->capacity >= BUFFER_BYTES;
    size_t most = is_full ? text->capacity * 2 : BUFFER_BYTES;
    size_t wanted = text->size < most ? (size_t)text->size + 2 : most;

    if (wanted > text->capacity) {
        text->capacity = wanted;
        text->buffer = wf_xrealloc(text->buffer, wanted, 1);
    }
}

/* Reads more behind what is left in the buffer; false if there is no more. A byte stays free
 * for the end of the last line. */
static bool read_more(struct wf_intext *text)
{
    size_t left = text->n - text->next;

    if (text->offset >= text->size) {
        return false;
    }
    make_room(text, left);
    memmove(text->buffer, text->buffer + text->next, left);
    size_t got = wf_intext_block(text, text->buffer + left, text->capacity - 1 - left);
    text->next = 0;
    text->n = left + got;
    const char *nul = memchr(text->buffer, '\0', text->n);
    text->nul = nul != NULL ? (size_t)(nul - text->buffer) : text->n;
    return got > 0;
}

char *wf_intext_line(struct wf_intext *text, size_t *length)
{
    char *end = NULL;
    size_t searched = 0;

    if (wf_trace_failed(text->place.err)) {
        return NULL;
    }
    for (;;) {
        size_t left = text->n - text->next;
        if (left > searched) {
            end = memchr(text->buffer + text->next + searched, '\n', left - searched);
        }
        if (end != NULL) {
            break;
        }
        searched = left;
        if (!read_more(text)) {
            if (left == 0 || wf_trace_failed(text->place.err)) {
                return NULL;
            }
            end = text->buffer + text->n; /* the last line has no end */
            break;
        }
    }
    char *line = text->buffer + text->next;
    text->place.line++;
    text->place.byte = wf_intext_at(text);
    text->next = (size_t)(end - text->buffer) + (end < text->buffer + text->n ? 1 : 0);
    if (text->nul < text->next) {
        wf_trace_bad(&text->place, "a NUL byte in the line: this is no text file");
        return NULL;
    }
    end -= end > line && end[-1] == '\r' ? 1 : 0;
    *end = '\0';
    *length = (size_t)(end - line);
    return line;
}

void wf_intext_skip_like(struct wf_intext *text, const char *head, size_t n)
{
    const char *at = text->buffer + text->next, *last = text->buffer + text->nul;

    while ((size_t)(last - at) > n && memcmp(at, head, n) == 0) {
        const char *end = memchr(at + n, '\n', (size_t)(last - at) - n);
        if (end == NULL) {
            break;
        }
        at = end + 1;
        text->place.line++;
    }
    text->next = (size_t)(at - text->buffer);
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
