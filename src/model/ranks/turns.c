/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/turns.h"

#include "base/arith.h"
#include "base/units.h"
#include "model/ranks/node.h"

size_t wf_turns_init(struct wf_turns *turns, const struct wf_node_params *params,
                     const struct wf_net *net, const struct wf_noise *noise, uint32_t slots_max,
                     size_t offset)
{
    *turns = (struct wf_turns){
        .cores = wf_cores_init(params, slots_max),
        .noise = noise,
        .net = net,
        .slice = params->time_slice,
        .switch_cost = params->switch_cost,
    };
    turns->on = turns->cores.shared;
    if (!turns->on) {
        return offset;
    }
    turns->cores_at = offset;
    turns->claims_at = turns->cores_at + turns->cores.n * sizeof(struct wf_turns_core);
    return turns->claims_at + slots_max * sizeof(struct wf_turns_claim);
}

/* A core, which is about to change. */
static struct wf_turns_core *edit_core(const struct wf_turns *turns, struct wf_ctx *ctx,
                                       void *node, uint32_t core)
{
    struct wf_turns_core *at =
        (struct wf_turns_core *)(void *)((unsigned char *)node + turns->cores_at) + core;

    wf_touch(ctx, at, sizeof(*at));
    return at;
}

struct wf_turns_claim *wf_turns_edit(const struct wf_turns *turns, struct wf_ctx *ctx,
                                     void *node, uint32_t slot)
{
    struct wf_turns_claim *claim = wf_turns_claim(turns, node, slot);

    wf_touch(ctx, claim, sizeof(*claim));
    return claim;
}

/* A core of a node in one of its events. */
struct turn {
    const struct wf_turns *turns;
    struct wf_ctx *ctx;
    void *node;
    uint32_t number;
    struct wf_turns_core *core;
};

/* When the claim that is being served has received `work` since it began to use the core. */
static int64_t end_of(const struct turn *turn, int64_t work)
{
    const struct wf_turns *turns = turn->turns;
    uint32_t slot = turn->core->running - 1;

    if (turns->noise->kind == WF_NODE_NOISE_NONE ||
        !wf_turns_claim(turns, turn->node, slot)->computing) {
        return wf_time_add(turn->core->begin, work);
    }
    const struct wf_noise_core core = {wf_self(turn->ctx) - turns->net->first_node,
                                       turn->number};
    return wf_noise_end(turns->noise, core, turn->core->begin, work);
}

/* The next event comes when the claim has received `work`; earlier plans are stale. */
static void plan(const struct turn *turn, int64_t work)
{
    struct wf_turns_core *core = turn->core;
    const struct wf_turns_event event = {turn->number, ++core->ticket};
    int64_t at = end_of(turn, work);

    core->work = work;
    wf_schedule(turn->ctx, wf_self(turn->ctx), at == WF_TIME_MAX ? at : at - wf_now(turn->ctx),
                WF_NODE_TURN, &event, sizeof(event));
}

/* The core begins or continues to serve the claim of a slot. If nobody else waits, one slice
 * follows another without an event. */
static void serve(const struct turn *turn, uint32_t running)
{
    struct wf_turns_core *core = turn->core;
    int64_t left = wf_turns_claim(turn->turns, turn->node, running - 1)->left;
    int64_t slice = turn->turns->slice;
    bool changes = core->last != 0 && core->last != running;

    core->running = running;
    core->last = running;
    core->begin = wf_time_add(wf_now(turn->ctx), changes ? turn->turns->switch_cost : 0);
    plan(turn, slice > 0 && core->head != 0 ? wf_min_i64(left, slice) : left);
}

static void enqueue(const struct turn *turn, uint32_t slot)
{
    struct wf_turns_core *core = turn->core;

    wf_turns_edit(turn->turns, turn->ctx, turn->node, slot - 1)->next = 0;
    if (core->tail != 0) {
        wf_turns_edit(turn->turns, turn->ctx, turn->node, core->tail - 1)->next = slot;
    } else {
        core->head = slot;
    }
    core->tail = slot;
}

static uint32_t dequeue(const struct turn *turn)
{
    struct wf_turns_core *core = turn->core;
    uint32_t slot = core->head;

    core->head = wf_turns_claim(turn->turns, turn->node, slot - 1)->next;
    core->tail = core->head != 0 ? core->tail : 0;
    return slot;
}

/* Another rank claims the core, which has been serving one claim without events for slices: the
 * present slice becomes the last one. Its number is the least for which the slice ends later
 * than now; interruptions by noise make it smaller. */
static void end_slice(const struct turn *turn)
{
    const struct wf_turns_core *core = turn->core;
    int64_t slice = turn->turns->slice, elapsed = wf_now(turn->ctx) - core->begin;
    int64_t low = 1, high = wf_max_i64(elapsed, 0) / slice + 1;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (end_of(turn, middle * slice) > wf_now(turn->ctx)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    if (low < core->work / slice + (core->work % slice != 0)) {
        plan(turn, low * slice);
    }
}

void wf_turns_begin(const struct wf_turns *turns, struct wf_ctx *ctx, void *node, uint32_t slot,
                    int64_t work)
{
    uint32_t number = wf_cores_core(&turns->cores, slot);
    const struct turn turn = {turns, ctx, node, number, edit_core(turns, ctx, node, number)};
    struct wf_turns_claim *claim = wf_turns_edit(turns, ctx, node, slot);
    bool alone = turn.core->head == 0;

    claim->left = work;
    claim->busy = 0;
    if (turn.core->running == 0) {
        serve(&turn, slot + 1);
        return;
    }
    enqueue(&turn, slot + 1);
    if (turns->slice > 0 && alone) {
        end_slice(&turn);
    }
}

bool wf_turns_next(const struct wf_turns *turns, struct wf_ctx *ctx, void *node,
                   const struct wf_turns_event *event, uint32_t *slot)
{
    const struct turn turn = {turns, ctx, node, event->core,
                              edit_core(turns, ctx, node, event->core)};
    struct wf_turns_core *core = turn.core;

    if (event->ticket != core->ticket || core->running == 0) {
        return false;
    }
    uint32_t running = core->running;
    struct wf_turns_claim *claim = wf_turns_edit(turns, ctx, node, running - 1);
    claim->busy = wf_time_add(claim->busy, wf_now(ctx) - core->begin);
    claim->left -= core->work;
    bool served = claim->left == 0;

    core->running = 0;
    if (!served) {
        enqueue(&turn, running);
    }
    if (core->head != 0) {
        serve(&turn, dequeue(&turn));
    }
    *slot = running - 1;
    return served;
}

/* ---- task graphs ---- */

int64_t wf_turns_acquire(const struct wf_turns *turns, struct wf_ctx *ctx, void *node,
                         uint32_t slot, int64_t ready)
{
    struct wf_turns_core *core =
        edit_core(turns, ctx, node, wf_cores_core(&turns->cores, slot));
    bool changes = core->last != 0 && core->last != slot + 1;

    core->last = slot + 1;
    return wf_time_add(wf_max_i64(ready, core->free_at), changes ? turns->switch_cost : 0);
}

void wf_turns_release(const struct wf_turns *turns, void *node, uint32_t slot, int64_t until)
{
    struct wf_turns_core *core =
        (struct wf_turns_core *)(void *)((unsigned char *)node + turns->cores_at) +
        wf_cores_core(&turns->cores, slot);

    core->free_at = until;
}
