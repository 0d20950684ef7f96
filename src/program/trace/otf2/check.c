/* SPDX-License-Identifier: Apache-2.0 */
/* The formats follow OTF2's own sources (OTF2_GlobalDefReader_inc.c of version 2 and 3). */
#include "program/trace/otf2/check.h"

#include "program/trace/otf2/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the anchor file ---- */

enum {
    VERSION_AT = 2 + sizeof(WF_OTF2_MAGIC),
    VERSION_BYTES = 5, /* versions of the format, and of the library that wrote the file */
    VERSION_MAX = 3,
    POSIX = 1, /* one file per location */
    UNCOMPRESSED = 1,
    CHUNK_SIZES_BYTES = 16,
    COUNTS_BYTES = 16,  /* numbers of locations and definitions */
    STRINGS = 3,        /* machine, creator, description */
    TRACE_ID_BYTES = 8, /* after the properties */
};

/* The range of chunk sizes that the library writes. It allocates this much when it reads. */
#define CHUNK_MIN (UINT64_C(256) << 10)
#define CHUNK_MAX (UINT64_C(16) << 20)

bool wf_otf2_is_anchor(const unsigned char *bytes, size_t n)
{
    return n >= VERSION_AT && bytes[0] == WF_OTF2_CHUNK &&
           (bytes[1] == WF_OTF2_LITTLE || bytes[1] == WF_OTF2_BIG) &&
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
    in->swapped = wf_infile_bytes(in, 2)[1] == WF_OTF2_LITTLE;
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
        in.place.byte += CHUNK_SIZES_BYTES;
        if (!layout->is_plain) {
            wf_trace_bad(&in.place,
                         "this archive of all ranks is compressed or in files of SIONlib; weft "
                         "reads those with a file for each location that are not: record it "
                         "again without SIONlib (SCOREP_TRACING_USE_SION) and compression");
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

/* ---- definitions ---- */

/* A type of record that has a list of items. A field is 1, a byte, or c, a compressed number. */
struct counted {
    uint8_t type;
    const char *name;
    const char *before; /* fields before the number of items */
    char number;
    const char *item;
};

static const struct counted rows[] = {
    {18, "group", "cc1", 'c', "c"},
    {20, "metric class", "c", '1', "c"},
    {31, "topology", "ccc", '1', "c"},
    {32, "coordinate", "cc", '1', "c"},
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

static bool take_fields(struct wf_otf2_file *file, uint64_t end, const char *fields)
{
    uint64_t number = 0;
    uint8_t byte = 0;
    bool ok = true;

    for (; ok && *fields != '\0'; fields++) {
        ok = *fields == 'c' ? wf_otf2_file_number(file, end, &number)
                            : wf_otf2_file_byte(file, end, &byte);
    }
    return ok;
}

/* Returns whether a record is long enough for its number of items. */
static bool has_items(struct wf_otf2_file *file, const struct counted *row, uint64_t end)
{
    uint64_t n = 0;
    uint8_t byte = 0;
    bool ok = take_fields(file, end, row->before) &&
              (row->number == '1' ? wf_otf2_file_byte(file, end, &byte)
                                  : wf_otf2_file_number(file, end, &n));

    n += byte;
    for (uint64_t i = 0; ok && i < n; i++) {
        ok = take_fields(file, end, row->item);
    }
    return ok;
}

static void check_definition(struct wf_otf2_file *file, uint8_t type, uint64_t end)
{
    char what[80];

    for (int i = 0; i < ROWS; i++) {
        if (rows[i].type == type && !has_items(file, &rows[i], end)) {
            (void)snprintf(what, sizeof(what), "a %s has more items than there is room for",
                           rows[i].name);
            wf_otf2_file_damaged(file, file->record, what);
        }
    }
}

void wf_otf2_check_definitions(const char *anchor, const struct wf_otf2_layout *layout,
                               struct wf_err *err)
{
    struct wf_otf2_file file = {.whose = ""};
    uint64_t end = 0;
    uint8_t type = 0;

    if (wf_trace_failed(err)) {
        return;
    }
    char *path = wf_otf2_file_path(anchor, ".def");
    if (wf_otf2_file_open(&file, path, layout->definition_chunk, -1, err) == WF_OK) {
        file.whose = "in the definitions of all ranks ";
        while (wf_otf2_file_next(&file, &type, &end)) {
            check_definition(&file, type, end);
            wf_infile_seek(&file.in, end);
        }
    }
    wf_otf2_file_close(&file);
    free(path);
}
