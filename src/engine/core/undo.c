/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/core/undo.h"

#include "engine/core/execute.h"

enum entry_kind { ENTRY_STATE, ENTRY_EDIT, ENTRY_GET, ENTRY_PUT };

struct entry {
    uint32_t kind;
    uint32_t where; /* offset in the state, or the cell */
    uint32_t size;  /* size of the saved bytes that follow */
    uint32_t prev;  /* offset of the previous entry + 1; 0: none */
};

void wf_undo_log_fini(struct wf_undo_log *log)
{
    wf_buf_fini(&log->entries);
    wf_buf_fini(&log->sent);
}

static void log_bytes(struct wf_undo_log *log, struct entry entry, const void *bytes)
{
    uint32_t at = (uint32_t)log->entries.size;
    size_t padded = ((size_t)entry.size + 7) / 8 * 8;
    unsigned char *to = wf_buf_extend(&log->entries, sizeof(entry) + padded);

    entry.prev = log->last;
    memcpy(to, &entry, sizeof(entry));
    if (bytes != NULL && padded == entry.size) {
        wf_copy_words(to + sizeof(entry), bytes, padded);
    } else if (bytes != NULL) {
        memcpy(to + sizeof(entry), bytes, entry.size);
        memset(to + sizeof(entry) + entry.size, 0, padded - entry.size);
    }
    log->last = at + 1;
}

void wf_undo_log_state(struct wf_ctx *ctx, size_t offset, size_t size)
{
    const unsigned char *state = (const unsigned char *)(ctx->lp + 1);

    log_bytes(
        ctx->undo_log,
        (struct entry){.kind = ENTRY_STATE, .where = (uint32_t)offset, .size = (uint32_t)size},
        state + offset);
}

/* Whether the contents of the cell before the event are logged already, or need not be because the
 * event got the cell. Remembers the cell. */
static bool was_seen(struct wf_undo_log *log, uint32_t cell)
{
    uint32_t *seen = &log->seen[cell % WF_UNDO_SEEN];
    bool known = *seen == cell;

    *seen = cell;
    log->has_seen = true;
    return known;
}

void *wf_undo_log_edit(struct wf_ctx *ctx, uint32_t cell)
{
    const struct wf_cells *cells = &ctx->worker->cells;
    void *bytes = wf_cells_at(cells, cell);

    if (!was_seen(ctx->undo_log, cell)) {
        log_bytes(ctx->undo_log,
                  (struct entry){.kind = ENTRY_EDIT,
                                 .where = cell,
                                 .size = wf_cells_slab(cells, cell)->size},
                  bytes);
    }
    return bytes;
}

uint32_t wf_undo_log_get(struct wf_ctx *ctx, size_t bytes)
{
    uint32_t cell = wf_cells_get(&ctx->worker->cells, bytes);

    (void)was_seen(ctx->undo_log, cell);
    log_bytes(ctx->undo_log, (struct entry){.kind = ENTRY_GET, .where = cell}, NULL);
    return cell;
}

void wf_undo_log_put(struct wf_ctx *ctx, uint32_t cell)
{
    log_bytes(ctx->undo_log, (struct entry){.kind = ENTRY_PUT, .where = cell}, NULL);
}

void wf_undo_execute(struct wf_worker *worker, const struct wf_event *ev,
                     struct wf_frame *frame)
{
    struct wf_ctx *ctx = &worker->ctx;
    struct wf_undo_log *log = ctx->undo_log;
    const struct wf_block *block =
        &worker->engine->blocks[wf_engine_block_of(worker->engine, ev->dst)];
    const struct wf_process_group *group = block->group;

    wf_ctx_enter(ctx, block, ev->dst, ev);
    frame->digest = ctx->lp->digest;
    frame->sent = ctx->lp->sent;
    frame->random = ctx->lp->random;
    frame->overflows = worker->overflows;
    frame->dropped = (uint32_t)worker->dropped;
    log->entries.size = 0;
    log->last = 0;
    log->sent.size = 0;
    if (log->has_seen) {
        memset(log->seen, 0, sizeof(log->seen));
        log->has_seen = false;
    }
    log->log_changes = group->ops->undo != NULL || group->ops->announces_changes;
    if (!log->log_changes) {
        wf_undo_log_state(ctx, 0, group->state_size);
    }
    wf_ctx_digest(ctx, ev);
    group->ops->event(ctx->lp + 1, ev, ctx);
    frame->overflows = worker->overflows - frame->overflows;
    frame->dropped = (uint32_t)worker->dropped - frame->dropped;
    worker->count.executed++;
    frame->undo_size = (uint32_t)log->entries.size;
    frame->undo_last = log->last;
    frame->sent_size = (uint32_t)log->sent.size;
    frame->note_size = ctx->note_size;
    frame->trail_size = (uint32_t)ctx->trail.size;
}

static void undo_entry(struct wf_worker *worker, const struct entry *entry, const void *bytes)
{
    unsigned char *state = (unsigned char *)(worker->ctx.lp + 1);

    switch ((enum entry_kind)entry->kind) {
    case ENTRY_STATE:
        memcpy(state + entry->where, bytes, entry->size);
        break;
    case ENTRY_EDIT:
        memcpy(wf_cells_at(&worker->cells, entry->where), bytes, entry->size);
        break;
    case ENTRY_GET:
        wf_cells_put(&worker->cells, entry->where);
        break;
    case ENTRY_PUT:
        break; /* it was kept */
    }
}

void wf_undo_revert(struct wf_worker *worker, const struct wf_event *ev,
                    const struct wf_frame *frame, const void *note, const unsigned char *undo)
{
    struct wf_ctx *ctx = &worker->ctx;
    struct wf_undo_log *log = ctx->undo_log;
    const struct wf_block *block =
        &worker->engine->blocks[wf_engine_block_of(worker->engine, ev->dst)];
    const struct wf_process_ops *ops = block->group->ops;

    wf_ctx_enter(ctx, block, ev->dst, ev);
    if (ops->undo != NULL) {
        ctx->undo_log = NULL; /* an undo handler is not itself undone */
        ops->undo(ctx->lp + 1, ev, note, ctx);
        ctx->undo_log = log;
    }
    for (uint32_t at = frame->undo_last; at != 0;) {
        struct entry entry;
        memcpy(&entry, undo + at - 1, sizeof(entry));
        undo_entry(worker, &entry, undo + at - 1 + sizeof(entry));
        at = entry.prev;
    }
    ctx->lp->digest = frame->digest;
    ctx->lp->sent = frame->sent;
    ctx->lp->random = frame->random;
    worker->overflows -= frame->overflows;
    worker->dropped -= frame->dropped;
}

void wf_undo_commit(struct wf_worker *worker, const struct wf_event *ev,
                    const struct wf_frame *frame, const void *note, const void *trail,
                    const unsigned char *undo)
{
    const struct wf_block *block =
        &worker->engine->blocks[wf_engine_block_of(worker->engine, ev->dst)];

    for (uint32_t at = frame->undo_last; at != 0;) {
        struct entry entry;
        memcpy(&entry, undo + at - 1, sizeof(entry));
        if (entry.kind == ENTRY_PUT) {
            wf_cells_put(&worker->cells, entry.where);
        }
        at = entry.prev;
    }
    if (block->group->ops->commit != NULL) {
        struct wf_undo_log *log = worker->ctx.undo_log;
        wf_ctx_enter(&worker->ctx, block, ev->dst, ev);
        worker->ctx.undo_log = NULL;
        worker->ctx.final_trail = trail;
        worker->ctx.final_trail_bytes = frame->trail_size;
        block->group->ops->commit(ev, note, &worker->ctx);
        worker->ctx.undo_log = log;
    }
    worker->count.committed++;
    worker->count.last_time =
        ev->key.time > worker->count.last_time ? ev->key.time : worker->count.last_time;
}
