/* SPDX-License-Identifier: Apache-2.0 */
#include "net/vc/vc.h"

#include "base/mem.h"
#include "net/vc/kind.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/*
 * What a packet remembers:
 *
 *   phase   level of its last hop (5 bits), rank of that hop (3 bits)
 *   spare   level where the way turns (5 bits), whether it has made a hop there (1 bit), stage
 *           there (2 bits)
 *
 * Both are 0 before the first hop only: after it, either the level of the hop is not 0, or it
 * is the one where the way turns.
 */
enum {
    LEVEL_MASK = 31,
    RANK_SHIFT = 5,
    TURNED = 32,
    STAGE_SHIFT = 6,
};

_Static_assert(WF_NESTED_LEVELS_MAX <= LEVEL_MASK + 1, "fits its bits");
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

/* The most classes of a stage that the numbers allow. */
static uint32_t widest(enum wf_vc_detour detour, bool inner)
{
    uint32_t late = detour == WF_VC_LATE_DETOUR ? 1 : 0;
    uint32_t stages = (detour == WF_VC_DIRECT ? 1U : 2U) + (inner ? 1U : 0U);

    return (WF_ROUTE_VCS_MAX - late) / stages;
}

/* The last channel leads over a tree, for what is too long for the others. */
static void add_tree(struct wf_vc_level *level, uint32_t width)
{
    uint32_t room = width - 1 - (level->free > 0 ? 1 : 0);

    level->tree = wf_vc_tree_create(level->topo);
    level->fixed = (level->fixed < room ? level->fixed : room) + 1;
    level->free = level->free < width - level->fixed ? level->free : width - level->fixed;
}

static enum wf_status plan_level(struct wf_vc_level *level, struct wf_vc_plan plan, bool inner,
                                 struct wf_err *err)
{
    const struct wf_topo *topo = level->topo;

    if (plan.is_free && topo->n_ports > WF_VC_PORTS_MAX && !level->kind->is_single) {
        return wf_err_set(err, WF_EINVAL,
                          "routing '%s' chooses among at most %d ports, and a %s of %" PRIu32
                          " nodes has %" PRIu32 "; choose another policy",
                          plan.ops->name, WF_VC_PORTS_MAX, topo->ops->name, topo->n_nodes,
                          topo->n_ports);
    }
    level->kind->plan(level);
    if (!plan.is_free) {
        level->free = 0;
    } else if (level->kind->is_whole) {
        level->fixed = 0;
    }
    lay_out(level, plan.detour, inner);
    while (level->n > WF_ROUTE_VCS_MAX && level->free > 1 && level->fixed > 0) {
        level->free--;
        lay_out(level, plan.detour, inner);
    }
    if ((level->n > WF_ROUTE_VCS_MAX || level->is_guess) && level->fixed > 0 &&
        level->kind->fixed == NULL && !topo->oneway) {
        add_tree(level, widest(plan.detour, inner));
        lay_out(level, plan.detour, inner);
    }
    return WF_OK;
}

/* Of a way with its detour: all of the level where it turns twice. Ways over trees are passed
 * twice in other levels, too: out and in. */
static uint32_t hops_of(const struct wf_vcs *vcs, enum wf_vc_detour detour)
{
    uint32_t hops = wf_vc_hops(vcs->route.topo), more = 0;

    for (uint32_t i = 0; i < vcs->n_levels; i++) {
        const struct wf_vc_level *level = &vcs->levels[i];
        uint32_t over = level->tree != NULL ? wf_vc_tree_hops(level->tree) : 0;
        uint32_t here = detour != WF_VC_DIRECT ? wf_vc_hops(level->topo) + over : 0;

        hops += vcs->n_levels > 1 ? 2 * over : over;
        more = here > more ? here : more;
    }
    return hops + more + (detour == WF_VC_LATE_DETOUR ? 1 : 0);
}

enum wf_status wf_vcs_init(struct wf_vcs *vcs, const struct wf_topo *topo,
                           struct wf_vc_plan plan, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    vcs->route = (struct wf_route){.ops = plan.ops, .topo = topo, .n_vcs = 1};
    vcs->n_levels = wf_topo_n_levels(topo);
    vcs->levels = wf_xcalloc(vcs->n_levels, sizeof(*vcs->levels));
    for (uint32_t i = 0; i < vcs->n_levels && status == WF_OK; i++) {
        struct wf_vc_level *level = &vcs->levels[i];

        level->topo = wf_topo_level(topo, i);
        level->kind = wf_vc_kind_of(level->topo);
        status = plan_level(level, plan, i > 0, err);
        vcs->route.n_vcs = level->n > vcs->route.n_vcs ? level->n : vcs->route.n_vcs;
    }
    if (status != WF_OK) {
        wf_vcs_fini(vcs);
        return status;
    }
    vcs->route.hops_max = hops_of(vcs, plan.detour);
    return WF_OK;
}

enum wf_status wf_vcs_create(const struct wf_topo *topo, struct wf_vc_plan plan,
                             struct wf_route **out, struct wf_err *err)
{
    struct wf_vcs *vcs = wf_xcalloc(1, sizeof(*vcs));

    enum wf_status status = wf_vcs_init(vcs, topo, plan, err);
    if (status != WF_OK) {
        free(vcs);
        return status;
    }
    *out = &vcs->route;
    return WF_OK;
}

void wf_vcs_fini(struct wf_vcs *vcs)
{
    for (uint32_t i = 0; i < vcs->n_levels; i++) {
        free(vcs->levels[i].order);
        wf_vc_tree_free(vcs->levels[i].tree);
    }
    free(vcs->levels);
    vcs->levels = NULL;
    vcs->n_levels = 0;
}

void wf_vcs_destroy(struct wf_route *route)
{
    wf_vcs_fini((struct wf_vcs *)route);
    free(route);
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

static void begin_run(const struct wf_vc_step *step, struct wf_route_state *state)
{
    state->vc = (uint8_t)step->base;
    state->phase = (uint8_t)step->part.level; /* and rank 0 */
}

void wf_vc_step(const struct wf_route_query *query, struct wf_route_state *state,
                struct wf_vc_step *step)
{
    const struct wf_vcs *vcs = (const struct wf_vcs *)query->route;
    bool injected = state->phase == 0 && state->spare == 0;

    if (vcs->n_levels == 1) {
        step->part = (struct wf_part){query->topo, 0, query->at, query->dst, 0};
    } else {
        step->part = wf_topo_next_part(query->topo, query->at, query->dst);
        if (injected) {
            state->spare = (uint8_t)wf_topo_turn_level(query->topo, query->at, query->dst);
        }
    }
    uint32_t turn = state->spare & LEVEL_MASK, level = step->part.level;
    bool comes_in = level > turn && (state->spare & TURNED) != 0;

    step->level = &vcs->levels[level];
    step->turns = level == turn;
    step->is_unlimited = vcs->route.is_unlimited;
    step->base =
        comes_in ? step->level->in : step->level->start[step->turns ? wf_vc_stage(state) : 0];
    if (injected || (state->phase & LEVEL_MASK) != level) {
        begin_run(step, state);
    }
}

void wf_vc_set_stage(struct wf_vc_step *step, struct wf_route_state *state, uint32_t stage)
{
    assert(step->turns && stage < WF_VC_STAGES);
    state->spare = (uint8_t)((state->spare & (LEVEL_MASK | TURNED)) | stage << STAGE_SHIFT);
    step->base = step->level->start[stage];
    begin_run(step, state);
}

/* The class that a hop by `port` would be in, and the rank behind it. */
static uint32_t class_behind(const struct wf_vc_step *step, const struct wf_route_state *state,
                             uint32_t port, uint32_t *rank)
{
    const struct wf_vc_level *level = step->level;
    struct wf_vc_hop hop = level->kind->hop(level, step->part.at, port);

    *rank = state->phase >> RANK_SHIFT;
    return state->vc - step->base + (wf_vc_turns(level->kind, hop, rank) ? 1 : 0);
}

static uint32_t leave(const struct wf_vc_step *step, struct wf_route_state *state,
                      uint32_t port, uint32_t rank)
{
    state->phase = (uint8_t)(step->part.level | rank << RANK_SHIFT);
    state->spare = (uint8_t)(state->spare | (step->turns ? TURNED : 0));
    return step->part.first_port + port;
}

/* From here on the deterministic route. */
static void begin_fixed(const struct wf_vc_step *step, struct wf_route_state *state)
{
    state->vc = (uint8_t)(step->base + step->level->free);
    state->phase = (uint8_t)step->part.level;
}

uint32_t wf_vc_take_given(const struct wf_vc_step *step, struct wf_route_state *state,
                          uint32_t port)
{
    uint32_t rank, vc = step->base + class_behind(step, state, port, &rank);

    assert(vc < step->level->n || step->is_unlimited);
    state->vc = (uint8_t)(vc < UINT8_MAX ? vc : UINT8_MAX);
    return leave(step, state, port, rank);
}

/* Takes the deterministic route if its classes last, else the way over the tree: no more turns
 * are left, or have been before. */
static uint32_t take_or_climb(const struct wf_vc_step *step, struct wf_route_state *state,
                              uint32_t dst)
{
    const struct wf_vc_level *level = step->level;
    uint32_t at = step->part.at, last = step->base + level->free + level->fixed - 1, rank;

    if (state->vc != last) {
        uint32_t port = level->topo->ops->next_port(level->topo, at, dst);
        if (step->base + class_behind(step, state, port, &rank) < last) {
            return wf_vc_take_given(step, state, port);
        }
    }
    state->vc = (uint8_t)last;
    return leave(step, state, wf_vc_tree_next(level->tree, at, dst), 0);
}

uint32_t wf_vc_take_fixed(const struct wf_vc_step *step, struct wf_route_state *state,
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

uint32_t wf_vc_take(const struct wf_vc_step *step, struct wf_route_state *state, uint32_t port)
{
    return state->vc >= step->base + step->level->free
               ? wf_vc_take_fixed(step, state, step->part.dst)
               : wf_vc_take_given(step, state, port);
}

uint32_t wf_vc_choices(const struct wf_vc_step *step, struct wf_route_state *state,
                       uint32_t *ports)
{
    const struct wf_vc_level *level = step->level;
    const struct wf_part *part = &step->part;
    bool is_free = state->vc < step->base + level->free;
    uint32_t n = 0, n_allowed = 0, rank;

    if (is_free && !level->kind->is_single) {
        n = wf_topo_minimal_ports(part->topo, part->at, part->dst, ports);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (class_behind(step, state, ports[i], &rank) < level->free) {
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
