/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A file of definitions or events in an OTF2 archive, read from front to back.
 *
 *   file    chunk, chunk, ...: all of one size but the last
 *   chunk   header (3, byte order, numbers of the first and the last event), records, 0 ...
 *   record  type, length, fields; a length of 255 and more has 8 bytes after a byte 255
 *   field   a byte, 8 bytes, or a compressed number: how many bytes follow, and these
 *
 * A record of type 0 ends a chunk, one of type 2 the file. Nothing that the file says is
 * believed; the first failure is kept in in.place.err.
 */

#include "program/trace/kit/infile.h"

enum {
    WF_OTF2_CHUNK = 3, /* the type of a chunk's header, and the first byte of every file */
    WF_OTF2_END_OF_CHUNK = 0,
    WF_OTF2_END_OF_FILE = 2,
    WF_OTF2_LONG = 0xff,      /* instead of a length: one of 8 bytes follows */
    WF_OTF2_UNDEFINED = 0xff, /* instead of the bytes of a number: it is not given */
    WF_OTF2_LITTLE = 'B',     /* the byte order, in the second byte of a file or chunk */
    WF_OTF2_BIG = '#',
};

struct wf_otf2_file {
    struct wf_infile in;
    const char *whose;    /* goes before the words of errors; "" if the place says it */
    uint64_t chunk_bytes; /* of all chunks but the last */
    uint64_t chunk_begin;
    uint64_t record;    /* where the record of wf_otf2_file_next() begins */
    uint64_t chunk_end; /* end of the current chunk, or of the file; 0 before the first */
};

/* Opens the file of a rank or, if `rank` is negative, of all ranks. */
enum wf_status wf_otf2_file_open(struct wf_otf2_file *file, const char *path,
                                 uint64_t chunk_bytes, int64_t rank, struct wf_err *err);
void wf_otf2_file_close(struct wf_otf2_file *file); /* zeroed is allowed */

/* Goes to the first record of the next chunk. Returns false if the file ends here, or on
 * failure. A file without a chunk is a failure. */
bool wf_otf2_file_next_chunk(struct wf_otf2_file *file);

/* Goes to the next record of definitions, in whichever chunk. Sets its type and where it ends,
 * which is in its chunk. Returns false after the last, or on failure. */
bool wf_otf2_file_next(struct wf_otf2_file *file, uint8_t *type, uint64_t *end);

/* Reads the length of a record whose type has been read. Returns false, and fails, if it does
 * not end in its chunk. `begin` is its place in words. */
bool wf_otf2_file_length(struct wf_otf2_file *file, uint64_t begin, uint64_t *end);

/* Reads a field of a record that ends at `end`. Returns false if the field does not end there
 * or before. */
bool wf_otf2_file_byte(struct wf_otf2_file *file, uint64_t end, uint8_t *value);
bool wf_otf2_file_eight(struct wf_otf2_file *file, uint64_t end, uint64_t *value);
bool wf_otf2_file_number(struct wf_otf2_file *file, uint64_t end, uint64_t *value);

/* Fails: "... WHAT; truncated or damaged", at a byte of the file. */
void wf_otf2_file_damaged(struct wf_otf2_file *file, uint64_t at, const char *what);

/* The path of a file of the archive: that of the anchor file, with its ending replaced by `fmt`.
 * The caller frees it. */
WF_PRINTF(2, 3)
char *wf_otf2_file_path(const char *anchor, const char *fmt, ...);
/* Whether there is anything at a path. */
bool wf_otf2_file_exists(const char *path);
