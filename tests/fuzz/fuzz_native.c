/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever the bytes of a native trace are, every op that is read makes sense, the
 * end is reached, and what could not be read is told. The checksums of frames are made right
 * first, since no mutation would ever get past them. */
#include "base/varint.h"
#include "program/ops/fields.h"
#include "program/trace/weft/frame.h"
#include "program/trace/weft/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OPS_MAX = 20000, RANKS_CHECKED = 64 };

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

/* The end of the content of a frame: where the next frame or the trailer begins, or the file ends. */
static size_t find_end(const uint8_t *data, size_t at, size_t size)
{
    while (at < size && memcmp(data + at, "WEFTEND", size - at < 7 ? size - at : 7) != 0 &&
           (size - at < WF_NATIVE_FRAME_BYTES || data[at] != 'W' || data[at + 1] != 'f' ||
            strchr("BTIP", data[at + 2]) == NULL)) {
        at++;
    }
    return at;
}

/* Makes the checks of the header and of each frame right that can be found; contents that are
 * compressed have to be right by themselves. */
static void repair(uint8_t *data, size_t size)
{
    size_t at = WF_NATIVE_HEADER_BYTES;

    if (size < WF_NATIVE_HEADER_BYTES) {
        return;
    }
    (void)wf_fixed_write(data + WF_NATIVE_HEADER_BYTES - 8,
                         XXH3_64bits(data, WF_NATIVE_HEADER_BYTES - 8), 8);
    while (size - at >= WF_NATIVE_FRAME_BYTES && data[at] == 'W' && data[at + 1] == 'f') {
        const unsigned char *field = data + at + 28;
        size_t stored = (size_t)wf_fixed_read(&field, 4);

        size_t end = find_end(data, at + WF_NATIVE_FRAME_BYTES, size);
        if (data[at + 3] == 0 && (stored > size - at - WF_NATIVE_FRAME_BYTES ||
                                  stored != end - at - WF_NATIVE_FRAME_BYTES)) {
            /* A mutation has changed the length of the content. */
            stored = end - at - WF_NATIVE_FRAME_BYTES;
            (void)wf_fixed_write(data + at + 24, stored, 4);
            (void)wf_fixed_write(data + at + 28, stored, 4);
        }
        if (stored > size - at - WF_NATIVE_FRAME_BYTES) {
            break;
        }
        if (data[at + 3] == 0) {
            uint64_t sum = XXH3_64bits(data + at + WF_NATIVE_FRAME_BYTES, stored);
            (void)wf_fixed_write(data + at + 32, sum, 8);
        }
        (void)wf_fixed_write(data + at + 40, XXH3_64bits(data + at, WF_NATIVE_FRAME_BYTES - 4),
                             4);
        at += WF_NATIVE_FRAME_BYTES + stored;
    }
    if (size - at == WF_NATIVE_TRAILER_BYTES) {
        (void)wf_fixed_write(data + at + 16, XXH3_64bits(data + at, 16), 8);
    }
}

static uint64_t sum_of(const struct wf_op *op, uint32_t comm_size)
{
    struct wf_op_parts parts;
    uint64_t sum = op->kind;

    wf_op_take_apart(op, comm_size, &parts);
    for (uint32_t i = 0; i < parts.layout->n_fields; i++) {
        sum = sum * 31 + parts.values[i];
    }
    for (uint32_t i = 0; i < parts.layout->n_arrays; i++) {
        size_t width = parts.layout->arrays[i].width == WF_FIELD_64 ? 8 : 4;
        if (parts.arrays[i] != NULL) {
            sum += XXH3_64bits(parts.arrays[i], parts.lengths[i] * width);
        }
    }
    return sum;
}

/* Every op makes sense, and is the same again when it is asked for again. */
static void check_rank(const struct wf_source *source, uint32_t rank)
{
    struct wf_cursor cursor, again;
    struct wf_group group;
    struct wf_op op;
    uint64_t n = 0, sum = 0;

    memset(&cursor, 0, sizeof(cursor));
    memset(&again, 0, sizeof(again));
    while (n < OPS_MAX && wf_source_next(source, rank, &cursor, &op)) {
        bool known = wf_op_has_comm(op.kind) ? wf_source_group(source, rank, op.comm, &group)
                                             : wf_source_group(source, rank, 0, &group);
        require(known && wf_op_fault(&op, &group) == NULL);
        sum = sum_of(&op, group.size);
        require(cursor.word[0] == ++n);
    }
    if (n > 0) {
        again.word[0] = n - 1;
        require(wf_source_next(source, rank, &again, &op));
        if (!wf_op_has_comm(op.kind) || !wf_source_group(source, rank, op.comm, &group)) {
            (void)wf_source_group(source, rank, 0, &group);
        }
        require(sum == sum_of(&op, group.size));
    }
}

static void check_task(const struct wf_graph *graph, uint32_t pe, uint32_t number)
{
    uint32_t n_tasks = graph->ops->n_tasks(graph, pe);
    struct wf_task_send send = {.offset = 0};
    struct wf_task task;
    int64_t before = 0;

    graph->ops->task(graph, pe, number, &task);
    require(task.duration >= 0);
    for (uint32_t i = 0; i < task.n_sends; i++) {
        graph->ops->send(graph, &task, i, &send);
        require(send.offset >= before && send.offset <= task.duration &&
                send.pe < graph->n_pes && send.bytes <= INT64_MAX);
        require(send.id == WF_NO_TASK || send.id < graph->ops->n_tasks(graph, send.pe));
        before = send.offset;
    }
    for (uint32_t i = 0; i < task.n_next; i++) {
        require(graph->ops->next(graph, &task, i) < n_tasks);
    }
}

/* Every task makes sense, whatever order they are asked for in. */
static void check_graph(const struct wf_graph *graph)
{
    uint32_t n = graph->n_pes < RANKS_CHECKED ? graph->n_pes : RANKS_CHECKED;
    struct wf_err err = {.status = WF_OK};

    for (uint32_t pe = 0; pe < n; pe++) {
        uint32_t n_tasks = graph->ops->n_tasks(graph, pe);
        uint32_t root = graph->ops->root(graph, pe, 0);
        require(root == WF_NO_TASK || root < n_tasks);
        for (uint32_t i = 0; i < n_tasks && i < OPS_MAX; i++) {
            check_task(graph, pe, i % 2 == 0 ? i : n_tasks - i);
        }
    }
    enum wf_status status = wf_graph_check(graph, &err);
    require(status == WF_OK || (status == WF_EINVAL && strlen(err.text) > 10));
}

static void check_file(const char *path)
{
    struct wf_trace trace = {.source = NULL};
    struct wf_err err = {.status = WF_OK};

    enum wf_status status = wf_native_open(path, &trace, &err);
    if (status != WF_OK) {
        require(status == WF_EINVAL && strlen(err.text) > 10);
        return;
    }
    if (trace.graph != NULL) {
        check_graph(trace.graph);
        wf_trace_close(&trace);
        return;
    }
    struct wf_source *source = trace.source;
    uint32_t n = source->n_ranks < RANKS_CHECKED ? source->n_ranks : RANKS_CHECKED;
    for (uint32_t rank = 0; rank < n; rank++) {
        check_rank(source, rank);
    }
    status = wf_source_check(source, &err);
    require(status == WF_OK || (status == WF_EINVAL && strlen(err.text) > 10));
    wf_source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("fuzz", 0);
    uint8_t *copy = malloc(size + 1);

    require(fd >= 0 && copy != NULL);
    memcpy(copy, data, size);
    /* As it is, and repaired. */
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            repair(copy, size);
        }
        require(pwrite(fd, copy, size, 0) == (ssize_t)size);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        check_file(path);
    }
    free(copy);
    (void)close(fd);
    return 0;
}
