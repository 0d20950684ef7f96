/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conservative scheduler works in rounds. In a round every worker executes the events
 * that no event still to arrive can precede. Events for other workers are handed over
 * between rounds.
 *
 * With a lookahead a round is a window of that length. Without one it is one time and one
 * generation, (time, delta): the children of an event at the same time belong to the next
 * generation, so the events of a round are independent. That is slow but correct.
 *
 * Where rounds have few events, handing over takes longer than executing them. Then the first
 * thread does the rounds of all workers one after the other, and the other threads sleep.
 */
#include "base/mem.h"
#include "engine/queue/pending.h"
#include "engine/sched/windows.h"
#include "engine/tuning.h"

#include <stdlib.h>

/* The number of a window, or a time and a generation. */
struct round {
    uint64_t at;
    uint64_t delta;
};

static const struct round never = {UINT64_MAX, UINT64_MAX};

/* What workers have to agree on between rounds. */
struct claim {
    struct round next; /* round of the first event, including events that were sent */
    uint64_t stop, overflow;
};

static const struct claim no_claim = {.next = {UINT64_MAX, UINT64_MAX}};

/* What a worker tells the others. There are two copies: one is written for the next round while other
 * workers may still read the other. */
struct notice {
    struct claim claim;
    uint64_t committed;    /* events so far */
    bool is_shared;        /* the first: other programs use the cores */
    struct wf_bag *outbox; /* by worker of the run */
};

struct conservative {
    struct wf_store store; /* a queue without lookahead */
    struct notice notice[2];
    unsigned parity;
    struct wf_buf *out, *in; /* by process; used by thread 0 of each process */
    struct claim peers;      /* of the other processes; thread 0 writes it */
    /* For the decision whether one thread does all rounds: the same in all workers. */
    bool may_be_alone, is_sparse;
    uint32_t n_rounds;  /* since the last decision */
    uint64_t committed; /* events of all workers at the last decision */
};

static bool earlier(struct round a, struct round b)
{
    return a.at != b.at ? a.at < b.at : a.delta < b.delta;
}

static void join(struct claim *all, const struct claim *one)
{
    all->next = earlier(one->next, all->next) ? one->next : all->next;
    all->stop |= one->stop;
    all->overflow |= one->overflow;
}

static struct round round_of(const struct conservative *own, const struct wf_event *ev)
{
    if (own->store.windowed) {
        return (struct round){wf_wheel_window(&own->store.windows.wheel, ev->key.time), 0};
    }
    return (struct round){(uint64_t)ev->key.time, ev->key.delta};
}

static void send(struct wf_worker *worker, const struct wf_event *ev)
{
    struct conservative *own = worker->scheduler;
    uint32_t owner = wf_engine_owner(worker->engine, ev->dst);

    if (owner == worker->number) {
        wf_store_add(&own->store, ev);
        return;
    }
    struct notice *notice = &own->notice[own->parity];
    struct round round = round_of(own, ev);
    if (earlier(round, notice->claim.next)) {
        notice->claim.next = round;
    }
    worker->count.remote++;
    (void)wf_bag_add(&notice->outbox[owner], &worker->pool, ev);
}

static void prepare(struct wf_worker *worker)
{
    struct wf_engine *engine = worker->engine;
    struct conservative *own = wf_xcalloc(1, sizeof(*own));
    size_t n_workers = (size_t)engine->n_threads * engine->n_processes;

    worker->scheduler = own;
    worker->ctx.send = send;
    wf_store_init(&own->store, worker);
    for (unsigned p = 0; p < 2; p++) {
        own->notice[p].claim = no_claim;
        own->notice[p].outbox = wf_xcalloc(n_workers, sizeof(struct wf_bag));
    }
    own->out = wf_xcalloc(engine->n_processes, sizeof(struct wf_buf));
    own->in = wf_xcalloc(engine->n_processes, sizeof(struct wf_buf));
    own->peers = no_claim;
    own->may_be_alone = engine->config.fit && engine->n_threads > 1 &&
                        engine->n_processes == 1 && !wf_engine_has_careful(engine);
}

static void release(struct wf_worker *worker)
{
    struct conservative *own = worker->scheduler;

    for (uint32_t p = 0; p < worker->engine->n_processes; p++) {
        wf_buf_fini(&own->out[p]);
        wf_buf_fini(&own->in[p]);
    }
    free(own->out);
    free(own->in);
    free(own->notice[0].outbox);
    free(own->notice[1].outbox);
    wf_store_fini(&own->store);
    free(own);
}

static struct round next_kept(struct conservative *own)
{
    if (own->store.windowed) {
        uint64_t window = wf_wheel_next(&own->store.windows.wheel);
        return window == WF_WHEEL_NEVER ? never : (struct round){window, 0};
    }
    const struct wf_event *first = wf_pending_peek(&own->store.pending);
    return first == NULL ? never : round_of(own, first);
}

static const struct notice *notice_of(const struct wf_engine *engine, uint32_t thread,
                                      unsigned parity)
{
    const struct conservative *other = engine->workers[thread].scheduler;

    return &other->notice[parity];
}

/* Moves the events of a bag to the end of a message. */
static void append_bag(struct wf_buf *message, struct wf_bag *bag, struct wf_pool *pool)
{
    wf_bag_seal(bag);
    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        wf_buf_append(message, chunk->bytes, chunk->used);
    }
    wf_bag_free(bag, pool);
}

/* The message for process `to`: what this process claims, the number of bytes of events, the events and
 * the cargo. */
static void write_message(struct wf_worker *worker, uint32_t to, const struct claim *claim)
{
    struct wf_engine *engine = worker->engine;
    struct conservative *own = worker->scheduler;
    struct wf_buf *message = &own->out[to];
    uint64_t bytes = 0;

    message->size = 0;
    wf_buf_append(message, claim, sizeof(*claim));
    wf_buf_append(message, &bytes, sizeof(bytes));
    for (uint32_t i = 0; i < engine->n_threads * engine->n_threads; i++) {
        const struct notice *notice = notice_of(engine, i / engine->n_threads, own->parity);
        uint32_t thread = i % engine->n_threads;
        append_bag(message, &notice->outbox[to * engine->n_threads + thread], &worker->pool);
    }
    bytes = message->size - sizeof(*claim) - sizeof(bytes);
    memcpy(message->data + sizeof(*claim), &bytes, sizeof(bytes));
    wf_engine_load(engine, to, message);
}

/* Passes the events of a message on to the threads, by the outboxes of thread 0. Returns what the sender
 * claims. */
static struct claim read_message(struct wf_worker *worker, const struct wf_buf *message)
{
    const struct wf_engine *engine = worker->engine;
    struct conservative *own = worker->scheduler;
    struct claim claim;
    uint64_t bytes;
    const unsigned char *events = message->data + sizeof(claim) + sizeof(bytes);

    memcpy(&claim, message->data, sizeof(claim));
    memcpy(&bytes, message->data + sizeof(claim), sizeof(bytes));
    wf_engine_unload(engine, events + bytes,
                     message->size - sizeof(claim) - sizeof(bytes) - bytes);
    for (uint64_t at = 0; at < bytes;) {
        const struct wf_event *ev = (const void *)(events + at);
        struct wf_bag *outbox = own->notice[own->parity].outbox;
        at += wf_event_room(ev);
        (void)wf_bag_add(&outbox[wf_engine_owner(engine, ev->dst)], &worker->pool, ev);
    }
    return claim;
}

/* Exchanges messages with all other processes. Thread 0 calls it while the others wait. */
static void exchange(struct wf_worker *worker)
{
    struct wf_engine *engine = worker->engine;
    struct conservative *own = worker->scheduler;
    struct claim claim = no_claim;

    for (uint32_t t = 0; t < engine->n_threads; t++) {
        const struct notice *notice = notice_of(engine, t, own->parity);
        join(&claim, &notice->claim);
    }
    for (uint32_t p = 0; p < engine->n_processes; p++) {
        if (p != engine->process) {
            write_message(worker, p, &claim);
        }
    }
    wf_comm_exchange(engine->comm, own->out, own->in);
    own->peers = no_claim;
    for (uint32_t p = 0; p < engine->n_processes; p++) {
        if (p != engine->process) {
            claim = read_message(worker, &own->in[p]);
            join(&own->peers, &claim);
        }
    }
}

static void take_outboxes(struct wf_worker *worker)
{
    const struct wf_engine *engine = worker->engine;
    struct conservative *own = worker->scheduler;

    for (uint32_t t = 0; t < engine->n_threads; t++) {
        struct wf_bag *bag = &notice_of(engine, t, own->parity)->outbox[worker->number];
        wf_bag_seal(bag);
        for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
            for (uint32_t at = 0; at < chunk->used; at = wf_chunk_after(chunk, at)) {
                wf_store_add(&own->store, wf_chunk_event(chunk, at));
            }
        }
        wf_bag_free(bag, &worker->pool);
    }
}

/* Writes what the other workers have to know. */
static void announce(struct wf_worker *worker)
{
    struct conservative *own = worker->scheduler;
    struct notice *mine = &own->notice[own->parity];
    struct round kept = next_kept(own);

    mine->claim.next = earlier(kept, mine->claim.next) ? kept : mine->claim.next;
    mine->claim.stop = worker->thread == 0 && wf_engine_should_stop(worker->engine);
    if (own->store.windows.stopped) {
        /* The rest of a window is left: the run is not complete. */
        mine->claim.next = (struct round){.at = 0};
        mine->claim.stop = true;
    }
    mine->claim.overflow = worker->overflows > 0;
    mine->committed = worker->count.committed;
    mine->is_shared = worker->thread == 0 && own->may_be_alone &&
                      wf_barrier_is_shared(&worker->engine->barrier);
}

/* Takes what was sent, and finds the next round. All workers have written their notices. */
static struct round hear(struct wf_worker *worker, bool *stop)
{
    const struct wf_engine *engine = worker->engine;
    struct conservative *own = worker->scheduler;
    struct claim all = no_claim;
    uint64_t committed = 0;

    if (engine->n_processes > 1) {
        const struct conservative *first = engine->workers[0].scheduler;
        all = first->peers;
    }
    for (uint32_t t = 0; t < engine->n_threads; t++) {
        const struct notice *notice = notice_of(engine, t, own->parity);
        join(&all, &notice->claim);
        committed += notice->committed;
    }
    bool is_shared = notice_of(engine, 0, own->parity)->is_shared;
    take_outboxes(worker);
    own->parity ^= 1;
    own->notice[own->parity].claim = no_claim;
    if (++own->n_rounds == WF_TUNE_WINDOWS_TRIAL) {
        uint64_t least = (uint64_t)engine->alone_below * (own->is_sparse ? 2 : 1) *
                         (is_shared ? WF_TUNE_SHARED_WINDOW : 1);
        own->is_sparse =
            wf_windows_are_sparse(own->n_rounds, committed - own->committed, least);
        own->committed = committed;
        own->n_rounds = 0;
    }
    *stop = all.stop != 0;
    return all.overflow != 0 ? never : all.next;
}

/* Hands over the events for other workers, and finds the next round. */
static struct round agree(struct wf_worker *worker, bool *stop)
{
    struct wf_engine *engine = worker->engine;

    announce(worker);
    wf_barrier_wait(&engine->barrier);
    if (engine->n_processes > 1) {
        if (worker->thread == 0) {
            exchange(worker);
        }
        wf_barrier_wait(&engine->barrier);
    }
    return hear(worker, stop);
}

static void run_instant(struct wf_worker *worker, struct round round)
{
    struct conservative *own = worker->scheduler;

    worker->count.rounds++;
    for (;;) {
        const struct wf_event *first = wf_pending_peek(&own->store.pending);
        if (first == NULL || earlier(round, round_of(own, first))) {
            return;
        }
        wf_pending_pop(&own->store.pending, worker->current);
        (void)wf_engine_prefetch(worker->engine, &own->store.pending);
        wf_worker_execute(worker, worker->current);
    }
}

static void run_round(struct wf_worker *worker, struct round round)
{
    struct conservative *own = worker->scheduler;

    if (own->store.windowed) {
        wf_wheel_advance(&own->store.windows.wheel, round.at);
        wf_windows_run(&own->store.windows, worker);
    } else {
        run_instant(worker, round);
    }
    wf_worker_progress(worker, worker->count.last_time);
}

/* Does the rounds of all workers, from the given one on, until they have enough events or the
 * run ends. The other threads wait. */
static void run_alone(struct wf_engine *engine, struct round round)
{
    struct wf_worker *workers = engine->workers;
    const struct conservative *first = workers[0].scheduler;
    bool stop = false;

    while (round.at != never.at && !stop && first->is_sparse) {
        for (uint32_t t = 0; t < engine->n_threads; t++) {
            run_round(&workers[t], round);
        }
        workers[0].count.alone++;
        for (uint32_t t = 0; t < engine->n_threads; t++) {
            announce(&workers[t]);
        }
        for (uint32_t t = 0; t < engine->n_threads; t++) {
            round = hear(&workers[t], &stop);
        }
    }
}

static void run(struct wf_worker *worker)
{
    struct wf_engine *engine = worker->engine;
    const struct conservative *own = worker->scheduler;

    for (;;) {
        bool stop = false;
        struct round next = agree(worker, &stop);
        if (next.at == never.at) {
            return;
        }
        if (stop) {
            if (worker->thread == 0) {
                engine->interrupted = true;
            }
            return;
        }
        if (!own->may_be_alone || !own->is_sparse) {
            run_round(worker, next);
            continue;
        }
        /* No worker writes a notice before all have decided. agree() finds the remaining work again. */
        wf_barrier_wait(&engine->barrier);
        if (worker->thread == 0) {
            run_alone(engine, next);
            wf_barrier_wait(&engine->barrier);
        } else {
            wf_barrier_rest(&engine->barrier);
        }
    }
}

const struct wf_scheduler_ops wf_scheduler_conservative = {
    .prepare = prepare,
    .run = run,
    .release = release,
};
