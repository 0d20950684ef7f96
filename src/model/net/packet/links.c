/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/packet/links.h"

#include "base/mem.h"
#include "model/net/topology.h"
#include "model/topo/classes.h"
#include "model/topo/nested.h"

#include <stdlib.h>
#include <string.h>

/* A whole number of picoseconds per byte saves a division per packet. */
static uint64_t ps_per_byte(uint64_t rate, uint64_t full_bytes)
{
    int64_t one = wf_transfer_ps(1, rate), many = wf_transfer_ps(1000000, rate);

    return many == one * 1000000 && (uint64_t)one < INT64_MAX / (full_bytes + 1) ? (uint64_t)one
                                                                                 : 0;
}

static struct wf_packet_link_kind make_kind(const struct wf_packet_links *links,
                                            const struct wf_net_link *link)
{
    int64_t full_ps = wf_transfer_ps(links->full_bytes, link->bandwidth);

    return (struct wf_packet_link_kind){
        .latency = link->latency,
        .delay = link->delay,
        .rate = link->bandwidth,
        .slots = link->buffer / links->full_bytes,
        .full_ps = full_ps,
        .burst_ps = links->burst > 0 ? wf_transfer_ps(links->burst, link->bandwidth) : 0,
        .ps_per_byte = ps_per_byte(link->bandwidth, links->full_bytes),
        .per_full = full_ps <= UINT32_MAX ? wf_reciprocal_of((uint32_t)full_ps) : 0,
    };
}

static uint32_t add_kind(struct wf_packet_links *links, const struct wf_net_link *link)
{
    links->kinds = wf_xrealloc(links->kinds, (size_t)links->n_kinds + 1, sizeof(*links->kinds));
    links->kinds[links->n_kinds] = make_kind(links, link);
    return links->n_kinds++;
}

uint32_t wf_packet_links_add_kind(struct wf_packet_links *links, uint64_t rate)
{
    return add_kind(links, &(struct wf_net_link){.bandwidth = rate, .buffer = UINT64_MAX});
}

static bool is_kind(const struct wf_packet_links *links, uint32_t number,
                    const struct wf_net_link *link)
{
    const struct wf_packet_link_kind *kind = &links->kinds[number];

    return kind->latency == link->latency && kind->delay == link->delay &&
           kind->rate == link->bandwidth && kind->slots == link->buffer / links->full_bytes;
}

/* The number of the kind with these properties; a new kind is added. WF_PACKET_LINK_KINDS_MAX if
 * there are too many. */
static uint32_t find_kind(struct wf_packet_links *links, const struct wf_net_link *link)
{
    for (uint32_t i = 0; i < links->n_kinds; i++) {
        if (is_kind(links, i, link)) {
            return i;
        }
    }
    return links->n_kinds < WF_PACKET_LINK_KINDS_MAX - 2 ? add_kind(links, link)
                                                         : WF_PACKET_LINK_KINDS_MAX;
}

static bool is_uniform(const struct wf_net_links *links)
{
    const struct wf_net_link first = wf_net_links_of_class(links, 0, 0);

    for (uint32_t i = 0; i < links->n_levels; i++) {
        const struct wf_net_link here = wf_net_links_of_class(links, i, 0);
        if (!wf_net_links_are_equal(links, i) || !wf_net_link_is_same(&first, &here)) {
            return false;
        }
    }
    return true;
}

/* The fastest class of links of nodes in the innermost level. Properties of single links do not
 * count. */
static struct wf_net_link find_own(const struct wf_net_links *links)
{
    uint32_t innermost = links->n_levels - 1;
    const struct wf_topo *topo = wf_topo_level(links->topo, innermost);
    struct wf_net_link own = {.bandwidth = 0};

    for (uint32_t node = 0; links->classes != NULL && node < topo->n_nodes; node++) {
        uint32_t n_ports = wf_topo_ports(topo, node);
        for (uint32_t port = 0; port < n_ports; port++) {
            struct wf_net_link link =
                wf_net_links_of_class(links, innermost, wf_topo_link_class(topo, node, port));
            own = link.bandwidth > own.bandwidth ? link : own;
        }
    }
    return own.bandwidth > 0 ? own : links->levels[innermost];
}

static enum wf_status find_kinds(struct wf_packet_links *links,
                                 const struct wf_packet_links_config *config,
                                 struct wf_err *err)
{
    const struct wf_topo *topo = config->topo;
    const struct wf_net_link own = find_own(config->links);

    links->own = find_kind(links, &own);
    if (is_uniform(config->links)) {
        return WF_OK;
    }
    links->kind_of = wf_xcalloc(wf_topo_first_link(topo, topo->n_vertices), sizeof(uint16_t));
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t n_ports = wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            const struct wf_net_link link = wf_net_links_at(config->links, topo, v, port);
            uint32_t kind = find_kind(links, &link);

            if (kind == WF_PACKET_LINK_KINDS_MAX) {
                return wf_err_set(
                    err, WF_EINVAL,
                    "the links of the topology have more than %d different latencies and "
                    "bandwidths",
                    WF_PACKET_LINK_KINDS_MAX - 2);
            }
            links->kind_of[wf_topo_first_link(topo, v) + port] = (uint16_t)kind;
        }
    }
    return WF_OK;
}

static void find_ends(struct wf_packet_links *links, const struct wf_topo *topo)
{
    uint32_t n_links = wf_topo_first_link(topo, topo->n_vertices), link = 0;

    links->to = wf_xcalloc((size_t)n_links + 1, sizeof(*links->to));
    if (topo->ops->first_link != NULL) {
        links->first = wf_xcalloc((size_t)topo->n_vertices + 1, sizeof(*links->first));
    }
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t n_ports = wf_topo_ports(topo, v);
        if (links->first != NULL) {
            links->first[v] = link;
        }
        for (uint32_t port = 0; port < n_ports; port++) {
            links->to[link++] = topo->ops->neighbor(topo, v, port);
        }
    }
}

/* Nodes of an indirect network are not routers, except the node that is the gate to an
 * enclosing network. */
static void find_plain(struct wf_packet_links *links)
{
    const struct wf_topo *topo = links->topo;
    uint32_t n_levels = wf_topo_n_levels(topo);
    const struct wf_topo *inner = wf_topo_level(topo, n_levels - 1);

    if (wf_topo_is_direct(inner)) {
        return;
    }
    links->plain = wf_xcalloc((size_t)topo->n_vertices / 64 + 1, sizeof(*links->plain));
    for (uint32_t node = 0; node < topo->n_nodes; node++) {
        if (n_levels == 1 || node % inner->n_nodes != inner->gate) {
            links->plain[node / 64] |= UINT64_C(1) << (node % 64);
        }
    }
}

enum wf_status wf_packet_links_init(struct wf_packet_links *links,
                                    const struct wf_packet_links_config *config,
                                    struct wf_err *err)
{
    *links = (struct wf_packet_links){
        .topo = config->topo,
        .full_bytes = config->full_bytes,
        .burst = config->burst,
    };

    enum wf_status status = find_kinds(links, config, err);
    if (status != WF_OK) {
        wf_packet_links_fini(links);
        return status;
    }
    find_ends(links, config->topo);
    links->in_port = wf_net_reverse_ports(config->topo);
    find_plain(links);
    return WF_OK;
}

void wf_packet_links_fini(struct wf_packet_links *links)
{
    free(links->kinds);
    free(links->kind_of);
    free(links->first);
    free(links->to);
    free(links->in_port);
    free(links->plain);
    memset(links, 0, sizeof(*links));
}

int64_t wf_packet_links_least_delay(const struct wf_packet_links *links)
{
    const struct wf_topo *topo = links->topo;
    int64_t least = WF_TIME_MAX;

    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t link = wf_packet_links_number(links, v, 0), n_ports = wf_topo_ports(topo, v);

        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t kind = wf_packet_links_kind(links, link + port);
            int64_t sum = wf_packet_links_delay(links, v, kind) + links->kinds[kind].latency;
            least = sum < least ? sum : least;
        }
    }
    return least;
}
