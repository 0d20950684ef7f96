/* SPDX-License-Identifier: Apache-2.0 */
/* Executing events under the optimistic scheduler: with a log, or for good. */
#include "engine/warp/optimistic.h"

/* Must be inlined: the compiler sees no effect in a call and drops it. */
__attribute__((always_inline)) static inline void prefetch(const struct wf_warp *warp)
{
    const struct wf_event *ev = wf_engine_prefetch(warp->worker->engine, &warp->pending);

    if (ev != NULL) {
        __builtin_prefetch(wf_warp_kp(warp, ev->dst), 1);
    }
}

/* Sends the events that a handler has scheduled. */
static void dispatch_sent(struct wf_warp *warp)
{
    const struct wf_buf *sent = &warp->undo_log.sent;

    for (size_t at = 0; at < sent->size;) {
        const struct wf_event *ev = (const void *)(sent->data + at);
        at += wf_event_room(ev);
        wf_warp_dispatch(warp, ev);
    }
}

static void execute_logged(struct wf_warp *warp, const struct wf_event *ev)
{
    struct wf_worker *worker = warp->worker;
    struct wf_kp *kp = wf_warp_kp(warp, ev->dst);
    uint64_t prev = kp->last > warp->history.begin ? kp->last - 1 : WF_NOWHERE;
    struct wf_frame frame;

    wf_undo_execute(worker, ev, &frame);
    kp->last = 1 + wf_history_append(&warp->history, &worker->ctx, ev, &frame, prev);
    kp->key = ev->key;
    warp->latest = ev->key.time;
    dispatch_sent(warp);
}

/* Commits the events that the KP has executed before this one, which is final: commit handlers of
 * a process are called in the order of keys. They lie before the bound, too. */
static void commit_earlier(struct wf_warp *warp, const struct wf_kp *kp)
{
    if (kp->last > warp->history.begin &&
        wf_history_at(&warp->history, kp->last - 1)->fate == WF_LIVE) {
        wf_warp_commit_all(warp);
    }
}

static void execute_for_good(struct wf_warp *warp, const struct wf_event *ev)
{
    struct wf_worker *worker = warp->worker;

    commit_earlier(warp, wf_warp_kp(warp, ev->dst));
    worker->ctx.undo_log = NULL;
    warp->undo_log.sent.size = 0;
    wf_worker_execute(worker, ev);
    worker->ctx.undo_log = &warp->undo_log;
    worker->count.executed++;
    dispatch_sent(warp);
}

void wf_warp_execute(struct wf_warp *warp, const struct wf_event *ev, bool is_final)
{
    (is_final ? execute_for_good : execute_logged)(warp, ev);
}

/* Whether no earlier event can arrive for this careful process, and nothing can cancel `ev`. */
static bool is_safe(const struct wf_warp *warp, const struct wf_event *ev)
{
    return ev->key.time < warp->safe || !wf_key_before(&warp->gvt, &ev->key);
}

bool wf_warp_step(struct wf_warp *warp)
{
    const struct wf_event *first = wf_pending_peek(&warp->pending);

    if (first == NULL) {
        return false;
    }
    const struct wf_engine *engine = warp->worker->engine;
    bool careful = wf_engine_is_careful(engine, first->dst);
    bool cannot_change =
        wf_key_before(&first->key, &warp->bound) || (careful && is_safe(warp, first));
    if (!cannot_change && (careful || first->key.time >= warp->horizon || warp->full)) {
        return false;
    }
    bool is_final = cannot_change && (careful || engine->config.safe);
    bool cancelled = wf_antis_take(&warp->antis, first);
    const struct wf_event *ev = wf_pending_take(&warp->pending, first, warp->worker->current);
    if (!cancelled) {
        prefetch(warp);
        wf_warp_execute(warp, ev, is_final);
    }
    return true;
}
