/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_WEFT_BLOCK_H
#define WF_TRACE_WEFT_BLOCK_H

/* How a block of a native trace comes from its file: what ops and tasks have in common. */

#include "trace/weft/file.h"

#include <pthread.h>

/* What a thread needs to read a block. */
struct wf_native_tools {
    struct wf_native_tools *next;
    struct wf_native_packer *packer;
    struct wf_buf stored;
    struct wf_buf raw; /* what was read */
};

/* From and to a list that `lock` protects. */
struct wf_native_tools *wf_native_take_tools(struct wf_native_tools **list,
                                             pthread_mutex_t *lock);
void wf_native_give_tools(struct wf_native_tools **list, pthread_mutex_t *lock,
                          struct wf_native_tools *tools);
void wf_native_free_tools(struct wf_native_tools *list);

/* Reads the content of a block, and checks it as far as that is possible without knowing what
 * it means. */
WF_NODISCARD
enum wf_status wf_native_read_block(const struct wf_native_set *set,
                                    const struct wf_native_block *at,
                                    struct wf_native_tools *tools, struct wf_err *err);

/* Says what is wrong with it: WF_EINVAL. */
enum wf_status wf_native_bad_block(const struct wf_native_set *set,
                                   const struct wf_native_block *at, const char *what,
                                   struct wf_err *err);

#endif
