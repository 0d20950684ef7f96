/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/match.h"

static const struct wf_receive *read_cell(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_read(ctx, cell);
}

static struct wf_receive *edit_cell(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_edit(ctx, cell);
}

/* The one place that says what matches; wildcards will be a matter of `posted`. */
static bool matches(const struct wf_receive *a, const struct wf_match_key *b)
{
    return a->src == b->src && a->tag == b->tag && a->context == b->context;
}

static bool in_range(uint32_t request, uint32_t first, uint32_t count)
{
    return request - first < count;
}

static void append(struct wf_ctx *ctx, struct wf_queue *queue, uint32_t cell)
{
    if (queue->tail == 0) {
        queue->head = cell;
    } else {
        edit_cell(ctx, queue->tail)->next = cell;
    }
    queue->tail = cell;
}

/* Takes `cell`, which follows `before` (0 at the head), out of the queue. */
static void unlink_cell(struct wf_ctx *ctx, struct wf_queue *queue, uint32_t before,
                        uint32_t cell)
{
    uint32_t next = read_cell(ctx, cell)->next;

    if (before == 0) {
        queue->head = next;
    } else {
        edit_cell(ctx, before)->next = next;
    }
    if (queue->tail == cell) {
        queue->tail = before;
    }
}

/* Unlinks and returns the first cell that matches, or 0. */
static uint32_t remove_match(struct wf_ctx *ctx, struct wf_queue *queue,
                             const struct wf_match_key *key)
{
    uint32_t before = 0;

    for (uint32_t cell = queue->head; cell != 0; cell = read_cell(ctx, cell)->next) {
        if (matches(read_cell(ctx, cell), key)) {
            unlink_cell(ctx, queue, before, cell);
            return cell;
        }
        before = cell;
    }
    return 0;
}

/* Puts a cell into the list of the complete, behind all that arrived before or with it. Most
 * often that is the end. */
static void insert_done(struct wf_ctx *ctx, struct wf_queue *done, uint32_t cell,
                        struct wf_receive *receive)
{
    uint32_t before = 0;

    receive->next = 0;
    if (done->tail == 0 || read_cell(ctx, done->tail)->at <= receive->at) {
        append(ctx, done, cell);
        return;
    }
    for (uint32_t at = done->head; read_cell(ctx, at)->at <= receive->at;
         at = read_cell(ctx, at)->next) {
        before = at;
    }
    if (before == 0) {
        receive->next = done->head;
        done->head = cell;
    } else {
        struct wf_receive *previous = edit_cell(ctx, before);
        receive->next = previous->next;
        previous->next = cell;
    }
}

static uint32_t new_receive(struct wf_ctx *ctx, const struct wf_match_key *key, uint64_t bytes)
{
    uint32_t cell = wf_cell_new(ctx);

    *edit_cell(ctx, cell) = (struct wf_receive){
        .src = key->src, .tag = key->tag, .context = key->context, .bytes = bytes};
    return cell;
}

void wf_match_post(struct wf_ctx *ctx, struct wf_rank *rank, const struct wf_match_key *key,
                   uint64_t bytes, uint32_t request)
{
    uint32_t cell = remove_match(ctx, &rank->unexpected, key);

    if (cell != 0) {
        struct wf_receive *receive = edit_cell(ctx, cell);
        receive->request = request;
        rank->unexpected_messages--;
        insert_done(ctx, &rank->done, cell, receive);
        return;
    }
    cell = new_receive(ctx, key, bytes);
    edit_cell(ctx, cell)->request = request;
    append(ctx, &rank->posted, cell);
}

bool wf_match_arrive(struct wf_ctx *ctx, struct wf_rank *rank, const struct wf_match_key *key,
                     uint64_t bytes, int64_t at, uint32_t *request)
{
    uint32_t cell = remove_match(ctx, &rank->posted, key);

    if (cell == 0) {
        cell = new_receive(ctx, key, bytes);
        edit_cell(ctx, cell)->at = at;
        append(ctx, &rank->unexpected, cell);
        rank->unexpected_messages++;
        return false;
    }

    struct wf_receive *receive = edit_cell(ctx, cell);
    receive->bytes = bytes;
    receive->at = at;
    *request = receive->request;
    insert_done(ctx, &rank->done, cell, receive);
    return true;
}

uint32_t wf_match_missing(struct wf_ctx *ctx, const struct wf_rank *rank, uint32_t first,
                          uint32_t count)
{
    uint32_t missing = 0;

    for (uint32_t cell = rank->posted.head; cell != 0; cell = read_cell(ctx, cell)->next) {
        missing += in_range(read_cell(ctx, cell)->request, first, count);
    }
    return missing;
}

bool wf_match_take(struct wf_ctx *ctx, struct wf_rank *rank, uint32_t first, uint32_t count,
                   int64_t *at)
{
    uint32_t before = 0;

    for (uint32_t cell = rank->done.head; cell != 0; cell = read_cell(ctx, cell)->next) {
        const struct wf_receive *receive = read_cell(ctx, cell);
        if (in_range(receive->request, first, count)) {
            *at = receive->at;
            unlink_cell(ctx, &rank->done, before, cell);
            wf_cell_free(ctx, cell);
            return true;
        }
        before = cell;
    }
    return false;
}

const struct wf_receive *wf_match_first_missing(struct wf_ctx *ctx, const struct wf_rank *rank,
                                                uint32_t first, uint32_t count)
{
    for (uint32_t cell = rank->posted.head; cell != 0; cell = read_cell(ctx, cell)->next) {
        if (in_range(read_cell(ctx, cell)->request, first, count)) {
            return read_cell(ctx, cell);
        }
    }
    return NULL;
}
