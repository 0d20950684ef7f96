/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/weft/out.h"

#include "base/array.h"
#include "base/guard.h"
#include "base/mem.h"
#include "base/varint.h"
#include "program/trace/kit/target.h"
#include "program/trace/weft/frame.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES_MAX = 1 << 16 };
enum { TEMPORARY_MIN = 1 << 12 }; /* bytes of a block of a temporary file that is compressed */

struct file {
    FILE *stream;
    uint64_t offset;
    struct wf_native_index index;
};

struct wf_native_out {
    struct wf_target *target;
    struct file *files; /* the first has the tables; a single file has the blocks too */
    uint32_t n_files;
    uint32_t ranks_per_part;
    struct wf_native_packer *packer;
    bool temporary;
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

static void put_frame(struct wf_native_out *out, struct file *file,
                      struct wf_native_frame frame, const struct wf_buf *raw)
{
    unsigned char head[WF_NATIVE_FRAME_BYTES];
    const void *stored = NULL;

    if (raw->size > WF_NATIVE_RAW_MAX) {
        (void)wf_err_set(&out->failure, WF_ELIMIT,
                         "an op of rank %u takes %zu bytes; at most %d can be written",
                         frame.rank, raw->size, WF_NATIVE_RAW_MAX);
        return;
    }
    if (out->temporary && raw->size < TEMPORARY_MIN) {
        wf_native_frame_store(&frame, raw->data, raw->size);
        stored = raw->data;
    } else {
        wf_native_frame_pack(out->packer, &frame, raw->data, raw->size, &stored);
    }
    wf_native_frame_write(&frame, head);
    put(out, file, head, sizeof(head));
    put(out, file, stored, frame.stored_size);
}

/* Writes a frame to the first file, and lists it in the index. */
static void put_listed(struct wf_native_out *out, enum wf_native_frame_type type,
                       const struct wf_buf *raw)
{
    struct file *file = &out->files[0];
    struct wf_native_index *index = &file->index;

    WF_PUSH(index->tables, index->n_tables, index->tables_capacity, file->offset);
    put_frame(out, file, (struct wf_native_frame){.type = (uint8_t)type}, raw);
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
    uint32_t version = options->streams ? WF_NATIVE_STREAMS_VERSION
                       : options->tasks ? WF_NATIVE_TASKS_VERSION
                                        : WF_NATIVE_FILE_VERSION;
    const struct wf_native_header header = {version, options->n_ranks, block_size, 1};
    unsigned char bytes[WF_NATIVE_HEADER_BYTES];
    char name[32] = "index.weft";

    wf_native_header_write(&header, bytes);
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

    WF_TRY(wf_target_open(path, n_parts > 0, options->force, &target, err));

    struct wf_native_out *out =
        wf_xaligned_zero(sizeof(*out)); /* several may be used at once */
    out->target = target;
    out->temporary = options->temporary;
    if (n_parts > 0) {
        out->ranks_per_part = (options->n_ranks - 1) / n_parts + 1;
        n_parts = (options->n_ranks - 1) / out->ranks_per_part + 1;
    }
    out->n_files = 1 + n_parts;
    out->files = wf_xcalloc(out->n_files, sizeof(*out->files));
    out->packer = wf_native_packer_new();
    enum wf_status status = open_files(out, options, block_size, err);
    if (status != WF_OK) {
        wf_native_out_discard(out);
        return status;
    }
    *result = out;
    return WF_OK;
}

void wf_native_out_record(struct wf_native_out *out, const struct wf_native_record *record)
{
    size_t most = wf_native_record_max(record);
    unsigned char *at = wf_buf_extend(&out->table, most);

    out->table.size -= most - (size_t)(wf_native_encode_record(record, at) - at);
    if (out->table.size >= TABLE_BYTES_MAX) {
        put_table(out);
    }
}

void wf_native_out_block(struct wf_native_out *out, struct wf_native_block block,
                         const struct wf_buf *raw)
{
    uint32_t part = out->n_files == 1 ? 0 : 1 + block.rank / out->ranks_per_part;
    struct file *file = &out->files[part];

    put_table(out);
    block.offset = file->offset;
    WF_PUSH(file->index.blocks, file->index.n_blocks, file->index.blocks_capacity, block);
    put_frame(out, file,
              (struct wf_native_frame){.type = WF_FRAME_BLOCK,
                                       .rank = block.rank,
                                       .first_op = block.first_op,
                                       .n_ops = block.n_ops},
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

static void put_index(struct wf_native_out *out, struct file *file,
                      const struct wf_native_totals *totals)
{
    struct wf_buf raw = {.data = NULL};
    unsigned char trailer[WF_NATIVE_TRAILER_BYTES];
    uint64_t begin = file->offset;
    uint32_t number = 0;
    size_t done = 0;

    do {
        size_t first = done;
        raw.size = 0;
        unsigned char *at = wf_buf_extend(&raw, wf_native_index_max(&file->index, done));
        raw.size = (size_t)(wf_native_encode_index(&file->index, totals, &done, at) - at);
        put_frame(out, file,
                  (struct wf_native_frame){
                      .type = WF_FRAME_INDEX, .rank = number++, .n_ops = done - first},
                  &raw);
    } while (done < file->index.n_blocks);
    wf_buf_fini(&raw);
    wf_native_trailer_write(begin, trailer);
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
        if (stream != NULL && wf_fclose(stream) != 0 && out->failure.status == WF_OK) {
            (void)wf_target_cannot_write(out->target, &out->failure);
        }
        out->files[i].stream = NULL;
    }
}

static void release(struct wf_native_out *out)
{
    for (uint32_t i = 0; i < out->n_files; i++) {
        free(out->files[i].index.blocks);
        free(out->files[i].index.tables);
    }
    free(out->files);
    wf_native_packer_free(out->packer);
    wf_buf_fini(&out->table);
    free(out);
}

enum wf_status wf_native_out_finish(struct wf_native_out *out,
                                    const struct wf_native_totals *totals, struct wf_err *err)
{
    /* In a directory, the totals in the first file cover all files; the others have zeros. */
    static const struct wf_native_totals none = {.acts_in_background = false};

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
