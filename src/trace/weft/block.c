/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/weft/block.h"

#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct wf_native_tools *wf_native_take_tools(struct wf_native_tools **list,
                                             pthread_mutex_t *lock)
{
    (void)pthread_mutex_lock(lock);
    struct wf_native_tools *tools = *list;
    if (tools != NULL) {
        *list = tools->next;
    }
    (void)pthread_mutex_unlock(lock);
    if (tools == NULL) {
        tools = wf_xcalloc(1, sizeof(*tools));
        tools->packer = wf_native_packer_new();
    }
    return tools;
}

void wf_native_give_tools(struct wf_native_tools **list, pthread_mutex_t *lock,
                          struct wf_native_tools *tools)
{
    (void)pthread_mutex_lock(lock);
    tools->next = *list;
    *list = tools;
    (void)pthread_mutex_unlock(lock);
}

void wf_native_free_tools(struct wf_native_tools *list)
{
    while (list != NULL) {
        struct wf_native_tools *tools = list;
        list = tools->next;
        wf_native_packer_free(tools->packer);
        wf_buf_fini(&tools->stored);
        wf_buf_fini(&tools->raw);
        free(tools);
    }
}

enum wf_status wf_native_bad_block(const struct wf_native_set *set,
                                   const struct wf_native_block *at, const char *what,
                                   struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL, "%.200s: block at byte %" PRIu64 ", rank %" PRIu32 ": %s",
                      set->files[at->file].path, at->offset, at->rank, what);
}

enum wf_status wf_native_read_block(const struct wf_native_set *set,
                                    const struct wf_native_block *at,
                                    struct wf_native_tools *tools, struct wf_err *err)
{
    unsigned char head[WF_NATIVE_FRAME_BYTES];
    struct wf_native_frame frame;

    if (!wf_native_pread(set, at->file, at->offset, head, sizeof(head))) {
        return wf_native_bad_block(set, at,
                                   errno != 0 ? strerror(errno) : "the file ends before", err);
    }
    if (!wf_native_frame_read(head, &frame)) {
        return wf_native_bad_block(set, at, "its head is damaged", err);
    }
    if (frame.type != WF_FRAME_BLOCK || frame.rank != at->rank ||
        frame.first_op != at->first_op || frame.n_ops != at->n_ops) {
        return wf_native_bad_block(set, at, "it is not the block that was expected there", err);
    }
    tools->stored.size = 0;
    tools->raw.size = 0;
    if (frame.stored_size > set->files[at->file].size) {
        return wf_native_bad_block(set, at, "the file ends within it", err);
    }
    void *stored = wf_buf_extend(&tools->stored, (size_t)frame.stored_size + 1);
    if (!wf_native_pread(set, at->file, at->offset + WF_NATIVE_FRAME_BYTES, stored,
                         frame.stored_size)) {
        return wf_native_bad_block(
            set, at, errno != 0 ? strerror(errno) : "the file ends within it", err);
    }
    wf_buf_reserve(&tools->raw, 1);
    (void)wf_buf_extend(&tools->raw, frame.raw_size);
    if (!wf_native_frame_unpack(tools->packer, &frame, stored, tools->raw.data)) {
        return wf_native_bad_block(set, at, "its content is damaged (wrong checksum)", err);
    }
    return WF_OK;
}
