/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/oplog.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Most ops use a few of their first members: only the first `bytes` are stored, the others are
 * zero. A million ranks have several ops each. The arrays follow. */
struct wf_vrank_logged_op {
    uint64_t bytes; /* as used_bytes() says */
    unsigned char op[];
};

/* Lent ops take the place of logged ones. */
enum { LENT = 1 };
static_assert(offsetof(struct wf_vrank_lent_op, bytes) ==
                  offsetof(struct wf_vrank_logged_op, bytes),
              "what it is, is read before it is known");

static const struct wf_op *lent_op(const struct wf_vrank_logged_op *logged)
{
    return ((const struct wf_vrank_lent_op *)(const void *)logged)->op;
}

static void free_logged(struct wf_vrank_logged_op *logged)
{
    if (logged->bytes != LENT) {
        free(logged);
    }
}

/* A nonblocking collective that was dropped. */
struct wf_vrank_kept_op {
    struct wf_vrank_kept_op *next;
    uint64_t number;
    uint32_t request;
    struct wf_vrank_logged_op *logged;
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

/* How much of an op is stored: the members up to its reduction, its bytes or its duration, or all.
 * The arrays are among the last members. */
enum {
    UP_TO_REDUCTION = offsetof(struct wf_op, new_comm),
    UP_TO_BYTES = offsetof(struct wf_op, duration),
    UP_TO_DURATION = offsetof(struct wf_op, recv_peer),
    WHOLE = sizeof(struct wf_op),
};
static_assert(UP_TO_REDUCTION % 8 == 0 && UP_TO_BYTES % 8 == 0 && UP_TO_DURATION % 8 == 0 &&
                  WHOLE % 8 == 0,
              "ops are whole words");
static_assert(UP_TO_DURATION <= offsetof(struct wf_op, requests), "arrays come later");

static inline bool is_zero(const struct wf_op *op, size_t from, size_t to)
{
    uint64_t word, all = 0;

    for (size_t at = from; at < to; at += sizeof(word)) {
        memcpy(&word, (const unsigned char *)op + at, sizeof(word));
        all |= word;
    }
    return all == 0;
}

static size_t used_bytes(const struct wf_op *op)
{
    if (!is_zero(op, UP_TO_DURATION, WHOLE)) {
        return WHOLE;
    }
    if (!is_zero(op, UP_TO_BYTES, UP_TO_DURATION)) {
        return UP_TO_DURATION;
    }
    return is_zero(op, UP_TO_REDUCTION, UP_TO_BYTES) ? UP_TO_REDUCTION : UP_TO_BYTES;
}

static struct wf_vrank_logged_op *copy_whole(const struct wf_op *op)
{
    struct array arrays[ARRAYS];
    size_t size = sizeof(struct wf_vrank_logged_op) + WHOLE;

    list_arrays(op, arrays);
    for (int i = 0; i < ARRAYS; i++) {
        if (array_at(op, arrays[i].offset) != NULL) {
            size += rounded(arrays[i].n * arrays[i].size);
        }
    }

    struct wf_vrank_logged_op *logged = wf_xmalloc(size);
    unsigned char *to = logged->op + WHOLE;

    logged->bytes = WHOLE;
    memcpy(logged->op, op, WHOLE);
    for (int i = 0; i < ARRAYS; i++) {
        const void *from = array_at(op, arrays[i].offset);
        if (from != NULL) {
            memcpy(to, from, arrays[i].n * arrays[i].size);
            memcpy(logged->op + arrays[i].offset, &(const void *){to}, sizeof(from));
            to += rounded(arrays[i].n * arrays[i].size);
        }
    }
    return logged;
}

static struct wf_vrank_logged_op *copy_op(const struct wf_op *op, bool whole)
{
    size_t bytes = whole ? WHOLE : used_bytes(op);

    if (bytes == WHOLE) {
        return copy_whole(op);
    }
    struct wf_vrank_logged_op *logged = wf_xmalloc(sizeof(*logged) + bytes);
    logged->bytes = bytes;
    memcpy(logged->op, op, bytes);
    return logged;
}

static void read_op(const struct wf_vrank_logged_op *logged, struct wf_op *op)
{
    if (logged->bytes == LENT) {
        *op = *lent_op(logged);
    } else if (logged->bytes == WHOLE) {
        memcpy(op, logged->op, WHOLE);
    } else {
        *op = (struct wf_op){.kind = WF_OP_COMPUTE};
        memcpy(op, logged->op, logged->bytes);
    }
}

static enum wf_op_kind kind_of(const struct wf_vrank_logged_op *logged)
{
    enum wf_op_kind kind;

    if (logged->bytes == LENT) {
        return lent_op(logged)->kind;
    }
    static_assert(offsetof(struct wf_op, kind) == 0, "the kind is always stored");
    memcpy(&kind, logged->op, sizeof(kind));
    return kind;
}

static void free_kept(struct wf_vrank_kept_op **at)
{
    struct wf_vrank_kept_op *gone = *at;

    *at = gone->next;
    free(gone->logged);
    free(gone);
}

static struct wf_vrank_logged_op **ops_of(struct wf_vrank_oplog *log)
{
    return log->capacity > 0 ? log->many : log->few;
}

void wf_vrank_oplog_fini(struct wf_vrank_oplog *log)
{
    for (uint32_t i = 0; i < log->n; i++) {
        free_logged(ops_of(log)[log->head + i]);
    }
    while (log->kept != NULL) {
        free_kept(&log->kept);
    }
    if (log->capacity > 0) {
        free(log->many);
    }
    *log = (struct wf_vrank_oplog){.first = wf_vrank_oplog_end(log), .whole = log->whole};
}

/* Makes room for another op. */
static void grow(struct wf_vrank_oplog *log)
{
    uint32_t capacity = log->capacity > 0 ? log->capacity : WF_VRANK_OPLOG_FEW;

    if (log->head > 0 && log->head + log->n == capacity) {
        memmove(ops_of(log), ops_of(log) + log->head,
                log->n * sizeof(struct wf_vrank_logged_op *));
        log->head = 0;
    }
    if (log->n == capacity) {
        struct wf_vrank_logged_op **many =
            wf_xmalloc(2 * (size_t)capacity * sizeof(struct wf_vrank_logged_op *));
        memcpy(many, ops_of(log), log->n * sizeof(struct wf_vrank_logged_op *));
        if (log->capacity > 0) {
            free(log->many);
        }
        log->many = many;
        log->capacity = 2 * capacity;
    }
}

void wf_vrank_oplog_add(struct wf_vrank_oplog *log, const struct wf_op *op)
{
    grow(log);
    ops_of(log)[log->head + log->n++] = copy_op(op, log->whole);
}

static bool has_arrays(const struct wf_op *op)
{
    struct array arrays[ARRAYS];
    bool any = false;

    list_arrays(op, arrays);
    for (int i = 0; i < ARRAYS; i++) {
        any |= array_at(op, arrays[i].offset) != NULL;
    }
    return any;
}

void wf_vrank_oplog_lend(struct wf_vrank_oplog *log, const struct wf_op *op,
                         struct wf_vrank_lent_op *lent)
{
    if (log->whole || has_arrays(op)) {
        wf_vrank_oplog_add(log, op);
        return;
    }
    *lent = (struct wf_vrank_lent_op){LENT, op};
    grow(log);
    ops_of(log)[log->head + log->n++] = (struct wf_vrank_logged_op *)(void *)lent;
}

static struct wf_vrank_logged_op *find_op(const struct wf_vrank_oplog *log, uint64_t number)
{
    if (number >= log->first) {
        struct wf_vrank_logged_op *const *ops = log->capacity > 0 ? log->many : log->few;
        return number - log->first < log->n ? ops[log->head + (number - log->first)] : NULL;
    }
    const struct wf_vrank_kept_op *kept = log->kept;
    while (kept != NULL && kept->number != number) {
        kept = kept->next;
    }
    return kept != NULL ? kept->logged : NULL;
}

bool wf_vrank_oplog_read(const struct wf_vrank_oplog *log, uint64_t number, struct wf_op *op)
{
    const struct wf_vrank_logged_op *found = find_op(log, number);

    if (found != NULL) {
        read_op(found, op);
    }
    return found != NULL;
}

struct wf_op *wf_vrank_oplog_get(const struct wf_vrank_oplog *log, uint64_t number)
{
    struct wf_vrank_logged_op *found = find_op(log, number);

    assert(log->whole);
    return found != NULL ? (struct wf_op *)(void *)found->op : NULL;
}

static bool must_be_kept(enum wf_op_kind kind)
{
    const struct wf_op_info *info = wf_op_info(kind);

    return info->family == WF_FAMILY_COLLECTIVE && info->returns_request;
}

static void keep(struct wf_vrank_oplog *log, struct wf_vrank_logged_op *logged, uint64_t number)
{
    struct wf_vrank_kept_op *kept = wf_xmalloc(sizeof(*kept));
    struct wf_op op;

    read_op(logged, &op);
    logged = logged->bytes == LENT ? copy_op(&op, log->whole) : logged;
    *kept = (struct wf_vrank_kept_op){log->kept, number, op.request, logged};
    log->kept = kept;
}

void wf_vrank_oplog_drop(struct wf_vrank_oplog *log, uint64_t number)
{
    uint32_t n = 0;

    for (; n < log->n && log->first + n < number; n++) {
        struct wf_vrank_logged_op *logged = ops_of(log)[log->head + n];
        if (must_be_kept(kind_of(logged))) {
            keep(log, logged, log->first + n);
        } else {
            free_logged(logged);
        }
    }
    log->n -= n;
    log->first += n;
    log->head = log->n == 0 ? 0 : log->head + n;
}

void wf_vrank_oplog_complete(struct wf_vrank_oplog *log, uint32_t request)
{
    struct wf_vrank_kept_op **at = &log->kept;

    while (*at != NULL && (*at)->request != request) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        free_kept(at);
    }
}
