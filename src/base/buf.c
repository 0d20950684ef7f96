/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void wf_buf_fini(struct wf_buf *buf)
{
    free(buf->data);
    *buf = (struct wf_buf){.data = NULL};
}

void wf_buf_reserve(struct wf_buf *buf, size_t size)
{
    if (size <= buf->capacity) {
        return;
    }

    size_t capacity = size < 256 ? 256 : size + size / 2;
    buf->data = wf_xrealloc(buf->data, capacity, 1);
    buf->capacity = capacity;
}

void *wf_buf_extend(struct wf_buf *buf, size_t size)
{
    wf_buf_reserve(buf, buf->size + size);

    void *at = buf->data + buf->size;
    buf->size += size;
    return at;
}

void wf_buf_append(struct wf_buf *buf, const void *bytes, size_t size)
{
    if (size > 0) {
        memcpy(wf_buf_extend(buf, size), bytes, size);
    }
}

void wf_buf_base64(struct wf_buf *buf, const unsigned char *bytes, size_t n)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        three |= i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= i + 2 < n ? (uint32_t)bytes[i + 2] : 0;
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63], '=', '='};
        if (i + 1 < n) {
            four[2] = digits[three >> 6 & 63];
        }
        if (i + 2 < n) {
            four[3] = digits[three & 63];
        }
        wf_buf_append(buf, four, sizeof(four));
    }
}
