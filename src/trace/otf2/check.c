/* SPDX-License-Identifier: Apache-2.0 */
/* The formats follow OTF2's own sources (OTF2_Buffer.c, OTF2_EvtReader_inc.c,
 * OTF2_DefReader_inc.c, otf2_id_map.c of version 2 and 3): a file consists of chunks of one
 * size, each with a header; a record consists of a type, a length and compressed numbers. */
#include "trace/otf2/check.h"

#include "base/mem.h"
#include "trace/kit/infile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The byte order of a file: its second byte. */
enum { LITTLE_ENDIAN_FILE = 'B', BIG_ENDIAN_FILE = '#' };

enum {
    CHUNK = 3, /* begins every file and every chunk; then the byte order and, in chunks, the
                  numbers of the first and the last event */
    END_OF_CHUNK = 0,
    END_OF_FILE = 2,
    TIME = 5, /* before an event whose time differs from the one before */
    HEADER_BYTES = 18,
    TIME_BYTES = 8,
    LONG = 0xff,      /* a length of 8 bytes follows */
    UNDEFINED = 0xff, /* a number that is not given */
};

/* ---- the anchor file ---- */

enum {
    VERSION_AT = 2 + sizeof(WF_OTF2_MAGIC),
    VERSION_BYTES = 5, /* versions of the format, and of the library that wrote the file */
    VERSION_MAX = 3,
    POSIX = 1, /* one file per location */
    UNCOMPRESSED = 1,
    COUNTS_BYTES = 16,  /* numbers of locations and definitions */
    STRINGS = 3,        /* machine, creator, description */
    TRACE_ID_BYTES = 8, /* after the properties */
};

/* The range of chunk sizes that the library writes. It allocates this much when it reads. */
#define CHUNK_MIN (UINT64_C(256) << 10)
#define CHUNK_MAX (UINT64_C(16) << 20)

bool wf_otf2_is_anchor(const unsigned char *bytes, size_t n)
{
    return n >= VERSION_AT && bytes[0] == CHUNK &&
           (bytes[1] == LITTLE_ENDIAN_FILE || bytes[1] == BIG_ENDIAN_FILE) &&
           memcmp(bytes + 2, WF_OTF2_MAGIC, sizeof(WF_OTF2_MAGIC)) == 0;
}

static bool is_chunk_size(uint64_t size)
{
    return size >= CHUNK_MIN && size <= CHUNK_MAX;
}

/* Opens an anchor file and reads up to the id of the archive, which is its end. The caller
 * closes it. This check is needed because the library trusts the number of properties, and
 * would loop over up to 2^32 of them in a damaged file. */
static enum wf_status read_anchor(struct wf_infile *in, const char *path,
                                  struct wf_otf2_layout *layout, struct wf_err *err)
{
    WF_TRY(wf_infile_open(in, path, err));
    in->swapped = wf_infile_bytes(in, 2)[1] == LITTLE_ENDIAN_FILE;
    wf_infile_skip(in, sizeof(WF_OTF2_MAGIC));
    layout->version = wf_infile_bytes(in, VERSION_BYTES)[0];
    layout->event_chunk = wf_infile_unsigned(in, 8);
    layout->definition_chunk = wf_infile_unsigned(in, 8);
    unsigned substrate = wf_infile_bytes(in, 1)[0];
    unsigned compression = wf_infile_bytes(in, 1)[0];
    layout->is_plain = substrate == POSIX && compression == UNCOMPRESSED;
    wf_infile_skip(in, COUNTS_BYTES);
    uint64_t n = STRINGS;
    for (uint64_t i = 0; i < n && !in->failed; i++) {
        while (!in->failed && wf_infile_bytes(in, 1)[0] != '\0') {
        }
        if (i == STRINGS - 1) {
            n += 2 * wf_infile_unsigned(in, 4); /* properties: names and values */
        }
    }
    if (!in->failed && wf_infile_left(in) >= TRACE_ID_BYTES) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "%.200s: truncated or damaged: this anchor file of all ranks ends at "
                      "byte %" PRIu64,
                      path, in->size);
}

void wf_otf2_check_anchor(const char *path, struct wf_otf2_layout *layout, struct wf_err *err)
{
    struct wf_infile in;

    if (read_anchor(&in, path, layout, err) == WF_OK) {
        in.place.byte = VERSION_AT;
        if (layout->version > VERSION_MAX) {
            wf_trace_bad(&in.place,
                         "version %u of the format, of all ranks; known are those up to %d",
                         layout->version, VERSION_MAX);
        }
        in.place.byte += VERSION_BYTES;
        if (!is_chunk_size(layout->event_chunk) || !is_chunk_size(layout->definition_chunk)) {
            wf_trace_bad(&in.place,
                         "damaged: this anchor file of all ranks says that the others are in "
                         "chunks of %" PRIu64 " and %" PRIu64
                         " bytes; OTF2 has 256 KiB to 16 MiB",
                         layout->event_chunk, layout->definition_chunk);
        }
    }
    wf_infile_close(&in);
}

enum wf_status wf_otf2_set_id(const char *path, uint64_t id, struct wf_err *err)
{
    struct wf_infile in;
    struct wf_otf2_layout layout;

    enum wf_status status = read_anchor(&in, path, &layout, err);
    uint64_t at = wf_infile_at(&in);
    wf_infile_close(&in);
    if (status != WF_OK) {
        return status;
    }
    FILE *file = fopen(path, "r+b");
    bool good = file != NULL && fseek(file, (long)at, SEEK_SET) == 0 &&
                fwrite(&id, sizeof(id), 1, file) == 1;
    good = file != NULL && fclose(file) == 0 && good;
    return good ? WF_OK
                : wf_err_set(err, WF_EIO, "cannot write '%.300s': %s", path, strerror(errno));
}

/* ---- records ---- */

enum kind { GLOBAL_DEFINITIONS, LOCAL_DEFINITIONS, EVENTS };

/* A type of record that has a list of items. A field is 1, a byte, or c, a compressed number: a
 * byte with the number of bytes that follow. */
struct counted {
    enum kind kind;
    uint8_t type;
    const char *name;
    const char *before; /* fields before the number of items */
    char number;
    const char *after; /* fields between that number and the items */
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
    {EVENTS, 4, "list of attributes", "", 'c', "",
     "c11"}, /* minimum: the lengths of values differ */
    {EVENTS, 31, "metric", "c", '1', "", "1c"},
    {EVENTS, 83, "beginning of the program", "c", 'c', "", "c"},
};

enum { ROWS = sizeof(rows) / sizeof(*rows), ATTRIBUTES = 4 };

/* Types of events that consist of one compressed number, without a length. */
static const uint8_t singles[] = {12, 13, 16, 17, 20, 21, 24, 28, 29, 30};

struct scan {
    struct wf_infile in;
    enum kind kind;
    uint64_t chunk_bytes;
    uint64_t chunk_end; /* end of the current chunk, or of the file */
};

static void damaged(struct scan *scan, uint64_t at, const char *what)
{
    scan->in.place.byte = at;
    wf_trace_bad(&scan->in.place, "%s%s; truncated or damaged",
                 scan->kind == GLOBAL_DEFINITIONS ? "in the definitions of all ranks " : "",
                 what);
}

/* Reads a compressed number. Returns false if it does not end before `end`. */
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

/* Returns whether a record is long enough for its number of items. */
static bool has_items(struct scan *scan, const struct counted *row, uint64_t end)
{
    uint64_t n = 0;

    if (!take_fields(scan, end, row->before) || wf_infile_at(&scan->in) >= end) {
        return false;
    }
    if (row->number == '1') {
        n = wf_infile_bytes(&scan->in, 1)[0];
    } else if (!take(scan, end, &n)) {
        return false;
    }
    if (!take_fields(scan, end, row->after) ||
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

/* Checks a record after its type, unless it is one of `singles`. */
static void check_record(struct scan *scan, uint8_t type, uint64_t begin)
{
    const struct counted *row = find_row(scan->kind, type);
    uint64_t n = wf_infile_bytes(&scan->in, 1)[0];
    char what[80];

    if (n == LONG) {
        n = wf_infile_unsigned(&scan->in, 8);
    }
    if (scan->in.failed || n > scan->chunk_end - wf_infile_at(&scan->in)) {
        damaged(scan, begin, "the file or a chunk of it ends within a record");
        return;
    }
    uint64_t end = wf_infile_at(&scan->in) + n;
    if (row != NULL && !has_items(scan, row, end)) {
        (void)snprintf(what, sizeof(what), "a %s has more items than there is room for",
                       row->name);
        damaged(scan, begin, what);
    }
    wf_infile_seek(&scan->in, end);
}

/* Checks the next record. Returns false if it is the last of the chunk. Sets *more to false if
 * it is the last of the file. */
static bool next_record(struct scan *scan, bool *more)
{
    uint64_t at = wf_infile_at(&scan->in), unused = 0;
    uint8_t type = wf_infile_bytes(&scan->in, 1)[0];

    if (scan->kind == EVENTS && type == TIME) {
        wf_infile_skip(&scan->in, TIME_BYTES);
        type = wf_infile_bytes(&scan->in, 1)[0];
    }
    if (scan->in.failed) {
        damaged(scan, at, "the file ends within a record");
    } else if (type == END_OF_CHUNK || type == END_OF_FILE) {
        *more = type == END_OF_CHUNK;
        return false;
    } else if (scan->kind != EVENTS || memchr(singles, type, sizeof(singles)) == NULL) {
        check_record(scan, type, at);
    } else if (!take(scan, scan->chunk_end, &unused)) {
        damaged(scan, at, "the file or a chunk of it ends within a record");
    }
    return wf_infile_at(&scan->in) < scan->chunk_end && !wf_trace_failed(scan->in.place.err);
}

/* Checks a chunk. Returns false if it is the last. */
static bool check_chunk(struct scan *scan)
{
    struct wf_infile *in = &scan->in;
    uint64_t begin = wf_infile_at(in);
    const unsigned char *header = wf_infile_bytes(in, HEADER_BYTES);
    bool more = true;

    in->swapped = header[1] == LITTLE_ENDIAN_FILE;
    if (header[0] != CHUNK || in->failed) {
        damaged(scan, begin, "no chunk of records begins here");
    } else if (header[1] != LITTLE_ENDIAN_FILE && header[1] != BIG_ENDIAN_FILE) {
        damaged(scan, begin + 1, "an order of bytes that is not known");
    } else if (begin == 0 && header[in->swapped ? 2 : 9] != 1) {
        /* The number of the first event is 1, so its low byte shows the byte order. */
        damaged(scan, begin + 2,
                "the bytes of numbers are not in the order that the file says");
    }
    scan->chunk_end =
        scan->chunk_bytes < in->size - begin ? begin + scan->chunk_bytes : in->size;
    if (!wf_trace_failed(in->place.err) && wf_infile_at(in) < scan->chunk_end) {
        while (next_record(scan, &more)) {
        }
    }
    /* If a file was truncated between two definitions, the library continues with whatever is
     * in its memory, perhaps forever. */
    if (more && scan->kind != EVENTS && !wf_trace_failed(in->place.err) &&
        scan->chunk_end == in->size) {
        damaged(scan, in->size, "the file ends before its last record");
    }
    wf_infile_seek(in, begin + scan->chunk_bytes);
    return more && !wf_trace_failed(in->place.err) && !in->failed && wf_infile_left(in) > 0;
}

/* Checks the file of a rank or, if `rank` is negative, the file of all ranks. */
static void check_file(const char *path, enum kind kind, uint64_t chunk_bytes, int64_t rank,
                       struct wf_err *err)
{
    struct scan scan = {.kind = kind, .chunk_bytes = chunk_bytes};

    if (wf_infile_open(&scan.in, path, err) == WF_OK) {
        scan.in.place.unit = rank >= 0 ? "rank" : NULL;
        scan.in.place.rank = rank;
        while (check_chunk(&scan)) {
        }
    }
    wf_infile_close(&scan.in);
}

static bool is_there(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 || errno != ENOENT;
}

/* Returns the path of another file of the archive: that of the anchor file, with its ending
 * replaced by `fmt`. */
WF_PRINTF(2, 3)
static char *path_of(const char *anchor, const char *fmt, ...)
{
    enum { ENDING_BYTES = 40 };
    const char *dot = strrchr(anchor, '.');
    size_t n = dot != NULL ? (size_t)(dot - anchor) : strlen(anchor);
    char *path = wf_xmalloc(n + ENDING_BYTES);
    va_list args;

    (void)snprintf(path, n + 1, "%s", anchor);
    va_start(args, fmt);
    (void)vsnprintf(path + n, ENDING_BYTES, fmt, args);
    va_end(args);
    return path;
}

void wf_otf2_check_definitions(const char *anchor, const struct wf_otf2_layout *layout,
                               struct wf_err *err)
{
    if (layout->is_plain && !wf_trace_failed(err)) {
        char *path = path_of(anchor, ".def");
        check_file(path, GLOBAL_DEFINITIONS, layout->definition_chunk, -1, err);
        free(path);
    }
}

void wf_otf2_check_rank(const char *anchor, const struct wf_otf2_layout *layout,
                        const struct wf_otf2_defs *defs, uint32_t rank, struct wf_err *err)
{
    uint64_t location = defs->places[rank];
    uint64_t n_events = wf_otf2_defs_find_location(defs, location)->n_events;

    if (!layout->is_plain || wf_trace_failed(err)) {
        return;
    }
    char *definitions = path_of(anchor, "/%" PRIu64 ".def", location);
    char *events = path_of(anchor, "/%" PRIu64 ".evt", location);
    if (is_there(definitions)) {
        check_file(definitions, LOCAL_DEFINITIONS, layout->definition_chunk, rank, err);
    }
    if (!wf_trace_failed(err) && is_there(events)) {
        check_file(events, EVENTS, layout->event_chunk, rank, err);
    } else if (!wf_trace_failed(err) && n_events > 0) {
        (void)wf_err_set(err, WF_EINVAL,
                         "%.200s is missing: rank %" PRIu32 " (location %" PRIu64
                         ") has %" PRIu64 " events",
                         events, rank, location, n_events);
    }
    free(definitions);
    free(events);
}
