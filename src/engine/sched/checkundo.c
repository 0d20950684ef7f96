/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scheduler that checks undoing. It executes, undoes and executes again every event, in
 * strict key order on one thread. After undoing, the state must equal the state before the
 * event, byte for byte. After the second execution it must equal the state after the first,
 * and the same events must have been scheduled.
 */
#include "base/mem.h"
#include "engine/core/undo.h"
#include "engine/queue/pending.h"
#include "engine/tuning.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct check_undo {
    struct wf_pending pending;
    struct wf_undo_log undo_log;
    struct wf_buf before, after, sent;
};

static void send_at_once(struct wf_worker *worker, const struct wf_event *ev)
{
    struct check_undo *own = worker->scheduler;

    wf_pending_push(&own->pending, ev);
}

static void send_to_log(struct wf_worker *worker, const struct wf_event *ev)
{
    struct check_undo *own = worker->scheduler;
    void *to = wf_buf_extend(&own->undo_log.sent, worker->engine->stride);

    memset(to, 0, worker->engine->stride); /* padding too: logs are compared byte by byte */
    memcpy(to, ev, wf_event_bytes(ev));
}

static void prepare(struct wf_worker *worker)
{
    struct check_undo *own = wf_xcalloc(1, sizeof(*own));

    wf_pending_init(&own->pending, &worker->pool);
    worker->scheduler = own;
    worker->ctx.send = send_at_once;
}

static void release(struct wf_worker *worker)
{
    struct check_undo *own = worker->scheduler;

    wf_pending_fini(&own->pending);
    wf_undo_log_fini(&own->undo_log);
    wf_buf_fini(&own->before);
    wf_buf_fini(&own->after);
    wf_buf_fini(&own->sent);
    free(own);
}

static void copy_to(struct wf_buf *buf, const void *bytes, size_t size)
{
    buf->size = 0;
    wf_buf_append(buf, bytes, size);
}

/* The first byte in which the two differ; `size` if they are equal. */
static size_t first_difference(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    size_t i = 0;

    while (i < size && x[i] == y[i]) {
        i++;
    }
    return i;
}

/* Reports an event that violates the rules. */
WF_PRINTF(3, 4)
static void blame(struct wf_worker *worker, const struct wf_event *ev, const char *fmt, ...)
{
    char what[128];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    (void)wf_err_set(&worker->engine->failure, WF_EINTERNAL,
                     "check-undo: process %u (%s), event kind %u, key (time %lld ps, delta %u, "
                     "source %u, sequence %llu): %s",
                     ev->dst, worker->ctx.block->group->ops->name, ev->kind,
                     (long long)ev->key.time, ev->key.delta, ev->key.src,
                     (unsigned long long)ev->key.seq, what);
}

static bool same(struct wf_worker *worker, const struct wf_event *ev, const char *when,
                 const struct wf_buf *expected)
{
    size_t at = first_difference(worker->ctx.lp, expected->data, expected->size);

    if (at == expected->size) {
        return true;
    }
    bool own = at >= sizeof(struct wf_lp);
    blame(worker, ev, "after %s, byte %zu of its %s differs", when,
          own ? at - sizeof(struct wf_lp) : at, own ? "state" : "engine data");
    return false;
}

static bool sent_the_same(struct wf_worker *worker, const struct wf_event *ev)
{
    const struct check_undo *own = worker->scheduler;
    const struct wf_buf *first = &own->sent, *second = &own->undo_log.sent;
    size_t common = first->size < second->size ? first->size : second->size;
    size_t at = first_difference(first->data, second->data, common);

    if (at == common && first->size == second->size) {
        return true;
    }
    blame(worker, ev, "the second execution scheduled something else, from byte %zu on", at);
    return false;
}

/* Executes an event of a careful process, which is never undone. */
static void execute_for_good(struct wf_worker *worker, const struct wf_event *ev)
{
    struct check_undo *own = worker->scheduler;

    own->undo_log.sent.size = 0;
    worker->ctx.undo_log = NULL;
    wf_worker_execute(worker, ev);
    worker->ctx.undo_log = &own->undo_log;
    worker->count.executed++;
}

static bool check(struct wf_worker *worker, const struct wf_event *ev)
{
    struct check_undo *own = worker->scheduler;
    struct wf_ctx *ctx = &worker->ctx;
    struct wf_lp *lp = wf_engine_lp(worker->engine, ev->dst);
    size_t size =
        worker->engine->blocks[wf_engine_block_of(worker->engine, ev->dst)].group->stride;
    struct wf_frame frame;

    copy_to(&own->before, lp, size);
    wf_undo_execute(worker, ev, &frame);
    copy_to(&own->after, lp, size);
    copy_to(&own->sent, own->undo_log.sent.data, own->undo_log.sent.size);
    wf_undo_revert(worker, ev, &frame, wf_ctx_note(ctx), own->undo_log.entries.data);
    if (!same(worker, ev, "undo", &own->before)) {
        return false;
    }
    wf_undo_execute(worker, ev, &frame);
    /* Numbers of cells are equal too: undoing frees cells in reverse order. */
    if (!same(worker, ev, "the second execution", &own->after) || !sent_the_same(worker, ev)) {
        return false;
    }
    wf_undo_commit(worker, ev, &frame, wf_ctx_note(ctx), ctx->trail.data,
                   own->undo_log.entries.data);
    return true;
}

static void run(struct wf_worker *worker)
{
    struct check_undo *own = worker->scheduler;

    worker->ctx.send = send_to_log;
    worker->ctx.undo_log = &own->undo_log;
    while (wf_pending_peek(&own->pending) != NULL) {
        wf_pending_pop(&own->pending, worker->current);
        if (wf_engine_is_careful(worker->engine, worker->current->dst)) {
            execute_for_good(worker, worker->current);
        } else if (!check(worker, worker->current)) {
            return;
        }
        for (size_t at = 0; at < own->undo_log.sent.size; at += worker->engine->stride) {
            wf_pending_push(&own->pending, (const void *)(own->undo_log.sent.data + at));
        }
        if (worker->count.committed % WF_TUNE_STOP_CHECK == 0) {
            wf_worker_progress(worker, worker->count.last_time);
            if (wf_engine_should_stop(worker->engine)) {
                worker->engine->interrupted = true;
                return;
            }
        }
    }
}

const struct wf_scheduler_ops wf_scheduler_check_undo = {
    .alone = true,
    .prepare = prepare,
    .run = run,
    .release = release,
};
