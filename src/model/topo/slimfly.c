/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slim Fly (Besta and Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC
 * 2014): routers joined as the graphs of diameter 2 of McKay, Miller and Siran ("A note on
 * large graphs of diameter two and given maximum degree", Journal of Combinatorial Theory B 74,
 * 1998).
 *
 * For a prime power q = 4w + delta, delta in {-1, 0, 1}, the routers are (0, x, y) and (1, m,
 * c) with x, y, m, c elements of the field of q elements:
 *
 *   (0, x, y) and (0, x, y') are joined if y - y' is in the set X,
 *   (1, m, c) and (1, m, c') are joined if c - c' is in the set X',
 *   (0, x, y) and (1, m, c) are joined if y = m x + c.
 *
 * X and X' have the same size, contain the negative of each of their elements, and together
 * all elements but 0.
 */
#include "base/mem.h"
#include "model/topo/classes.h"
#include "model/topo/field.h"
#include "model/topo/routers.h"
#include "model/topo/topo.h"

#include <inttypes.h>
#include <stdlib.h>

/* Above this q, even routers with one node each would have too many links. */
#define Q_MAX "1097"

struct params {
    uint64_t q, p;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, q, COUNT, .min = "3", .max = Q_MAX,
                 .doc = "A prime or a power of a prime, at least 3; there are 2 q^2 routers"),
    WF_PARAM_ROW(struct params, p, COUNT, .def = "0",
                 .doc = "Nodes at each router; 0 means half as many as its links to other "
                        "routers, rounded up"),
    WF_PARAM_END,
};

/* One of the sets X and X'. */
struct generators {
    uint32_t *element; /* [n], ascending */
    uint32_t *index;   /* [q] index in element[]; WF_TOPO_NO_PORT if not in the set */
};

struct slimfly {
    struct wf_topo_routers net;
    struct wf_topo_field field;
    uint32_t n_generators;
    struct generators set[2]; /* X and X' */
};

static const struct slimfly *to_slimfly(const struct wf_topo_routers *net)
{
    return (const struct slimfly *)net;
}

/* A router (half, column, row): (0, x, y) or (1, m, c). */
struct place {
    uint32_t half, column, row;
};

static struct place place_of(const struct slimfly *fly, uint32_t router)
{
    uint32_t q = fly->field.q;

    return (struct place){router / (q * q), router / q % q, router % q};
}

static uint32_t router_at(const struct slimfly *fly, uint32_t half, uint32_t column,
                          uint32_t row)
{
    uint32_t q = fly->field.q;

    return (half * q + column) * q + row;
}

static bool is_in(const struct generators *set, uint32_t element)
{
    return set->index[element] != WF_TOPO_NO_PORT;
}

/* The row of the router in `column` of the other half to which a router is joined; there is
 * exactly one. */
static uint32_t row_across(const struct slimfly *fly, struct place at, uint32_t column)
{
    uint32_t product = wf_topo_field_mul(&fly->field, at.column, column);

    return at.half == 0 ? wf_topo_field_sub(&fly->field, at.row, product)
                        : wf_topo_field_add(&fly->field, product, at.row);
}

/* The ports within the column come first, then one port to each column of the other half. */
static uint32_t slimfly_neighbor(const struct wf_topo_routers *net, uint32_t router,
                                 uint32_t port)
{
    const struct slimfly *fly = to_slimfly(net);
    struct place at = place_of(fly, router);

    if (port < fly->n_generators) {
        uint32_t step = fly->set[at.half].element[port];
        return router_at(fly, at.half, at.column, wf_topo_field_add(&fly->field, at.row, step));
    }
    uint32_t column = port - fly->n_generators;
    return router_at(fly, 1 - at.half, column, row_across(fly, at, column));
}

/* Links within a column are short, links to the other half are long. */
static uint32_t slimfly_link_class(const struct wf_topo_routers *net, uint32_t router,
                                   uint32_t port)
{
    return port < to_slimfly(net)->n_generators ? WF_TOPO_CLASS_LOCAL : WF_TOPO_CLASS_GLOBAL;
}

/* The step that remains to reach the row of `to`: from the row to which `from` is joined in
 * the column of `to`, or from the row of `from` if both are in one column. Not for two
 * columns of one half. */
static uint32_t step_between(const struct slimfly *fly, struct place from, struct place to)
{
    uint32_t row = from.half == to.half ? from.row : row_across(fly, from, to.column);

    return wf_topo_field_sub(&fly->field, to.row, row);
}

static uint32_t slimfly_distance(const struct wf_topo_routers *net, uint32_t from, uint32_t to)
{
    const struct slimfly *fly = to_slimfly(net);
    struct place a = place_of(fly, from), b = place_of(fly, to);

    if (from == to) {
        return 0;
    }
    if (a.half != b.half) {
        return step_between(fly, a, b) == 0 ? 1 : 2;
    }
    return a.column == b.column && is_in(&fly->set[a.half], step_between(fly, a, b)) ? 1 : 2;
}

/* There is one path to another column of the same half. It leads through the one column of
 * the other half that has a neighbour of both: y - m x = y' - m x', or m x + c = m' x + c'. */
static uint32_t shared_column(const struct slimfly *fly, struct place a, struct place b)
{
    const struct wf_topo_field *field = &fly->field;
    uint32_t rows = wf_topo_field_sub(field, a.row, b.row);
    uint32_t columns = wf_topo_field_sub(field, a.column, b.column);
    uint32_t slope = wf_topo_field_div(field, rows, columns);

    return a.half == 0 ? slope : field->minus[slope];
}

/* Within a column, the step is one generator or the sum of two. */
static uint32_t ports_in_column(const struct slimfly *fly, uint32_t half, uint32_t step,
                                uint32_t *ports)
{
    const struct generators *set = &fly->set[half];
    uint32_t n = 0;

    if (is_in(set, step)) {
        ports[0] = set->index[step];
        return 1;
    }
    for (uint32_t i = 0; i < fly->n_generators; i++) {
        if (is_in(set, wf_topo_field_sub(&fly->field, step, set->element[i]))) {
            ports[n++] = i;
        }
    }
    return n;
}

/* To the other half there are three kinds of path: directly across; first the step in this
 * column, if it is a generator here; or first across and then the step, if it is a generator
 * there. With y - (m x + c) = s the step is s or -s in either column, and the sets have both
 * signs. */
static uint32_t ports_across(const struct slimfly *fly, struct place a, struct place b,
                             uint32_t *ports)
{
    uint32_t step = step_between(fly, a, b), n = 0;

    if (is_in(&fly->set[a.half], step)) {
        ports[n++] = fly->set[a.half].index[step];
    }
    if (step == 0 || is_in(&fly->set[b.half], step)) {
        ports[n++] = fly->n_generators + b.column;
    }
    return n;
}

static uint32_t slimfly_minimal_ports(const struct wf_topo_routers *net, uint32_t from,
                                      uint32_t to, uint32_t *ports)
{
    const struct slimfly *fly = to_slimfly(net);
    struct place a = place_of(fly, from), b = place_of(fly, to);

    if (a.half != b.half) {
        return ports_across(fly, a, b, ports);
    }
    if (a.column == b.column) {
        return ports_in_column(fly, a.half, step_between(fly, a, b), ports);
    }
    ports[0] = fly->n_generators + shared_column(fly, a, b);
    return 1;
}

/* The first generator, in an order that begins at the one chosen by `spread`, of a path of
 * two steps in a column. */
static uint32_t pick_in_column(const struct slimfly *fly, uint32_t half, uint32_t step,
                               uint32_t spread)
{
    const struct generators *set = &fly->set[half];
    uint32_t i = spread % fly->n_generators;

    if (is_in(set, step)) {
        return set->index[step];
    }
    while (!is_in(set, wf_topo_field_sub(&fly->field, step, set->element[i]))) {
        i = i + 1 < fly->n_generators ? i + 1 : 0;
    }
    return i;
}

static uint32_t slimfly_next_port(const struct wf_topo_routers *net, uint32_t from, uint32_t to,
                                  uint32_t spread)
{
    const struct slimfly *fly = to_slimfly(net);
    struct place a = place_of(fly, from), b = place_of(fly, to);
    uint32_t ports[2] = {0};

    if (a.half == b.half && a.column == b.column) {
        return pick_in_column(fly, a.half, step_between(fly, a, b), spread);
    }
    uint32_t n = slimfly_minimal_ports(net, from, to, ports);
    return ports[n > 1 ? spread % n : 0];
}

/* All routers have the same number of neighbours, and all other routers are two hops away. */
static void slimfly_histogram(const struct wf_topo_routers *net, uint64_t *pairs)
{
    uint64_t routers = net->n_routers;

    pairs[1] += routers * net->degree;
    pairs[2] += routers * (routers - 1 - net->degree);
}

static const struct wf_topo_routers_ops router_ops = {
    .neighbor = slimfly_neighbor,
    .distance = slimfly_distance,
    .next_port = slimfly_next_port,
    .minimal_ports = slimfly_minimal_ports,
    .link_class = slimfly_link_class,
    .histogram = slimfly_histogram,
};

/* The nearest q in one direction for which a Slim Fly exists; 0 if there is none. */
static uint32_t nearest_valid(uint64_t q, int direction)
{
    for (uint64_t near = q; near > 2; near = direction > 0 ? near + 1 : near - 1) {
        if (wf_topo_field_exists((uint32_t)near)) {
            return (uint32_t)near;
        }
    }
    return 0;
}

/* Every prime power except 2 is 4w - 1, 4w or 4w + 1. */
static enum wf_status check_q(uint64_t q, struct wf_err *err)
{
    if (wf_topo_field_exists((uint32_t)q)) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "slimfly: q=%" PRIu64 " is neither a prime nor a power of one; "
                      "try q=%" PRIu32 " or q=%" PRIu32,
                      q, nearest_valid(q, -1), nearest_valid(q, 1));
}

/* Fills a set with the powers of x whose exponents are first, first + 2, ... For q = 4w - 1
 * it adds their negatives, since the set would not be symmetric without them. */
static void fill_set(struct slimfly *fly, struct generators *set, uint32_t first)
{
    const struct wf_topo_field *field = &fly->field;
    bool negate = field->q % 4 == 3;
    uint32_t n_powers = negate ? fly->n_generators / 2 : fly->n_generators, n = 0;

    set->element = wf_xcalloc(fly->n_generators, sizeof(*set->element));
    set->index = wf_xmalloc(field->q * sizeof(*set->index));
    for (uint32_t e = 0; e < field->q; e++) {
        set->index[e] = WF_TOPO_NO_PORT;
    }
    for (uint32_t i = 0; i < n_powers; i++) {
        uint32_t element = field->powers[first + 2 * i];
        set->index[element] = 0;
        if (negate) {
            set->index[field->minus[element]] = 0;
        }
    }
    for (uint32_t e = 0; e < field->q; e++) {
        if (set->index[e] != WF_TOPO_NO_PORT) {
            set->index[e] = n;
            set->element[n++] = e;
        }
    }
}

static enum wf_status slimfly_create(const void *params, struct wf_topo **out,
                                     struct wf_err *err)
{
    const struct params *given = params;
    struct wf_topo_routers net;
    uint64_t q = given->q;
    /* (q - delta) / 2: rounded up for delta = -1, down for 1. */
    uint64_t generators = q % 4 == 1 ? (q - 1) / 2 : (q + 1) / 2;
    uint64_t degree = q + generators;

    uint64_t nodes = given->p != 0 ? given->p : (degree + 1) / 2;

    WF_TRY(check_q(q, err));
    WF_TRY(wf_topo_routers_init(&net, &wf_topo_slimfly_ops, &router_ops,
                                (struct wf_topo_routers_size){2 * q * q, nodes, degree}, err));

    struct slimfly *fly = wf_xcalloc(1, sizeof(*fly));
    fly->net = net;
    fly->net.diameter = 2;
    fly->net.group = (uint32_t)q; /* a column */
    fly->net.topo.n_links += 2 * q * q * degree / 2;
    fly->n_generators = (uint32_t)generators;
    wf_topo_field_init(&fly->field, (uint32_t)q);
    fill_set(fly, &fly->set[0], 0);
    fill_set(fly, &fly->set[1], 1);
    *out = &fly->net.topo;
    return WF_OK;
}

static void slimfly_destroy(struct wf_topo *topo)
{
    struct slimfly *fly = (struct slimfly *)topo;

    for (int half = 0; half < 2; half++) {
        free(fly->set[half].element);
        free(fly->set[half].index);
    }
    wf_topo_field_release(&fly->field);
    free(fly);
}

static const char *const examples[] = {
    "slimfly:5",     "slimfly:3",     "slimfly:4",     "slimfly:q=5,p=1",
    "slimfly:7,p=1", "slimfly:8,p=1", "slimfly:3,p=7", NULL,
};

const struct wf_topo_ops wf_topo_slimfly_ops = {
    .name = "slimfly",
    .args = "<q>[,p=<nodes per router>]",
    .summary = "2 q^2 routers, no two of them more than two hops apart (q a prime power)",
    .shape = WF_TOPO_SHAPE_GROUPS,
    .vc_class = WF_TOPO_VC_ROUTERS,
    .usual_routing = "ugal_l",
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = slimfly_create,
    .destroy = slimfly_destroy,
    .coords = wf_topo_routers_coords,
    WF_TOPO_ROUTERS_OPS,
};
