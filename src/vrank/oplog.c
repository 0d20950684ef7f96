/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/oplog.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct wf_vrank_logged_op {
    struct wf_op op;
    uint64_t number;
    struct wf_vrank_logged_op *next; /* next op in the list of kept ops */
};

/* An array of an op: its offset, its number of elements and their size. */
struct array {
    size_t offset, n, size;
};

enum { ARRAYS = 6 };

/* The vectors of a collective have `count` elements. */
static void list_arrays(const struct wf_op *op, struct array out[ARRAYS])
{
    const struct array all[ARRAYS] = {
        {offsetof(struct wf_op, requests), op->count, sizeof(*op->requests)},
        {offsetof(struct wf_op, outcomes), op->outcome, sizeof(*op->outcomes)},
        {offsetof(struct wf_op, counts), op->count, sizeof(*op->counts)},
        {offsetof(struct wf_op, recv_counts), op->count, sizeof(*op->recv_counts)},
        {offsetof(struct wf_op, sources), op->n_sources, sizeof(*op->sources)},
        {offsetof(struct wf_op, destinations), op->n_destinations, sizeof(*op->destinations)},
    };

    memcpy(out, all, sizeof(all));
}

static const void *array_at(const struct wf_op *op, size_t offset)
{
    const void *at;

    memcpy(&at, (const unsigned char *)op + offset, sizeof(at));
    return at;
}

static size_t rounded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static struct wf_vrank_logged_op *copy_op(const struct wf_op *op)
{
    struct array arrays[ARRAYS];
    size_t size = sizeof(struct wf_vrank_logged_op);

    list_arrays(op, arrays);
    for (int i = 0; i < ARRAYS; i++) {
        if (array_at(op, arrays[i].offset) != NULL) {
            size += rounded(arrays[i].n * arrays[i].size);
        }
    }

    struct wf_vrank_logged_op *logged = wf_xmalloc(size);
    unsigned char *to = (unsigned char *)(logged + 1);

    *logged = (struct wf_vrank_logged_op){.op = *op};
    for (int i = 0; i < ARRAYS; i++) {
        const void *from = array_at(op, arrays[i].offset);
        if (from != NULL) {
            memcpy(to, from, arrays[i].n * arrays[i].size);
            memcpy((unsigned char *)&logged->op + arrays[i].offset, &(const void *){to},
                   sizeof(from));
            to += rounded(arrays[i].n * arrays[i].size);
        }
    }
    return logged;
}

void wf_vrank_oplog_fini(struct wf_vrank_oplog *log)
{
    for (uint32_t i = 0; i < log->n; i++) {
        free(log->ops[log->head + i]);
    }
    while (log->kept != NULL) {
        struct wf_vrank_logged_op *next = log->kept->next;
        free(log->kept);
        log->kept = next;
    }
    free(log->ops);
    *log = (struct wf_vrank_oplog){.first = wf_vrank_oplog_end(log)};
}

void wf_vrank_oplog_add(struct wf_vrank_oplog *log, const struct wf_op *op)
{
    struct wf_vrank_logged_op *logged = copy_op(op);

    logged->number = wf_vrank_oplog_end(log);
    if (log->head > 0 && log->head + log->n == log->capacity) {
        memmove(log->ops, log->ops + log->head, log->n * sizeof(struct wf_vrank_logged_op *));
        log->head = 0;
    }
    if (log->n == log->capacity) { /* starts at 2: each of a million ranks has a log */
        log->capacity = log->capacity == 0 ? 2 : 2 * log->capacity;
        log->ops = wf_xrealloc(log->ops, log->capacity, sizeof(struct wf_vrank_logged_op *));
    }
    log->ops[log->head + log->n++] = logged;
}

const struct wf_op *wf_vrank_oplog_get(const struct wf_vrank_oplog *log, uint64_t number)
{
    if (number >= log->first) {
        return number - log->first < log->n ? &log->ops[log->head + (number - log->first)]->op
                                            : NULL;
    }
    for (const struct wf_vrank_logged_op *kept = log->kept; kept != NULL; kept = kept->next) {
        if (kept->number == number) {
            return &kept->op;
        }
    }
    return NULL;
}

static bool must_be_kept(const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);

    return info->family == WF_FAMILY_COLLECTIVE && info->returns_request;
}

void wf_vrank_oplog_drop(struct wf_vrank_oplog *log, uint64_t number)
{
    uint32_t n = 0;

    for (; n < log->n && log->first + n < number; n++) {
        struct wf_vrank_logged_op *logged = log->ops[log->head + n];
        if (must_be_kept(&logged->op)) {
            logged->next = log->kept;
            log->kept = logged;
        } else {
            free(logged);
        }
    }
    log->n -= n;
    log->first += n;
    log->head = log->n == 0 ? 0 : log->head + n;
}

void wf_vrank_oplog_complete(struct wf_vrank_oplog *log, uint32_t request)
{
    for (struct wf_vrank_logged_op **at = &log->kept; *at != NULL; at = &(*at)->next) {
        if ((*at)->op.request == request) {
            struct wf_vrank_logged_op *gone = *at;
            *at = gone->next;
            free(gone);
            return;
        }
    }
}
