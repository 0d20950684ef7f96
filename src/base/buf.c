/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/mem.h"

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
