/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/vc/vc.h"

#include "base/mem.h"
#include "model/net/vc/kind.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* Bits of struct wf_vc_state. Both `hop` and `turn` are 0 only before the first hop: after it,
 * either the level of the hop is not 0, or it is the level where the route turns. */
enum {
    LEVEL_MASK = 31,
    RANK_SHIFT = 5,
    TURNED = 32,
    STAGE_SHIFT = 6,
};

_Static_assert(WF_TOPO_NESTED_LEVELS_MAX <= LEVEL_MASK + 1, "fits its bits");
_Static_assert(WF_VC_RANKS << RANK_SHIFT <= UINT8_MAX + 1, "fits its bits");

/* ---- Plans ---- */

static uint32_t width_of(const struct wf_vc_level *level)
{
    return level->free + level->fixed;
}

/* Numbers the channels of a level. */
static void lay_out(struct wf_vc_level *level, enum wf_vc_detour detour, bool inner)
{
    uint32_t width = width_of(level);

    level->start[0] = 0;
    level->start[1] = detour == WF_VC_LATE_DETOUR ? 1 : 0;
    level->start[2] = level->start[1] + (detour == WF_VC_DIRECT ? 0 : width);
    level->in = level->start[2] + width;
    level->n = level->in + (inner ? width : 0);
}

/* The most classes of a stage that fit into the channels that there are. */
static uint32_t widest(struct wf_vc_needs needs, bool inner)
{
    uint32_t late = needs.detour == WF_VC_LATE_DETOUR ? 1 : 0;
    uint32_t stages = (needs.detour == WF_VC_DIRECT ? 1U : 2U) + (inner ? 1U : 0U);

    return (needs.most - late) / stages;
}

/* Adds a channel over a tree, for routes that need more classes than there are. */
static void add_tree(struct wf_vc_level *level, uint32_t width)
{
    uint32_t most = width - 1 - (level->free > 0 ? 1 : 0);

    level->tree = wf_vc_tree_create(level->topo);
    level->fixed = (level->fixed < most ? level->fixed : most) + 1;
    level->free = level->free < width - level->fixed ? level->free : width - level->fixed;
}

static enum wf_status plan_level(struct wf_vc_level *level, struct wf_vc_needs needs,
                                 bool inner, struct wf_err *err)
{
    const struct wf_topo *topo = level->topo;

    if (needs.is_free && topo->n_ports > WF_VC_PORTS_MAX && !level->kind->is_single) {
        return wf_err_set(err, WF_EINVAL,
                          "routing '%s' chooses among at most %d ports, and a %s of %" PRIu32
                          " nodes has %" PRIu32 "; choose another policy",
                          needs.policy, WF_VC_PORTS_MAX, topo->ops->name, topo->n_nodes,
                          topo->n_ports);
    }
    if (level->kind->is_ordered) {
        level->order = wf_vc_order(topo);
    }
    level->kind->plan(level);
    if (!needs.is_free) {
        level->free = 0;
    } else if (level->kind->is_whole) {
        level->fixed = 0;
    }
    lay_out(level, needs.detour, inner);
    while (level->n > needs.most && level->free > 1 && level->fixed > 0) {
        level->free--;
        lay_out(level, needs.detour, inner);
    }
    if ((level->n > needs.most || level->is_guess) && level->fixed > 0 &&
        level->kind->fixed == NULL && !topo->oneway) {
        add_tree(level, widest(needs, inner));
        lay_out(level, needs.detour, inner);
    }
    return WF_OK;
}

/* The longest route. A detour passes the level where it turns twice; routes over trees pass the
 * other levels of a hierarchy twice, too: out and in. */
static uint32_t hops_of(const struct wf_vc_plan *plan, enum wf_vc_detour detour)
{
    uint32_t hops = wf_vc_hops(plan->topo), more = 0;

    for (uint32_t i = 0; i < plan->n_levels; i++) {
        const struct wf_vc_level *level = &plan->levels[i];
        uint32_t over = level->tree != NULL ? wf_vc_tree_hops(level->tree) : 0;
        uint32_t here = detour != WF_VC_DIRECT ? wf_vc_hops(level->topo) + over : 0;

        hops += plan->n_levels > 1 ? 2 * over : over;
        more = here > more ? here : more;
    }
    return hops + more + (detour == WF_VC_LATE_DETOUR ? 1 : 0);
}

static void plan_begin(struct wf_vc_plan *plan, const struct wf_topo *topo, uint32_t n_levels)
{
    *plan = (struct wf_vc_plan){.topo = topo, .n_vcs = 1, .n_levels = n_levels};
    plan->levels = wf_xcalloc(n_levels, sizeof(*plan->levels));
}

/* Deterministic routes in a network with unbounded queues: nothing depends on the number of
 * channels, and to count them may take a search from every node. Channels still have numbers,
 * from 0, by class. */
static void plan_uncounted(struct wf_vc_plan *plan)
{
    struct wf_vc_level *level = plan->levels;

    level->topo = plan->topo;
    level->kind = wf_vc_kind_of(plan->topo);
    level->order = level->kind->is_ordered ? wf_vc_order(plan->topo) : NULL;
    level->fixed = level->n = 1;
}

enum wf_status wf_vc_plan_init(struct wf_vc_plan *plan, const struct wf_topo *topo,
                               struct wf_vc_needs needs, struct wf_err *err)
{
    plan_begin(plan, topo, wf_topo_n_levels(topo));
    plan->is_unlimited = needs.most == WF_VC_UNLIMITED;
    if (plan->is_unlimited) {
        if (plan->n_levels == 1 && !needs.is_free && needs.detour == WF_VC_DIRECT) {
            plan_uncounted(plan);
            return WF_OK;
        }
        needs.most = WF_VC_MAX;
    }
    for (uint32_t i = 0; i < plan->n_levels; i++) {
        struct wf_vc_level *level = &plan->levels[i];

        level->topo = wf_topo_level(topo, i);
        level->kind = wf_vc_kind_of(level->topo);
        WF_TRY(plan_level(level, needs, i > 0, err));
        plan->n_vcs = level->n > plan->n_vcs ? level->n : plan->n_vcs;
    }
    plan->hops_max = hops_of(plan, needs.detour);
    return WF_OK;
}

void wf_vc_plan_given(struct wf_vc_plan *plan, const struct wf_topo *topo, wf_vc_next_fn *next,
                      const void *arg, uint32_t hops_max)
{
    plan_begin(plan, topo, 1);
    struct wf_vc_level *level = plan->levels;
    level->topo = topo;
    level->kind = wf_vc_kind_any();
    level->order = wf_vc_order(topo);
    level->fixed = level->n = plan->n_vcs = wf_vc_count(level, next, arg);
    plan->hops_max = hops_max;
}

void wf_vc_plan_fini(struct wf_vc_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_levels; i++) {
        free(plan->levels[i].order);
        wf_vc_tree_free(plan->levels[i].tree);
    }
    free(plan->levels);
    *plan = (struct wf_vc_plan){.n_levels = 0};
}

bool wf_vc_is_tree(const struct wf_vc_level *level)
{
    return level->kind->is_tree;
}

bool wf_vc_is_dragonfly(const struct wf_vc_level *level)
{
    return level->kind->is_dragonfly;
}

/* ---- Steps ---- */

static void begin_run(const struct wf_vc_step *step, struct wf_vc_state *state)
{
    state->vc = (uint8_t)step->base;
    state->hop = (uint8_t)step->part.level; /* and rank 0 */
}

void wf_vc_step(const struct wf_vc_plan *plan, uint32_t at, uint32_t dst,
                struct wf_vc_state *state, struct wf_vc_step *step)
{
    bool injected = state->hop == 0 && state->turn == 0;

    if (plan->n_levels == 1) {
        step->part = (struct wf_topo_part){plan->topo, 0, at, dst, 0};
    } else {
        step->part = wf_topo_next_part(plan->topo, at, dst);
        if (injected) {
            state->turn = (uint8_t)wf_topo_turn_level(plan->topo, at, dst);
        }
    }
    uint32_t turn = state->turn & LEVEL_MASK, level = step->part.level;
    bool comes_in = level > turn && (state->turn & TURNED) != 0;

    step->level = &plan->levels[level];
    step->turns = level == turn;
    step->is_unlimited = plan->is_unlimited;
    step->base =
        comes_in ? step->level->in : step->level->start[step->turns ? wf_vc_stage(state) : 0];
    if (injected || (state->hop & LEVEL_MASK) != level) {
        begin_run(step, state);
    }
}

void wf_vc_set_stage(struct wf_vc_step *step, struct wf_vc_state *state, uint32_t stage)
{
    assert(step->turns && stage < WF_VC_STAGES);
    state->turn = (uint8_t)((state->turn & (LEVEL_MASK | TURNED)) | stage << STAGE_SHIFT);
    step->base = step->level->start[stage];
    begin_run(step, state);
}

/* The class of a hop by `port`, and its rank. */
static uint32_t class_of(const struct wf_vc_step *step, const struct wf_vc_state *state,
                         uint32_t port, uint32_t *rank)
{
    const struct wf_vc_level *level = step->level;

    *rank = state->hop >> RANK_SHIFT;
    if (*rank == 0 && level->kind->n_ranks == 1 && !level->kind->strict) {
        return state->vc - step->base; /* a tree: no hop turns */
    }
    struct wf_vc_hop hop = level->kind->hop(level, step->part.at, port);
    return state->vc - step->base + (wf_vc_turns(level->kind, hop, rank) ? 1 : 0);
}

static uint32_t leave(const struct wf_vc_step *step, struct wf_vc_state *state, uint32_t port,
                      uint32_t rank)
{
    state->hop = (uint8_t)(step->part.level | rank << RANK_SHIFT);
    state->turn = (uint8_t)(state->turn | (step->turns ? TURNED : 0));
    return step->part.first_port + port;
}

/* From here on the packet takes the deterministic route. */
static void begin_fixed(const struct wf_vc_step *step, struct wf_vc_state *state)
{
    state->vc = (uint8_t)(step->base + step->level->free);
    state->hop = (uint8_t)step->part.level;
}

uint32_t wf_vc_take_given(const struct wf_vc_step *step, struct wf_vc_state *state,
                          uint32_t port)
{
    uint32_t rank, vc = step->base + class_of(step, state, port, &rank);

    assert(vc < step->level->n || step->is_unlimited);
    state->vc = (uint8_t)(vc < UINT8_MAX ? vc : UINT8_MAX);
    return leave(step, state, port, rank);
}

/* Takes the deterministic route as long as its classes last, then the route over the tree. */
static uint32_t take_or_climb(const struct wf_vc_step *step, struct wf_vc_state *state,
                              uint32_t dst)
{
    const struct wf_vc_level *level = step->level;
    uint32_t at = step->part.at, last = step->base + level->free + level->fixed - 1, rank;

    if (state->vc != last) {
        uint32_t port = level->topo->ops->next_port(level->topo, at, dst);
        if (step->base + class_of(step, state, port, &rank) < last) {
            return wf_vc_take_given(step, state, port);
        }
    }
    state->vc = (uint8_t)last;
    return leave(step, state, wf_vc_tree_next(level->tree, at, dst), 0);
}

uint32_t wf_vc_take_fixed(const struct wf_vc_step *step, struct wf_vc_state *state,
                          uint32_t dst)
{
    const struct wf_vc_level *level = step->level;
    uint32_t at = step->part.at;

    if (state->vc < step->base + level->free && level->fixed > 0) {
        begin_fixed(step, state);
    }
    if (level->tree != NULL && !step->is_unlimited) {
        return take_or_climb(step, state, dst);
    }
    uint32_t port = level->topo->ops->next_port(level->topo, at, dst);
    if (level->kind->fixed == NULL) {
        return wf_vc_take_given(step, state, port);
    }
    uint32_t channel = level->kind->fixed(level, at, port, dst);
    state->vc = (uint8_t)(step->base + level->free + channel);
    return leave(step, state, port, 0);
}

/* Whether the channel of a deterministic route depends only on vertex, port and destination, in the
 * whole network. */
static inline bool is_by_place(const struct wf_vc_plan *plan)
{
    const struct wf_vc_level *level = plan->levels;

    return plan->n_levels == 1 && level->kind->fixed != NULL &&
           (level->tree == NULL || plan->is_unlimited);
}

uint32_t wf_vc_hop_fixed(const struct wf_vc_plan *plan, uint32_t at, uint32_t dst,
                         struct wf_vc_state *state)
{
    const struct wf_vc_level *level = plan->levels;
    struct wf_vc_step step;

    if (!is_by_place(plan)) {
        wf_vc_step(plan, at, dst, state, &step);
        return wf_vc_take_fixed(&step, state, step.part.dst);
    }
    uint32_t port = level->topo->ops->next_port(level->topo, at, dst);
    uint32_t channel = level->kind->fixed(level, at, port, dst);
    state->vc = (uint8_t)(level->start[wf_vc_stage(state)] + level->free + channel);
    state->hop = 0; /* level and rank */
    state->turn = (uint8_t)(state->turn | TURNED);
    return port;
}

uint32_t wf_vc_take(const struct wf_vc_step *step, struct wf_vc_state *state, uint32_t port)
{
    return state->vc >= step->base + step->level->free
               ? wf_vc_take_fixed(step, state, step->part.dst)
               : wf_vc_take_given(step, state, port);
}

uint32_t wf_vc_choices(const struct wf_vc_step *step, struct wf_vc_state *state,
                       uint32_t *ports)
{
    const struct wf_vc_level *level = step->level;
    const struct wf_topo_part *part = &step->part;
    bool is_free = state->vc < step->base + level->free;
    uint32_t n = 0, n_allowed = 0, rank;

    if (is_free && !level->kind->is_single) {
        n = wf_topo_minimal_ports(part->topo, part->at, part->dst, ports);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (class_of(step, state, ports[i], &rank) < level->free) {
            ports[n_allowed++] = ports[i];
        }
    }
    if (n_allowed > 0) {
        return n_allowed;
    }
    if (is_free && level->fixed > 0) {
        begin_fixed(step, state); /* no class is left */
    }
    ports[0] = part->topo->ops->next_port(part->topo, part->at, part->dst);
    return 1;
}
