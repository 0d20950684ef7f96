/* SPDX-License-Identifier: Apache-2.0 */
/* Compression of frames. Not in frame.c, which is also loaded into recorded programs. */
#include "program/trace/weft/frame.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Shorter contents do not compress. Level 1 would make files a twentieth smaller than this
 * level, but reading a quarter slower. */
enum { COMPRESSED_MIN = 96, LEVEL = -1 };

struct wf_native_packer {
    ZSTD_CCtx *compress;
    ZSTD_DCtx *decompress;
    struct wf_buf buf;
};

struct wf_native_packer *wf_native_packer_new(void)
{
    return wf_xcalloc(1, sizeof(struct wf_native_packer));
}

void wf_native_packer_free(struct wf_native_packer *packer)
{
    if (packer == NULL) {
        return;
    }
    (void)ZSTD_freeCCtx(packer->compress);
    (void)ZSTD_freeDCtx(packer->decompress);
    wf_buf_fini(&packer->buf);
    free(packer);
}

/* Returns the compressed size, or 0 if compression does not pay. */
static size_t compress(struct wf_native_packer *packer, const void *raw, size_t size)
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

void wf_native_frame_pack(struct wf_native_packer *packer, struct wf_native_frame *frame,
                          const void *raw, size_t size, const void **stored)
{
    size_t n = compress(packer, raw, size);

    wf_native_frame_store(frame, raw, size);
    frame->compressed = n > 0;
    frame->stored_size = (uint32_t)(n > 0 ? n : size);
    *stored = n > 0 ? packer->buf.data : raw;
}

bool wf_native_frame_unpack(struct wf_native_packer *packer,
                            const struct wf_native_frame *frame, const void *stored, void *raw)
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
    return wf_native_checksum(raw, frame->raw_size) == frame->checksum;
}
