/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Routing policies: by which port, and on which virtual channel, a packet leaves a router. A
 * policy asks the topology (distances, minimal ports) and, if it is adaptive, how long the
 * queues are. It schedules no events, and its choices depend on the query and the packet's
 * state alone.
 *
 * To add a policy: one .c file with a const struct wf_route_ops, one line in
 * model/net/route/policies.def. The conformance test finds it there and checks that routes arrive,
 * are no longer than promised, and that their virtual channels cannot deadlock.
 */

#include "base/registry.h"
#include "model/net/vc/vc.h"

/* Which packets take the same route, if the route depends on a hash (net.ecmp). */
enum wf_route_flow {
    WF_ROUTE_FLOW_PAIR, /* all packets between two nodes */
    WF_ROUTE_FLOW_MESSAGE,
    WF_ROUTE_FLOW_PACKET,
};

extern const char *const wf_route_flow_names[];

/* A packet's record of its route; zeroed when it is injected. Travels in events. */
struct wf_route_state {
    uint32_t via; /* a node to go to first, + 1; 0 for none */
    struct wf_vc_state vcs;
};

_Static_assert(sizeof(struct wf_route_state) == 8, "no padding");

/* What a policy may look at. */
struct wf_route_query {
    const struct wf_topo *topo;
    const struct wf_route *route;
    uint32_t at;      /* the vertex where the packet is */
    uint32_t dst;     /* its destination node, which is not `at` */
    uint32_t in_port; /* input port at `at`; WF_TOPO_NO_PORT: the packet is injected here */
    uint64_t flow;    /* the same for all packets that must take one route: those between two
                       * nodes, those of a message, or a number for each packet (net.ecmp) */
    /* Bytes that wait for a port of `at`. For policies with asks_far also of a neighbour,
     * according to its last report. */
    uint64_t (*queue)(const struct wf_route_query *query, uint32_t vertex, uint32_t port);
    uint64_t (*random)(const struct wf_route_query *query);
    void *arg;   /* for queue() and random() */
    bool *asked; /* they set it, to tell whether the policy had a choice; may be null */
};

/* Members marked `may be null` have a default; all others are required. */
struct wf_route_ops {
    const char *name;    /* "minimal" */
    const char *summary; /* one line, for --help */
    /* Every packet of a flow takes the same route, whatever else happens: a message is routed
     * as a whole. */
    bool is_oblivious;
    bool is_by_flow;       /* oblivious, and the route depends on its ends and the flow alone */
    bool follows_topology; /* the port is always next_port() of the topology */
    bool asks_queues;      /* uses the queues of the router where the packet is */
    bool asks_far;         /* and the queues of its neighbours */
    bool is_free;          /* chooses among the minimal ports */
    enum wf_vc_detour detour;

    /* Checks that the policy works on the topology of a route whose channels are planned;
     * else fails with WF_EINVAL and a reason. May be null: it works on all. */
    enum wf_status (*check)(const struct wf_route *route, struct wf_err *err);
    /* Creates the route instead of wf_route_create(). May be null. */
    enum wf_status (*create)(const struct wf_topo *topo, const char *file,
                             struct wf_route **out, struct wf_err *err);
    /* Releases what create() allocated besides struct wf_route. May be null: nothing. */
    void (*release)(struct wf_route *route);

    /* The port by which the packet leaves; changes *state for the next router. */
    uint32_t (*next)(const struct wf_route_query *query, struct wf_route_state *state);
};

/* A policy on a topology. A policy with more data embeds this as the first member of its own
 * struct. */
struct wf_route {
    const struct wf_route_ops *ops;
    struct wf_vc_plan vcs;
    uint64_t threshold; /* of wf_route_detour_prefers_direct(); zero after creation */
};

#define WF_ROUTE_POLICY(name) extern const struct wf_route_ops wf_route_##name##_ops;
#include "model/net/route/policies.def"
extern struct wf_registry wf_route_registry; /* for plug-ins */

/* The registered policies in a fixed order, null-terminated. */
const struct wf_route_ops *const *wf_route_table(void);

/* The name of the policy that machines with this topology use: in a hierarchy the most adaptive
 * one of its levels. */
const char *wf_route_usual(const struct wf_topo *topo);

/* The policy called `name`. An unknown name is WF_EUSAGE and proposes the nearest known one. */
enum wf_status wf_route_find(const char *name, const struct wf_route_ops **out,
                             struct wf_err *err);
/* The same, where `usual` is a name, too: that of the topology's usual policy. */
enum wf_status wf_route_find_on(const struct wf_topo *topo, const char *name,
                                const struct wf_route_ops **out, struct wf_err *err);

/* Creates a policy on a topology, which must outlive it. WF_EINVAL if the policy does not
 * work there. `file` is for policies that read one, else "". On success the caller owns
 * *out. */
enum wf_status wf_route_create(const struct wf_route_ops *ops, const struct wf_topo *topo,
                               const char *file, struct wf_route **out, struct wf_err *err);
/* The same for a network with at most `n_vcs` virtual channels, or with WF_VC_UNLIMITED
 * ones. Routes that need more take a
 * tree (model/net/vc/vc.h) where that is possible; else the route has more, and the caller refuses
 * it. */
enum wf_status wf_route_create_within(const struct wf_route_ops *ops,
                                      const struct wf_topo *topo, const char *file,
                                      uint32_t n_vcs, struct wf_route **out,
                                      struct wf_err *err);
void wf_route_free(struct wf_route *route); /* null is allowed */
