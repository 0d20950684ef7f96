/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/warp/optimistic.h"

static bool kp_has_history(const struct wf_warp *warp, const struct wf_kp *kp)
{
    /* `last` is a position + 1. The first comparison often saves a look at the KP. */
    return warp->history.begin < warp->history.end && kp->last > warp->history.begin;
}

/* Whether an event needs no mailbox. An event that a process sends to itself never does, so
 * the process cannot receive such an event after it has cancelled it. */
static bool stays_here(const struct wf_warp *warp, const struct wf_event *ev)
{
    if (warp->loopback) {
        return ev->dst == ev->key.src;
    }
    return wf_engine_owner(warp->worker->engine, ev->dst) == warp->worker->number;
}

static void cancel(struct wf_warp *warp, const struct wf_event *ev)
{
    warp->worker->count.antis++;
    if (stays_here(warp, ev)) {
        wf_event_copy(wf_buf_extend(&warp->cancels, warp->worker->engine->stride), ev);
    } else {
        wf_warp_post(warp, ev, true);
    }
}

/* Cancels all events that the event of the record scheduled, the latest first. */
static void cancel_sent(struct wf_warp *warp, struct wf_record *record)
{
    const unsigned char *sent = wf_record_sent(record);
    struct wf_buf *places = &warp->places;

    places->size = 0;
    for (size_t at = 0; at < record->frame.sent_size;
         at += wf_event_room((const void *)(sent + at))) {
        wf_buf_append(places, &at, sizeof(at));
    }
    for (size_t i = places->size / sizeof(size_t); i-- > 0;) {
        cancel(warp, (const void *)(sent + ((const size_t *)(void *)places->data)[i]));
    }
}

/* Undoes the KP's last event. */
static void undo_last(struct wf_warp *warp, struct wf_kp *kp)
{
    struct wf_history *history = &warp->history;
    struct wf_record *record = wf_history_at(history, kp->last - 1);

    wf_undo_revert(warp->worker, wf_record_event(record), &record->frame,
                   wf_record_noted(record), wf_record_undo(record));
    warp->worker->count.rolled_back++;
    cancel_sent(warp, record);
    record->fate = WF_UNDONE;
    if (record->prev == WF_NOWHERE || record->prev < history->begin) {
        kp->last = 0;
        return;
    }
    kp->last = record->prev + 1;
    kp->key = wf_record_event(wf_history_at(history, record->prev))->key;
}

/* Rolls the KP back to before `key`. The undone events become pending again, except an event
 * that equals `drop`. Returns whether there was one. */
static bool roll_back(struct wf_warp *warp, struct wf_kp *kp, const struct wf_key *key,
                      const struct wf_event *drop)
{
    bool dropped = false;

    warp->worker->count.rollbacks++;
    while (kp_has_history(warp, kp) && !wf_key_before(&kp->key, key)) {
        const struct wf_event *ev =
            wf_record_event(wf_history_at(&warp->history, kp->last - 1));
        undo_last(warp, kp);
        if (!dropped && drop != NULL && wf_event_same(ev, drop)) {
            dropped = true;
        } else {
            wf_pending_push(&warp->pending, ev);
        }
    }
    wf_history_trim_end(&warp->history);
    return dropped;
}

/* Events before GVT have been committed: nothing may be scheduled there any more. */
static void check_gvt(const struct wf_warp *warp, const struct wf_event *ev)
{
    if (wf_key_before(&ev->key, &warp->gvt)) {
        wf_panic("an event for process %u at %lld ps arrives after GVT has reached %lld ps",
                 ev->dst, (long long)ev->key.time, (long long)warp->gvt.time);
    }
}

/* Cancels an event. If the KP has not come to its key, it is pending. Otherwise it was executed,
 * or it is pending still: its sender, undone, has sent another event with the same key to another
 * process of the KP, and that one was executed. */
static void annihilate_one(struct wf_warp *warp, const struct wf_event *ev)
{
    struct wf_kp *kp = wf_warp_kp(warp, ev->dst);

    check_gvt(warp, ev);
    if (!kp_has_history(warp, kp) || wf_key_before(&kp->key, &ev->key) ||
        wf_engine_is_careful(warp->worker->engine, ev->dst) ||
        !roll_back(warp, kp, &ev->key, ev)) {
        wf_antis_add(&warp->antis, ev);
    }
}

/* Cancelling an event may undo it, and then the events it scheduled must be cancelled. A
 * list instead of recursion bounds the stack. */
static void drain_cancels(struct wf_warp *warp)
{
    while (warp->cancels.size > 0) {
        warp->cancels.size -= warp->worker->engine->stride;
        wf_event_copy(warp->arrived, (const void *)(warp->cancels.data + warp->cancels.size));
        annihilate_one(warp, warp->arrived);
    }
}

void wf_warp_annihilate(struct wf_warp *warp, const struct wf_event *ev)
{
    annihilate_one(warp, ev);
    drain_cancels(warp);
}

void wf_warp_insert(struct wf_warp *warp, const struct wf_event *ev)
{
    struct wf_kp *kp = wf_warp_kp(warp, ev->dst);

    check_gvt(warp, ev);
    if (kp_has_history(warp, kp) && !wf_key_before(&kp->key, &ev->key)) {
        (void)roll_back(warp, kp, &ev->key, NULL);
        wf_pending_push(&warp->pending, ev);
        drain_cancels(warp);
        return;
    }
    wf_frontier_queue(warp, ev);
}

void wf_warp_dispatch(struct wf_warp *warp, const struct wf_event *ev)
{
    if (stays_here(warp, ev)) {
        wf_warp_insert(warp, ev);
    } else {
        wf_warp_post(warp, ev, false);
    }
}

void wf_warp_undo_first(struct wf_warp *warp)
{
    const struct wf_event *ev =
        wf_record_event(wf_history_at(&warp->history, warp->history.begin));
    const struct wf_key key = ev->key;

    (void)roll_back(warp, wf_warp_kp(warp, ev->dst), &key, NULL);
    drain_cancels(warp);
}

void wf_warp_retreat(struct wf_warp *warp, uint64_t bytes)
{
    struct wf_history *history = &warp->history;
    uint64_t end = history->end;
    uint32_t size = history->last_size;

    wf_warp_commit_all(warp);
    for (uint64_t done = 0; done < bytes && size != 0;) {
        struct wf_record *record = wf_history_at(history, end - size);
        if (record->fate == WF_LIVE) {
            struct wf_event *ev = wf_record_event(record);
            /* The last live record of the log is the last record of its KP. */
            undo_last(warp, wf_warp_kp(warp, ev->dst));
            wf_pending_push(&warp->pending, ev);
        }
        done += size;
        end -= size;
        size = record->size_back;
    }
    wf_history_trim_end(history);
    drain_cancels(warp);
}
