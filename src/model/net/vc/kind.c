/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/vc/kind.h"

#include "model/topo/grid.h"
#include "model/topo/routers.h"

#include <string.h>

/* Classes for free routes through grids: enough for three turns back to an earlier
 * dimension. */
enum { TURNS = 4 };

/* ---- Trees and similar networks: routes never turn back ---- */

/* In a tree routes lead up, then down; between routers of a dragonfly+ up, across, down. */
static struct wf_vc_hop tree_hop(const struct wf_vc_level *level, uint32_t at, uint32_t port)
{
    return (struct wf_vc_hop){.rank = 0};
}

static void tree_plan(struct wf_vc_level *level)
{
    level->free = level->fixed = 1;
}

/* ---- Mesh, torus, ring: dimensions are ranks, and datelines are where rings close ---- */

static const struct wf_topo_grid *to_grid(const struct wf_vc_level *level)
{
    return (const struct wf_topo_grid *)level->topo;
}

static struct wf_vc_hop grid_hop(const struct wf_vc_level *level, uint32_t at, uint32_t port)
{
    const struct wf_topo_grid *grid = to_grid(level);
    uint32_t dim = port / 2, coord = wf_topo_grid_coord(grid, at, dim);

    return (struct wf_vc_hop){
        .rank = dim,
        .dateline = port % 2 == 0 ? coord + 1 == grid->size[dim] : coord == 0,
    };
}

static void grid_plan(struct wf_vc_level *level)
{
    const struct wf_topo_grid *grid = to_grid(level);
    uint32_t datelines = 0;

    for (uint32_t d = 0; d < grid->n_dims; d++) {
        /* A ring of two nodes is one cable, unless links are one-way. */
        datelines += grid->wrap[d] && grid->size[d] > (grid->topo.oneway ? 1 : 2) ? 1 : 0;
    }
    level->fixed = datelines > 0 ? 2 : 1;
    level->free = (grid->n_dims > 1 ? TURNS : 1) + (datelines < TURNS ? datelines : TURNS);
}

/* Packets that still have to cross the dateline of the dimension have a separate channel
 * (Dally and Seitz, 1987). */
static uint32_t grid_fixed(const struct wf_vc_level *level, uint32_t at, uint32_t port,
                           uint32_t dst)
{
    const struct wf_topo_grid *grid = to_grid(level);
    uint32_t a = wf_topo_grid_coord(grid, at, port / 2),
             b = wf_topo_grid_coord(grid, dst, port / 2);

    /* a > b if the port leads up, a < b if it leads down; without a branch, which would be
     * mispredicted */
    return (uint32_t)(a != b) & (uint32_t)((a > b) == (port % 2 == 0));
}

/* ---- Twisted tori: the same, but routes may cross datelines several times ---- */

static struct wf_vc_hop twist_hop(const struct wf_vc_level *level, uint32_t at, uint32_t port)
{
    const struct wf_topo *topo = level->topo;
    uint32_t here[WF_TOPO_COORDS_MAX], there[WF_TOPO_COORDS_MAX], dim = port / 2;
    uint32_t to = topo->ops->neighbor(topo, at, port);
    uint32_t n = topo->ops->coords(topo, at, here);

    (void)topo->ops->coords(topo, to, there);
    here[dim] += port % 2 == 0 ? 1 : UINT32_MAX;
    return (struct wf_vc_hop){
        .rank = dim,
        .dateline = memcmp(here, there, n * sizeof(here[0])) != 0,
    };
}

/* For each dimension: which other dimension the step up from its last node shifts, and by how
 * much. */
struct twist {
    uint32_t n_dims;
    uint32_t size[WF_TOPO_COORDS_MAX], target[WF_TOPO_COORDS_MAX], jump[WF_TOPO_COORDS_MAX];
    bool wrap[WF_TOPO_COORDS_MAX];
};

static bool find_twist(const struct wf_topo *topo, struct twist *twist)
{
    uint32_t there[WF_TOPO_COORDS_MAX], stride = 1;

    memset(twist, 0, sizeof(*twist));
    twist->n_dims = topo->ops->coords(topo, topo->n_nodes - 1, twist->size);
    for (uint32_t d = 0; d < twist->n_dims; d++) {
        uint32_t last = stride * twist->size[d]++;
        if (twist->size[d] <= 2) {
            return false;
        }
        stride *= twist->size[d];
        uint32_t to = topo->ops->neighbor(topo, last, 2 * d);
        twist->wrap[d] = to != WF_TOPO_NO_VERTEX;
        if (!twist->wrap[d]) {
            continue;
        }
        (void)topo->ops->coords(topo, to, there);
        for (uint32_t k = 0; k < twist->n_dims; k++) {
            twist->target[d] = there[k] != 0 ? k : twist->target[d];
            twist->jump[d] = there[k] != 0 ? there[k] : twist->jump[d];
        }
    }
    return true;
}

/*
 * A bound for the classes of any shortest route, without trying all routes. If no target of
 * a twist is twisted itself, and all dimensions are rings, then steps are translations that
 * commute, and all steps in one dimension have the same direction. A route that crosses the
 * twisted dateline of i twice takes size[i] steps in i, which are equivalent to jump[i]
 * steps in its target. If these are fewer, no shortest route crosses twice. A route crosses
 * the target's own dateline at most once before and once after each shift, as it covers at
 * most half of the ring.
 */
uint32_t wf_vc_bound_twist(const struct wf_topo *topo)
{
    struct twist twist;
    uint32_t classes = 1;

    if (!find_twist(topo, &twist)) {
        return 0;
    }
    for (uint32_t d = 0; d < twist.n_dims; d++) {
        uint32_t jump = twist.jump[d], target = twist.target[d];
        classes += twist.wrap[d] ? 1 : 0;
        if (jump == 0) {
            continue;
        }
        uint32_t around = twist.size[target] - jump;
        if (twist.jump[target] != 0 || !twist.wrap[target] ||
            (jump < around ? jump : around) >= twist.size[d]) {
            return 0;
        }
        classes++;
    }
    return classes;
}

static void twist_plan(struct wf_vc_level *level)
{
    uint32_t bound;

    level->fixed = wf_vc_count_lowest(level, &level->is_guess);
    level->free = TURNS;
    if (level->is_guess && (bound = wf_vc_bound_twist(level->topo)) != 0) {
        level->fixed = bound;
        level->is_guess = false;
    }
}

/* ---- Networks of routers ---- */

static uint32_t diameter_of(const struct wf_vc_level *level)
{
    uint32_t diameter = ((const struct wf_topo_routers *)level->topo)->diameter;

    return diameter > 0 ? diameter : 1;
}

static bool is_node_link(const struct wf_topo *topo, uint32_t at, uint32_t port)
{
    return at < topo->n_nodes || topo->ops->neighbor(topo, at, port) < topo->n_nodes;
}

/* Each link between routers is a class of its own (K. D. Guenther, "Prevention of deadlocks in
 * packet-switched data transport systems", IEEE Transactions on Communications 29, 1981). */
static struct wf_vc_hop router_hop(const struct wf_vc_level *level, uint32_t at, uint32_t port)
{
    return (struct wf_vc_hop){.rank = 1, .end = is_node_link(level->topo, at, port)};
}

static void router_plan(struct wf_vc_level *level)
{
    level->free = level->fixed = diameter_of(level);
}

/* HyperX: dimensions are ranks, and a route takes one hop in each. */
static struct wf_vc_hop hyperx_hop(const struct wf_vc_level *level, uint32_t at, uint32_t port)
{
    const struct wf_topo *topo = level->topo;
    uint32_t here[WF_TOPO_COORDS_MAX], there[WF_TOPO_COORDS_MAX], dim = 0;

    if (is_node_link(topo, at, port)) {
        return (struct wf_vc_hop){.end = true};
    }
    (void)topo->ops->coords(topo, at, here);
    (void)topo->ops->coords(topo, topo->ops->neighbor(topo, at, port), there);
    while (here[dim] == there[dim]) {
        dim++;
    }
    return (struct wf_vc_hop){.rank = dim};
}

static void hyperx_plan(struct wf_vc_level *level)
{
    level->fixed = 1;
    level->free = diameter_of(level);
}

/* ---- All others: towards vertex 0 in the order of a search from there, then away ---- */

/* Up*, down* routing of M. D. Schroeder et al., "Autonet: a high-speed, self-configuring
 * local area network using point-to-point links", IEEE Journal on Selected Areas in
 * Communications 9, 1991. Other routes are allowed too; they begin a new class each time
 * they turn up again. */
static struct wf_vc_hop any_hop(const struct wf_vc_level *level, uint32_t at, uint32_t port)
{
    uint32_t to = level->topo->ops->neighbor(level->topo, at, port);

    return (struct wf_vc_hop){.rank = level->order[to] < level->order[at] ? 0 : 1};
}

static uint32_t own_next(const void *arg, uint32_t at, uint32_t dst)
{
    const struct wf_topo *topo = arg;

    return topo->ops->next_port(topo, at, dst);
}

/* A bound for networks that are too large for counting: every second hop may turn. */
static uint32_t bound_any(const struct wf_topo *topo)
{
    return 1 + wf_vc_hops(topo) / 2;
}

static void lowest_plan(struct wf_vc_level *level)
{
    level->fixed = wf_vc_count_lowest(level, &level->is_guess);
    level->free = TURNS;
}

static void any_plan(struct wf_vc_level *level)
{
    uint64_t pairs = (uint64_t)level->topo->n_vertices * level->topo->n_nodes;

    level->fixed = pairs < (UINT64_C(1) << 21) ? wf_vc_count(level, own_next, level->topo)
                                               : bound_any(level->topo);
    level->free = TURNS;
}

/* ---- The table ---- */

static const struct wf_vc_kind kinds[WF_TOPO_VC_CLASSES] = {
    [WF_TOPO_VC_ANY] =
        {.hop = any_hop, .n_ranks = 2, .is_ordered = true, .is_slow = true, .plan = any_plan},
    [WF_TOPO_VC_LOWEST_PORT] = {.hop = any_hop,
                                .n_ranks = 2,
                                .is_ordered = true,
                                .is_slow = true,
                                .plan = lowest_plan},
    [WF_TOPO_VC_ONE_HOP] =
        {.hop = tree_hop, .n_ranks = 1, .is_single = true, .is_whole = true, .plan = tree_plan},
    [WF_TOPO_VC_TREE] = {.hop = tree_hop,
                         .n_ranks = 1,
                         .is_single = true,
                         .is_tree = true,
                         .is_whole = true,
                         .plan = tree_plan},
    [WF_TOPO_VC_FAT_TREE] =
        {.hop = tree_hop, .n_ranks = 1, .is_tree = true, .is_whole = true, .plan = tree_plan},
    [WF_TOPO_VC_TREES] = {.hop = tree_hop, .n_ranks = 1, .is_whole = true, .plan = tree_plan},
    [WF_TOPO_VC_GRID] = {.hop = grid_hop,
                         .n_ranks = WF_VC_RANKS,
                         .plan = grid_plan,
                         .fixed = grid_fixed},
    [WF_TOPO_VC_TWISTED_GRID] = {.hop = twist_hop, .n_ranks = WF_VC_RANKS, .plan = twist_plan},
    [WF_TOPO_VC_ROUTERS] = {.hop = router_hop,
                            .n_ranks = 2,
                            .strict = true,
                            .is_whole = true,
                            .plan = router_plan},
    [WF_TOPO_VC_DRAGONFLY] = {.hop = router_hop,
                              .n_ranks = 2,
                              .is_dragonfly = true,
                              .strict = true,
                              .is_whole = true,
                              .plan = router_plan},
    [WF_TOPO_VC_HYPERX] = {.hop = hyperx_hop,
                           .n_ranks = WF_VC_RANKS,
                           .is_whole = true,
                           .plan = hyperx_plan},
};

const struct wf_vc_kind *wf_vc_kind_of(const struct wf_topo *topo)
{
    return &kinds[topo->ops->vc_class];
}

const struct wf_vc_kind *wf_vc_kind_any(void)
{
    return &kinds[WF_TOPO_VC_ANY];
}

bool wf_vc_turns(const struct wf_vc_kind *kind, struct wf_vc_hop hop, uint32_t *rank)
{
    uint32_t before = *rank;

    if (hop.end) {
        return false;
    }
    *rank = hop.dateline ? 0 : hop.rank;
    return hop.dateline || hop.rank < before || (kind->strict && hop.rank == before);
}
