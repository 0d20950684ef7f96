/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/weft/frame.h"

#include "base/mem.h"
#include "base/varint.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Shorter contents do not get shorter. Level 1 makes files a twentieth smaller than this one,
 * and reading them a quarter slower. */
enum { COMPRESSED_MIN = 96, LEVEL = -1 };

enum { FLAG_COMPRESSED = 1 };

/* The first byte is no text, and the others show what a transfer as text would destroy. */
const unsigned char wf_file_magic[WF_MAGIC_BYTES] = {0x89, 'W',  'E',  'F',
                                                     'T',  '\r', '\n', 0x1a};
static const unsigned char trailer_magic[WF_MAGIC_BYTES] = {'W', 'E', 'F', 'T',
                                                            'E', 'N', 'D', '\n'};
static const unsigned char frame_magic[2] = {'W', 'f'};

struct wf_packer {
    ZSTD_CCtx *compress;
    ZSTD_DCtx *decompress;
    struct wf_buf buf;
};

static uint64_t digest(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

void wf_header_write(const struct wf_file_header *header, unsigned char *out)
{
    unsigned char *at = out;

    memcpy(at, wf_file_magic, WF_MAGIC_BYTES);
    at += WF_MAGIC_BYTES;
    at = wf_fixed_write(at, header->version, 4);
    at = wf_fixed_write(at, WF_HEADER_BYTES, 4);
    at = wf_fixed_write(at, header->n_ranks, 4);
    at = wf_fixed_write(at, header->block_size, 4);
    at = wf_fixed_write(at, header->unit_ps, 8);
    (void)wf_fixed_write(at, digest(out, WF_HEADER_BYTES - 8), 8);
}

bool wf_header_read(const unsigned char *in, struct wf_file_header *out)
{
    const unsigned char *at = in + WF_MAGIC_BYTES;

    if (memcmp(in, wf_file_magic, WF_MAGIC_BYTES) != 0) {
        return false;
    }
    out->version = (uint32_t)wf_fixed_read(&at, 4);
    uint64_t size = wf_fixed_read(&at, 4);
    out->n_ranks = (uint32_t)wf_fixed_read(&at, 4);
    out->block_size = (uint32_t)wf_fixed_read(&at, 4);
    out->unit_ps = wf_fixed_read(&at, 8);
    /* A later version may have a longer header; that it is later is all that matters then. */
    return (size == WF_HEADER_BYTES &&
            wf_fixed_read(&at, 8) == digest(in, WF_HEADER_BYTES - 8)) ||
           (out->version > WF_VERSION_LAST && size > WF_HEADER_BYTES);
}

void wf_frame_write(const struct wf_frame *frame, unsigned char *out)
{
    unsigned char *at = out;

    memcpy(at, frame_magic, sizeof(frame_magic));
    at += sizeof(frame_magic);
    *at++ = frame->type;
    *at++ = frame->compressed ? FLAG_COMPRESSED : 0;
    at = wf_fixed_write(at, frame->rank, 4);
    at = wf_fixed_write(at, frame->first_op, 8);
    at = wf_fixed_write(at, frame->n_ops, 8);
    at = wf_fixed_write(at, frame->raw_size, 4);
    at = wf_fixed_write(at, frame->stored_size, 4);
    at = wf_fixed_write(at, frame->checksum, 8);
    (void)wf_fixed_write(at, digest(out, WF_FRAME_BYTES - 4), 4);
}

bool wf_frame_read(const unsigned char *in, struct wf_frame *out)
{
    const unsigned char *at = in + sizeof(frame_magic);

    if (memcmp(in, frame_magic, sizeof(frame_magic)) != 0) {
        return false;
    }
    out->type = *at++;
    unsigned char flags = *at++;
    out->compressed = flags == FLAG_COMPRESSED;
    out->rank = (uint32_t)wf_fixed_read(&at, 4);
    out->first_op = wf_fixed_read(&at, 8);
    out->n_ops = wf_fixed_read(&at, 8);
    out->raw_size = (uint32_t)wf_fixed_read(&at, 4);
    out->stored_size = (uint32_t)wf_fixed_read(&at, 4);
    out->checksum = wf_fixed_read(&at, 8);
    return wf_fixed_read(&at, 4) == (uint32_t)digest(in, WF_FRAME_BYTES - 4) &&
           flags <= FLAG_COMPRESSED && out->raw_size <= WF_RAW_MAX &&
           out->stored_size <= WF_RAW_MAX &&
           (out->compressed || out->stored_size == out->raw_size);
}

void wf_trailer_write(uint64_t index_offset, unsigned char *out)
{
    unsigned char *at = out;

    memcpy(at, trailer_magic, WF_MAGIC_BYTES);
    at = wf_fixed_write(at + WF_MAGIC_BYTES, index_offset, 8);
    (void)wf_fixed_write(at, digest(out, WF_TRAILER_BYTES - 8), 8);
}

bool wf_trailer_read(const unsigned char *in, uint64_t *index_offset)
{
    const unsigned char *at = in + WF_MAGIC_BYTES;

    *index_offset = wf_fixed_read(&at, 8);
    return memcmp(in, trailer_magic, WF_MAGIC_BYTES) == 0 &&
           wf_fixed_read(&at, 8) == digest(in, WF_TRAILER_BYTES - 8);
}

struct wf_packer *wf_packer_new(void)
{
    return wf_xcalloc(1, sizeof(struct wf_packer));
}

void wf_packer_free(struct wf_packer *packer)
{
    if (packer == NULL) {
        return;
    }
    (void)ZSTD_freeCCtx(packer->compress);
    (void)ZSTD_freeDCtx(packer->decompress);
    wf_buf_fini(&packer->buf);
    free(packer);
}

/* The compressed size, or 0 if it is not worth while. */
static size_t compress(struct wf_packer *packer, const void *raw, size_t size)
{
    if (size < COMPRESSED_MIN) {
        return 0;
    }
    if (packer->compress == NULL) {
        packer->compress = ZSTD_createCCtx();
    }
    packer->buf.size = 0;
    wf_buf_reserve(&packer->buf, ZSTD_compressBound(size));
    size_t n = packer->compress == NULL
                   ? 0
                   : ZSTD_compressCCtx(packer->compress, packer->buf.data, packer->buf.capacity,
                                       raw, size, LEVEL);
    return ZSTD_isError(n) != 0 || n >= size ? 0 : n;
}

void wf_frame_store(struct wf_frame *frame, const void *raw, size_t size)
{
    frame->compressed = false;
    frame->raw_size = (uint32_t)size;
    frame->stored_size = (uint32_t)size;
    frame->checksum = digest(raw, size);
}

void wf_frame_pack(struct wf_packer *packer, struct wf_frame *frame, const void *raw,
                   size_t size, const void **stored)
{
    size_t n = compress(packer, raw, size);

    frame->compressed = n > 0;
    frame->raw_size = (uint32_t)size;
    frame->stored_size = (uint32_t)(n > 0 ? n : size);
    frame->checksum = digest(raw, size);
    *stored = n > 0 ? packer->buf.data : raw;
}

bool wf_frame_unpack(struct wf_packer *packer, const struct wf_frame *frame, const void *stored,
                     void *raw)
{
    if (!frame->compressed) {
        if (frame->raw_size > 0) {
            memcpy(raw, stored, frame->raw_size);
        }
    } else {
        if (packer->decompress == NULL) {
            packer->decompress = ZSTD_createDCtx();
        }
        if (packer->decompress == NULL ||
            ZSTD_decompressDCtx(packer->decompress, raw, frame->raw_size, stored,
                                frame->stored_size) != frame->raw_size) {
            return false;
        }
    }
    return digest(raw, frame->raw_size) == frame->checksum;
}
