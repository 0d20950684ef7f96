/* SPDX-License-Identifier: Apache-2.0 */
#define XXH_INLINE_ALL
#include "base/rng.h"
#include "engine/internal.h"
#include "engine/undo.h"

#include <xxhash.h>

int64_t wf_now(const struct wf_ctx *ctx)
{
    return ctx->now->key.time;
}

const struct wf_event *wf_now_event(const struct wf_ctx *ctx)
{
    return ctx->now;
}

const struct wf_key *wf_now_key(const struct wf_ctx *ctx)
{
    return &ctx->now->key;
}

uint32_t wf_self(const struct wf_ctx *ctx)
{
    return ctx->self;
}

void *wf_model(const struct wf_ctx *ctx)
{
    return ctx->block->group->model;
}

void *wf_state(const struct wf_ctx *ctx)
{
    return ctx->lp + 1;
}

/* A model that breaks the rules is a bug in weft: no user input may lead here. */
WF_NORETURN static void misuse(const struct wf_ctx *ctx, const char *what, uint32_t dst,
                               int64_t delay)
{
    wf_panic("process %u (%s) at %lld ps: %s (for process %u, delay %lld ps)", ctx->self,
             ctx->block->group->ops->name, (long long)ctx->now->key.time, what, dst,
             (long long)delay);
}

static void check_target(const struct wf_ctx *ctx, uint32_t dst, int64_t delay, size_t size)
{
    const struct wf_engine *engine = ctx->worker->engine;
    uint32_t block = wf_engine_block_of(engine, dst);

    if (block >= engine->n_blocks ||
        dst - engine->blocks[block].first >= engine->blocks[block].count) {
        misuse(ctx, "it schedules an event for a process that does not exist", dst, delay);
    }
    if (size > engine->blocks[block].group->ops->payload_max) {
        misuse(ctx, "it sends a payload larger than the receiver declared", dst, delay);
    }
    if (delay < 0) {
        misuse(ctx, "it schedules an event in the past", dst, delay);
    }
    if (delay < ctx->lookahead && dst != ctx->self) {
        misuse(ctx, "it schedules an event earlier than promised", dst, delay);
    }
}

void wf_schedule_to(struct wf_ctx *ctx, struct wf_event_target to, int64_t delay,
                    const void *payload, size_t size)
{
    struct wf_event *ev = ctx->out;
    uint64_t seq = ctx->lp->sent++ | (uint64_t)to.part << WF_KEY_PART_SHIFT;

    check_target(ctx, to.dst, delay, size);
    if (delay >= ctx->end - ctx->now->key.time) {
        /* An event after the end of the run is dropped; one after the end of time is an error.
         */
        ctx->worker->overflows += delay >= INT64_MAX - ctx->now->key.time;
        return;
    }
    ev->key = wf_key_child(&ctx->now->key, delay, ctx->self, seq);
    ev->dst = to.dst;
    ev->kind = to.kind;
    ev->size = (uint16_t)size;
    if (size > 0) {
        memcpy(ev->payload, payload, size);
    }
    ctx->send(ctx->worker, ev);
}

void wf_schedule(struct wf_ctx *ctx, uint32_t dst, int64_t delay, uint16_t kind,
                 const void *payload, size_t size)
{
    wf_schedule_to(ctx, (struct wf_event_target){.dst = dst, .kind = kind}, delay, payload,
                   size);
}

uint64_t wf_random(struct wf_ctx *ctx)
{
    return wf_rng_draw(ctx->worker->engine->config.seed, ctx->self, ctx->lp->draws++);
}

void wf_touch(struct wf_ctx *ctx, void *at, size_t size)
{
    if (ctx->undo_log == NULL || !ctx->undo_log->log_changes) {
        return;
    }
    size_t offset = (size_t)((unsigned char *)at - (unsigned char *)(ctx->lp + 1));
    size_t state_size = ctx->block->group->state_size;
    if (offset > state_size || size > state_size - offset) {
        misuse(ctx, "it announces a change outside of its state", ctx->self, 0);
    }
    wf_undo_log_state(ctx, offset, size);
}

void wf_note(struct wf_ctx *ctx, const void *note, size_t size)
{
    if (size > sizeof(ctx->note)) {
        misuse(ctx, "it leaves a note longer than WF_NOTE_MAX", ctx->self, 0);
    }
    memcpy(ctx->note, note, size);
    ctx->note_size = (uint32_t)size;
}

void *wf_trail_extend(struct wf_ctx *ctx, size_t size)
{
    if (size % 8 != 0) {
        misuse(ctx, "it leaves a trail whose length is no multiple of 8", ctx->self, 0);
    }
    return wf_buf_extend(&ctx->trail, size);
}

void *wf_trail_last(struct wf_ctx *ctx, size_t size)
{
    return ctx->trail.size >= size ? ctx->trail.data + ctx->trail.size - size : NULL;
}

const void *wf_trail(const struct wf_ctx *ctx, size_t *size)
{
    *size = ctx->final_trail_bytes;
    return ctx->final_trail;
}

uint32_t wf_cell_new(struct wf_ctx *ctx)
{
    uint32_t cell = wf_cells_get(&ctx->worker->cells);

    if (ctx->undo_log != NULL) {
        wf_undo_log_get(ctx, cell);
    }
    return cell;
}

void wf_cell_free(struct wf_ctx *ctx, uint32_t cell)
{
    if (ctx->undo_log != NULL) {
        wf_undo_log_put(ctx, cell);
    } else {
        wf_cells_put(&ctx->worker->cells, cell);
    }
}

const void *wf_cell_read(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cells_at(&ctx->worker->cells, cell);
}

void *wf_cell_edit(struct wf_ctx *ctx, uint32_t cell)
{
    if (ctx->undo_log != NULL) {
        wf_undo_log_edit(ctx, cell);
    }
    return wf_cells_at(&ctx->worker->cells, cell);
}

void *wf_tally(struct wf_ctx *ctx)
{
    return ctx->worker->tally;
}

void wf_ctx_digest(struct wf_ctx *ctx, const struct wf_event *ev)
{
    ctx->lp->digest = XXH3_64bits_withSeed(ev, wf_event_bytes(ev), ctx->lp->digest);
}

void wf_worker_execute(struct wf_worker *worker, const struct wf_event *ev)
{
    struct wf_ctx *ctx = &worker->ctx;
    const struct wf_block *block =
        &worker->engine->blocks[wf_engine_block_of(worker->engine, ev->dst)];
    const struct wf_process_ops *ops = block->group->ops;

    wf_ctx_enter(ctx, block, ev->dst, ev);
    wf_ctx_digest(ctx, ev);
    ops->event(ctx->lp + 1, ev, ctx);
    if (ops->commit != NULL) {
        ctx->final_trail = ctx->trail.data;
        ctx->final_trail_bytes = ctx->trail.size;
        ops->commit(ev, wf_ctx_note(ctx), ctx);
    }
    worker->count.committed++;
    if (ev->key.time > worker->count.last_time) {
        worker->count.last_time = ev->key.time;
    }
}
