/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs every event forward, back, and forward again, in strict order on one thread, and
 * compares: after going back, the process must be what it was, byte for byte; after the second
 * forward, what it was after the first, and it must have scheduled the same.
 */
#include "base/mem.h"
#include "engine/pending.h"
#include "engine/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct check_undo {
    struct wf_pending pending;
    struct wf_recording recording;
    struct wf_buf before, after, sent;
};

static void send_at_once(struct wf_worker *worker, const struct wf_event *ev)
{
    struct check_undo *own = worker->scheduler;

    wf_pending_push(&own->pending, ev);
}

static void send_recorded(struct wf_worker *worker, const struct wf_event *ev)
{
    struct check_undo *own = worker->scheduler;
    void *to = wf_buf_extend(&own->recording.sent, worker->engine->stride);

    memset(to, 0, worker->engine->stride); /* so that two recordings can be compared whole */
    wf_event_copy(to, ev);
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
    wf_recording_fini(&own->recording);
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

/* The first byte in which the two differ, or `size`. */
static size_t first_difference(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    size_t i = 0;

    while (i < size && x[i] == y[i]) {
        i++;
    }
    return i;
}

/* Words what is wrong with an event. */
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
    const struct wf_buf *first = &own->sent, *second = &own->recording.sent;
    size_t common = first->size < second->size ? first->size : second->size;
    size_t at = first_difference(first->data, second->data, common);

    if (at == common && first->size == second->size) {
        return true;
    }
    blame(worker, ev, "the second execution scheduled something else, from byte %zu on", at);
    return false;
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
    wf_spec_forward(worker, ev, &frame);
    copy_to(&own->after, lp, size);
    copy_to(&own->sent, own->recording.sent.data, own->recording.sent.size);
    wf_spec_undo(worker, ev, &frame, wf_ctx_note(ctx), own->recording.undo.data);
    if (!same(worker, ev, "undo", &own->before)) {
        return false;
    }
    wf_spec_forward(worker, ev, &frame);
    /* To the byte, the numbers of cells included: undoing gives them back in reverse. */
    if (!same(worker, ev, "the second execution", &own->after) || !sent_the_same(worker, ev)) {
        return false;
    }
    wf_spec_commit(worker, ev, &frame, wf_ctx_note(ctx), ctx->trail.data,
                   own->recording.undo.data);
    return true;
}

static void run(struct wf_worker *worker)
{
    struct check_undo *own = worker->scheduler;

    worker->ctx.send = send_recorded;
    worker->ctx.recording = &own->recording;
    while (wf_pending_peek(&own->pending) != NULL) {
        wf_pending_pop(&own->pending, worker->current);
        if (!check(worker, worker->current)) {
            return;
        }
        for (size_t at = 0; at < own->recording.sent.size; at += worker->engine->stride) {
            wf_pending_push(&own->pending, (const void *)(own->recording.sent.data + at));
        }
        if (worker->count.committed % 4096 == 0) {
            wf_worker_progress(worker, worker->count.last_time);
            if (wf_engine_should_stop(worker->engine)) {
                worker->engine->interrupted = true;
                return;
            }
        }
    }
}

const struct wf_scheduler_ops wf_check_undo_ops = {
    .alone = true,
    .prepare = prepare,
    .run = run,
    .release = release,
};
