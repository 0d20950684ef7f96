/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A buffer of bytes that grows. A zeroed struct is an empty buffer. The buffer owns its memory;
 * wf_buf_fini() releases it. Appending takes constant time per byte on average. */

#include <stddef.h>

struct wf_buf {
    unsigned char *data;
    size_t size;
    size_t capacity;
};

void wf_buf_fini(struct wf_buf *buf);
/* Makes room for `size` bytes altogether; keeps the contents. */
void wf_buf_reserve(struct wf_buf *buf, size_t size);
/* Appends `size` uninitialised bytes and returns their address, valid until the next append. */
void *wf_buf_extend(struct wf_buf *buf, size_t size);
void wf_buf_append(struct wf_buf *buf, const void *bytes, size_t size);
/* Appends the bytes as base64, without line breaks. */
void wf_buf_base64(struct wf_buf *buf, const unsigned char *bytes, size_t n);
