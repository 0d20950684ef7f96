/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Files of a trace that are read from front to back, and errors that name the place.
 *
 * Neither kind of file trusts what it reads. A binary file yields zeros beyond its end and sets
 * `failed`: a reader takes a whole record apart and then asks once whether it was all there.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reader's `err` holds the first failure, and WF_OK until then (wf_reader_open() sees to it).
 * So functions of a reader need not return a status: after a failure they do nothing, and the
 * loop over records ends. */
static inline bool wf_trace_failed(const struct wf_err *err)
{
    return err->status != WF_OK;
}

/* Where a reader is, for errors. Files keep their path here; the reader sets the rest. */
struct wf_trace_place {
    const char *path;
    uint64_t line; /* 0: the file has no lines */
    uint64_t byte;
    const char *counts; /* what `byte` counts; null: bytes */
    const char *unit;   /* "rank" or "PE"; null: it concerns no rank */
    int64_t rank;
    struct wf_err *err;
};

/* Sets WF_EINVAL, if nothing failed before, with words after the place: "FILE: byte 12, rank 3:
 * ..." or "FILE: line 2 (byte 12), rank 3: ...". */
WF_PRINTF(2, 3)
void wf_trace_bad(const struct wf_trace_place *place, const char *fmt, ...);
/* Puts the place before what is in `err` already. */
void wf_trace_prefix(const struct wf_trace_place *place);

enum { WF_INFILE_LOOK_MAX = 64 };

struct wf_infile {
    struct wf_trace_place place;
    int fd;
    bool swapped; /* numbers have the least significant byte first */
    bool failed;
    uint64_t size; /* of the file */
    uint64_t base; /* where the buffer begins in it */
    size_t n, next;
    unsigned char *buffer;
    unsigned char rest[WF_INFILE_LOOK_MAX]; /* for wf_infile_look() at the end of the file */
};

/* Opens a regular file. Anything else is WF_EIO or WF_EINVAL. The path is copied. */
enum wf_status wf_infile_open(struct wf_infile *in, const char *path, struct wf_err *err);
void wf_infile_close(struct wf_infile *in); /* zeroed is allowed */

/* Goes to a place. A place beyond the end sets `failed`. */
void wf_infile_seek(struct wf_infile *in, uint64_t offset);

static inline uint64_t wf_infile_at(const struct wf_infile *in)
{
    return in->base + in->next;
}

static inline uint64_t wf_infile_left(const struct wf_infile *in)
{
    return in->size - wf_infile_at(in);
}

/* In Clang's builds with AddressSanitizer the mutators of the fuzz targets (tests/fuzz/described.h) learn
 * here which bytes of a file a reader takes as one. */
#define WF_INFILE_NOTE(in, n)
#ifdef __has_feature
#if __has_feature(address_sanitizer)
__attribute__((weak)) void wf_infile_noted(const struct wf_infile *in, size_t n);
#undef WF_INFILE_NOTE
#define WF_INFILE_NOTE(in, n)      \
    if (wf_infile_noted != NULL) { \
        wf_infile_noted(in, n);    \
    }
#endif
#endif

/* The next bytes, at most 4096, valid until the next call; zeros if the file ends before. */
const unsigned char *wf_infile_fetch(struct wf_infile *in, size_t n); /* not in the buffer */
static inline const unsigned char *wf_infile_bytes(struct wf_infile *in, size_t n)
{
    WF_INFILE_NOTE(in, n)
    if (in->failed || in->n - in->next < n) {
        return wf_infile_fetch(in, n);
    }
    const unsigned char *bytes = in->buffer + in->next;
    in->next += n;
    return bytes;
}

/* The next bytes, which are not passed, if all of them are in the buffer; else null. */
static inline const unsigned char *wf_infile_ready(const struct wf_infile *in, size_t n)
{
    WF_INFILE_NOTE(in, n)
    return in->failed || in->n - in->next < n ? NULL : in->buffer + in->next;
}

/* Passes bytes that are in the buffer. */
static inline void wf_infile_pass(struct wf_infile *in, size_t n)
{
    in->next += n;
}

/* The next bytes, at most WF_INFILE_LOOK_MAX, which are not passed; those after the end of the
 * file are zeros, and nothing fails. */
const unsigned char *wf_infile_look_far(struct wf_infile *in, size_t n); /* not in the buffer */
static inline const unsigned char *wf_infile_look(struct wf_infile *in, size_t n)
{
    const unsigned char *ready = wf_infile_ready(in, n);

    return ready != NULL ? ready : wf_infile_look_far(in, n);
}

void wf_infile_skip(struct wf_infile *in, uint64_t n);

/* The next number, of 1 to 8 bytes. Widths that are constant, as they mostly are, make this a
 * few instructions. */
static inline uint64_t wf_infile_unsigned(struct wf_infile *in, unsigned width)
{
    const unsigned char *b = wf_infile_bytes(in, width);
    uint64_t value = 0;

    if (!in->swapped && width == 4) {
        return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    if (!in->swapped && width == 2) {
        return (uint64_t)b[0] << 8 | b[1];
    }
    for (unsigned i = 0; i < width; i++) {
        value = value << 8 | b[in->swapped ? width - 1 - i : i];
    }
    return value;
}

static inline int64_t wf_infile_signed(struct wf_infile *in, unsigned width)
{
    uint64_t value = wf_infile_unsigned(in, width);
    uint64_t sign = UINT64_C(1) << (width * 8 - 1);

    return (int64_t)((value ^ sign) - sign);
}

/* A text file, read in lines or in blocks. */
struct wf_intext {
    struct wf_trace_place place; /* wf_intext_line() keeps line and byte up to date */
    int fd;
    uint64_t size;   /* of the file, or the end of the part that is read */
    uint64_t offset; /* of the end of the buffer in it */
    char *buffer;
    size_t capacity, n, next;
    size_t nul; /* the place of the first NUL byte in the buffer, or n */
};

/* As for binary files. */
enum wf_status wf_intext_open(struct wf_intext *text, const char *path, struct wf_err *err);
void wf_intext_close(struct wf_intext *text); /* zeroed is allowed */
/* Closes the file, if `text` has one, and opens another. The buffer is used again, so that many
 * small files cost less. */
enum wf_status wf_intext_turn_to(struct wf_intext *text, const char *path, struct wf_err *err);

/* Reading goes on at byte `begin`, before which there are `line` lines, and ends before `end`,
 * which is at most the size of the file. */
void wf_intext_part(struct wf_intext *text, uint64_t begin, uint64_t end, uint64_t line);

/* The byte at which the next line begins. */
static inline uint64_t wf_intext_at(const struct wf_intext *text)
{
    return text->offset - (text->n - text->next);
}

/* The next line, without its end ("\n" or "\r\n"), and its length; null after the last or after a
 * failure. The caller may change it; it is valid until the next call. A NUL byte is a
 * failure. */
char *wf_intext_line(struct wf_intext *text, size_t *length);

/* Passes lines that begin with these bytes (no NUL, no line end), as long as the buffer has more
 * of them: perhaps not all, and cheaper than reading them. */
void wf_intext_skip_like(struct wf_intext *text, const char *head, size_t n);

/* Reads the next block, of at most `n` bytes, and returns its size; 0 at the end. Not together
 * with lines. */
size_t wf_intext_block(struct wf_intext *text, void *bytes, size_t n);
