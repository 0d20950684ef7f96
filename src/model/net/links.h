/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The properties of links, for models that use a topology: the parameter net.links sets them by
 * class of links (model/topo/classes.h), a graph file for single links, other parameters of the model
 * for all links of a level. The first of these that has a value counts.
 */

#include "model/net/net.h"

enum wf_net_link_property {
    WF_NET_LINK_LATENCY,
    WF_NET_LINK_BANDWIDTH,
    WF_NET_LINK_DELAY,
    WF_NET_LINK_BUFFER,
    WF_NET_LINK_PROPERTIES,
};

/* Properties of a link; `wf_net_link_unset` has none. */
struct wf_net_link {
    int64_t latency;    /* from one end to the other, in picoseconds; -1: unset */
    uint64_t bandwidth; /* as WF_PARAM_RATE; 0: unset */
    int64_t delay;      /* of the router before the link, in picoseconds; -1: unset */
    uint64_t buffer;    /* of a virtual channel at the end of the link, in bytes; 0: unset */
};
extern const struct wf_net_link wf_net_link_unset;
extern const char *const wf_net_links_words[]; /* for help */

/* The row of net.links for the table of a model. */
#define WF_NET_LINKS_ROW(params)                                                               \
    {                                                                                          \
        .name = "links", .type = WF_PARAM_GROUPS, .offset = offsetof(params, links),           \
        .def = "", .choices = wf_net_links_words,                                              \
        .doc = "Properties of link classes, as in global:latency=500ns,bandwidth=25GB/s; the " \
               "classes of a topology are in docs/reference/topo.md"                           \
    }

struct wf_net_links_config {
    const struct wf_net_env *env;
    const char *links; /* the value of net.links; null is "" */
    /* Why the model does not have a property: "the model has no buffers"; null: it has. */
    const char *refused[WF_NET_LINK_PROPERTIES];
    /* Values of the levels, one for all or one per level; null: unset. */
    const struct wf_list *latency, *bandwidth;
    int64_t delay;   /* of all links; -1: unset */
    uint64_t buffer; /* likewise; 0: unset */
};

struct wf_net_links {
    const struct wf_topo *topo;
    struct wf_net_link *classes; /* by number of the class; null: net.links is empty */
    struct wf_net_link *levels;  /* values of each level */
    uint32_t *first_class;       /* of each level */
    uint32_t n_levels;
    bool halves_latency, doubles_bandwidth; /* as in struct wf_net_env */
};

/* Reads net.links. WF_EINVAL, with a message that begins with the name of the value, if the
 * topology has no such class, links no such property, or the model refuses it. The caller
 * releases the result with wf_net_links_fini(). */
enum wf_status wf_net_links_init(struct wf_net_links *links,
                                 const struct wf_net_links_config *config, struct wf_err *err);
void wf_net_links_fini(struct wf_net_links *links); /* also of a zeroed struct */

/* The properties of a link of env->topo, or of the same network after damage. */
struct wf_net_link wf_net_links_at(const struct wf_net_links *links, const struct wf_topo *topo,
                                   uint32_t vertex, uint32_t port);
/* The same for the network of one level. */
struct wf_net_link wf_net_links_in_level(const struct wf_net_links *links, uint32_t level,
                                         uint32_t vertex, uint32_t port);
/* The properties of the links of a class of a level, unless a graph file has others for single
 * links; the class is numbered as in the network of the level. */
struct wf_net_link wf_net_links_of_class(const struct wf_net_links *links, uint32_t level,
                                         uint32_t number);

bool wf_net_link_is_same(const struct wf_net_link *a, const struct wf_net_link *b);

/* Whether all links of a level have the same properties. */
bool wf_net_links_are_equal(const struct wf_net_links *links, uint32_t level);

/* Whether messages pass a vertex of a level's network through a router. The nodes of an indirect
 * network have none, except a node that is the gate to an enclosing network. */
bool wf_net_links_has_router(const struct wf_net_links *links, uint32_t level, uint32_t vertex);
