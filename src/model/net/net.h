/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The interface of a network model. A model carries messages between nodes and tells the layer
 * above when a message has left and when it has arrived. It uses topologies and the engine, and
 * knows nothing of ranks, tags or collectives.
 *
 * A node is one process of the engine. The first bytes of its state belong to the model, which
 * says how many it needs; the rest belongs to the layer above. The two call each other: the
 * layer above calls send() and passes events of the network's kinds to event(); the model calls
 * the functions of struct wf_net_user.
 *
 * A node may have several network interfaces (model/net/ends.h). Each has its own part of the node's
 * state, one after the other, and to the model each is a node of its own: where the functions
 * below speak of a node, they mean an endpoint, and `node` is its part of the state.
 *
 * To add a model: one .c file with a const struct wf_net_ops, one line in model/net/models.def. The
 * conformance test then covers it.
 */

#include "base/param.h"
#include "base/units.h"
#include "engine/model.h"
#include "model/net/ends.h"
#include "model/net/tally.h"
#include "model/topo/topo.h"

enum {
    WF_NET_KINDS = 16,    /* event kinds below this belong to the network, the others do not */
    WF_NET_NIC_SHIFT = 8, /* the upper bits of an event's kind: the interface it is for */
    WF_NET_HEADER_WORDS = 5,
};

/* The kind of an event for a node, and the interface that it is for. */
static inline uint32_t wf_net_kind(const struct wf_event *ev)
{
    return ev->kind & ((1U << WF_NET_NIC_SHIFT) - 1);
}

static inline uint32_t wf_net_nic(const struct wf_event *ev)
{
    return ev->kind >> WF_NET_NIC_SHIFT;
}

/* Travels as the payload of events and therefore has no padding. */
struct wf_net_message {
    uint64_t bytes;
    uint32_t src_node;
    uint32_t header[WF_NET_HEADER_WORDS]; /* written and read by the layer above only */
};

_Static_assert(sizeof(struct wf_net_message) == 32, "an event with a message: one cache line");

/* Returned by send(): user.sent() will be called when the last byte has left. */
#define WF_NET_LATER INT64_C(-1)

/* The layer above. arrived(), sent() and halted() get the `node` that event() or send() was
 * given. The model calls them inside a handler of that node's process; they may call send().
 * The state of the whole node is wf_state(). */
struct wf_net_user {
    void *arg;
    /* A message for this node. The model calls it when the head of the message has arrived;
     * the last byte arrives at `at`, now or later. Messages from one node to another arrive
     * in the order of departure, but see may_overtake(). Messages that depart together arrive in the order of the
     * calls of send(). At most one message arrives in an event. */
    void (*arrived)(void *arg, struct wf_ctx *ctx, void *node, const struct wf_net_message *msg,
                    int64_t at);
    /* The last byte of a message for which send() returned WF_NET_LATER has left this node. May
     * be null. */
    void (*sent)(void *arg, struct wf_ctx *ctx, void *node, const struct wf_net_message *msg);
    /* The network is in a deadlock: this node should stop sending. May be null. */
    void (*halted)(void *arg, struct wf_ctx *ctx, void *node);
    bool any_order; /* messages between two nodes may arrive in any order */
    /* Whether a message may arrive before others that departed earlier: asked by models in which
     * it would. May be null: no message may. */
    bool (*may_overtake)(const struct wf_net_message *msg);
    /* Whether a message carries none of the program's data. May be null: all do. */
    bool (*is_control)(const struct wf_net_message *msg);
    /* After the run, for vertices that are not nodes: where to add their usage. May be null. */
    struct wf_net_usage *(*usage)(void *arg, struct wf_ctx *ctx);
};

/* The departure times that send() accepts. */
enum wf_net_ahead {
    WF_NET_NOW,      /* wf_now() only */
    WF_NET_IN_ORDER, /* from wf_now() on, and not before the previous message of the node */
    WF_NET_ANY,      /* from wf_now() on */
};

struct wf_net;
struct wf_fault_plan;  /* model/net/fault/fault.h */
struct wf_net_link;    /* model/net/links.h */
struct wf_net_loggops; /* model/net/loggp.h */
struct wf_value;       /* base/result/doc.h */

struct wf_net_env {
    const struct wf_topo *topo; /* borrowed for the model's life; null if the user gave none */
    uint32_t n_nodes;
    uint32_t nics;      /* network interfaces of a node; 0 is 1 */
    uint32_t nic_group; /* nodes of a group (model/net/ends.h); 0 is 1 */
    uint64_t seed;      /* for random numbers that no process draws */
    /* For a what-if run: latencies of single links and of link classes are halved, or bandwidths
     * doubled, as the caller does with the parameters for all links. */
    bool halves_latency, doubles_bandwidth;
};

/* A named set of values, chosen by the parameter `preset`. Parameters given by the user
 * override it. */
struct wf_net_preset {
    const char *name;
    const char *const *settings; /* parameter, value, ..., null */
};

/* The clock of a model that counts time in cycles. */
struct wf_net_clock {
    int64_t cycle_ps;
    uint64_t phit_bytes; /* bytes that a link moves in a cycle */
    uint64_t packet_bytes;
    uint64_t n_vcs; /* virtual channels of a link; 0: as many as the routing needs */
};

/* The time of a message on an idle network. */
struct wf_net_uncontended {
    int64_t latency;  /* until the first byte arrives, in picoseconds... */
    int64_t transfer; /* ...and from then until the last byte arrives */
};

/* Whether messages delay each other. */
enum wf_net_contention {
    WF_NET_CONTENTION,    /* at their nodes or in the network */
    WF_NET_NO_CONTENTION, /* never */
    WF_NET_FREE,          /* messages take no time at all */
};

/* Members marked `may be null` have a default; all others are required. */
struct wf_net_ops {
    const char *name;
    const char *summary; /* one line, for --help */
    const char *limits;  /* notes for the user of the predictions; may be null: nothing */
    enum wf_net_contention contention;
    bool uses_topology; /* otherwise a topology that the user gives has no effect */
    const struct wf_param *params;
    size_t params_size;
    const struct wf_net_preset *presets; /* the last has no name; may be null: none */
    /* The clock of a model that counts time in cycles. May be null: the model has none. */
    struct wf_net_clock (*clock)(const void *params);
    /* Gives `params` other defaults if no link of the topology could have those there are. Called
     * before settings are applied. May be null. */
    void (*fit)(void *params, const struct wf_topo *topo);

    /* Creates the model and checks its parameters completely. `params` is borrowed. On
     * success the caller owns *out and releases it with wf_net_free(); on failure *out is
     * left alone. */
    enum wf_status (*create)(const void *params, const struct wf_net_env *env,
                             struct wf_net **out, struct wf_err *err);
    /* Releases the model. May be null: free(). */
    void (*destroy)(struct wf_net *net);
    /* Adds the model's own processes to the engine. May be null: it has none. */
    void (*attach)(struct wf_net *net, struct wf_engine *engine);

    /* Sends a message from this node at the time `start`, which must satisfy net->ahead.
     * Returns when the last byte has left, or WF_NET_LATER. `dst_node` may be this node. */
    int64_t (*send)(const struct wf_net *net, struct wf_ctx *ctx, void *node, uint32_t dst_node,
                    const struct wf_net_message *msg, int64_t start);
    /* Handles an event of a kind below WF_NET_KINDS for this node; see wf_net_event(). */
    void (*event)(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                  const struct wf_event *ev);
    /* The time of a message on an idle network; any time beyond it is queueing. May be null:
     * the model cannot tell. */
    struct wf_net_uncontended (*uncontended)(const struct wf_net *net, uint32_t src_node,
                                             uint32_t dst_node, uint64_t bytes);
    /* Whether a packet for `dst_node` could be injected at once. Only for nodes with one
     * interface. May be null: always. */
    bool (*can_inject)(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                       uint32_t dst_node);
    /* After the run: adds the usage of a node's router. Only for nodes with one interface. May
     * be null: the model keeps none. */
    void (*usage)(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                  struct wf_net_usage *usage);
    /* After the run: adds the totals of an interface. May be null: the model keeps none. */
    void (*finish)(const struct wf_net *net, struct wf_ctx *ctx, const void *node, uint32_t nic,
                   struct wf_net_totals *totals);
    /* For models with counters (net->n_sums > 0): counts a final event of a node, of a kind
     * below WF_NET_KINDS. May be null: events count nothing. */
    void (*commit)(const struct wf_net *net, const struct wf_event *ev, struct wf_ctx *ctx);
    /* For models with counters, after a run that ended because nothing was left to do: a cycle
     * of queues that wait for each other; its length is 0 if there is none. May be null: the
     * model has no such cycles, or detects them itself. */
    struct wf_net_deadlock (*stuck)(const struct wf_net *net,
                                    const struct wf_net_counters *counters);
    /* For models with counters: describes a run of `elapsed` picoseconds. */
    void (*describe)(const struct wf_net *net, const struct wf_net_counters *counters,
                     int64_t elapsed, struct wf_value *result);
};

/* The common head of every model; the concrete struct has it as its first member. It does not
 * change during a run. */
struct wf_net {
    const struct wf_net_ops *ops;
    /* Task graphs run by the rules of LogGOPSim with these parameters, and nothing else can use
     * the network; null: send() and event() have the rules. */
    const struct wf_net_loggops *loggops;
    size_t node_size;   /* size of an interface's part of a node's state; a multiple of 8 */
    size_t payload_max; /* largest payload of the events that the model schedules for nodes */
    int64_t o_send_ps;  /* CPU time per message, spent by the sending rank... */
    int64_t o_recv_ps;  /* ...and by the receiving rank */
    int64_t promise_ps; /* least delay from a node to another process */
    enum wf_net_ahead ahead;
    struct wf_net_ends ends;
    bool has_digest; /* the usage of its routers has a digest of all decisions, which does not
                      * depend on the events that lead to them */
    const struct wf_topo *route_topo; /* messages follow next_port() of this topology; null:
                                         they take other routes */
    const struct wf_fault_plan
        *faults; /* failures in time (model/net/fault/fault.h); null: none */
    uint64_t n_sums, n_maxima, n_rows; /* counters; 0 if the model keeps none */
    /* What net.links sets for each class of links, as the model uses it; null: nothing. */
    const struct wf_net_link *link_classes;
    size_t counters_offset;  /* offset of struct wf_net_counters in the tally, or 0: not
                              * kept; set by the layer above... */
    size_t counters_mark;    /* ...like the offset of a 64-bit word there that is set to it in
                              * tallies that have counters, or 0: none */
    uint32_t first_node;     /* process number of node 0; set by wf_net_attach() */
    uint32_t first_other;    /* of the first other vertex; set by wf_net_add_others() */
    struct wf_net_user user; /* set by wf_net_attach() */
};

#define WF_NET_MODEL(name) extern const struct wf_net_ops wf_net_##name##_ops;
#include "model/net/models.def"

/* The registered models in a fixed order, null-terminated. */
const struct wf_net_ops *const *wf_net_table(void);

/* The model called `name`. An unknown name is WF_EUSAGE and proposes the nearest known one. */
enum wf_status wf_net_find(const char *name, const struct wf_net_ops **out, struct wf_err *err);

/* Creates a model after checking the interfaces of its nodes; otherwise as ops->create(). */
enum wf_status wf_net_create(const struct wf_net_ops *ops, const void *params,
                             const struct wf_net_env *env, struct wf_net **out,
                             struct wf_err *err);

/* Connects a model to the layer above and to an engine to which the nodes have been added, as
 * processes `first_node` and following. Once per model. */
void wf_net_attach(struct wf_net *net, struct wf_engine *engine, uint32_t first_node,
                   const struct wf_net_user *user);

void wf_net_free(struct wf_net *net); /* null is allowed */

/* The size of the counters of a model. */
static inline size_t wf_net_counters_size(const struct wf_net *net)
{
    return sizeof(struct wf_net_counters) +
           (net->n_sums + net->n_maxima + WF_NET_ROW_WORDS * net->n_rows) * sizeof(uint64_t);
}

/* The counters in this thread's part of the tally; null if nobody keeps them. */
struct wf_net_counters *wf_net_counters_of(const struct wf_net *net, struct wf_ctx *ctx);

/* For models with a process for each vertex: adds processes for the vertices that are not
 * endpoints of the run, which are the other nodes of the topology and its switches. */
void wf_net_add_others(struct wf_net *net, struct wf_engine *engine, uint32_t n_vertices,
                       const struct wf_process_ops *ops, size_t state_size);

/* ---- endpoints and processes ---- */

/* The part of an interface in the state of its node. */
static inline void *wf_net_part(const struct wf_net *net, void *state, uint32_t nic)
{
    return (unsigned char *)state + nic * net->node_size;
}

/* The endpoint of an interface of the node that handles the event. */
static inline uint32_t wf_net_here(const struct wf_net *net, const struct wf_ctx *ctx,
                                   uint32_t nic)
{
    return wf_net_end(&net->ends, wf_self(ctx) - net->first_node, nic);
}

/* Whether the layer above does not care which messages between its two nodes arrive before this one. */
static inline bool wf_net_is_free(const struct wf_net *net, const struct wf_net_message *msg)
{
    return net->user.any_order ||
           (net->user.may_overtake != NULL && net->user.may_overtake(msg));
}

/* Passes an event of a node to the model. */
static inline void wf_net_event(const struct wf_net *net, struct wf_ctx *ctx, void *state,
                                const struct wf_event *ev)
{
    net->ops->event(net, ctx, wf_net_part(net, state, wf_net_nic(ev)), ev);
}

/* The process of a vertex, and which of its interfaces the vertex is. */
struct wf_net_home {
    uint32_t process, nic;
};

/* wf_net_home_of() for nodes with several interfaces. */
struct wf_net_home wf_net_home_of_many(const struct wf_net *net, uint32_t vertex);

static inline struct wf_net_home wf_net_home_of(const struct wf_net *net, uint32_t vertex)
{
    const struct wf_net_ends *ends = &net->ends;

    if (ends->nics != 1) {
        return wf_net_home_of_many(net, vertex);
    }
    return (struct wf_net_home){vertex < ends->n_nodes
                                    ? net->first_node + vertex
                                    : net->first_other + (vertex - ends->n_nodes),
                                0};
}

/* Where an event for a vertex goes. `nic` is the interface that schedules it, 0 for a vertex
 * that is not a node. */
static inline struct wf_event_target wf_net_target(const struct wf_net *net, uint32_t nic,
                                                   uint32_t vertex, uint16_t kind)
{
    struct wf_net_home home = wf_net_home_of(net, vertex);

    return (struct wf_event_target){.dst = home.process,
                                    .kind = (uint16_t)(kind | home.nic << WF_NET_NIC_SHIFT),
                                    .part = (uint16_t)nic};
}

/* Likewise for the interface or vertex that handles this event. */
static inline struct wf_event_target wf_net_target_own(const struct wf_ctx *ctx, uint32_t nic,
                                                       uint16_t kind)
{
    return (struct wf_event_target){.dst = wf_self(ctx),
                                    .kind = (uint16_t)(kind | nic << WF_NET_NIC_SHIFT),
                                    .part = (uint16_t)nic};
}

/* Schedules an event for a node at the time `at`, which may be WF_TIME_MAX. */
static inline void wf_net_schedule(const struct wf_net *net, struct wf_ctx *ctx,
                                   uint32_t dst_node, int64_t at, uint16_t kind,
                                   const struct wf_net_message *msg)
{
    int64_t delay = at == WF_TIME_MAX ? WF_TIME_MAX : at - wf_now(ctx);

    wf_schedule_to(ctx, wf_net_target(net, 0, dst_node, kind), delay, msg, sizeof(*msg));
}
