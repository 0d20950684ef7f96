/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_NET_H
#define WF_NET_NET_H

/*
 * What the layer above may ask of a network model: to carry a message between two nodes, and
 * to say when it has left and when it has arrived. A model knows topologies and the engine,
 * and nothing of ranks, tags or collectives.
 *
 * A node is one process of the engine. The first bytes of its state are the model's part, of
 * the size the model asks for; the rest belongs to the layer above. The two meet in function
 * calls, not in events: the layer above calls send(), hands events of the network's kinds to
 * event(), and is called back when a message arrives.
 *
 * To add a model: one .c file with a const struct wf_net_ops, one line in net/models.def. The
 * conformance test then covers it.
 */

#include "base/param.h"
#include "base/units.h"
#include "engine/engine.h"
#include "net/facts.h"
#include "net/user.h"
#include "topo/topo.h"

/* Which times of departure send() accepts. */
enum wf_net_ahead {
    WF_NET_NOW,      /* wf_now() only */
    WF_NET_IN_ORDER, /* any from wf_now() on that is not before the node's last one */
    WF_NET_ANY,      /* any from wf_now() on */
};

struct wf_net;

struct wf_net_env {
    const struct wf_topo *topo; /* kept; null if the user gave none */
    uint32_t n_nodes;
    uint64_t seed; /* for lots that are not drawn by a process */
};

/* Members marked `may be null` have a default; all others are required. */
struct wf_net_ops {
    const char *name;
    const char *summary; /* one line, for --help */
    const char *limits;  /* what a user of its predictions should mind; may be null: nothing */
    bool uses_topology;  /* else one that is given has no effect */
    const struct wf_param *params;
    size_t params_size;
    const struct wf_net_preset *presets; /* the last has no name; may be null: none */

    /* The cycles of a model that counts in cycles. May be null: there are none. */
    struct wf_net_clock (*clock)(const void *params);

    /* Checks everything that can be wrong. `params` is borrowed. On success the caller owns
     * *out and releases it with wf_net_free(); on failure *out is left alone. */
    enum wf_status (*create)(const void *params, const struct wf_net_env *env,
                             struct wf_net **out, struct wf_err *err);
    void (*destroy)(struct wf_net *net);
    /* Adds processes of its own to the engine, if it has any, and promises its least delay. */
    void (*attach)(struct wf_net *net, struct wf_engine *engine);

    /* Sends a message from this node at the time `start`, as net->ahead allows. Returns when
     * the last byte has left, or WF_NET_LATER. `dst_node` may be this node. */
    int64_t (*send)(const struct wf_net *net, struct wf_ctx *ctx, void *node, uint32_t dst_node,
                    const struct wf_message *msg, int64_t start);
    /* An event of a kind below WF_NET_KINDS for this node. */
    void (*event)(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                  const struct wf_event *ev);
    /* What a message takes that is alone, of which the rest is waiting in queues: until its
     * first byte has arrived, and from there to its last. May be null: the model cannot say. */
    struct wf_net_alone (*alone)(const struct wf_net *net, uint32_t src_node, uint32_t dst_node,
                                 uint64_t bytes);
    /* Whether a packet for `dst_node` could be injected at once. May be null: always. */
    bool (*room)(const struct wf_net *net, struct wf_ctx *ctx, void *node, uint32_t dst_node);
    /* After the run: adds a node's part. May be null: the model does not know. */
    void (*use)(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                struct wf_net_use *use);
    /* After the run: adds a node's facts, which stand for the run if they count nodes. May be
     * null: none. */
    void (*finish)(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                   struct wf_net_facts *facts);
    /* Of models with statistics (n_sums), else null: counts what a final event of a node tells,
     * of kinds below WF_NET_KINDS; describes a run of `elapsed` picoseconds. */
    void (*commit)(const struct wf_net *net, const struct wf_event *ev, struct wf_ctx *ctx);
    void (*describe)(const struct wf_net *net, const struct wf_net_words *words,
                     int64_t elapsed, struct wf_value *result);
};

/* The common head of every model; the concrete struct has it as its first member. It does not
 * change during a run. */
struct wf_net {
    const struct wf_net_ops *ops;
    size_t node_size;   /* of the model's part of a node's state; a multiple of 8 */
    size_t payload_max; /* of the events it schedules for nodes */
    int64_t o_send_ps;  /* CPU time per message, spent by the sending rank... */
    int64_t o_recv_ps;  /* ...and by the receiving one */
    int64_t promise_ps; /* least delay from a node to another process */
    enum wf_net_ahead ahead;
    uint32_t n_nodes;
    const struct wf_topo *ways; /* messages take this topology's own ways; null: others */
    uint64_t n_sums, n_maxima;  /* of its statistics; 0 if it keeps none */
    size_t words_offset;     /* of struct wf_net_words in the tally, or 0; by the layer above */
    uint32_t first_node;     /* process number of node 0; set by wf_net_attach() */
    struct wf_net_user user; /* likewise */
};

#define WF_NET_MODEL(name) extern const struct wf_net_ops wf_net_##name##_ops;
#include "net/models.def"

/* The registered models in a fixed order, null-terminated. */
const struct wf_net_ops *const *wf_net_table(void);

/* The model called `name`. An unknown name is WF_EUSAGE and proposes the nearest known one. */
WF_NODISCARD
enum wf_status wf_net_find(const char *name, const struct wf_net_ops **out, struct wf_err *err);

/* Connects a model to an engine to which the nodes have been added, as processes `first_node`
 * and following, and to the layer above. Once per model. */
void wf_net_attach(struct wf_net *net, struct wf_engine *engine, uint32_t first_node,
                   const struct wf_net_user *user);

void wf_net_free(struct wf_net *net); /* null is allowed */

/* Times add up to at most WF_TIME_MAX: a message that takes for ever is a limit exceeded, which
 * the engine notices when such an event is scheduled, and not an overflow. */
static inline int64_t wf_time_add(int64_t a, int64_t b)
{
    return a > WF_TIME_MAX - b ? WF_TIME_MAX : a + b;
}

/* Schedules an event for a node at the time `at`, which may be WF_TIME_MAX. */
static inline void wf_net_schedule(const struct wf_net *net, struct wf_ctx *ctx,
                                   uint32_t dst_node, int64_t at, uint16_t kind,
                                   const struct wf_message *msg)
{
    int64_t delay = at == WF_TIME_MAX ? WF_TIME_MAX : at - wf_now(ctx);

    wf_schedule(ctx, net->first_node + dst_node, delay, kind, msg, sizeof(*msg));
}

#endif
