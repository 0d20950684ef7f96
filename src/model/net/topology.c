/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/topology.h"

#include "base/mem.h"
#include "model/topo/damaged.h"
#include "model/topo/nested.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum wf_status wf_net_topology_check(const char *model, const struct wf_net_env *env,
                                     struct wf_err *err)
{
    if (env->topo == NULL) {
        return wf_err_set(err, WF_EUSAGE,
                          "network model '%s' needs a topology, as in --topo torus:8x8x8",
                          model);
    }
    const struct wf_net_ends ends = wf_net_ends_of(env);
    if (ends.nics > 1 && ends.after + ends.gaps > env->topo->n_nodes) {
        return wf_err_set(err, WF_EINVAL,
                          "%u nodes with %u interfaces each, in groups of %u, need %u nodes of "
                          "the topology, but the %s has %u; take a larger topology or fewer "
                          "interfaces (node.nics)",
                          env->n_nodes, ends.nics, ends.group, ends.after + ends.gaps,
                          env->topo->ops->name, env->topo->n_nodes);
    }
    if (env->n_nodes > env->topo->n_nodes) {
        return wf_err_set(err, WF_EINVAL, "%u nodes do not fit on a %s of %u", env->n_nodes,
                          env->topo->ops->name, env->topo->n_nodes);
    }
    return WF_OK;
}

enum wf_status wf_net_topology_break(const struct wf_topo *whole, const char *fail,
                                     const struct wf_topo **topo, struct wf_topo **damaged,
                                     struct wf_err *err)
{
    *damaged = NULL;
    *topo = whole;
    if (fail[0] == '\0') {
        return WF_OK;
    }
    enum wf_status status = wf_topo_damaged_create(whole, fail, damaged, err);
    if (status != WF_OK) {
        wf_err_prefix(err, "net.fail: ");
        return status;
    }
    *topo = *damaged;
    return WF_OK;
}

static enum wf_status check_list(const char *name, const struct wf_list *list,
                                 uint32_t n_levels, struct wf_err *err)
{
    if (list->n == 1 || list->n == n_levels) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "net.%s: %zu values for a network of %" PRIu32
                      " level%s; expected one, or one per level, outermost first",
                      name, list->n, n_levels, n_levels == 1 ? "" : "s");
}

enum wf_status wf_net_levels_check(const char *model, const struct wf_net_env *env,
                                   const struct wf_list *link_latency,
                                   const struct wf_list *bandwidth, struct wf_err *err)
{
    WF_TRY(wf_net_topology_check(model, env, err));
    WF_TRY(check_list("link_latency", link_latency, wf_topo_n_levels(env->topo), err));
    return check_list("bandwidth", bandwidth, wf_topo_n_levels(env->topo), err);
}

uint32_t wf_net_ports_max(const struct wf_topo *topo, uint32_t first, uint32_t end)
{
    uint32_t most = 0;

    if (topo->ops->first_link == NULL) {
        return topo->n_ports;
    }
    for (uint32_t v = first; v < end; v++) {
        uint32_t n = wf_topo_ports(topo, v);
        most = n > most ? n : most;
    }
    return most;
}

/* ---- the far ends of links ---- */

void wf_net_inward_fini(struct wf_net_inward *in)
{
    free(in->first);
    free(in->link);
    free(in->from);
}

void wf_net_inward_init(struct wf_net_inward *in, const struct wf_topo *topo)
{
    uint32_t n = topo->n_vertices, n_links = wf_topo_first_link(topo, n);
    uint32_t *end = wf_xcalloc((size_t)n + 2, sizeof(*end));

    in->first = end;
    in->link = wf_xcalloc((size_t)n_links + 1, sizeof(*in->link));
    in->from = wf_xcalloc((size_t)n_links + 1, sizeof(*in->from));
    for (uint32_t v = 0; v < n; v++) {
        uint32_t n_ports = wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t to = topo->ops->neighbor(topo, v, port);
            if (to != WF_TOPO_NO_VERTEX) {
                end[to + 2]++; /* two places ahead: filling moves each back by one */
            }
        }
    }
    for (uint32_t v = 0; v < n; v++) {
        end[v + 2] += end[v + 1];
    }
    for (uint32_t v = 0; v < n; v++) {
        uint32_t link = wf_topo_first_link(topo, v), n_ports = wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t to = topo->ops->neighbor(topo, v, port);
            if (to != WF_TOPO_NO_VERTEX) {
                in->from[end[to + 1]] = v;
                in->link[end[to + 1]++] = link + port;
            }
        }
    }
}

uint16_t *wf_net_reverse_ports(const struct wf_topo *topo)
{
    uint32_t n = topo->n_vertices, n_links = wf_topo_first_link(topo, n);
    uint16_t *reverse = wf_xmalloc(((size_t)n_links + 1) * sizeof(*reverse));
    uint16_t *port_to = wf_xmalloc(((size_t)n + 1) * sizeof(*port_to)); /* by neighbour */
    struct wf_net_inward in;

    wf_net_inward_init(&in, topo);
    memset(reverse, 0xff, ((size_t)n_links + 1) * sizeof(*reverse));
    memset(port_to, 0xff, ((size_t)n + 1) * sizeof(*port_to));
    for (uint32_t v = 0; v < n; v++) {
        uint32_t n_ports = wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports && port < WF_NET_NO_PORT; port++) {
            uint32_t to = topo->ops->neighbor(topo, v, port);
            port_to[to != WF_TOPO_NO_VERTEX ? to : n] = (uint16_t)port;
        }
        for (uint32_t i = in.first[v]; i < in.first[v + 1]; i++) {
            reverse[in.link[i]] = port_to[in.from[i]];
        }
        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t to = topo->ops->neighbor(topo, v, port);
            port_to[to != WF_TOPO_NO_VERTEX ? to : n] = WF_NET_NO_PORT;
        }
    }
    free(port_to);
    wf_net_inward_fini(&in);
    return reverse;
}
