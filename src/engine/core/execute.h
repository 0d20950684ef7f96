/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What every executed event costs, inlined into the loops of the schedulers. */

#define XXH_INLINE_ALL
#include "engine/core/internal.h"

#include <xxhash.h>

/* Adds the event to the digest of the process the context points at. */
static inline void wf_ctx_digest(struct wf_ctx *ctx, const struct wf_event *ev)
{
    /* The length is a constant in the first call, which saves choosing among the variants of
     * the hash. */
    ctx->lp->digest = ev->size == 0
                          ? XXH3_64bits_withSeed(ev, sizeof(*ev), ctx->lp->digest)
                          : XXH3_64bits_withSeed(ev, wf_event_bytes(ev), ctx->lp->digest);
}

/* Executes an event that is never undone: digest, handler, commit. The context knows the block
 * of the process. The caller counts the event. */
static inline void wf_execute_at(struct wf_worker *worker, const struct wf_process_ops *ops,
                                 struct wf_lp *lp, const struct wf_event *ev)
{
    struct wf_ctx *ctx = &worker->ctx;

    wf_ctx_point(ctx, lp, ev);
    wf_ctx_digest(ctx, ev);
    ops->event(lp + 1, ev, ctx);
    if (ops->commit != NULL &&
        ((ctx->note_size | ctx->trail.size) != 0 || !ops->commits_notes)) {
        ctx->final_trail = ctx->trail.data;
        ctx->final_trail_bytes = ctx->trail.size;
        ops->commit(ev, wf_ctx_note(ctx), ctx);
    }
}

/* Likewise, for a process of the block. */
static inline void wf_execute_in(struct wf_worker *worker, const struct wf_block *block,
                                 const struct wf_event *ev)
{
    worker->ctx.block = block;
    wf_execute_at(worker, block->group->ops, wf_block_lp(block, ev->dst), ev);
}

/* Counts an event that was executed for good. */
static inline void wf_worker_count(struct wf_worker *worker, const struct wf_event *ev)
{
    worker->count.committed++;
    if (ev->key.time > worker->count.last_time) {
        worker->count.last_time = ev->key.time;
    }
}
