/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever the bytes of a program in the workload language are, the outcome is a
 * source of sound ops that ends or goes on, or an error with a place. */
#include "program/gen/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_RANKS = 6, OPS_MAX = 300 };

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static bool is_peer(uint32_t peer)
{
    return peer < N_RANKS || peer == WF_PROC_NULL;
}

static void check_op(const struct wf_source *source, uint32_t rank, const struct wf_op *op)
{
    enum wf_op_family family = wf_op_info(op->kind)->family;
    struct wf_group group;

    if (family == WF_FAMILY_COMPUTE) {
        require(op->duration >= 0);
    } else if (family == WF_FAMILY_SEND || family == WF_FAMILY_SENDRECV) {
        require(is_peer(op->peer) && op->tag >= 0);
        require(family == WF_FAMILY_SEND || is_peer(op->recv_peer) ||
                op->recv_peer == WF_ANY_SOURCE);
    } else if (family == WF_FAMILY_RECV) {
        require(is_peer(op->peer) || op->peer == WF_ANY_SOURCE);
        require(op->tag >= WF_ANY_TAG);
    } else if (family == WF_FAMILY_WAIT) {
        require(op->count <= OPS_MAX && op->requests == NULL);
    } else if (family == WF_FAMILY_COLLECTIVE) {
        require(wf_source_group(source, rank, op->comm, &group));
        require(op->root < group.size && wf_group_rank(&group, group.rank) == rank);
        require(wf_group_rank(&group, group.size - 1) < N_RANKS);
    } else {
        require(family == WF_FAMILY_MARKER);
    }
}

static void run(const struct wf_source *source, uint32_t rank)
{
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op, again;

    for (int32_t i = 0; i < OPS_MAX; i++) {
        struct wf_cursor saved = cursor;
        if (!wf_source_next(source, rank, &cursor, &op)) {
            require(memcmp(&saved, &cursor, sizeof(saved)) == 0);
            return;
        }
        require(wf_source_next(source, rank, &saved, &again) && again.kind == op.kind);
        require(memcmp(&saved, &cursor, sizeof(saved)) == 0);
        check_op(source, rank, &op);
        cursor.seen_source = (uint32_t)i % N_RANKS;
        cursor.seen_tag = i % 3;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_source *source = NULL;
    struct wf_err err = {.status = WF_OK};

    const struct wf_gen_text_input input = {
        .name = "fuzz", .text = (const char *)data, .size = size};
    enum wf_status status = wf_gen_text_create(&input, N_RANKS, &source, &err);
    if (status == WF_OK) {
        for (uint32_t rank = 0; rank < N_RANKS; rank++) {
            run(source, rank);
        }
        require(wf_source_check(source, &err) == WF_OK || strncmp(err.text, "fuzz:", 5) == 0);
        wf_source_free(source);
    } else {
        require(status == WF_EINVAL && err.status == status && source == NULL);
        require(strncmp(err.text, "fuzz:", 5) == 0 && strlen(err.text) > 10);
    }
    return 0;
}
