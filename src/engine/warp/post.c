/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between workers of the optimistic scheduler: chunks of events, published after each batch,
 * in the order of sending. */
#include "base/rng.h"
#include "engine/warp/optimistic.h"

void wf_warp_post(struct wf_warp *warp, const struct wf_event *ev, bool anti)
{
    struct wf_worker *worker = warp->worker;
    const struct wf_engine *engine = worker->engine;
    uint32_t owner = wf_engine_owner(engine, ev->dst);
    uint32_t process = owner / engine->n_threads;
    uint32_t box =
        process == engine->process ? owner % engine->n_threads : engine->n_threads + process;

    worker->count.remote += !anti && owner != worker->number;
    struct wf_event *posted = wf_bag_add(&warp->outbox[box], &worker->pool, ev);
    if (anti) {
        posted->size |= WF_ANTI;
    }
}

static void push(struct wf_mailbox *box, struct wf_bag *bag, uint32_t from)
{
    struct wf_chunk *oldest = bag->head;

    wf_bag_seal(bag);
    for (;; oldest = oldest->next) {
        oldest->from = from;
        if (oldest->next == NULL) {
            break;
        }
    }
    struct wf_chunk *head = atomic_load_explicit(&box->head, memory_order_relaxed);
    do {
        oldest->next = head;
    } while (!atomic_compare_exchange_weak_explicit(
        &box->head, &head, bag->head, memory_order_release, memory_order_relaxed));
    *bag = (struct wf_bag){.head = NULL};
}

/* Empties a mailbox. Returns its chunks in the order of arrival. */
static struct wf_chunk *take(struct wf_mailbox *box)
{
    struct wf_chunk *latest = atomic_exchange_explicit(&box->head, NULL, memory_order_acquire);
    struct wf_chunk *ordered = NULL;

    while (latest != NULL) {
        struct wf_chunk *next = latest->next;
        latest->next = ordered;
        ordered = latest;
        latest = next;
    }
    return ordered;
}

bool wf_warp_publish(struct wf_warp *warp)
{
    const struct wf_engine *engine = warp->worker->engine;
    bool any = false;

    for (uint32_t t = 0; t < engine->n_threads; t++) {
        if (warp->outbox[t].head != NULL) {
            struct wf_warp *other = engine->workers[t].scheduler;
            push(&other->inbox, &warp->outbox[t], warp->worker->thread);
            any = true;
        }
    }
    for (uint32_t p = 0; p < engine->n_processes; p++) {
        struct wf_bag *bag = &warp->outbox[engine->n_threads + p];
        if (bag->head != NULL) {
            push(&warp->shared->net_out[p], bag, warp->worker->thread);
            any = true;
        }
    }
    return any;
}

bool wf_warp_has_incoming(struct wf_warp *warp)
{
    return warp->held != NULL ||
           atomic_load_explicit(&warp->inbox.head, memory_order_relaxed) != NULL;
}

static void deliver(struct wf_warp *warp, struct wf_chunk *chunk)
{
    for (uint32_t at = 0; at < chunk->used; at = wf_chunk_after(chunk, at)) {
        struct wf_event *ev = wf_chunk_event(chunk, at);
        if ((ev->size & WF_ANTI) != 0) {
            ev->size &= (uint16_t)~WF_ANTI;
            wf_warp_annihilate(warp, ev);
        } else {
            wf_warp_insert(warp, ev);
        }
    }
    wf_chunk_free(&warp->worker->pool, chunk);
}

/* A perturbed run delays all messages of some senders: the order between senders changes, the
 * order of messages from one sender does not. */
static bool hold_back(const struct wf_warp *warp, uint32_t from)
{
    return (wf_rng_draw(warp->worker->engine->config.perturb_seed, from, warp->chaos) & 3) == 0;
}

bool wf_warp_receive(struct wf_warp *warp, bool all)
{
    struct wf_chunk **end = &warp->held;
    bool any = false;

    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = take(&warp->inbox);
    if (warp->loopback) {
        warp->chaos++;
    }
    for (struct wf_chunk **at = &warp->held; *at != NULL;) {
        struct wf_chunk *chunk = *at;
        if (warp->loopback && !warp->calm && !all && hold_back(warp, chunk->from)) {
            at = &chunk->next;
            continue;
        }
        *at = chunk->next;
        deliver(warp, chunk);
        any = true;
    }
    return any;
}

/* Passes the events of a message from another process on to the threads of this one. The message
 * consists of the number of bytes of its events, the events, and the cargo. */
static void distribute(struct wf_warp *warp)
{
    struct wf_worker *worker = warp->worker;
    const struct wf_engine *engine = worker->engine;
    unsigned char *events = warp->message.data + sizeof(uint64_t);
    uint64_t bytes;

    memcpy(&bytes, warp->message.data, sizeof(bytes));
    wf_engine_unload(engine, events + bytes, warp->message.size - sizeof(bytes) - bytes);
    for (size_t at = 0; at < bytes;) {
        struct wf_event *ev = (void *)(events + at);
        uint16_t size = ev->size;
        uint32_t thread = wf_engine_owner(engine, ev->dst) % engine->n_threads;
        ev->size &= (uint16_t)~WF_ANTI;
        at += wf_event_room(ev);
        wf_bag_add(&warp->outbox[thread], &worker->pool, ev)->size = size;
    }
}

void wf_warp_ship(struct wf_warp *warp)
{
    struct wf_engine *engine = warp->worker->engine;

    for (uint32_t p = 0; p < engine->n_processes; p++) {
        struct wf_chunk *chunk = take(&warp->shared->net_out[p]);
        uint64_t bytes = 0;
        warp->message.size = 0;
        wf_buf_append(&warp->message, &bytes, sizeof(bytes));
        while (chunk != NULL) {
            struct wf_chunk *next = chunk->next;
            wf_buf_append(&warp->message, chunk->bytes, chunk->used);
            wf_chunk_free(&warp->worker->pool, chunk);
            chunk = next;
        }
        bytes = warp->message.size - sizeof(bytes);
        memcpy(warp->message.data, &bytes, sizeof(bytes));
        if (p != engine->process) {
            wf_engine_load(engine, p, &warp->message);
        }
        if (warp->message.size > sizeof(bytes)) {
            wf_comm_post(engine->comm, p, warp->message.data, warp->message.size);
        }
    }
    while (wf_comm_poll(engine->comm, &warp->message)) {
        distribute(warp);
    }
    (void)wf_warp_publish(warp);
}
