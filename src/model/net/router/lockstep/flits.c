/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/router/lockstep/flits.h"

#include "base/mem.h"
#include "model/net/router/events/flit.h"
#include "model/net/router/lockstep/flits_cycle.h"
#include "model/net/router/lockstep/inside.h"

#include <assert.h>
#include <stdlib.h>

enum { CYCLES_BETWEEN_LOOKS = 1024 }; /* between checks for an interruption, and reports */

/* ---- the run ---- */

static inline void cycle_all(struct flits *f, const struct shape *shape, uint32_t cycle)
{
    const uint32_t n = f->net.n;

    for (struct here here = here_first(f, shape, cycle); here.first < n; here_next(&here)) {
        cycle_of(&here);
    }
}

/* A cycle of all routers. */
typedef void cycle_function(struct flits *f, uint32_t cycle);

static void cycle_any(struct flits *f, uint32_t cycle)
{
    cycle_all(f, &f->shape, cycle);
}

/* The same for a frequent shape, which the compiler knows: all functions become part of this one. */
#define VARIANT(n_links, vcs)                                                     \
    __attribute__((flatten)) static void cycle_##n_links##_##vcs(struct flits *f, \
                                                                 uint32_t cycle)  \
    {                                                                             \
        const struct shape shape = shape_of(n_links, vcs);                        \
        cycle_all(f, &shape, cycle);                                              \
    }
VARIANT(4, 2)
VARIANT(4, 4)
VARIANT(6, 2)
VARIANT(6, 4)
#undef VARIANT

static const struct variant {
    uint32_t n_links, vcs;
    cycle_function *cycle;
} variants[] = {{4, 2, cycle_4_2}, {4, 4, cycle_4_4}, {6, 2, cycle_6_2}, {6, 4, cycle_6_4}};

/* ---- after the run ---- */

/* A router after the run. */
struct router_now {
    uint64_t free;
    const struct channel *channels;
};

static uint32_t holder_of(const void *state, uint32_t channel)
{
    const struct router_now *now = state;

    return (now->free & bit(channel)) != 0 ? 0 : now->channels[channel].holder + 1u;
}

static bool is_blocked(const struct flits *f, const struct wf_router_view *view, uint32_t queue,
                       struct wf_net_wait *wait)
{
    const struct block *block = &f->blocks[view->vertex / BLOCK];
    const uint32_t router = view->vertex % BLOCK;
    const size_t first = (size_t)view->vertex * f->shape.n_queues;
    const struct queue *q = &f->queues[first + queue];
    const uint64_t lacks = block->goes[router] & ~block->room[router] & block->flits[router];
    const struct router_now state = {block->free[router], &f->channels[first]};
    const struct wf_router_flit_now now = {
        .view = view,
        .input = queue,
        .lacks_room = (lacks & bit(queue)) != 0,
        .taken = q->channel,
        .vcs = (block->waits[router] & bit(queue)) != 0 ? q->vcs : 0,
        .port = q->port,
        .holder = holder_of,
        .state = &state,
    };

    return wf_router_flit_waits(&now, wait);
}

static void find_waits(const struct flits *f, const struct wf_router_net *model,
                       struct wf_net_waits *waits)
{
    struct wf_router_view view = {.model = model};
    struct wf_net_wait wait;

    for (; view.vertex < f->net.n; view.vertex++) {
        for (uint32_t queue = 0; queue < f->shape.n_queues; queue++) {
            if (is_blocked(f, &view, queue, &wait)) {
                wf_net_waits_add(waits, &wait);
            }
        }
    }
}

/* ---- the whole ---- */

static void size_up(struct flits *f, const struct wf_router_net *model)
{
    const struct wf_router_link_kind *kind = &model->kinds[0];

    f->shape = shape_of(model->node.n_ports, model->rules.vcs);
    f->n_blocks = (f->net.n + BLOCK - 1) / BLOCK;
    f->n_places = kind->queue + 2; /* a part of the first may have left, of the last arrived */
    f->capacity = kind->queue * model->rules.phits;
    f->hop = 1 + kind->pipeline + kind->link_delay;
    f->entry = 1 + kind->link_delay;
    f->back = 1 + kind->link_delay + (uint32_t)model->set.credit_delay;
    f->routing_delay = (uint32_t)model->set.routing_delay;
    for (uint32_t i = 0; i < f->shape.n_queues; i++) {
        f->port_of[i] = (uint8_t)(i / f->shape.vcs);
    }
    for (f->mask = 1; f->mask <= (f->hop > f->back ? f->hop : f->back);) {
        f->mask = 2 * f->mask + 1;
    }
}

static void allocate(struct flits *f)
{
    size_t n = f->net.n, wheel = (size_t)(f->mask + 1) * f->n_blocks;

    f->arrivals = wf_xcalloc_huge(wheel, arrivals_size(&f->shape));
    f->blocks = wf_xcalloc_huge(f->n_blocks, sizeof(*f->blocks));
    f->begun = wf_xcalloc_huge(f->n_blocks, begun_length(&f->shape) * sizeof(*f->begun));
    f->routers = wf_xcalloc_huge(n, sizeof(*f->routers));
    f->queues = wf_xcalloc_huge(n * f->shape.n_queues, sizeof(*f->queues));
    f->channels = wf_xcalloc_huge(n * f->shape.n_queues, sizeof(*f->channels));
    f->packets = wf_xcalloc_huge(n * f->shape.n_queues * f->n_places, sizeof(*f->packets));
    f->waiting = wf_xcalloc(n * f->net.injection_length, sizeof(*f->waiting));
    f->carried = wf_xcalloc(n * f->shape.local * f->shape.vcs + 1, sizeof(*f->carried));
    f->net.nodes = wf_xcalloc(n, sizeof(*f->net.nodes));
    f->net.next = wf_xcalloc(n, sizeof(*f->net.next));
    f->net.out = wf_xcalloc(1, sizeof(*f->net.out));
}

/* A router at the beginning. The link that ends at a port comes from where the link of the port ends. */
static void begin_router(const struct here *h, uint32_t router)
{
    const uint32_t vcs = h->shape.vcs, r = h->first + router;

    assert(h->shape.n_queues > 0 && h->shape.n_queues <= QUEUES_MAX);
    h->block->free[router] = ~UINT64_C(0) >> (64 - h->shape.n_queues);
    for (uint32_t queue = 0; queue < h->shape.n_queues; queue++) {
        uint32_t port = queue / vcs;
        struct queue *q = queue_at(h, place_of(router, queue));
        const struct link back =
            port == h->shape.local ? (struct link){r, port * vcs} : link_of(h, r, port);
        q->back_at = arrivals_at(&h->shape, back.router);
        q->back = (uint16_t)place_of(back.router % BLOCK, back.queue + queue - port * vcs);
    }
}

static void release(struct flits *f)
{
    free(f->arrivals);
    free(f->blocks);
    free(f->begun);
    free(f->routers);
    free(f->queues);
    free(f->channels);
    free(f->packets);
    free(f->waiting);
    free(f->carried);
    free(f->net.nodes);
    free(f->net.next);
    free(f->net.out);
}

/* The code for networks of a shape. */
static cycle_function *code_for(const struct shape *shape)
{
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        if (variants[i].n_links == shape->local && variants[i].vcs == shape->vcs) {
            return variants[i].cycle;
        }
    }
    return cycle_any;
}

/* Returns the number of simulated cycles: until the end, or until the user interrupts. */
static uint32_t simulate(struct flits *f, const struct wf_lockstep_run *run)
{
    cycle_function *take_cycle = code_for(&f->shape);

    for (struct here h = here_first(f, &f->shape, 0); h.first < f->net.n; here_next(&h)) {
        for (uint32_t i = 0; i < h.n; i++) {
            begin_router(&h, i);
            f->net.next[h.first + i] = wf_lockstep_next_burst(&f->net, h.first + i, 0);
        }
    }
    for (uint32_t cycle = 0; cycle < f->net.end; cycle++) {
        if (cycle % CYCLES_BETWEEN_LOOKS == 0) {
            if (run->stop != NULL && *run->stop != 0) {
                return cycle;
            }
            if (run->progress != NULL) {
                run->progress(run->progress_arg, cycle);
            }
        }
        take_cycle(f, cycle);
    }
    return f->net.end;
}

enum wf_status wf_lockstep_run_flits(const struct wf_lockstep *lock,
                                     const struct wf_lockstep_run *run,
                                     struct wf_lockstep_result *result, struct wf_err *err)
{
    struct flits f = {.net = lock->net};

    size_up(&f, lock->model);
    allocate(&f);
    result->cycle = simulate(&f, run);
    result->threads = 1;
    result->hops = f.count.sends;
    wf_lockstep_count_add(&f.net, &f.count);
    const struct wf_lockstep_final final = {.out = f.net.out, .packets = f.carried};
    wf_lockstep_collect(lock, &final, result->tally);
    find_waits(&f, lock->model, &result->tally->usage.waits);
    release(&f);
    return result->cycle < lock->net.end ? WF_EINTR : WF_OK;
}
