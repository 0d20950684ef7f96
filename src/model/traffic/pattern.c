/* SPDX-License-Identifier: Apache-2.0 */
#include "model/traffic/pattern.h"

#include "base/lookup.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/topo/topo.h"
#include "model/traffic/draw.h"
#include "model/traffic/weights.h"

#include <inttypes.h>
#include <stdlib.h>

struct wf_traffic_pattern {
    const struct kind *kind;
    const struct wf_topo *topo;
    struct wf_traffic_pattern_params set;
    uint32_t n, bits; /* nodes; n = 2^bits, if it is a power of two */
    uint32_t width;   /* size of the first dimension */
    uint32_t n_dims, size[WF_TOPO_COORDS_MAX];
    uint32_t root;                    /* the square root of n, or 0 */
    uint32_t *to;                     /* permutations: the partner of each node */
    struct wf_traffic_matrix *matrix; /* the pattern of that name */
    uint32_t diameter;
    uint64_t *chance; /* local traffic: probability of distances up to d, in units of 2^-32 */
};

struct kind {
    struct wf_traffic_pattern_row row;
    enum wf_traffic_pattern_kind facts; /* unless it is a permutation */
    bool power_of_two, square, needs_topology;
    enum wf_status (*prepare)(struct wf_traffic_pattern *pattern, struct wf_err *err);
    uint32_t (*permute)(const struct wf_traffic_pattern *pattern, uint32_t node);
    int64_t (*next)(const struct wf_traffic_pattern *pattern, uint32_t node,
                    struct wf_traffic_draw *draw);
};

uint64_t wf_traffic_draw(struct wf_traffic_draw *draw)
{
    return wf_traffic_draw_message(draw->seed, draw->node, draw->message, draw->count++);
}

static uint64_t draw_below(struct wf_traffic_draw *draw, uint64_t n)
{
    return wf_rng_below(wf_traffic_draw(draw), n);
}

static bool draw_chance(struct wf_traffic_draw *draw, double chance)
{
    return (double)(wf_traffic_draw(draw) >> 11) * 0x1p-53 < chance;
}

/* A random one of the first `n` nodes, but not the node itself unless the pattern allows it. */
static int64_t draw_other(const struct wf_traffic_pattern *pattern, uint32_t node, uint32_t n,
                          struct wf_traffic_draw *draw)
{
    if (pattern->set.self || node >= n) {
        return (int64_t)draw_below(draw, n);
    }
    if (n == 1) {
        return WF_TRAFFIC_SILENT;
    }
    int64_t other = (int64_t)draw_below(draw, n - 1);
    return other + (other >= node);
}

static int64_t uniform(const struct wf_traffic_pattern *pattern, uint32_t node,
                       struct wf_traffic_draw *draw)
{
    return draw_other(pattern, node, pattern->n, draw);
}

static int64_t hot_spot(const struct wf_traffic_pattern *pattern, uint32_t node,
                        struct wf_traffic_draw *draw)
{
    if (draw_chance(draw, pattern->set.hot) && node != pattern->set.hot_node) {
        return (int64_t)pattern->set.hot_node;
    }
    return uniform(pattern, node, draw);
}

static enum wf_status prepare_hot_spot(struct wf_traffic_pattern *pattern, struct wf_err *err)
{
    if (pattern->set.hot_node < pattern->n) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "traffic.hot_node: there is no node %" PRIu64 ", only 0 to %" PRIu32,
                      pattern->set.hot_node, pattern->n - 1);
}

static int64_t hot_region(const struct wf_traffic_pattern *pattern, uint32_t node,
                          struct wf_traffic_draw *draw)
{
    if (draw_chance(draw, pattern->set.hot)) {
        return draw_other(pattern, node, (uint32_t)pattern->set.hot_nodes, draw);
    }
    return uniform(pattern, node, draw);
}

static enum wf_status prepare_hot_region(struct wf_traffic_pattern *pattern, struct wf_err *err)
{
    if (pattern->set.hot_nodes == 0) {
        pattern->set.hot_nodes = pattern->n / 8 > 0 ? pattern->n / 8 : 1;
    }
    if (pattern->set.hot_nodes > pattern->n) {
        return wf_err_set(err, WF_EINVAL,
                          "traffic.hot_nodes: a region of %" PRIu64
                          " nodes, but the network has %" PRIu32,
                          pattern->set.hot_nodes, pattern->n);
    }
    return WF_OK;
}

/* Nodes in the lower half of the first dimension send to each other; the others send
 * nothing. */
static int64_t semi_directed(const struct wf_traffic_pattern *pattern, uint32_t node,
                             struct wf_traffic_draw *draw)
{
    uint32_t half = pattern->width / 2, rows = pattern->n / pattern->width;

    if (half * rows < 2 || node % pattern->width >= half) {
        return WF_TRAFFIC_SILENT;
    }
    for (;;) {
        uint32_t at = (uint32_t)draw_below(draw, (uint64_t)half * rows);
        uint32_t other = at / half * pattern->width + at % half;
        if (other != node || pattern->set.self) {
            return other;
        }
    }
}

/* ---- local traffic ---- */

static enum wf_status prepare_local(struct wf_traffic_pattern *pattern, struct wf_err *err)
{
    const struct wf_topo *topo = pattern->topo;
    double weight = 1, sum = 0, so_far = 0;

    pattern->diameter = topo->ops->diameter(topo);
    pattern->chance = wf_xcalloc((size_t)pattern->diameter + 1, sizeof(uint64_t));
    for (uint32_t d = 1; d <= pattern->diameter; d++) {
        sum += weight;
        weight *= pattern->set.decay;
    }
    weight = 1;
    for (uint32_t d = 1; d <= pattern->diameter; d++) {
        so_far += weight;
        weight *= pattern->set.decay;
        pattern->chance[d] = (uint64_t)(so_far / sum * 0x1p32);
    }
    return WF_OK;
}

/* Draws a distance, then nodes until one has this distance. If none is found, takes any
 * node. */
static int64_t local(const struct wf_traffic_pattern *pattern, uint32_t node,
                     struct wf_traffic_draw *draw)
{
    enum { TRIES = 4096 };
    const struct wf_topo *topo = pattern->topo;
    uint64_t lot = wf_traffic_draw(draw) >> 32;
    uint32_t wanted = 1;

    while (wanted < pattern->diameter && lot >= pattern->chance[wanted]) {
        wanted++;
    }
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t other = (uint32_t)draw_below(draw, pattern->n);
        if (other != node && topo->ops->distance(topo, node, other) == wanted) {
            return other;
        }
    }
    return uniform(pattern, node, draw);
}

/* ---- permutations ---- */

static uint32_t reverse_bits(uint32_t value, uint32_t bits)
{
    uint32_t out = 0;

    for (uint32_t b = 0; b < bits; b++) {
        out |= (value >> b & 1) << (bits - 1 - b);
    }
    return out;
}

static uint32_t transpose(const struct wf_traffic_pattern *pattern, uint32_t node)
{
    return node % pattern->root * pattern->root + node / pattern->root;
}

static uint32_t complement(const struct wf_traffic_pattern *pattern, uint32_t node)
{
    return pattern->n - 1 - node;
}

static uint32_t reversal(const struct wf_traffic_pattern *pattern, uint32_t node)
{
    return reverse_bits(node, pattern->bits);
}

static uint32_t shuffle(const struct wf_traffic_pattern *pattern, uint32_t node)
{
    return (node << 1 | node >> (pattern->bits - 1)) & (pattern->n - 1);
}

static uint32_t butterfly(const struct wf_traffic_pattern *pattern, uint32_t node)
{
    uint32_t top = pattern->bits - 1, low = node & 1, high = node >> top & 1;

    return (node & ~(UINT32_C(1) | UINT32_C(1) << top)) | low << top | high;
}

/* Almost half around the first dimension, by node numbers, so that the last nodes of a row send
 * to the next row, as INSEE defines it. */
static uint32_t tornado(const struct wf_traffic_pattern *pattern, uint32_t node)
{
    uint32_t step = (pattern->width + 1) / 2 - 1;

    return (uint32_t)(((uint64_t)node + step) % pattern->n);
}

static uint32_t neighbor(const struct wf_traffic_pattern *pattern, uint32_t node)
{
    uint32_t x = node % pattern->width;

    return x + 1 == pattern->width ? node - x : node + 1;
}

/* Moves a node by a step in each dimension, around its end. */
static uint32_t shift_all(const struct wf_traffic_pattern *pattern, uint32_t node, bool half)
{
    uint32_t to = 0, stride = 1;

    for (uint32_t d = 0; d < pattern->n_dims; d++) {
        uint32_t size = pattern->size[d], step = half ? (size + 1) / 2 - 1 : 1;

        to += (node / stride % size + step) % size * stride;
        stride *= size;
    }
    return to;
}

static uint32_t tornado_all(const struct wf_traffic_pattern *pattern, uint32_t node)
{
    return shift_all(pattern, node, true);
}

static uint32_t neighbor_all(const struct wf_traffic_pattern *pattern, uint32_t node)
{
    return shift_all(pattern, node, false);
}

/* A random permutation without fixed points: one cycle through all nodes (Sattolo's
 * algorithm). */
static enum wf_status prepare_permutation(struct wf_traffic_pattern *pattern,
                                          struct wf_err *err)
{
    pattern->to = wf_xcalloc(pattern->n, sizeof(*pattern->to));
    for (uint32_t i = 0; i < pattern->n; i++) {
        pattern->to[i] = i;
    }
    for (uint32_t i = pattern->n - 1; i > 0; i--) {
        uint32_t j = (uint32_t)wf_rng_below(wf_rng_draw(pattern->set.pattern_seed, 0, i), i);
        uint32_t swap = pattern->to[i];
        pattern->to[i] = pattern->to[j];
        pattern->to[j] = swap;
    }
    return WF_OK;
}

static uint32_t permutation(const struct wf_traffic_pattern *pattern, uint32_t node)
{
    return pattern->to[node];
}

/* ---- matrix ---- */

static enum wf_status prepare_matrix(struct wf_traffic_pattern *pattern, struct wf_err *err)
{
    if (pattern->set.matrix[0] == '\0') {
        return wf_err_set(err, WF_EINVAL,
                          "traffic.matrix: the pattern 'matrix' needs a file, as in -p "
                          "traffic.matrix=pairs.txt");
    }
    return wf_traffic_matrix_read(pattern->set.matrix, pattern->n, &pattern->matrix, err);
}

static int64_t matrix_next(const struct wf_traffic_pattern *pattern, uint32_t node,
                           struct wf_traffic_draw *draw)
{
    return wf_traffic_matrix_choose(pattern->matrix, node, wf_traffic_draw(draw));
}

static const struct kind kinds[] = {
    {.row = {"uniform", "any node, with equal probability"}, .next = uniform},
    {.row = {"transpose", "node (x, y) sends to (y, x)"}, .square = true, .permute = transpose},
    {.row = {"complement",
             "node i to the i-th from the end: all bits inverted, if nodes are a power of two"},
     .permute = complement},
    {.row = {"reversal", "the bits of the number in reverse"},
     .power_of_two = true,
     .permute = reversal},
    {.row = {"shuffle", "the bits of the number rotated up by one"},
     .power_of_two = true,
     .permute = shuffle},
    {.row = {"butterfly", "the first and the last bit of the number exchanged"},
     .power_of_two = true,
     .permute = butterfly},
    {.row = {"tornado", "almost half around the first dimension"}, .permute = tornado},
    {.row = {"neighbor", "the next node in the first dimension"}, .permute = neighbor},
    {.row = {"tornado-all", "almost half around every dimension, as in BookSim2"},
     .permute = tornado_all},
    {.row = {"neighbor-all",
             "the next node in every dimension, around its end, as in BookSim2"},
     .permute = neighbor_all},
    {.row = {"permutation", "a random partner, the same for the whole run"},
     .prepare = prepare_permutation,
     .permute = permutation},
    {.row = {"hotspot", "uniform, but a share goes to one node"},
     .prepare = prepare_hot_spot,
     .next = hot_spot,
     .facts = WF_TRAFFIC_HOT_SPOT},
    {.row = {"hotregion", "uniform, but a share goes to some nodes"},
     .prepare = prepare_hot_region,
     .next = hot_region,
     .facts = WF_TRAFFIC_HOT_REGION},
    {.row = {"local", "near nodes are more likely"},
     .needs_topology = true,
     .prepare = prepare_local,
     .next = local,
     .facts = WF_TRAFFIC_OTHER_PATTERN},
    {.row = {"semidirected",
             "nodes in the lower half of the first dimension send to each other"},
     .next = semi_directed,
     .facts = WF_TRAFFIC_OTHER_PATTERN},
    {.row = {"matrix", "pairs and weights from a file"},
     .prepare = prepare_matrix,
     .next = matrix_next,
     .facts = WF_TRAFFIC_OTHER_PATTERN},
    {.row = {NULL, NULL}},
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

const struct wf_traffic_pattern_row *wf_traffic_pattern_row(size_t i)
{
    return i + 1 < N_KINDS ? &kinds[i].row : NULL;
}

static uint32_t root_of(uint32_t n)
{
    uint32_t root = 1;

    while ((uint64_t)root * root < n) {
        root++;
    }
    return (uint64_t)root * root == n ? root : 0;
}

/* Finds the dimensions: those of a grid, where several nodes of a router lie in a row of the
 * first; else two of a square number, or one of all nodes. */
static void find_dims(struct wf_traffic_pattern *pattern)
{
    const struct wf_topo *topo = pattern->topo;
    uint32_t n = pattern->n, root = root_of(n), n_routers = 1;

    if (topo == NULL || topo->ops->shape != WF_TOPO_SHAPE_GRID || topo->n_nodes != n) {
        pattern->n_dims = root > 0 ? 2 : 1;
        pattern->size[0] = pattern->size[1] = root > 0 ? root : n;
    } else { /* the last node has the last coordinate of each */
        pattern->n_dims = topo->ops->coords(topo, n - 1, pattern->size);
        for (uint32_t d = 0; d < pattern->n_dims; d++) {
            n_routers *= ++pattern->size[d];
        }
        pattern->size[0] *= n / n_routers;
    }
    pattern->width = pattern->size[0];
}

static enum wf_status check_fit(const struct wf_traffic_pattern *pattern, struct wf_err *err)
{
    const struct kind *kind = pattern->kind;
    const char *name = kind->row.name;
    uint32_t n = pattern->n;

    if (kind->power_of_two && (n < 2 || (n & (n - 1)) != 0)) {
        return wf_err_set(err, WF_EINVAL,
                          "pattern '%s' needs a power of two nodes, not %" PRIu32, name, n);
    }
    if (kind->square && pattern->root == 0) {
        return wf_err_set(err, WF_EINVAL, "pattern '%s' needs a square of nodes, not %" PRIu32,
                          name, n);
    }
    if (kind->needs_topology && pattern->topo == NULL) {
        return wf_err_set(err, WF_EINVAL, "pattern '%s' needs a topology", name);
    }
    return WF_OK;
}

enum wf_status wf_traffic_pattern_create(const char *name,
                                         const struct wf_traffic_pattern_params *params,
                                         const struct wf_topo *topo, uint32_t n_nodes,
                                         struct wf_traffic_pattern **out, struct wf_err *err)
{
    const struct kind *kind =
        wf_lookup_row("traffic pattern", name, kinds, sizeof(*kinds), err);

    if (kind == NULL) {
        return err != NULL ? (err->status = WF_EINVAL) : WF_EINVAL;
    }
    struct wf_traffic_pattern *pattern = wf_xcalloc(1, sizeof(*pattern));
    pattern->kind = kind;
    pattern->topo = topo;
    pattern->set = *params;
    pattern->n = n_nodes;
    find_dims(pattern);
    pattern->root = root_of(n_nodes);
    while (UINT64_C(1) << pattern->bits < n_nodes) {
        pattern->bits++;
    }
    enum wf_status status = check_fit(pattern, err);
    if (status == WF_OK && kind->prepare != NULL) {
        status = kind->prepare(pattern, err);
    }
    if (status == WF_OK) {
        *out = pattern;
    } else {
        wf_traffic_pattern_free(pattern);
    }
    return status;
}

void wf_traffic_pattern_free(struct wf_traffic_pattern *pattern)
{
    if (pattern != NULL) {
        wf_traffic_matrix_free(pattern->matrix);
        free(pattern->to);
        free(pattern->chance);
        free(pattern);
    }
}

int64_t wf_traffic_pattern_next(const struct wf_traffic_pattern *pattern,
                                struct wf_traffic_draw *draw)
{
    uint32_t node = draw->node;

    if (pattern->kind->next != NULL) {
        return pattern->kind->next(pattern, node, draw);
    }
    uint32_t other = pattern->kind->permute(pattern, node);
    return other == node && !pattern->set.self ? WF_TRAFFIC_SILENT : (int64_t)other;
}

struct wf_traffic_pattern_facts
wf_traffic_pattern_facts(const struct wf_traffic_pattern *pattern)
{
    const struct kind *kind = pattern->kind;

    return (struct wf_traffic_pattern_facts){
        .kind = kind->permute != NULL ? WF_TRAFFIC_PERMUTATION : kind->facts,
        .set = &pattern->set};
}
