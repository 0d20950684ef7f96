/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The links of a topology as tables for the packet model, built once. */

#include "base/reciprocal.h"
#include "base/units.h"
#include "model/net/links.h"
#include "model/topo/topo.h"

#include <stdbool.h>

enum { WF_PACKET_LINK_KINDS_MAX = 4096 };

/* A kind of link: properties that many links share. */
struct wf_packet_link_kind {
    int64_t latency;
    int64_t delay; /* of a router before such a link */
    uint64_t rate;
    uint64_t slots;       /* with credits: packets that fit into a channel at its end */
    int64_t full_ps;      /* the time of a full packet */
    int64_t burst_ps;     /* the time of as many bytes as it passes at once; 0: none */
    uint64_t ps_per_byte; /* 0: not a whole number, or too large */
    uint64_t per_full;    /* wf_reciprocal_of(full_ps), if that has 32 bits */
};

struct wf_packet_links {
    const struct wf_topo *topo;
    struct wf_packet_link_kind *kinds;
    uint32_t n_kinds;
    uint32_t own; /* a kind with the rate of the links of nodes, the fastest if they differ */
    uint16_t *kind_of;   /* by number of the link; null: all are of kind 0 */
    uint32_t *first;     /* number of each vertex's first link; null: vertex * topo->n_ports */
    uint32_t *to;        /* vertex at the end of each link */
    uint16_t *in_port;   /* input port at that vertex; WF_PACKET_NO_PORT: none */
    uint64_t *plain;     /* one bit per vertex: it is not a router; null: all are routers */
    uint64_t full_bytes; /* size of a full packet, with its header */
    uint64_t burst;      /* bytes that a link passes at once; 0: none */
};

struct wf_packet_links_config {
    const struct wf_topo *topo;       /* perhaps damaged */
    const struct wf_net_links *links; /* their properties in the whole network */
    uint64_t full_bytes;
    uint64_t burst;
};

/* On failure (WF_EINVAL: too many different links) nothing is left to release. */
enum wf_status wf_packet_links_init(struct wf_packet_links *links,
                                    const struct wf_packet_links_config *config,
                                    struct wf_err *err);
void wf_packet_links_fini(struct wf_packet_links *links);

/* Adds a kind for an interface with this rate; returns its number. */
uint32_t wf_packet_links_add_kind(struct wf_packet_links *links, uint64_t rate);

/* The least time from a head's arrival at a vertex to its arrival at the next one. */
int64_t wf_packet_links_least_delay(const struct wf_packet_links *links);

/* The time of a packet, at most WF_TIME_MAX. A packet without bytes counts as one byte. */
static inline int64_t wf_packet_link_ps(const struct wf_packet_link_kind *kind, uint64_t bytes)
{
    bytes = bytes == 0 ? 1 : bytes;
    return kind->ps_per_byte != 0 ? (int64_t)(bytes * kind->ps_per_byte)
                                  : wf_transfer_ps(bytes, kind->rate);
}

static inline uint32_t wf_packet_links_number(const struct wf_packet_links *links,
                                              uint32_t vertex, uint32_t port)
{
    return (links->first != NULL ? links->first[vertex] : vertex * links->topo->n_ports) + port;
}

static inline uint32_t wf_packet_links_kind(const struct wf_packet_links *links, uint32_t link)
{
    return links->kind_of != NULL ? links->kind_of[link] : 0;
}

static inline bool wf_packet_links_is_router(const struct wf_packet_links *links,
                                             uint32_t vertex)
{
    return links->plain == NULL || (links->plain[vertex / 64] >> (vertex % 64) & 1) == 0;
}

/* The delay of the router before a kind of link; 0 if the vertex is not a router. */
static inline int64_t wf_packet_links_delay(const struct wf_packet_links *links,
                                            uint32_t vertex, uint32_t kind)
{
    return wf_packet_links_is_router(links, vertex) ? links->kinds[kind].delay : 0;
}
