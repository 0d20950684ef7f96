/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The parts of a native trace file: a header, frames one after the other, and a trailer that
 * tells where the index is. docs/reference/trace-format.md describes them.
 */

#include "base/buf.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WF_NATIVE_TASKS_VERSION = 2,   /* of traces of tasks... */
    WF_NATIVE_FILE_VERSION = 3,    /* ...and of ops; versions 1 and 2 are read too */
    WF_NATIVE_STREAMS_VERSION = 4, /* of traces of tasks on several streams */
    WF_NATIVE_VERSION_LAST = 4,
    WF_NATIVE_HEADER_BYTES = 40,
    WF_NATIVE_FRAME_BYTES = 44,
    WF_NATIVE_TRAILER_BYTES = 24,
    WF_NATIVE_MAGIC_BYTES = 8,
    WF_NATIVE_RAW_MAX = 1 << 28,     /* bytes of a frame; blocks are far smaller */
    WF_NATIVE_BLOCK_BYTES = 1 << 16, /* aim for the size of a block */
};

extern const unsigned char wf_native_magic[WF_NATIVE_MAGIC_BYTES];

struct wf_native_header {
    uint32_t version;
    uint32_t n_ranks;
    uint32_t block_size; /* the writer's aim */
    uint64_t unit_ps;    /* unit of times */
};

enum wf_native_frame_type {
    WF_FRAME_BLOCK = 'B',
    WF_FRAME_TABLE = 'T',
    WF_FRAME_INDEX = 'I',
    WF_FRAME_PARTS = 'P',
};

struct wf_native_frame {
    uint8_t type;
    bool compressed;
    uint32_t rank;     /* of an index: its place among several */
    uint64_t first_op; /* of a block: number of its first op in the rank */
    uint64_t n_ops;    /* with loops unrolled; of an index: the blocks that it lists */
    uint32_t raw_size, stored_size;
    uint64_t checksum; /* XXH3 of the raw content */
};

void wf_native_header_write(const struct wf_native_header *header, unsigned char *out);
/* False if these are not the bytes of a header, or damaged. */
bool wf_native_header_read(const unsigned char *in, struct wf_native_header *out);

void wf_native_frame_write(const struct wf_native_frame *frame, unsigned char *out);
bool wf_native_frame_read(const unsigned char *in, struct wf_native_frame *out);

void wf_native_trailer_write(uint64_t index_offset, unsigned char *out);
bool wf_native_trailer_read(const unsigned char *in, uint64_t *index_offset);

/* Sets sizes, flag and checksum of `frame` for bytes that are stored as they are. */
void wf_native_frame_store(struct wf_native_frame *frame, const void *raw, size_t size);

/* The checksum of frames, headers and trailers. */
uint64_t wf_native_checksum(const void *bytes, size_t size);

/* ---- compression (pack.c) ---- */

/* The memory for compression; for one thread at a time. */
struct wf_native_packer;
struct wf_native_packer *wf_native_packer_new(void);
void wf_native_packer_free(struct wf_native_packer *packer); /* null is allowed */

/* Compresses `raw`. Sets sizes, flag and checksum of `frame`, and *stored to the bytes that
 * follow it in the file, which are valid until the next call. */
void wf_native_frame_pack(struct wf_native_packer *packer, struct wf_native_frame *frame,
                          const void *raw, size_t size, const void **stored);

/* Restores the content to `raw`, of frame->raw_size bytes. False if the bytes are damaged. */
bool wf_native_frame_unpack(struct wf_native_packer *packer,
                            const struct wf_native_frame *frame, const void *stored, void *raw);
