/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/otf2/anchor.h"

#include "program/trace/otf2/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    VERSION_AT = 2 + sizeof(WF_OTF2_MAGIC),
    VERSION_BYTES = 5, /* versions of the format, and of the library that wrote the file */
    VERSION_MAX = 3,
    POSIX = 1, /* one file per location */
    UNCOMPRESSED = 1,
    CHUNK_SIZES_BYTES = 16,
    STRINGS = 3,        /* machine, creator, description */
    TRACE_ID_BYTES = 8, /* after the properties */
};

/* The range of chunk sizes that the library writes. */
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
 * closes it. */
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
    layout->is_supported = substrate == POSIX && compression == UNCOMPRESSED;
    wf_infile_skip(in, 8); /* the number of locations */
    layout->n_definitions = wf_infile_unsigned(in, 8);
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

void wf_otf2_anchor_read(const char *path, struct wf_otf2_layout *layout, struct wf_err *err)
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
        if (!layout->is_supported) {
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
