/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/otf2/file.h"

#include "base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEADER_BYTES = 18, EIGHT = 8 };

enum wf_status wf_otf2_file_open(struct wf_otf2_file *file, const char *path,
                                 uint64_t chunk_bytes, int64_t rank, struct wf_err *err)
{
    *file = (struct wf_otf2_file){.whose = "", .chunk_bytes = chunk_bytes};
    WF_TRY(wf_infile_open(&file->in, path, err));
    file->in.place.unit = rank >= 0 ? "rank" : NULL;
    file->in.place.rank = rank;
    return WF_OK;
}

void wf_otf2_file_close(struct wf_otf2_file *file)
{
    wf_infile_close(&file->in);
}

void wf_otf2_file_damaged(struct wf_otf2_file *file, uint64_t at, const char *what)
{
    file->in.place.byte = at;
    wf_trace_bad(&file->in.place, "%s%s; truncated or damaged", file->whose, what);
}

/* ---- chunks ---- */

static bool check_header(struct wf_otf2_file *file, uint64_t begin, const unsigned char *header)
{
    bool is_little = header[1] == WF_OTF2_LITTLE;

    if (header[0] != WF_OTF2_CHUNK || file->in.failed) {
        wf_otf2_file_damaged(file, begin, "no chunk of records begins here");
    } else if (!is_little && header[1] != WF_OTF2_BIG) {
        wf_otf2_file_damaged(file, begin + 1, "an order of bytes that is not known");
    } else if (begin == 0 && header[is_little ? 2 : 9] != 1) {
        /* The number of the first event is 1, so its low byte shows the byte order. */
        wf_otf2_file_damaged(file, begin + 2,
                             "the bytes of numbers are not in the order that the file says");
    } else {
        return true;
    }
    return false;
}

bool wf_otf2_file_next_chunk(struct wf_otf2_file *file)
{
    struct wf_infile *in = &file->in;
    bool is_first = file->chunk_end == 0;
    uint64_t begin = is_first ? 0 : file->chunk_begin + file->chunk_bytes;

    if (wf_trace_failed(in->place.err) || (!is_first && begin >= in->size)) {
        return false;
    }
    wf_infile_seek(in, begin);
    const unsigned char *header = wf_infile_bytes(in, HEADER_BYTES);
    in->swapped = header[1] == WF_OTF2_LITTLE;
    file->chunk_begin = begin;
    file->chunk_end =
        file->chunk_bytes < in->size - begin ? begin + file->chunk_bytes : in->size;
    return check_header(file, begin, header);
}

/* ---- records ---- */

bool wf_otf2_file_length(struct wf_otf2_file *file, uint64_t begin, uint64_t *end)
{
    struct wf_infile *in = &file->in;
    uint64_t n = wf_infile_bytes(in, 1)[0];

    if (n == WF_OTF2_LONG) {
        n = wf_infile_unsigned(in, EIGHT);
    }
    if (in->failed || wf_infile_at(in) > file->chunk_end ||
        n > file->chunk_end - wf_infile_at(in)) {
        wf_otf2_file_damaged(file, begin, "the file or a chunk of it ends within a record");
        return false;
    }
    *end = wf_infile_at(in) + n;
    return true;
}

bool wf_otf2_file_next(struct wf_otf2_file *file, uint8_t *type, uint64_t *end)
{
    struct wf_infile *in = &file->in;

    for (;;) {
        file->record = wf_infile_at(in);
        if (wf_trace_failed(in->place.err)) {
            return false;
        }
        *type = WF_OTF2_END_OF_CHUNK;
        if (file->record < file->chunk_end) {
            *type = wf_infile_bytes(in, 1)[0];
        }
        if (*type == WF_OTF2_END_OF_FILE) {
            return false;
        }
        if (*type != WF_OTF2_END_OF_CHUNK) {
            return wf_otf2_file_length(file, file->record, end);
        }
        if (!wf_otf2_file_next_chunk(file)) {
            /* If a file was truncated between two definitions, the library would continue with
             * whatever is in its memory, perhaps forever. */
            wf_otf2_file_damaged(file, in->size, "the file ends before its last record");
            return false;
        }
    }
}

/* ---- fields ---- */

bool wf_otf2_file_byte(struct wf_otf2_file *file, uint64_t end, uint8_t *value)
{
    if (wf_infile_at(&file->in) >= end) {
        return false;
    }
    *value = wf_infile_bytes(&file->in, 1)[0];
    return true;
}

bool wf_otf2_file_eight(struct wf_otf2_file *file, uint64_t end, uint64_t *value)
{
    if (wf_infile_at(&file->in) + EIGHT > end) {
        return false;
    }
    *value = wf_infile_unsigned(&file->in, EIGHT);
    return true;
}

bool wf_otf2_file_number(struct wf_otf2_file *file, uint64_t end, uint64_t *value)
{
    uint8_t n = 0;

    if (!wf_otf2_file_byte(file, end, &n)) {
        return false;
    }
    if (n == WF_OTF2_UNDEFINED) {
        *value = UINT64_MAX;
        return true;
    }
    if (n > EIGHT || wf_infile_at(&file->in) + n > end) {
        return false;
    }
    *value = n > 0 ? wf_infile_unsigned(&file->in, n) : 0;
    return true;
}

/* ---- paths ---- */

bool wf_otf2_file_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 || errno != ENOENT;
}

char *wf_otf2_file_path(const char *anchor, const char *fmt, ...)
{
    enum { ENDING_BYTES = 40 };
    const char *dot = strrchr(anchor, '.');
    size_t n = dot != NULL ? (size_t)(dot - anchor) : strlen(anchor);
    char *path = wf_xmalloc(n + ENDING_BYTES);
    va_list args;

    va_start(args, fmt);
    (void)snprintf(path, n + 1, "%s", anchor);
    (void)vsnprintf(path + n, ENDING_BYTES, fmt, args);
    va_end(args);
    return path;
}
