/* SPDX-License-Identifier: Apache-2.0 */
/* What is known here of the files is what OTF2's own sources do with them (OTF2_Buffer.c,
 * OTF2_EvtReader_inc.c, OTF2_DefReader_inc.c, otf2_id_map.c of version 2 and 3): chunks of one
 * size that begin with a header; records of a type, a length and compressed numbers. */
#include "trace/otf2/scan.h"

#include "base/mem.h"
#include "trace/kit/infile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    END_OF_CHUNK = 0,
    END_OF_FILE = 2,
    CHUNK = 3, /* begins each, and then the order of bytes, first and last event */
    TIME = 5,  /* in front of an event, if it is not that of the last one */
    HEADER_BYTES = 18,
    TIME_BYTES = 8,
    LONG = 0xff,      /* a length of 8 bytes follows */
    UNDEFINED = 0xff, /* a number that is not given */
};

enum kind { GLOBAL_DEFINITIONS, LOCAL_DEFINITIONS, EVENTS };

/* Records that have a number of items. Fields are 1, a byte, or c, a compressed number: a byte
 * that says how many bytes follow. */
struct counted {
    enum kind kind;
    uint8_t type;
    const char *name;
    const char *before; /* fields in front of the number */
    char number;
    const char *behind; /* fields between it and the items */
    const char *item;
};

static const struct counted rows[] = {
    {GLOBAL_DEFINITIONS, 18, "group", "cc1", 'c', "", "c"},
    {GLOBAL_DEFINITIONS, 20, "metric class", "c", '1', "", "c"},
    {GLOBAL_DEFINITIONS, 31, "topology", "ccc", '1', "", "c"},
    {GLOBAL_DEFINITIONS, 32, "coordinate", "cc", '1', "", "c"},
    {LOCAL_DEFINITIONS, 5, "mapping", "1", 'c', "1", "c"},
    {LOCAL_DEFINITIONS, 18, "group", "cc1", 'c', "", "c"},
    {LOCAL_DEFINITIONS, 20, "metric class", "c", '1', "", "c"},
    {LOCAL_DEFINITIONS, 31, "topology", "ccc", '1', "", "c"},
    {LOCAL_DEFINITIONS, 32, "coordinate", "cc", '1', "", "c"},
    {EVENTS, 4, "list of attributes", "", 'c', "", "c11"}, /* at least: values differ */
    {EVENTS, 31, "metric", "c", '1', "", "1c"},
    {EVENTS, 83, "beginning of the program", "c", 'c', "", "c"},
};

enum { ROWS = sizeof(rows) / sizeof(*rows), ATTRIBUTES = 4 };

/* Events that are one compressed number, without a length. */
static const uint8_t singles[] = {12, 13, 16, 17, 20, 21, 24, 28, 29, 30};

struct scan {
    struct wf_infile in;
    enum kind kind;
    uint64_t chunk_bytes;
    uint64_t chunk_end; /* of the one being read, at most the file's */
    const char *whose;  /* of which rank, for errors */
    struct wf_err *err;
};

static enum wf_status damaged(const struct scan *scan, uint64_t at, const char *what)
{
    return wf_err_set(scan->err, WF_EINVAL,
                      "%.200s (%s), byte %" PRIu64 ": %s; truncated or damaged",
                      scan->in.place.path, scan->whose, at, what);
}

/* A compressed number that ends before `end`. */
static bool take(struct scan *scan, uint64_t end, uint64_t *value)
{
    uint64_t n = wf_infile_at(&scan->in) < end ? wf_infile_bytes(&scan->in, 1)[0] : LONG + 1;

    if (n == UNDEFINED) {
        *value = UINT64_MAX;
        return true;
    }
    if (n > sizeof(*value) || wf_infile_at(&scan->in) + n > end) {
        return false;
    }
    *value = n > 0 ? wf_infile_unsigned(&scan->in, (unsigned)n) : 0;
    return true;
}

static bool take_fields(struct scan *scan, uint64_t end, const char *fields)
{
    uint64_t unused = 0;

    for (; *fields != '\0'; fields++) {
        if (*fields == 'c') {
            if (!take(scan, end, &unused)) {
                return false;
            }
        } else if (wf_infile_at(&scan->in) < end) {
            wf_infile_skip(&scan->in, 1);
        } else {
            return false;
        }
    }
    return true;
}

/* Whether the items that a record says it has are there. */
static bool has_items(struct scan *scan, const struct counted *row, uint64_t end)
{
    uint64_t n = 0;

    if (!take_fields(scan, end, row->before)) {
        return false;
    }
    if (row->number == 'c') {
        if (!take(scan, end, &n)) {
            return false;
        }
    } else if (wf_infile_at(&scan->in) < end) {
        n = wf_infile_bytes(&scan->in, 1)[0];
    } else {
        return false;
    }
    if (!take_fields(scan, end, row->behind) ||
        n > (end - wf_infile_at(&scan->in)) / strlen(row->item)) {
        return false;
    }
    bool ok = true;
    for (uint64_t i = 0; row->type != ATTRIBUTES && ok && i < n; i++) {
        ok = take_fields(scan, end, row->item);
    }
    return ok;
}

static const struct counted *find_row(enum kind kind, uint8_t type)
{
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].kind == kind && rows[i].type == type) {
            return &rows[i];
        }
    }
    return NULL;
}

/* What follows a type that is not one of the single numbers. */
static enum wf_status scan_record(struct scan *scan, uint8_t type, uint64_t begin)
{
    const struct counted *row = find_row(scan->kind, type);
    uint64_t n = wf_infile_bytes(&scan->in, 1)[0];

    if (n == LONG) {
        n = wf_infile_unsigned(&scan->in, 8);
    }
    if (scan->in.failed || n > scan->chunk_end - wf_infile_at(&scan->in)) {
        return damaged(scan, begin, "the file or a chunk of it ends within a record");
    }
    uint64_t end = wf_infile_at(&scan->in) + n;
    if (row != NULL && !has_items(scan, row, end)) {
        char what[80];
        (void)snprintf(what, sizeof(what), "a %s has more items than there is room for",
                       row->name);
        return damaged(scan, begin, what);
    }
    wf_infile_seek(&scan->in, end);
    return WF_OK;
}

static enum wf_status scan_chunk(struct scan *scan, bool *more)
{
    uint64_t begin = wf_infile_at(&scan->in);
    const unsigned char *header = wf_infile_bytes(&scan->in, HEADER_BYTES);

    if (header[0] != CHUNK || scan->in.failed) {
        return damaged(scan, begin, "no chunk of records begins here");
    }
    scan->in.swapped = header[1] == WF_OTF2_LITTLE;
    if (header[1] != WF_OTF2_LITTLE && header[1] != WF_OTF2_BIG) {
        return damaged(scan, begin + 1, "an order of bytes that is not known");
    }
    /* What comes first is number 1. */
    if (begin == 0 && header[scan->in.swapped ? 2 : 9] != 1) {
        return damaged(scan, begin + 2,
                       "the bytes of numbers are not in the order that the file says");
    }
    scan->chunk_end =
        scan->chunk_bytes < scan->in.size - begin ? begin + scan->chunk_bytes : scan->in.size;
    while (wf_infile_at(&scan->in) < scan->chunk_end) {
        uint64_t at = wf_infile_at(&scan->in), unused = 0;
        uint8_t type = wf_infile_bytes(&scan->in, 1)[0];
        if (scan->kind == EVENTS && type == TIME) {
            wf_infile_skip(&scan->in, TIME_BYTES);
            type = wf_infile_bytes(&scan->in, 1)[0];
        }
        if (scan->in.failed) {
            return damaged(scan, at, "the file ends within a record");
        }
        if (type == END_OF_CHUNK || type == END_OF_FILE) {
            *more = type == END_OF_CHUNK;
            break;
        }
        enum wf_status status = WF_OK;
        if (scan->kind == EVENTS && memchr(singles, type, sizeof(singles)) != NULL) {
            if (!take(scan, scan->chunk_end, &unused)) {
                status = damaged(scan, at, "the file or a chunk of it ends within a record");
            }
        } else {
            status = scan_record(scan, type, at);
        }
        if (status != WF_OK) {
            return status;
        }
    }
    wf_infile_seek(&scan->in, begin + scan->chunk_bytes);
    *more = *more && !scan->in.failed && wf_infile_left(&scan->in) > 0;
    return WF_OK;
}

static enum wf_status scan_file(const char *path, enum kind kind, uint64_t chunk_bytes,
                                const char *whose, struct wf_err *err)
{
    struct scan scan = {.kind = kind, .chunk_bytes = chunk_bytes, .whose = whose, .err = err};
    enum wf_status status = wf_infile_open(&scan.in, path, err);
    bool more = true;
    while (status == WF_OK && more) {
        status = scan_chunk(&scan, &more);
    }
    wf_infile_close(&scan.in);
    return status;
}

static bool is_there(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 || errno != ENOENT;
}

/* The anchor file's path without its ending, and room for another one. */
static char *stem_of(const char *anchor, size_t *n)
{
    const char *dot = strrchr(anchor, '.');

    *n = dot != NULL ? (size_t)(dot - anchor) : strlen(anchor);
    char *path = wf_xmalloc(*n + 40);
    memcpy(path, anchor, *n);
    return path;
}

enum wf_status wf_otf2_scan_definitions(const char *anchor, const struct wf_otf2_layout *layout,
                                        struct wf_err *err)
{
    size_t n = 0;

    if (!layout->is_plain) {
        return WF_OK;
    }
    char *path = stem_of(anchor, &n);
    (void)snprintf(path + n, 40, ".def");
    enum wf_status status = scan_file(path, GLOBAL_DEFINITIONS, layout->definition_chunk,
                                      "definitions of all ranks", err);
    free(path);
    return status;
}

enum wf_status wf_otf2_scan_ranks(const char *anchor, const struct wf_otf2_layout *layout,
                                  const struct wf_otf2_defs *defs, struct wf_err *err)
{
    enum wf_status status = WF_OK;
    char whose[40];
    size_t n = 0;

    if (!layout->is_plain) {
        return WF_OK;
    }
    char *path = stem_of(anchor, &n);
    for (uint32_t rank = 0; rank < defs->n_ranks && status == WF_OK; rank++) {
        (void)snprintf(whose, sizeof(whose), "rank %" PRIu32, rank);
        (void)snprintf(path + n, 40, "/%" PRIu64 ".def", defs->places[rank]);
        if (is_there(path)) {
            status = scan_file(path, LOCAL_DEFINITIONS, layout->definition_chunk, whose, err);
        }
        (void)snprintf(path + n, 40, "/%" PRIu64 ".evt", defs->places[rank]);
        uint64_t n_events = wf_otf2_defs_find_location(defs, defs->places[rank])->n_events;
        if (status == WF_OK && is_there(path)) {
            status = scan_file(path, EVENTS, layout->event_chunk, whose, err);
        } else if (status == WF_OK && n_events > 0) {
            status = wf_err_set(err, WF_EINVAL,
                                "%.200s is missing: %s (location %" PRIu64 ") has %" PRIu64
                                " events",
                                path, whose, defs->places[rank], n_events);
        }
    }
    free(path);
    return status;
}
