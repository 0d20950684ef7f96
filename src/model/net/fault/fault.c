/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/fault/fault.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/result/doc.h"
#include "model/net/fault/items.h"
#include "model/topo/damaged.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const wf_fault_action_names[] = {"resend", "lose", NULL};

/* Tables of distances of all networks together. */
#define TABLES_MAX (UINT64_C(2) << 30)

/* A network as it is in one or more epochs. */
struct network {
    struct wf_topo *damaged; /* null: nothing has failed */
    struct wf_route *route;
};

struct epoch {
    int64_t begin;
    uint32_t network;
};

struct wf_fault_plan {
    struct wf_fault_config config;
    struct wf_fault_items items;
    struct epoch *epochs;
    uint32_t n_epochs;
    struct network *networks;
    uint32_t n_networks, networks_capacity;
    bool *ever_fails; /* by number of the directed link */
    uint32_t n_vcs;
};

bool wf_fault_has_times(const char *fail)
{
    return strchr(fail, '@') != NULL;
}

enum wf_status wf_fault_check(const char *fail, int action, int64_t resend_delay, int64_t least,
                              struct wf_err *err)
{
    char text[WF_UNITS_TEXT_MAX];

    if (!wf_fault_has_times(fail) && action != WF_FAULT_RESEND) {
        return wf_err_set(err, WF_EINVAL,
                          "net.fail_action: has no effect without failures in time, as "
                          "net.fail=link:3-4@2ms");
    }
    if (wf_fault_has_times(fail) && resend_delay < least) {
        return wf_err_set(err, WF_EINVAL,
                          "net.resend_delay: expected at least %s, the least time from one "
                          "router to another",
                          wf_format_time(least, text));
    }
    return WF_OK;
}

/* ---- Creation ---- */

static int by_time(const void *a, const void *b)
{
    const struct epoch *x = a, *y = b;

    return WF_ORDER(x->begin, y->begin);
}

/* An epoch begins at 0 and wherever something fails or is repaired. */
static void find_epochs(struct wf_fault_plan *plan)
{
    struct epoch *all = wf_xcalloc(2 * (size_t)plan->items.n + 1, sizeof(*all));
    uint32_t n = 1, n_kept = 0;

    for (uint32_t i = 0; i < plan->items.n; i++) {
        const struct wf_fault_item *item = &plan->items.at[i];
        all[n++].begin = item->from;
        if (item->until != WF_TIME_MAX) {
            all[n++].begin = item->until;
        }
    }
    WF_SORT(all, n, by_time);
    for (uint32_t i = 0; i < n; i++) {
        if (n_kept == 0 || all[i].begin != all[n_kept - 1].begin) {
            all[n_kept++] = all[i];
        }
    }
    plan->epochs = all;
    plan->n_epochs = n_kept;
}

static bool is_active(const struct wf_fault_item *item, int64_t time)
{
    return item->from <= time && time < item->until;
}

/* The failed parts at a time; returns whether there are any. */
static bool collect(const struct wf_fault_plan *plan, int64_t time,
                    struct wf_topo_damage *damage)
{
    const struct wf_topo *topo = plan->config.topo;
    bool any = false;

    memset(damage->links, 0, (size_t)wf_topo_first_link(topo, topo->n_vertices) + 1);
    memset(damage->vertices, 0, topo->n_vertices);
    for (uint32_t i = 0; i < plan->items.n; i++) {
        const struct wf_fault_item *item = &plan->items.at[i];
        if (!is_active(item, time)) {
            continue;
        }
        for (uint32_t k = 0; k < item->n_links; k++) {
            damage->links[item->links[k]] = true;
        }
        for (uint32_t k = 0; k < item->n_vertices; k++) {
            damage->vertices[item->vertices[k]] = true;
        }
        any = any || item->n_links + item->n_vertices > 0;
    }
    return any;
}

static bool is_same(const struct wf_topo *topo, const struct wf_topo_damage *damage)
{
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t n_ports = wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            if (topo->ops->neighbor(topo, v, port) !=
                wf_topo_damage_neighbor(damage, v, port)) {
                return false;
            }
        }
    }
    return true;
}

/* The number of the network with this damage, or n_networks if it is a new one. */
static uint32_t find_network(const struct wf_fault_plan *plan,
                             const struct wf_topo_damage *damage, bool any)
{
    uint32_t i = 0;

    while (i < plan->n_networks && (any != (plan->networks[i].damaged != NULL) ||
                                    (any && !is_same(plan->networks[i].damaged, damage)))) {
        i++;
    }
    return i;
}

static enum wf_status add_network(struct wf_fault_plan *plan,
                                  const struct wf_topo_damage *damage, bool any,
                                  struct wf_err *err)
{
    const struct wf_fault_config *config = &plan->config;
    uint64_t table = 2 * (uint64_t)config->topo->n_nodes * config->topo->n_vertices;

    WF_GROW(plan->networks, plan->n_networks, plan->networks_capacity);
    struct network *network = &plan->networks[plan->n_networks++];
    *network = (struct network){.damaged = NULL};
    if (plan->n_networks * table > TABLES_MAX) {
        return wf_err_set(err, WF_ELIMIT,
                          "net.fail: %" PRIu32 " different states of a network of %" PRIu32
                          " nodes need too many routing tables; use fewer times",
                          plan->n_networks, config->topo->n_nodes);
    }
    if (any) {
        network->damaged = wf_topo_damaged_create_all(damage);
    }
    WF_TRY(wf_route_create_within(config->policy, any ? network->damaged : config->topo, "",
                                  config->n_vcs, &network->route, err));
    network->route->threshold = config->threshold;
    uint32_t n_vcs = network->route->vcs.n_vcs;
    plan->n_vcs = n_vcs > plan->n_vcs ? n_vcs : plan->n_vcs;
    return WF_OK;
}

static enum wf_status build_networks(struct wf_fault_plan *plan, struct wf_topo_damage *damage,
                                     struct wf_err *err)
{
    for (uint32_t i = 0; i < plan->n_epochs; i++) {
        bool any = collect(plan, plan->epochs[i].begin, damage);

        plan->epochs[i].network = find_network(plan, damage, any);
        if (plan->epochs[i].network == plan->n_networks) {
            WF_TRY(add_network(plan, damage, any, err));
        }
    }
    return WF_OK;
}

static void mark_failing(struct wf_fault_plan *plan)
{
    const struct wf_topo *topo = plan->config.topo;

    plan->ever_fails = wf_xcalloc((size_t)wf_topo_first_link(topo, topo->n_vertices) + 1, 1);
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t first = wf_topo_first_link(topo, v), n_ports = wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            for (uint32_t i = 0; i < plan->n_networks; i++) {
                const struct wf_topo *damaged = plan->networks[i].damaged;
                plan->ever_fails[first + port] =
                    plan->ever_fails[first + port] ||
                    (damaged != NULL &&
                     damaged->ops->neighbor(damaged, v, port) == WF_TOPO_NO_VERTEX);
            }
        }
    }
}

static enum wf_status check_policy(const struct wf_route_ops *policy, struct wf_err *err)
{
    if (policy->create != NULL) {
        return wf_err_set(err, WF_EINVAL,
                          "net.fail: routing '%s' has fixed routes, which cannot avoid parts "
                          "that fail during a run; choose another policy",
                          policy->name);
    }
    return WF_OK;
}

static enum wf_status fill(struct wf_fault_plan *plan, struct wf_err *err)
{
    const struct wf_topo *topo = plan->config.topo;
    struct wf_topo_damage damage;

    WF_TRY(check_policy(plan->config.policy, err));
    WF_TRY(wf_fault_items_read(&plan->items, topo, plan->config.fail, err));
    find_epochs(plan);
    damage = (struct wf_topo_damage){
        .topo = topo,
        .links = wf_xcalloc((size_t)wf_topo_first_link(topo, topo->n_vertices) + 1, 1),
        .vertices = wf_xcalloc(topo->n_vertices, 1),
    };
    enum wf_status status = build_networks(plan, &damage, err);
    wf_topo_damage_fini(&damage);
    if (status == WF_OK) {
        mark_failing(plan);
    }
    return status;
}

enum wf_status wf_fault_plan_create(const struct wf_fault_config *config,
                                    struct wf_fault_plan **out, struct wf_err *err)
{
    struct wf_fault_plan *plan = wf_xcalloc(1, sizeof(*plan));

    plan->config = *config;
    enum wf_status status = fill(plan, err);
    if (status != WF_OK) {
        wf_fault_plan_free(plan);
        return status;
    }
    plan->config.fail = NULL; /* borrowed */
    *out = plan;
    return WF_OK;
}

void wf_fault_plan_free(struct wf_fault_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    for (uint32_t i = 0; i < plan->n_networks; i++) {
        wf_route_free(plan->networks[i].route);
        wf_topo_free(plan->networks[i].damaged);
    }
    free(plan->networks);
    free(plan->epochs);
    free(plan->ever_fails);
    wf_fault_items_fini(&plan->items);
    free(plan);
}

/* ---- Answers ---- */

uint32_t wf_fault_epoch(const struct wf_fault_plan *plan, int64_t time)
{
    uint32_t low = 0, high = plan->n_epochs;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (plan->epochs[middle].begin <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t wf_fault_n_epochs(const struct wf_fault_plan *plan)
{
    return plan->n_epochs;
}

int64_t wf_fault_epoch_begin(const struct wf_fault_plan *plan, uint32_t epoch)
{
    return plan->epochs[epoch].begin;
}

static const struct network *network_of(const struct wf_fault_plan *plan, uint32_t epoch)
{
    return &plan->networks[plan->epochs[epoch].network];
}

const struct wf_topo *wf_fault_topo(const struct wf_fault_plan *plan, uint32_t epoch)
{
    const struct network *network = network_of(plan, epoch);

    return network->damaged != NULL ? network->damaged : plan->config.topo;
}

struct wf_route *wf_fault_route(const struct wf_fault_plan *plan, uint32_t epoch)
{
    return network_of(plan, epoch)->route;
}

uint32_t wf_fault_n_vcs(const struct wf_fault_plan *plan)
{
    return plan->n_vcs;
}

int64_t wf_fault_next(const struct wf_fault_plan *plan, uint32_t vertex, uint32_t port,
                      int64_t after)
{
    if (!plan->ever_fails[wf_topo_first_link(plan->config.topo, vertex) + port]) {
        return WF_TIME_MAX;
    }
    for (uint32_t i = wf_fault_epoch(plan, after) + 1; i < plan->n_epochs; i++) {
        const struct wf_topo *topo = wf_fault_topo(plan, i);
        if (topo->ops->neighbor(topo, vertex, port) == WF_TOPO_NO_VERTEX) {
            return plan->epochs[i].begin;
        }
    }
    return WF_TIME_MAX;
}

int64_t wf_fault_retry(const struct wf_fault_plan *plan, uint32_t src, uint32_t dst,
                       int64_t first, int64_t step)
{
    for (uint32_t i = wf_fault_epoch(plan, first); i < plan->n_epochs; i++) {
        int64_t begin = plan->epochs[i].begin;
        int64_t end = i + 1 < plan->n_epochs ? plan->epochs[i + 1].begin : WF_TIME_MAX;

        if (!wf_fault_reaches(plan, i, src, dst)) {
            continue;
        }
        /* The first of the times that is not before this epoch. */
        int64_t steps = begin > first ? (begin - first - 1) / step + 1 : 0;
        int64_t time =
            steps > (WF_TIME_MAX - first) / step ? WF_TIME_MAX : first + steps * step;
        if (time < end) {
            return time;
        }
    }
    return WF_TIME_MAX;
}

/* ---- What was lost ---- */

/* Names the items that are active at a time; of a link, if `port` is one. */
static void name_items(const struct wf_fault_plan *plan, const struct wf_net_loss *loss,
                       int64_t time, char *buf, size_t size)
{
    enum { NAMED = 3 };
    uint32_t n = 0;
    size_t used = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < plan->items.n; i++) {
        const struct wf_fault_item *item = &plan->items.at[i];
        if (!is_active(item, time) ||
            (loss->port != WF_TOPO_NO_PORT &&
             !wf_fault_item_has(item, plan->config.topo, loss->vertex, loss->port))) {
            continue;
        }
        if (n++ < NAMED && used < size) {
            used += (size_t)snprintf(buf + used, size - used, "%s%s", n > 1 ? ", " : "",
                                     item->text);
        }
    }
    if (n > NAMED && used < size) {
        (void)snprintf(buf + used, size - used, " and %" PRIu32 " more", n - NAMED);
    }
}

/* Since when one node has been out of another's reach. */
static int64_t cut_off_since(const struct wf_fault_plan *plan, const struct wf_net_loss *loss)
{
    uint32_t epoch = wf_fault_epoch(plan, loss->at - 1);

    while (epoch > 0 && !wf_fault_reaches(plan, epoch - 1, loss->src, loss->dst)) {
        epoch--;
    }
    return plan->epochs[epoch].begin;
}

const char *wf_fault_text(const struct wf_fault_plan *plan, const struct wf_net_losses *losses,
                          char *buf, size_t size)
{
    const struct wf_net_loss *loss = &losses->first;
    char time[WF_UNITS_TEXT_MAX], items[3 * WF_FAULT_ITEM_MAX + 32];

    if (loss->at == 0) {
        return "";
    }
    bool is_cut_off = loss->port == WF_TOPO_NO_PORT;
    int64_t at = is_cut_off ? cut_off_since(plan, loss) : loss->at - 1;
    name_items(plan, loss, at, items, sizeof(items));
    if (is_cut_off && wf_fault_retry(plan, loss->src, loss->dst, at, 1) == WF_TIME_MAX) {
        (void)snprintf(buf, size,
                       "; node %" PRIu32 " cannot reach node %" PRIu32 " from %s on: %s",
                       loss->src, loss->dst, wf_human_time(at, time), items);
    } else {
        (void)snprintf(buf, size,
                       "; %" PRIu64 " packet%s lost, the first from node %" PRIu32
                       " to node %" PRIu32 " at %s: %s",
                       losses->n_packets, losses->n_packets == 1 ? " was" : "s were", loss->src,
                       loss->dst, wf_human_time(loss->at - 1, time), items);
    }
    return buf;
}

void wf_fault_describe(const struct wf_fault_plan *plan, const struct wf_net_losses *losses,
                       struct wf_value *result)
{
    struct wf_value *section = wf_doc_section(result, "failures");
    struct wf_value *list = wf_doc_list(section, "parts");

    for (uint32_t i = 0; i < plan->items.n; i++) {
        const struct wf_fault_item *item = &plan->items.at[i];
        struct wf_value *part = wf_doc_section(list, NULL);
        wf_doc_text(part, "part", item->text);
        wf_doc_count(part, "links", item->n_all_links);
        wf_doc_count(part, "from_ps", (uint64_t)item->from);
        if (item->until != WF_TIME_MAX) {
            wf_doc_count(part, "until_ps", (uint64_t)item->until);
        }
    }
    wf_doc_count(section, "resent_packets", losses->resent);
    wf_doc_count(section, "lost_packets", losses->n_packets);
    wf_doc_count(section, "cut_off_packets", losses->n_cut_off);
}
