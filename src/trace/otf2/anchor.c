/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/otf2/anchor.h"

#include "trace/kit/infile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    CHUNK = 3,         /* begins every file */
    VERSION_BYTES = 5, /* of the format, and of the library that wrote */
    VERSION_MAX = 3,
    POSIX = 1, /* a file for each location */
    UNCOMPRESSED = 1,
    COUNTS_BYTES = 16,  /* of locations and definitions */
    STRINGS = 3,        /* machine, creator, description */
    TRACE_ID_BYTES = 8, /* behind the properties */
};

/* What the library itself writes, and allocates when it reads. */
#define CHUNK_MIN (UINT64_C(256) << 10)
#define CHUNK_MAX (UINT64_C(16) << 20)

bool wf_otf2_is_anchor(const unsigned char *bytes, size_t n)
{
    return n >= 2 + sizeof(WF_OTF2_MAGIC) && bytes[0] == CHUNK &&
           (bytes[1] == WF_OTF2_LITTLE || bytes[1] == WF_OTF2_BIG) &&
           memcmp(bytes + 2, WF_OTF2_MAGIC, sizeof(WF_OTF2_MAGIC)) == 0;
}

static void skip_string(struct wf_infile *in)
{
    while (!in->failed && wf_infile_bytes(in, 1)[0] != '\0') {
    }
}

static void read_layout(struct wf_infile *in, struct wf_otf2_layout *layout)
{
    layout->event_chunk = wf_infile_unsigned(in, 8);
    layout->definition_chunk = wf_infile_unsigned(in, 8);
    unsigned substrate = wf_infile_bytes(in, 1)[0];
    unsigned compression = wf_infile_bytes(in, 1)[0];
    layout->is_plain = substrate == POSIX && compression == UNCOMPRESSED;
}

static bool is_chunk_size(uint64_t size)
{
    return size >= CHUNK_MIN && size <= CHUNK_MAX;
}

/* Reads up to the number of the archive, which is the last of what is there; where the sizes of
 * chunks are. */
static uint64_t read_to_id(struct wf_infile *in, struct wf_otf2_layout *layout)
{
    in->swapped = wf_infile_bytes(in, 2)[1] == WF_OTF2_LITTLE;
    wf_infile_skip(in, sizeof(WF_OTF2_MAGIC));
    layout->version = wf_infile_bytes(in, VERSION_BYTES)[0];
    uint64_t sizes_at = wf_infile_at(in);
    read_layout(in, layout);
    wf_infile_skip(in, COUNTS_BYTES);
    for (int i = 0; i < STRINGS; i++) {
        skip_string(in);
    }
    uint64_t n = wf_infile_unsigned(in, 4);
    for (uint64_t i = 0; i < n * 2 && !in->failed; i++) {
        skip_string(in);
    }
    return sizes_at;
}

static enum wf_status truncated(const struct wf_infile *in, const char *path,
                                struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL,
                      "%.200s: truncated or damaged: this anchor file of all ranks ends at "
                      "byte %" PRIu64,
                      path, in->size);
}

enum wf_status wf_otf2_check_anchor(const char *path, struct wf_otf2_layout *layout,
                                    struct wf_err *err)
{
    struct wf_infile in;

    enum wf_status status = wf_infile_open(&in, path, err);
    if (status != WF_OK) {
        return status;
    }
    uint64_t sizes_at = read_to_id(&in, layout);
    wf_infile_skip(&in, TRACE_ID_BYTES);
    if (in.failed) {
        status = truncated(&in, path, err);
    } else if (layout->version > VERSION_MAX) {
        status = wf_err_set(err, WF_EINVAL,
                            "%.200s, byte %d: version %u of the format, of all ranks; known "
                            "are those up to %d",
                            path, 2 + (int)sizeof(WF_OTF2_MAGIC), layout->version, VERSION_MAX);
    } else if (!is_chunk_size(layout->event_chunk) ||
               !is_chunk_size(layout->definition_chunk)) {
        status = wf_err_set(err, WF_EINVAL,
                            "%.200s, byte %" PRIu64 ": damaged: this anchor file of all ranks "
                            "says that the others are in chunks of %" PRIu64 " and %" PRIu64
                            " bytes; OTF2 has 256 KiB to 16 MiB",
                            path, sizes_at, layout->event_chunk, layout->definition_chunk);
    }
    wf_infile_close(&in);
    return status;
}

enum wf_status wf_otf2_set_id(const char *path, uint64_t id, struct wf_err *err)
{
    struct wf_infile in;
    struct wf_otf2_layout layout;
    FILE *file;

    enum wf_status status = wf_infile_open(&in, path, err);
    if (status != WF_OK) {
        return status;
    }
    (void)read_to_id(&in, &layout);
    uint64_t at = wf_infile_at(&in);
    if (in.failed || wf_infile_left(&in) < TRACE_ID_BYTES) {
        status = truncated(&in, path, err);
    }
    wf_infile_close(&in);
    if (status != WF_OK) {
        return status;
    }
    file = fopen(path, "r+b");
    bool good = file != NULL && fseek(file, (long)at, SEEK_SET) == 0 &&
                fwrite(&id, sizeof(id), 1, file) == 1;
    good = file != NULL && fclose(file) == 0 && good;
    return good ? WF_OK
                : wf_err_set(err, WF_EIO, "cannot write '%.300s': %s", path, strerror(errno));
}
