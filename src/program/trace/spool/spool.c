/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/spool/spool.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/temp.h"
#include "base/text.h"
#include "program/trace/reader.h"
#include "program/trace/weft/native.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wf_spool {
    char *directory;                /* of all parts; null in further ones */
    struct wf_trace_writer *writer; /* null once the file is finished */
    struct wf_map told;             /* communicators that the writer knows, per rank */
    struct wf_spool *further;       /* parts after the first */
    uint32_t n_further;
};

static enum wf_status cannot_write(const char *why, struct wf_err *err)
{
    return wf_err_set(err, WF_EIO,
                      "cannot write to '%.200s': %.100s; TMPDIR names a directory for what is "
                      "made of a trace",
                      wf_temp_parent(), why);
}

/* The status of a call to the writer. Its error names a file that the user has not heard of,
 * and then the reason. `err` is null if the caller can do without what was to be written. */
static enum wf_status written(enum wf_status status, struct wf_err *err)
{
    const char *reason = status == WF_EIO && err != NULL ? strrchr(err->text, ':') : NULL;
    char why[100];

    if (reason != NULL) {
        (void)snprintf(why, sizeof(why), "%s", reason + 1 + (reason[1] == ' '));
        return cannot_write(why, err);
    }
    return status;
}

static enum wf_status make_directory(struct wf_spool *spool, struct wf_err *err)
{
    spool->directory = wf_temp_directory();
    return spool->directory != NULL ? WF_OK : cannot_write(strerror(errno), err);
}

/* The path of a part; the caller frees it. */
static char *path_of(const char *directory, uint32_t part)
{
    return wf_text_make("%s/ops-%u.weft", directory, (unsigned)part);
}

static enum wf_status create(struct wf_spool *spool, const char *directory, uint32_t part,
                             uint32_t n_ranks, struct wf_err *err)
{
    const struct wf_trace_writer_options options = {
        .n_ranks = n_ranks, .temporary = true, .by_rank = true};
    char *path = path_of(directory, part);

    enum wf_status status =
        written(wf_native_writer_ops.create(path, &options, &spool->writer, err), err);
    free(path);
    return status;
}

enum wf_status wf_spool_new_parts(uint32_t n_ranks, uint32_t n_parts, struct wf_spool **out,
                                  struct wf_err *err)
{
    struct wf_spool *spool = wf_xcalloc(1, sizeof(*spool));

    spool->n_further = n_parts - 1;
    spool->further = wf_xcalloc(n_parts, sizeof(*spool->further));
    enum wf_status status = make_directory(spool, err);
    for (uint32_t i = 0; i < n_parts && status == WF_OK; i++) {
        status = create(wf_spool_part(spool, i), spool->directory, i, n_ranks, err);
    }
    if (status != WF_OK) {
        wf_spool_discard(spool);
        return status;
    }
    *out = spool;
    return WF_OK;
}

enum wf_status wf_spool_new(uint32_t n_ranks, struct wf_spool **out, struct wf_err *err)
{
    return wf_spool_new_parts(n_ranks, 1, out, err);
}

struct wf_spool *wf_spool_part(struct wf_spool *spool, uint32_t part)
{
    return part == 0 ? spool : &spool->further[part - 1];
}

enum wf_status wf_spool_add(struct wf_spool *spool, uint32_t rank, const struct wf_op *op,
                            struct wf_err *err)
{
    return written(spool->writer->ops->add(spool->writer, rank, op, err), err);
}

void wf_spool_put(struct wf_spool *spool, const struct wf_op *op,
                  const struct wf_trace_place *place)
{
    if (!wf_trace_failed(place->err) &&
        wf_spool_add(spool, (uint32_t)place->rank, op, place->err) == WF_EINVAL) {
        wf_trace_prefix(place);
    }
}

void wf_spool_compute(struct wf_spool *spool, uint32_t rank, int64_t ps, struct wf_err *err)
{
    if (ps > 0 && !wf_trace_failed(err)) {
        (void)written(wf_native_writer_compute(spool->writer, rank, ps, err), err);
    }
}

void wf_spool_waits(struct wf_spool *spool, struct wf_buf *numbers,
                    const struct wf_trace_place *place)
{
    const uint32_t *requests = (const uint32_t *)(const void *)numbers->data;
    uint32_t n = (uint32_t)(numbers->size / sizeof(*requests));
    const struct wf_op op = {.kind = n == 1 ? WF_OP_WAIT : WF_OP_WAITALL,
                             .request = requests[0],
                             .requests = requests,
                             .count = n};

    wf_spool_put(spool, &op, place);
    numbers->size = 0;
}

void wf_spool_sendrecv(struct wf_spool *spool, const struct wf_op *send,
                       const struct wf_op *recv, const struct wf_trace_place *place)
{
    static const struct wf_op none = {.peer = WF_PROC_NULL};
    struct wf_op op = send != NULL ? *send : none;

    op.kind = WF_OP_SENDRECV;
    op.comm = send == NULL && recv != NULL ? recv->comm : op.comm;
    recv = recv != NULL ? recv : &none;
    op.recv_peer = recv->peer;
    op.recv_tag = recv->tag;
    op.recv_bytes = recv->bytes;
    wf_spool_put(spool, &op, place);
}

enum wf_status wf_spool_tell(struct wf_spool *spool, uint32_t rank, uint32_t comm,
                             const struct wf_group *group, struct wf_err *err)
{
    return written(spool->writer->ops->group(spool->writer, rank, comm, group, err), err);
}

bool wf_spool_group(struct wf_spool *spool, uint32_t rank, uint32_t comm,
                    const struct wf_group *group, struct wf_err *err)
{
    uint64_t key = (uint64_t)rank << 32 | comm;

    if (wf_map_get(&spool->told, key) != NULL) {
        return true;
    }
    if (wf_spool_tell(spool, rank, comm, group, err) != WF_OK) {
        return false;
    }
    (void)wf_map_put(&spool->told, key);
    return true;
}

void wf_spool_name(struct wf_spool *spool, enum wf_source_name kind, uint32_t number,
                   const char *name)
{
    spool->writer->ops->name_of(spool->writer, kind, number, name);
}

void wf_spool_rank_ends(struct wf_spool *spool, uint32_t rank)
{
    wf_native_writer_rank_ends(spool->writer, rank);
}

void wf_spool_wall(struct wf_spool *spool, uint32_t rank, int64_t ps)
{
    spool->writer->ops->wall(spool->writer, rank, ps);
}

enum wf_status wf_spool_end(struct wf_spool *spool, const char *format, struct wf_source **out,
                            struct wf_err *err)
{
    if (!wf_trace_failed(err)) {
        return wf_spool_source(spool, format, out, err);
    }
    wf_spool_discard(spool);
    return err->status;
}

void wf_spool_discard(struct wf_spool *spool)
{
    if (spool == NULL) {
        return;
    }
    for (uint32_t i = 0; i <= spool->n_further; i++) {
        struct wf_spool *part = wf_spool_part(spool, i);
        if (part->writer != NULL) {
            part->writer->ops->discard(part->writer);
        }
        wf_map_fini(&part->told);
    }
    wf_temp_remove(spool->directory);
    free(spool->directory);
    free(spool->further);
    free(spool);
}

enum wf_status wf_spool_source(struct wf_spool *spool, const char *format,
                               struct wf_source **out, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    for (uint32_t i = 0; i <= spool->n_further && status == WF_OK; i++) {
        struct wf_spool *part = wf_spool_part(spool, i);
        status = written(part->writer->ops->finish(part->writer, err), err);
        part->writer = NULL;
    }
    if (status == WF_OK) {
        /* All files of a directory are one trace. */
        char *path =
            spool->n_further == 0 ? path_of(spool->directory, 0) : wf_xstrdup(spool->directory);
        status = wf_native_open_own(path, format, out, err);
        free(path);
    }
    wf_spool_discard(spool);
    return status;
}
