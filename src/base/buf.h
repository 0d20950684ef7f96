/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_BASE_BUF_H
#define WF_BASE_BUF_H

/* A growing run of bytes. A zeroed struct is an empty one. */

#include <stddef.h>

struct wf_buf {
    unsigned char *data;
    size_t size;
    size_t capacity;
};

void wf_buf_fini(struct wf_buf *buf);
/* Makes room for `size` bytes in all; keeps what is there. */
void wf_buf_reserve(struct wf_buf *buf, size_t size);
/* Appends `size` bytes, uninitialised, and returns where; valid until the next append. */
void *wf_buf_extend(struct wf_buf *buf, size_t size);
void wf_buf_append(struct wf_buf *buf, const void *bytes, size_t size);

#endif
