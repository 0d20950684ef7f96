/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Code shared by models that use a topology. */

#include "model/net/net.h"

/* WF_EUSAGE without a topology, WF_EINVAL if it has fewer nodes than the run needs. `model` is
 * the name for messages. */
enum wf_status wf_net_topology_check(const char *model, const struct wf_net_env *env,
                                     struct wf_err *err);

/* Removes the parts that `fail` names (model/topo/damaged.h), if it names any. Sets *topo to the
 * network that remains, and *damaged to what the caller has to free: that network, or null if
 * nothing failed and *topo is `whole`. */
enum wf_status wf_net_topology_break(const struct wf_topo *whole, const char *fail,
                                     const struct wf_topo **topo, struct wf_topo **damaged,
                                     struct wf_err *err);

/* wf_net_topology_check() for models with a latency and a bandwidth per level of a hierarchy:
 * also checks that each list has one value, or one per level. */
enum wf_status wf_net_levels_check(const char *model, const struct wf_net_env *env,
                                   const struct wf_list *link_latency,
                                   const struct wf_list *bandwidth, struct wf_err *err);

/* The value of a level in a list that wf_net_levels_check() accepted. */
static inline uint64_t wf_net_level_value(const struct wf_list *list, uint32_t level)
{
    return list->items[list->n == 1 ? 0 : level];
}

/* The most ports of any vertex from `first` to before `end`. */
uint32_t wf_net_ports_max(const struct wf_topo *topo, uint32_t first, uint32_t end);

/* The links into each vertex: those of v are link[first[v]] and following, in the order of the
 * vertices that they come from. */
struct wf_net_inward {
    uint32_t *first; /* [n_vertices + 1] */
    uint32_t *link;  /* number of the link... */
    uint32_t *from;  /* ...and vertex where it begins */
};

void wf_net_inward_init(struct wf_net_inward *in, const struct wf_topo *topo);
void wf_net_inward_fini(struct wf_net_inward *in); /* all zero is allowed */

enum { WF_NET_NO_PORT = 0xffff };

/* For each directed link, by number: the port at its far end that leads back. WF_NET_NO_PORT
 * if there is no cable, no link back, or the number of the port is too large. The caller
 * frees it. */
uint16_t *wf_net_reverse_ports(const struct wf_topo *topo);
