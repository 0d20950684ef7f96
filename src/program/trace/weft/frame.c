/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/weft/frame.h"

#include "base/varint.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FLAG_COMPRESSED = 1 };

/* The first byte is no text. A transfer in text mode, which converts line ends, would change
 * the others, so that the damage is detected. */
const unsigned char wf_native_magic[WF_NATIVE_MAGIC_BYTES] = {0x89, 'W',  'E',  'F',
                                                              'T',  '\r', '\n', 0x1a};
static const unsigned char trailer_magic[WF_NATIVE_MAGIC_BYTES] = {'W', 'E', 'F', 'T',
                                                                   'E', 'N', 'D', '\n'};
static const unsigned char frame_magic[2] = {'W', 'f'};

uint64_t wf_native_checksum(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

void wf_native_header_write(const struct wf_native_header *header, unsigned char *out)
{
    unsigned char *at = out;

    memcpy(at, wf_native_magic, WF_NATIVE_MAGIC_BYTES);
    at += WF_NATIVE_MAGIC_BYTES;
    at = wf_fixed_write(at, header->version, 4);
    at = wf_fixed_write(at, WF_NATIVE_HEADER_BYTES, 4);
    at = wf_fixed_write(at, header->n_ranks, 4);
    at = wf_fixed_write(at, header->block_size, 4);
    at = wf_fixed_write(at, header->unit_ps, 8);
    (void)wf_fixed_write(at, wf_native_checksum(out, WF_NATIVE_HEADER_BYTES - 8), 8);
}

bool wf_native_header_read(const unsigned char *in, struct wf_native_header *out)
{
    const unsigned char *at = in + WF_NATIVE_MAGIC_BYTES;

    if (memcmp(in, wf_native_magic, WF_NATIVE_MAGIC_BYTES) != 0) {
        return false;
    }
    out->version = (uint32_t)wf_fixed_read(&at, 4);
    uint64_t size = wf_fixed_read(&at, 4);
    out->n_ranks = (uint32_t)wf_fixed_read(&at, 4);
    out->block_size = (uint32_t)wf_fixed_read(&at, 4);
    out->unit_ps = wf_fixed_read(&at, 8);
    /* A later version may have a longer header. The caller refuses it by its version. */
    return (size == WF_NATIVE_HEADER_BYTES &&
            wf_fixed_read(&at, 8) == wf_native_checksum(in, WF_NATIVE_HEADER_BYTES - 8)) ||
           (out->version > WF_NATIVE_VERSION_LAST && size > WF_NATIVE_HEADER_BYTES);
}

void wf_native_frame_write(const struct wf_native_frame *frame, unsigned char *out)
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
    (void)wf_fixed_write(at, wf_native_checksum(out, WF_NATIVE_FRAME_BYTES - 4), 4);
}

bool wf_native_frame_read(const unsigned char *in, struct wf_native_frame *out)
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
    return wf_fixed_read(&at, 4) ==
               (uint32_t)wf_native_checksum(in, WF_NATIVE_FRAME_BYTES - 4) &&
           flags <= FLAG_COMPRESSED && out->raw_size <= WF_NATIVE_RAW_MAX &&
           out->stored_size <= WF_NATIVE_RAW_MAX &&
           (out->compressed || out->stored_size == out->raw_size);
}

void wf_native_trailer_write(uint64_t index_offset, unsigned char *out)
{
    unsigned char *at = out;

    memcpy(at, trailer_magic, WF_NATIVE_MAGIC_BYTES);
    at = wf_fixed_write(at + WF_NATIVE_MAGIC_BYTES, index_offset, 8);
    (void)wf_fixed_write(at, wf_native_checksum(out, WF_NATIVE_TRAILER_BYTES - 8), 8);
}

bool wf_native_trailer_read(const unsigned char *in, uint64_t *index_offset)
{
    const unsigned char *at = in + WF_NATIVE_MAGIC_BYTES;

    *index_offset = wf_fixed_read(&at, 8);
    return memcmp(in, trailer_magic, WF_NATIVE_MAGIC_BYTES) == 0 &&
           wf_fixed_read(&at, 8) == wf_native_checksum(in, WF_NATIVE_TRAILER_BYTES - 8);
}

void wf_native_frame_store(struct wf_native_frame *frame, const void *raw, size_t size)
{
    frame->compressed = false;
    frame->raw_size = (uint32_t)size;
    frame->stored_size = (uint32_t)size;
    frame->checksum = wf_native_checksum(raw, size);
}
