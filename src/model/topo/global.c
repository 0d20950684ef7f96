/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/global.h"

#include "base/mem.h"
#include "model/topo/table.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const wf_topo_global_orders[] = {"absolute", "relative", "circulant", NULL};

/* How many groups `to` comes after `from`, counted around. */
static uint32_t offset_of(const struct wf_topo_global *global, uint32_t from, uint32_t to)
{
    return to >= from ? to - from : global->groups - (from - to);
}

static bool has_one_more(const struct wf_topo_global *global, uint32_t offset)
{
    uint32_t around = global->groups - offset;
    uint32_t apart = offset < around ? offset : around;

    return apart <= global->nearer || (global->opposite && offset == around);
}

/* How many of the offsets 1 .. last have one extra link. */
static uint32_t n_one_more(const struct wf_topo_global *global, uint32_t last)
{
    uint32_t up = last < global->nearer ? last : global->nearer;
    uint32_t unlike = global->groups - 1 - global->nearer;
    uint32_t down = last > unlike ? last - unlike : 0;

    return up + down + (global->opposite && last >= global->groups / 2 ? 1 : 0);
}

uint32_t wf_topo_global_count(const struct wf_topo_global *global, uint32_t from, uint32_t to)
{
    return global->least + (has_one_more(global, offset_of(global, from, to)) ? 1 : 0);
}

/* The number of links of the group `from` that precede its links to `to` in the order of the
 * arrangement. */
typedef uint32_t links_before(const struct wf_topo_global *global, uint32_t from, uint32_t to);

static uint32_t before_absolute(const struct wf_topo_global *global, uint32_t from, uint32_t to)
{
    uint32_t last = global->groups - 1, below = last - from;
    /* The offsets of the groups 0 .. from-1 are below+1 .. last, then follow 1, 2, ... */
    uint32_t one_more = to < from ? n_one_more(global, below + to) - n_one_more(global, below)
                                  : n_one_more(global, last) - n_one_more(global, below) +
                                        n_one_more(global, to - from - 1);

    return global->least * (to < from ? to : to - 1) + one_more;
}

static uint32_t before_relative(const struct wf_topo_global *global, uint32_t from, uint32_t to)
{
    uint32_t offset = offset_of(global, from, to);

    return global->least * (offset - 1) + n_one_more(global, offset - 1);
}

static uint32_t before_circulant(const struct wf_topo_global *global, uint32_t from,
                                 uint32_t to)
{
    uint32_t up = offset_of(global, from, to), down = global->groups - up;
    uint32_t place = up <= down ? 2 * (up - 1) : 2 * (down - 1) + 1;

    /* The groups with one extra link come first, except the opposite group, which is last. */
    return global->least * place + (place < 2 * global->nearer ? place : 2 * global->nearer);
}

static links_before *const orders[] = {
    [WF_TOPO_GLOBAL_ABSOLUTE] = before_absolute,
    [WF_TOPO_GLOBAL_RELATIVE] = before_relative,
    [WF_TOPO_GLOBAL_CIRCULANT] = before_circulant,
};

/* The router, numbered within its group, at which the first link to `to` begins. */
static uint32_t first_exit(const struct wf_topo_global *global, uint32_t from, uint32_t to)
{
    uint32_t before = orders[global->order](global, from, to);

    return global->maximal ? before / global->ports : before % global->routers;
}

uint32_t wf_topo_global_exit(const struct wf_topo_global *global, uint32_t from, uint32_t to,
                             uint32_t k)
{
    uint32_t place = (first_exit(global, from, to) + k % global->routers) % global->routers;

    return from * global->routers + place;
}

/*
 * The far end of link k between two groups. Both groups deal their links to their routers in
 * rounds of one turn per router. If equal turns met, the second round would join the same
 * routers again. So two turns meet if they have a given sum (modulo the routers), a
 * different sum in each round. The sum of the last round, which may be incomplete, makes its
 * turns meet each other in reverse. There are no more rounds than routers, so no sum occurs
 * twice. The result is the same from either group.
 */
static uint32_t arrival(const struct wf_topo_global *global, uint32_t from, uint32_t to,
                        uint32_t k)
{
    uint32_t routers = global->routers, count = wf_topo_global_count(global, from, to);
    uint32_t rounds_left = count / routers - k / routers;
    uint32_t sum = (count % routers + routers - 1 + rounds_left) % routers;

    return wf_topo_global_exit(global, to, from, sum + routers - k % routers);
}

/* Adds a far end to a router's list, which stays ascending. Pairs of groups come in
 * ascending order, so the new entry goes to the end of the list or near it. */
static void add_far(struct wf_topo_global *global, uint32_t router, uint32_t far,
                    uint32_t *n_far)
{
    uint32_t *list = global->far + (size_t)router * global->ports;
    uint32_t i = n_far[router]++;

    for (; i > 0 && list[i - 1] > far; i--) {
        list[i] = list[i - 1];
    }
    list[i] = far;
    uint32_t group = far / global->routers;
    global->led[(size_t)router * global->words + group / 64] |= UINT64_C(1) << group % 64;
}

void wf_topo_global_join(struct wf_topo_global *global)
{
    uint32_t n_routers = global->groups * global->routers;
    size_t n_ports = (size_t)n_routers * global->ports;
    uint32_t *n_far = wf_xcalloc(n_routers, sizeof(*n_far));

    global->far = wf_xmalloc(n_ports * sizeof(*global->far));
    global->words = (global->groups + 63) / 64;
    global->led = wf_xcalloc((size_t)n_routers * global->words, sizeof(*global->led));
    for (size_t i = 0; i < n_ports; i++) {
        global->far[i] = WF_TOPO_NO_VERTEX;
    }
    for (uint32_t from = 0; from < global->groups; from++) {
        for (uint32_t to = from + 1; to < global->groups; to++) {
            uint32_t count = wf_topo_global_count(global, from, to);
            for (uint32_t k = 0; k < count; k++) {
                uint32_t a = wf_topo_global_exit(global, from, to, k);
                uint32_t b = arrival(global, from, to, k);
                add_far(global, a, b, n_far);
                add_far(global, b, a, n_far);
            }
            global->n_links += count;
        }
    }
    free(n_far);
}

/* Computes how many links each pair of groups gets. */
static void share_links(struct wf_topo_global *global)
{
    uint64_t ports = (uint64_t)global->routers * global->ports;
    uint64_t others = global->groups - UINT64_C(1);
    uint64_t most = (uint64_t)global->routers * global->routers;

    if (others == 0) {
        return;
    }
    global->maximal = others == ports;
    if (ports / others >= most) {
        global->least = (uint32_t)most;
        return;
    }
    uint64_t remain = ports % others;
    global->least = (uint32_t)(ports / others);
    global->nearer = (uint32_t)(remain / 2);
    global->opposite = remain % 2 != 0 && global->groups % 2 == 0;
}

static enum wf_status too_many_ports(const char *name, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL, "%s: more than %d ports of routers to other groups", name,
                      WF_TOPO_TABLE_MAX);
}

enum wf_status wf_topo_global_plan(struct wf_topo_global *global, const char *name,
                                   struct wf_topo_global_size size,
                                   enum wf_topo_global_order order, struct wf_err *err)
{
    const uint64_t max = WF_TOPO_TABLE_MAX;

    if (size.ports > max || size.routers > max / size.ports) {
        return too_many_ports(name, err);
    }
    uint64_t joined = size.routers * size.ports + 1;
    uint64_t groups = size.groups != 0 ? size.groups : joined;
    if (groups > joined) {
        return wf_err_set(err, WF_EINVAL,
                          "%s: g=%" PRIu64 " groups, but the %" PRIu64 " links of a group to "
                          "others join at most %" PRIu64 " groups",
                          name, groups, joined - 1, joined);
    }
    if (groups * (joined - 1) > max) {
        return too_many_ports(name, err);
    }
    *global = (struct wf_topo_global){
        .groups = (uint32_t)groups,
        .routers = (uint32_t)size.routers,
        .ports = (uint32_t)size.ports,
        .order = order,
    };
    share_links(global);
    return WF_OK;
}

void wf_topo_global_release(struct wf_topo_global *global)
{
    free(global->far);
    free(global->led);
}
