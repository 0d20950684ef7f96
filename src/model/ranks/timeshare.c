/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/timeshare.h"

#include "base/arith.h"
#include "base/mem.h"
#include "base/units.h"
#include "model/ranks/run.h"

struct wf_timeshare *wf_timeshare_new(const struct wf_node_params *params,
                                      const struct wf_net *net, const struct wf_noise *noise,
                                      uint32_t slots_max, size_t *size)
{
    const struct wf_cores cores = wf_cores_init(params, slots_max);

    if (!cores.shared) {
        return NULL;
    }
    struct wf_timeshare *shared = wf_xmalloc(sizeof(*shared));
    *shared = (struct wf_timeshare){
        .cores = cores,
        .noise = noise,
        .net = net,
        .slice = params->time_slice,
        .switch_cost = params->switch_cost,
        .cores_at = *size,
        .claims_at = *size + cores.n * sizeof(struct wf_timeshare_core),
    };
    *size = shared->claims_at + slots_max * sizeof(struct wf_timeshare_claim);
    return shared;
}

/* A core, which is about to change. */
static struct wf_timeshare_core *edit_core(const struct wf_timeshare *shared,
                                           struct wf_ctx *ctx, void *node, uint32_t core)
{
    struct wf_timeshare_core *at =
        (struct wf_timeshare_core *)(void *)((unsigned char *)node + shared->cores_at) + core;

    wf_touch(ctx, at, sizeof(*at));
    return at;
}

struct wf_timeshare_claim *wf_timeshare_edit(const struct wf_timeshare *shared,
                                             struct wf_ctx *ctx, void *node, uint32_t slot)
{
    struct wf_timeshare_claim *claim = wf_timeshare_claim(shared, node, slot);

    wf_touch(ctx, claim, sizeof(*claim));
    return claim;
}

/* A core of a node in one of its events. */
struct core_in_event {
    const struct wf_timeshare *shared;
    struct wf_ctx *ctx;
    void *node;
    uint32_t number;
    struct wf_timeshare_core *core;
};

/* When the claim that is being served has received `work` since it began to use the core. */
static int64_t end_of(const struct core_in_event *own, int64_t work)
{
    const struct wf_timeshare *shared = own->shared;
    uint32_t slot = own->core->running - 1;

    if (shared->noise->kind == WF_NODE_NOISE_NONE ||
        !wf_timeshare_claim(shared, own->node, slot)->computing) {
        return wf_time_add(own->core->begin, work);
    }
    const struct wf_noise_core core = {wf_self(own->ctx) - shared->net->first_node,
                                       own->number};
    return wf_noise_end(shared->noise, core, own->core->begin, work);
}

/* The next event comes when the claim has received `work`; earlier plans are stale. */
static void plan_event(const struct core_in_event *own, int64_t work)
{
    struct wf_timeshare_core *core = own->core;
    const struct wf_timeshare_event event = {own->number, ++core->ticket};
    int64_t at = end_of(own, work);

    core->work = work;
    wf_schedule(own->ctx, wf_self(own->ctx), at == WF_TIME_MAX ? at : at - wf_now(own->ctx),
                WF_NODE_CORE, &event, sizeof(event));
}

/* The core begins or continues to serve the claim of a slot. If nobody else waits, one slice
 * follows another without an event. */
static void serve_claim(const struct core_in_event *own, uint32_t running)
{
    struct wf_timeshare_core *core = own->core;
    int64_t left = wf_timeshare_claim(own->shared, own->node, running - 1)->left;
    int64_t slice = own->shared->slice;
    bool changes = core->last != 0 && core->last != running;

    core->running = running;
    core->last = running;
    core->begin = wf_time_add(wf_now(own->ctx), changes ? own->shared->switch_cost : 0);
    plan_event(own, slice > 0 && core->head != 0 ? wf_min_i64(left, slice) : left);
}

static void enqueue_claim(const struct core_in_event *own, uint32_t slot)
{
    struct wf_timeshare_core *core = own->core;

    wf_timeshare_edit(own->shared, own->ctx, own->node, slot - 1)->next = 0;
    if (core->tail != 0) {
        wf_timeshare_edit(own->shared, own->ctx, own->node, core->tail - 1)->next = slot;
    } else {
        core->head = slot;
    }
    core->tail = slot;
}

static uint32_t dequeue_claim(const struct core_in_event *own)
{
    struct wf_timeshare_core *core = own->core;
    uint32_t slot = core->head;

    core->head = wf_timeshare_claim(own->shared, own->node, slot - 1)->next;
    core->tail = core->head != 0 ? core->tail : 0;
    return slot;
}

/* Another rank claims the core, which has been serving one claim without events for slices: the
 * present slice becomes the last one. Its number is the least for which the slice ends later
 * than now; interruptions by noise make it smaller. */
static void end_slice(const struct core_in_event *own)
{
    const struct wf_timeshare_core *core = own->core;
    int64_t slice = own->shared->slice, elapsed = wf_now(own->ctx) - core->begin;
    int64_t low = 1, high = wf_max_i64(elapsed, 0) / slice + 1;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (end_of(own, middle * slice) > wf_now(own->ctx)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    if (low < core->work / slice + (core->work % slice != 0)) {
        plan_event(own, low * slice);
    }
}

void wf_timeshare_begin(const struct wf_timeshare *shared, struct wf_ctx *ctx, void *node,
                        uint32_t slot, int64_t work)
{
    uint32_t number = wf_cores_core(&shared->cores, slot);
    const struct core_in_event own = {shared, ctx, node, number,
                                      edit_core(shared, ctx, node, number)};
    struct wf_timeshare_claim *claim = wf_timeshare_edit(shared, ctx, node, slot);
    bool alone = own.core->head == 0;

    claim->left = work;
    claim->busy = 0;
    if (own.core->running == 0) {
        serve_claim(&own, slot + 1);
        return;
    }
    enqueue_claim(&own, slot + 1);
    if (shared->slice > 0 && alone) {
        end_slice(&own);
    }
}

bool wf_timeshare_next(const struct wf_timeshare *shared, struct wf_ctx *ctx, void *node,
                       const struct wf_timeshare_event *event, uint32_t *slot)
{
    const struct core_in_event own = {shared, ctx, node, event->core,
                                      edit_core(shared, ctx, node, event->core)};
    struct wf_timeshare_core *core = own.core;

    if (event->ticket != core->ticket || core->running == 0) {
        return false;
    }
    uint32_t running = core->running;
    struct wf_timeshare_claim *claim = wf_timeshare_edit(shared, ctx, node, running - 1);
    claim->busy = wf_time_add(claim->busy, wf_now(ctx) - core->begin);
    claim->left -= core->work;
    bool served = claim->left == 0;

    core->running = 0;
    if (!served) {
        enqueue_claim(&own, running);
    }
    if (core->head != 0) {
        serve_claim(&own, dequeue_claim(&own));
    }
    *slot = running - 1;
    return served;
}

/* ---- task graphs ---- */

int64_t wf_timeshare_acquire(const struct wf_timeshare *shared, struct wf_ctx *ctx, void *node,
                             uint32_t slot, int64_t ready)
{
    struct wf_timeshare_core *core =
        edit_core(shared, ctx, node, wf_cores_core(&shared->cores, slot));
    bool changes = core->last != 0 && core->last != slot + 1;

    core->last = slot + 1;
    return wf_time_add(wf_max_i64(ready, core->free_at), changes ? shared->switch_cost : 0);
}

void wf_timeshare_release(const struct wf_timeshare *shared, void *node, uint32_t slot,
                          int64_t until)
{
    struct wf_timeshare_core *core =
        (struct wf_timeshare_core *)(void *)((unsigned char *)node + shared->cores_at) +
        wf_cores_core(&shared->cores, slot);

    core->free_at = until;
}
