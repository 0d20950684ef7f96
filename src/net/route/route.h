/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_ROUTE_ROUTE_H
#define WF_NET_ROUTE_ROUTE_H

/*
 * Routing policies: by which port, and on which virtual channel, a packet leaves a router. A
 * policy knows the topology's answers (distances, minimal ports) and, if it is adaptive, how
 * long the queues are; it knows nothing of events, and its choices depend on nothing but what
 * it is asked with.
 *
 * To add a policy: one .c file with a const struct wf_route_ops, one line in
 * net/route/policies.def. The conformance test then checks that routes arrive, do not take
 * longer than promised, and their virtual channels depend on each other without a cycle.
 */

#include "topo/topo.h"

enum { WF_ROUTE_VCS_MAX = 16 };

/* What a packet remembers of its way; zeroed when it is injected. Travels in events: no
 * padding.
 */
struct wf_route_state {
    uint32_t via;         /* a node to go to first, + 1; 0 for none */
    uint8_t vc;           /* on which it travels now */
    uint8_t hops;         /* made so far, at most 255 */
    uint8_t phase, spare; /* the policy's own */
};

_Static_assert(sizeof(struct wf_route_state) == 8, "no padding");

/* What a policy may look at. */
struct wf_route_query {
    const struct wf_topo *topo;
    const struct wf_route *route;
    uint32_t at;      /* the vertex where the packet is */
    uint32_t dst;     /* the node it is for; not `at` */
    uint32_t in_port; /* of `at`, by which it came; WF_TOPO_NO_PORT: it is injected here */
    uint64_t flow;    /* the same for all that is to take one way: between two nodes, of a
                         message, or a number for each packet and router (net.ecmp) */
    /* Bytes that wait before a port of `at`, or of a neighbour, as far as it has told, for the
     * policies that ask for that; null for policies that do not ask. */
    uint64_t (*queue)(const struct wf_route_query *query, uint32_t vertex, uint32_t port);
    uint64_t (*random)(const struct wf_route_query *query);
    void *arg; /* of the two */
};

struct wf_route;

/* Members marked `may be null` have a default; all others are required. */
struct wf_route_ops {
    const char *name;    /* "minimal" */
    const char *summary; /* one line, for --help */
    /* Whether every packet of a flow takes the same way, whatever else happens: then a message
     * is routed as a whole. */
    bool is_oblivious;
    bool is_by_flow; /* oblivious, and of a way nothing counts but its ends and the flow */
    bool asks_queues;
    bool asks_far; /* likewise, of the vertices behind the ports too */

    /* Whether the policy works on a topology, and what it needs there. Fails with WF_EINVAL and
     * says why not. `file` is for policies that read one, else "". On success the caller owns
     * *out and releases it with wf_route_free(). */
    enum wf_status (*create)(const struct wf_topo *topo, const char *file,
                             struct wf_route **out, struct wf_err *err);
    void (*destroy)(struct wf_route *route);

    /* The port by which the packet leaves; changes *state for the next router (vc, via, phase).
     */
    uint32_t (*next)(const struct wf_route_query *query, struct wf_route_state *state);
};

/* The common head of every policy; the concrete struct has it as its first member. */
struct wf_route {
    const struct wf_route_ops *ops;
    const struct wf_topo *topo; /* kept */
    uint32_t n_vcs;    /* virtual channels that it needs to be free of deadlock, >= 1; if more
                          than WF_ROUTE_VCS_MAX, only networks without limits can use it */
    uint32_t hops_max; /* of any route */
    bool is_unlimited; /* set by the user: nobody ever waits for room, channels mean nothing */
};

#define WF_ROUTE_POLICY(name) extern const struct wf_route_ops wf_route_##name##_ops;
#include "net/route/policies.def"

/* The registered policies in a fixed order, null-terminated. */
const struct wf_route_ops *const *wf_route_table(void);

/* The policy called `name`. An unknown name is WF_EUSAGE and proposes the nearest known one. */
WF_NODISCARD
enum wf_status wf_route_find(const char *name, const struct wf_route_ops **out,
                             struct wf_err *err);

void wf_route_free(struct wf_route *route); /* null is allowed */

#endif
