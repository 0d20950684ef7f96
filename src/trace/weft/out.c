/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/weft/out.h"

#include "base/mem.h"
#include "base/varint.h"
#include "trace/kit/target.h"
#include "trace/weft/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_BLOCKS_MAX = 1 << 20, TABLE_BYTES_MAX = 1 << 16 };

struct listed {
    uint64_t offset, n_ops;
    uint32_t rank;
};

struct file {
    FILE *stream;
    uint64_t offset;
    struct listed *blocks;
    size_t n_blocks, capacity;
    uint64_t *tables; /* offsets */
    size_t n_tables;
};

struct wf_native_out {
    struct wf_target *target;
    struct file *files; /* the first has the tables; it has the blocks too if it is alone */
    uint32_t n_files;
    uint32_t ranks_per_part;
    struct wf_packer *packer;
    struct wf_buf table; /* records that are not in the file yet */
    struct wf_err failure;
};

static void part_name(uint32_t part, char *buf, size_t size)
{
    (void)snprintf(buf, size, "part-%04u.weft", part);
}

static void put(struct wf_native_out *out, struct file *file, const void *bytes, size_t size)
{
    if (out->failure.status != WF_OK || size == 0) {
        return;
    }
    if (fwrite(bytes, 1, size, file->stream) != size) {
        (void)wf_target_cannot_write(out->target, &out->failure);
    }
    file->offset += size;
}

static void put_frame(struct wf_native_out *out, struct file *file, struct wf_frame frame,
                      const struct wf_buf *raw)
{
    unsigned char head[WF_FRAME_BYTES];
    const void *stored = NULL;

    if (raw->size > WF_RAW_MAX) {
        (void)wf_err_set(&out->failure, WF_ELIMIT,
                         "an op of rank %u takes %zu bytes; at most %d can be written",
                         frame.rank, raw->size, WF_RAW_MAX);
        return;
    }
    wf_frame_pack(out->packer, &frame, raw->data, raw->size, &stored);
    wf_frame_write(&frame, head);
    put(out, file, head, sizeof(head));
    put(out, file, stored, frame.stored_size);
}

/* A frame that is found again by the index. */
static void put_listed(struct wf_native_out *out, enum wf_frame_type type,
                       const struct wf_buf *raw)
{
    struct file *file = &out->files[0];

    file->tables = wf_xrealloc(file->tables, file->n_tables + 1, sizeof(*file->tables));
    file->tables[file->n_tables++] = file->offset;
    put_frame(out, file, (struct wf_frame){.type = (uint8_t)type}, raw);
}

static void put_table(struct wf_native_out *out)
{
    if (out->table.size > 0) {
        put_listed(out, WF_FRAME_TABLE, &out->table);
        out->table.size = 0;
    }
}

static enum wf_status open_files(struct wf_native_out *out,
                                 const struct wf_trace_writer_options *options,
                                 uint32_t block_size, struct wf_err *err)
{
    const struct wf_file_header header = {options->tasks ? WF_TASKS_VERSION : WF_FILE_VERSION,
                                          options->n_ranks, block_size, 1};
    unsigned char bytes[WF_HEADER_BYTES];
    char name[32] = "index.weft";

    wf_header_write(&header, bytes);
    for (uint32_t i = 0; i < out->n_files; i++) {
        if (i > 0) {
            part_name(i - 1, name, sizeof(name));
        }
        out->files[i].stream = wf_target_create(out->target, name);
        if (out->files[i].stream == NULL) {
            return wf_target_cannot_write(out->target, err);
        }
        put(out, &out->files[i], bytes, sizeof(bytes));
    }
    return WF_OK;
}

enum wf_status wf_native_out_open(const char *path,
                                  const struct wf_trace_writer_options *options,
                                  uint32_t block_size, struct wf_native_out **result,
                                  struct wf_err *err)
{
    uint32_t n_parts =
        options->n_parts < options->n_ranks ? options->n_parts : options->n_ranks;
    struct wf_target *target = NULL;

    enum wf_status status = wf_target_open(path, n_parts > 0, options->force, &target, err);
    if (status != WF_OK) {
        return status;
    }

    struct wf_native_out *out = wf_xcalloc(1, sizeof(*out));
    out->target = target;
    if (n_parts > 0) {
        out->ranks_per_part = (options->n_ranks - 1) / n_parts + 1;
        n_parts = (options->n_ranks - 1) / out->ranks_per_part + 1;
    }
    out->n_files = 1 + n_parts;
    out->files = wf_xcalloc(out->n_files, sizeof(*out->files));
    out->packer = wf_packer_new();
    status = open_files(out, options, block_size, err);
    if (status != WF_OK) {
        wf_native_out_discard(out);
        return status;
    }
    *result = out;
    return WF_OK;
}

void wf_native_out_record(struct wf_native_out *out, enum wf_record_type type,
                          const struct wf_buf *record)
{
    wf_varint_put(&out->table, type);
    wf_varint_put(&out->table, record->size);
    wf_buf_append(&out->table, record->data, record->size);
    if (out->table.size >= TABLE_BYTES_MAX) {
        put_table(out);
    }
}

void wf_native_out_block(struct wf_native_out *out, const struct wf_block_place *place,
                         const struct wf_buf *raw)
{
    uint32_t part = out->n_files == 1 ? 0 : 1 + place->rank / out->ranks_per_part;
    struct file *file = &out->files[part];

    put_table(out);
    if (file->n_blocks == file->capacity) {
        file->capacity = file->capacity < 64 ? 64 : file->capacity * 2;
        file->blocks = wf_xrealloc(file->blocks, file->capacity, sizeof(*file->blocks));
    }
    file->blocks[file->n_blocks++] = (struct listed){file->offset, place->n_ops, place->rank};
    put_frame(out, file,
              (struct wf_frame){.type = WF_FRAME_BLOCK,
                                .rank = place->rank,
                                .first_op = place->first_op,
                                .n_ops = place->n_ops},
              raw);
}

enum wf_status wf_native_out_status(const struct wf_native_out *out, struct wf_err *err)
{
    if (out->failure.status != WF_OK && err != NULL) {
        *err = out->failure;
    }
    return out->failure.status;
}

/* ---- the end ---- */

static void index_head(struct wf_buf *raw, const struct file *file,
                       const struct wf_totals *totals)
{
    uint64_t before = 0;

    wf_varint_put(raw,
                  (totals->acts_in_background ? 1U : 0U) | (totals->depends_on_time ? 2U : 0U));
    wf_varint_put(raw, totals->n_ops);
    wf_varint_put(raw, totals->n_stored);
    wf_varint_put(raw, totals->raw_bytes);
    wf_varint_put(raw, totals->n_messages);
    wf_varint_put(raw, file->n_blocks);
    wf_varint_put(raw, file->n_tables);
    for (size_t i = 0; i < file->n_tables; i++) {
        wf_varint_put(raw, file->tables[i] - before);
        before = file->tables[i];
    }
}

static void put_index(struct wf_native_out *out, struct file *file,
                      const struct wf_totals *totals)
{
    struct wf_buf raw = {.data = NULL};
    struct listed before = {.offset = 0};
    unsigned char trailer[WF_TRAILER_BYTES];
    uint64_t begin = file->offset;
    uint32_t number = 0;

    index_head(&raw, file, totals);
    size_t done = 0;
    do {
        size_t n = file->n_blocks - done;
        n = n < INDEX_BLOCKS_MAX ? n : INDEX_BLOCKS_MAX;
        for (size_t i = 0; i < n; i++) {
            const struct listed *block = &file->blocks[done + i];
            wf_varint_put(&raw, block->offset - before.offset);
            wf_varint_put(&raw, wf_zigzag((int64_t)block->rank - (int64_t)before.rank));
            wf_varint_put(&raw, block->n_ops);
            before = *block;
        }
        put_frame(out, file,
                  (struct wf_frame){.type = WF_FRAME_INDEX, .rank = number++, .n_ops = n},
                  &raw);
        raw.size = 0;
        done += n;
    } while (done < file->n_blocks);
    wf_buf_fini(&raw);
    wf_trailer_write(begin, trailer);
    put(out, file, trailer, sizeof(trailer));
}

static void put_parts(struct wf_native_out *out)
{
    struct wf_buf raw = {.data = NULL};
    char name[32];

    if (out->n_files == 1) {
        return;
    }
    wf_varint_put(&raw, out->n_files - 1);
    for (uint32_t i = 0; i + 1 < out->n_files; i++) {
        part_name(i, name, sizeof(name));
        wf_varint_put(&raw, strlen(name));
        wf_buf_append(&raw, name, strlen(name));
    }
    put_listed(out, WF_FRAME_PARTS, &raw);
    wf_buf_fini(&raw);
}

static void close_files(struct wf_native_out *out)
{
    for (uint32_t i = 0; i < out->n_files; i++) {
        FILE *stream = out->files[i].stream;
        if (stream != NULL && fclose(stream) != 0 && out->failure.status == WF_OK) {
            (void)wf_target_cannot_write(out->target, &out->failure);
        }
        out->files[i].stream = NULL;
    }
}

static void release(struct wf_native_out *out)
{
    for (uint32_t i = 0; i < out->n_files; i++) {
        free(out->files[i].blocks);
        free(out->files[i].tables);
    }
    free(out->files);
    wf_packer_free(out->packer);
    wf_buf_fini(&out->table);
    free(out);
}

enum wf_status wf_native_out_finish(struct wf_native_out *out, const struct wf_totals *totals,
                                    struct wf_err *err)
{
    /* In a directory the first file speaks for all; nobody asks the others. */
    static const struct wf_totals none = {.acts_in_background = false};

    put_table(out);
    put_parts(out);
    for (uint32_t i = 0; i < out->n_files; i++) {
        put_index(out, &out->files[i], i == 0 ? totals : &none);
    }
    close_files(out);
    enum wf_status status = wf_native_out_status(out, err);
    if (status == WF_OK) {
        status = wf_target_commit(out->target, err);
    } else {
        wf_target_discard(out->target);
    }
    release(out);
    return status;
}

void wf_native_out_discard(struct wf_native_out *out)
{
    close_files(out);
    wf_target_discard(out->target);
    release(out);
}
