/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Virtual channels for routing policies: which channel a packet takes on its next link, so that
 * packets never wait for each other in a cycle, whatever ports the policy chooses.
 *
 * One scheme serves all networks. Every link has a rank. A packet that goes on to a link of a
 * lower rank, or over a dateline, goes on to the next class of channels. Packets therefore wait
 * for channels in ascending order of class and rank only, and no cycle can arise (Dally and
 * Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE
 * Transactions on Computers 36, 1987). Ranks and datelines depend on the kind of network;
 * docs/models/routing.md lists them.
 *
 * A policy that chooses ports freely may run out of classes before a packet arrives. From there
 * on the packet takes the deterministic route, which has channels of its own (the static
 * version of W. J. Dally and H. Aoki, "Deadlock-free adaptive routing in multicomputer networks
 * using virtual channels", IEEE Transactions on Parallel and Distributed Systems 4, 1993). If
 * even that route has more classes than there are channels, the packet goes on over a spanning
 * tree, on one more channel (model/net/vc/tree.h). No channel needs another one as an escape: a
 * packet may wait for its channel as long as it takes.
 *
 * A route through a hierarchy leads out of inner networks, turns in one level and leads into
 * others. Inner levels have separate channels for packets that come in from outside.
 */

#include "model/net/vc/tree.h"
#include "model/topo/nested.h"

enum {
    WF_VC_MAX = 16,         /* channels that a packet can tell apart */
    WF_VC_UNLIMITED = 0,    /* queues are unbounded: the number of channels does not matter */
    WF_VC_STAGES = 3,       /* parts of the route in the level where it turns */
    WF_VC_PORTS_MAX = 4096, /* most ports of a vertex at which policies choose */
};

struct wf_vc_kind;

/* The channels of one level of a hierarchy. */
struct wf_vc_level {
    const struct wf_topo *topo;
    const struct wf_vc_kind *kind;
    uint32_t free;                /* classes for freely chosen minimal routes */
    uint32_t fixed;               /* channels of the deterministic route; 0: never needed */
    uint32_t start[WF_VC_STAGES]; /* first channel of each stage */
    uint32_t in;                  /* first channel of packets that come in from outside */
    uint32_t n;                   /* all channels */
    uint32_t *order;              /* an order of vertices, if ranks depend on one; else null */
    bool is_guess;                /* `fixed` was counted on a sample of the routes */
    struct wf_vc_tree *tree;      /* for routes that need more than `fixed` channels: the
                                   * last channel leads over this tree; null: there are no
                                   * such routes */
};

/* The channels of a policy on a topology. */
struct wf_vc_plan {
    const struct wf_topo *topo;
    uint32_t n_levels;
    struct wf_vc_level *levels;
    uint32_t n_vcs;    /* channels that the policy needs to be free of deadlock, at least 1;
                        * above WF_VC_MAX only networks with unbounded queues can use it */
    uint32_t hops_max; /* longest route; 0 if channels are unlimited and were not counted */
    bool is_unlimited; /* queues are unbounded, channels do not matter */
};

enum wf_vc_detour {
    WF_VC_DIRECT,      /* minimal routes: one stage */
    WF_VC_ONE_DETOUR,  /* a minimal route to a node in stages 0 and 1, which share channels,
                        * and another from there in stage 2; or one minimal route if no
                        * detour is taken */
    WF_VC_LATE_DETOUR, /* likewise, after at most one link between routers in stage 0 */
};

/* What a policy needs. */
struct wf_vc_needs {
    const char *policy; /* name, for messages */
    bool is_free;       /* chooses among the minimal ports */
    enum wf_vc_detour detour;
    uint32_t most; /* channels that there are, at most WF_VC_MAX; routes that need more take a
                    * tree if they can. Or WF_VC_UNLIMITED */
};

/* The port of a deterministic route, WF_TOPO_NO_PORT at its end. */
typedef uint32_t wf_vc_next_fn(const void *arg, uint32_t at, uint32_t dst);

/* Plans the channels of a policy on a topology, which is kept. WF_EINVAL if a vertex has too
 * many ports. The caller releases *plan with wf_vc_plan_fini(), also on failure. */
WF_NODISCARD
WF_PLUGIN_API enum wf_status wf_vc_plan_init(struct wf_vc_plan *plan,
                                             const struct wf_topo *topo,
                                             struct wf_vc_needs needs, struct wf_err *err);
/* Plans the channels for the routes that `next` gives, which have at most `hops_max` hops.
 * Takes time in proportion to vertices times nodes. */
WF_PLUGIN_API void wf_vc_plan_given(struct wf_vc_plan *plan, const struct wf_topo *topo,
                                    wf_vc_next_fn *next, const void *arg, uint32_t hops_max);
WF_PLUGIN_API void wf_vc_plan_fini(struct wf_vc_plan *plan);

/* A packet's record of its channels; zeroed when it is injected. Travels in events. */
struct wf_vc_state {
    uint8_t vc;   /* current channel */
    uint8_t hops; /* hops so far, at most 255; counted by the network, not here */
    uint8_t hop;  /* level (5 bits) and rank (3 bits) of its last hop */
    uint8_t turn; /* level where the route turns (5 bits), whether the packet has made a hop
                     there (1 bit), stage there (2 bits) */
};

/* The position of a packet on its route; ports in `part` are those of the level. */
struct wf_vc_step {
    struct wf_topo_part part;
    const struct wf_vc_level *level;
    bool turns; /* the route turns in this level */
    bool is_unlimited;
    uint32_t base; /* first channel of the stage */
};

/* Begins every hop of a packet at vertex `at`: finds the step, and prepares the state if the
 * packet enters another level. */
WF_PLUGIN_API void wf_vc_step(const struct wf_vc_plan *plan, uint32_t at, uint32_t dst,
                              struct wf_vc_state *state, struct wf_vc_step *step);

/* The stage of the route in the level where it turns: 0 at first. */
static inline uint32_t wf_vc_stage(const struct wf_vc_state *state)
{
    return state->turn >> 6;
}

/* Whether the last hop in this stage had a rank above 0. */
static inline bool wf_vc_has_rank(const struct wf_vc_state *state)
{
    return state->hop >> 5 != 0;
}

/* Begins another stage, whose first link may have any rank. */
WF_PLUGIN_API void wf_vc_set_stage(struct wf_vc_step *step, struct wf_vc_state *state,
                                   uint32_t stage);

/* The minimal ports that the channels allow, ascending, at least one; returns their number.
 * `ports` has WF_VC_PORTS_MAX entries. */
WF_PLUGIN_API uint32_t wf_vc_choices(const struct wf_vc_step *step, struct wf_vc_state *state,
                                     uint32_t *ports);

/* Each of these ends a hop: it returns the port by which the packet leaves the vertex, and
 * changes the state for the next router. wf_vc_take() takes a port that wf_vc_choices()
 * gave. The second takes the deterministic route to `dst`, a node of the level or its gate.
 * The third takes any port of a route that was planned with wf_vc_plan_given(). */
WF_PLUGIN_API uint32_t wf_vc_take(const struct wf_vc_step *step, struct wf_vc_state *state,
                                  uint32_t port);
WF_PLUGIN_API uint32_t wf_vc_take_fixed(const struct wf_vc_step *step,
                                        struct wf_vc_state *state, uint32_t dst);
WF_PLUGIN_API uint32_t wf_vc_take_given(const struct wf_vc_step *step,
                                        struct wf_vc_state *state, uint32_t port);

/* One hop of a packet that takes the deterministic route all the way: the same as wf_vc_step() and
 * wf_vc_take_fixed(), but faster on grids. Not at the destination. */
WF_PLUGIN_API uint32_t wf_vc_hop_fixed(const struct wf_vc_plan *plan, uint32_t at, uint32_t dst,
                                       struct wf_vc_state *state);

/* Whether a level is a tree, fat tree or star, where routes lead up, then down. */
bool wf_vc_is_tree(const struct wf_vc_level *level);
bool wf_vc_is_dragonfly(const struct wf_vc_level *level);
