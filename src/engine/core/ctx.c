/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "engine/core/execute.h"
#include "engine/core/undo.h"
#include "engine/queue/near.h"
#include "engine/queue/wheel.h"

enum { USUAL_PAYLOAD = 32 }; /* that of a message: copied without a call */

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

/* What may keep an event from being scheduled. */
enum fault { ALLOWED, NO_PROCESS, PAYLOAD_TOO_LARGE, IN_THE_PAST, TOO_EARLY, AFTER_THE_END };

static inline enum fault fault_of(const struct wf_ctx *ctx, uint32_t dst, int64_t delay,
                                  size_t size)
{
    uint32_t number = wf_block_number(ctx->map, dst);
    const struct wf_block *block = &ctx->blocks[number];

    if (number >= ctx->n_blocks || dst >= block->end) {
        return NO_PROCESS;
    }
    if (size > block->payload_max) {
        return PAYLOAD_TOO_LARGE;
    }
    if (delay < ctx->lookahead && (dst != ctx->self || delay < 0)) {
        return delay < 0 ? IN_THE_PAST : TOO_EARLY;
    }
    return delay < ctx->end - ctx->now->key.time ? ALLOWED : AFTER_THE_END;
}

/* A model that breaks the rules is a bug in weft: no user input may lead here. */
WF_NORETURN static void misuse(const struct wf_ctx *ctx, const char *what, uint32_t dst,
                               int64_t delay)
{
    wf_panic("process %u (%s) at %lld ps: %s (for process %u, delay %lld ps)", ctx->self,
             ctx->block->group->ops->name, (long long)ctx->now->key.time, what, dst,
             (long long)delay);
}

static const char *const misuses[] = {
    [NO_PROCESS] = "it schedules an event for a process that does not exist",
    [PAYLOAD_TOO_LARGE] = "it sends a payload larger than the receiver declared",
    [IN_THE_PAST] = "it schedules an event in the past",
    [TOO_EARLY] = "it schedules an event earlier than promised",
};

/* Writes all of an event but its payload. */
static inline void *fill_in(struct wf_ctx *ctx, struct wf_event *ev, struct wf_event_target to,
                            int64_t delay, size_t size)
{
    uint64_t seq = ctx->lp->sent++ | (uint64_t)to.part << WF_KEY_PART_SHIFT;

    ev->key = wf_key_child(&ctx->now->key, delay, ctx->self, seq);
    ev->dst = to.dst;
    ev->kind = to.kind;
    ev->size = (uint16_t)size;
    return ev->payload;
}

/* The place of an event in a window after the one being run, or in the log. Null if it belongs
 * into neither, or if more memory is needed. Events with less delay than the lookahead, which a
 * process may schedule only for itself, may be for the window being run. */
static inline struct wf_event *place_quickly(const struct wf_ctx *ctx, uint32_t dst,
                                             int64_t delay, size_t size)
{
    struct wf_bag *bags = ctx->bags[wf_block_number(ctx->map, dst)];
    struct wf_buf *sent = ctx->sent;
    size_t room = wf_event_room_of(size);

    if (bags != NULL) {
        uint64_t window = wf_wheel_window(ctx->wheel, ctx->now->key.time + delay);
        struct wf_bag *bag = wf_wheel_bag_of(ctx->wheel, bags, window, dst);
        if (delay < ctx->lookahead && window == ctx->wheel->now) {
            return NULL;
        }
        return bag->left >= room ? wf_bag_claim(bag, room) : NULL;
    }
    if (sent == NULL || sent->capacity - sent->size < room) {
        return NULL;
    }
    sent->size += room;
    return (void *)(sent->data + sent->size - room);
}

/* The place of an event that is not for the window being run; if nothing else, then ctx->out, from
 * where end() sends it. */
static struct wf_event *place(struct wf_ctx *ctx, uint32_t dst, int64_t delay, size_t size)
{
    struct wf_bag *bags = ctx->bags[wf_block_number(ctx->map, dst)];
    size_t room = wf_event_room_of(size);

    if (bags != NULL) {
        uint64_t window = wf_wheel_window(ctx->wheel, ctx->now->key.time + delay);
        struct wf_bag *bag = wf_wheel_bag_of(ctx->wheel, bags, window, dst);
        wf_wheel_extend(ctx->wheel, window, bag);
        return wf_bag_claim(bag, room);
    }
    if (ctx->sent != NULL) {
        return wf_buf_extend(ctx->sent, room);
    }
    ctx->is_out = true;
    return ctx->out;
}

/* Whether an event, which breaks no rule, is for the window being run. */
static inline bool is_for_now(const struct wf_ctx *ctx, uint32_t dst, int64_t delay)
{
    return delay < ctx->lookahead && ctx->bags[wf_block_number(ctx->map, dst)] != NULL &&
           wf_wheel_window(ctx->wheel, ctx->now->key.time + delay) == ctx->wheel->now;
}

/* begin() for events that are not on its common path. */
static __attribute__((noinline)) void *
begin_slowly(struct wf_ctx *ctx, struct wf_event_target to, int64_t delay, size_t size)
{
    enum fault fault = fault_of(ctx, to.dst, delay, size);

    if (fault == AFTER_THE_END) {
        /* It is dropped. One after the end of time is an error. */
        ctx->worker->overflows += delay >= INT64_MAX - ctx->now->key.time;
        ctx->worker->dropped++;
        ctx->lp->sent++;
        return ctx->out->payload;
    }
    if (fault != ALLOWED) {
        misuse(ctx, misuses[fault], to.dst, delay);
    }
    if (is_for_now(ctx, to.dst, delay)) {
        void *payload = fill_in(ctx, wf_near_claim(ctx->near), to, delay, size);
        wf_near_add(ctx->near);
        return payload;
    }
    return fill_in(ctx, place(ctx, to.dst, delay, size), to, delay, size);
}

/* The common path calls no function, so that it saves no registers. */
static inline void *begin(struct wf_ctx *ctx, struct wf_event_target to, int64_t delay,
                          size_t size)
{
    struct wf_event *ev = fault_of(ctx, to.dst, delay, size) == ALLOWED
                              ? place_quickly(ctx, to.dst, delay, size)
                              : NULL;

    return __builtin_expect(ev != NULL, 1) ? fill_in(ctx, ev, to, delay, size)
                                           : begin_slowly(ctx, to, delay, size);
}

static inline void end(struct wf_ctx *ctx)
{
    if (ctx->is_out) {
        ctx->is_out = false;
        ctx->send(ctx->worker, ctx->out);
    }
}

void *wf_schedule_begin(struct wf_ctx *ctx, struct wf_event_target to, int64_t delay,
                        size_t size)
{
    return begin(ctx, to, delay, size);
}

void wf_schedule_end(struct wf_ctx *ctx)
{
    end(ctx);
}

void wf_schedule_to(struct wf_ctx *ctx, struct wf_event_target to, int64_t delay,
                    const void *payload, size_t size)
{
    void *at = begin(ctx, to, delay, size);

    if (size == USUAL_PAYLOAD) {
        memcpy(at, payload, USUAL_PAYLOAD);
    } else if (size % sizeof(uint64_t) == 0) {
        wf_copy_words(at, payload, size);
    } else {
        memcpy(at, payload, size);
    }
    end(ctx);
}

void wf_schedule(struct wf_ctx *ctx, uint32_t dst, int64_t delay, uint16_t kind,
                 const void *payload, size_t size)
{
    wf_schedule_to(ctx, (struct wf_event_target){.dst = dst, .kind = kind}, delay, payload,
                   size);
}

/* The stream of a process begins when it is first used. Its position is its only state: draws need not
 * be counted. */
uint64_t wf_random(struct wf_ctx *ctx)
{
    struct wf_lp *lp = ctx->lp;

    if (__builtin_expect(lp->random == 0, 0)) {
        lp->random = wf_rng_start(ctx->seed, ctx->self);
    }
    return wf_rng_next(&lp->random);
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

bool wf_now_is_final(const struct wf_ctx *ctx)
{
    return ctx->undo_log == NULL;
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
    return wf_cell_new_for(ctx, SIZE_MAX);
}

uint32_t wf_cell_new_for(struct wf_ctx *ctx, size_t bytes)
{
    return ctx->undo_log != NULL ? wf_undo_log_get(ctx, bytes)
                                 : wf_cells_get(&ctx->worker->cells, bytes);
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

/* The empty statement keeps the compiler from dropping calls of this function as without effect. */
void wf_cell_fetch(struct wf_ctx *ctx, const uint32_t *cells, uint32_t n)
{
    const struct wf_cells *all = &ctx->worker->cells;

    for (uint32_t i = 0; i < n; i++) {
        if (cells[i] != 0) {
            __builtin_prefetch(wf_cells_at(all, cells[i]), 1);
            __asm__ volatile("");
        }
    }
}

void *wf_cell_edit(struct wf_ctx *ctx, uint32_t cell)
{
    return ctx->undo_log != NULL ? wf_undo_log_edit(ctx, cell)
                                 : wf_cells_at(&ctx->worker->cells, cell);
}

void *wf_tally(struct wf_ctx *ctx)
{
    return ctx->worker->tally;
}

void wf_worker_execute(struct wf_worker *worker, const struct wf_event *ev)
{
    wf_execute_in(worker, &worker->engine->blocks[wf_engine_block_of(worker->engine, ev->dst)],
                  ev);
    wf_worker_count(worker, ev);
}
