/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_NODE_H
#define WF_RANKS_NODE_H

/*
 * What all ranks of a run share: the network, the places, the protocol, and the layer above.
 *
 * The processes of the engine are nodes. A node's state is the network's part, then one slot
 * of `slot_size` bytes for each rank on the node; a slot begins with a struct wf_rank
 * (ranks/rank.h) and goes on as its owner, the layer above (replay/), likes. That layer drives a
 * rank: it makes calls on its behalf until one blocks, and is called back when the rank can go
 * on.
 */

#include "coll/coll.h"
#include "net/net.h"
#include "ranks/cause.h"
#include "ranks/place.h"

enum {
    WF_RANK_SLOTS_MAX = 65536, /* ranks on a node, so that 16 bits number them */
    WF_RANK_COOKIE_WORDS = 4,  /* the last one is 0 as a rule: it is kept apart then */
};

/* Event kinds of this layer, behind the network's. */
enum wf_node_event {
    WF_NODE_RESUME = WF_NET_KINDS, /* continues a rank */
    WF_NODE_CONTINUE,              /* continues a collective whose time to send has come */
    WF_NODE_DEPART,                /* sends a message whose time has come */
    WF_NODE_LOCAL,                 /* a message within the node */
    WF_NODE_SIGNAL,                /* of a collective by a formula */
    WF_NODE_KINDS = 32,            /* kinds from here on are the layer above's */
};

/* Settings, scope "mpi". */
struct wf_mpi_params {
    uint64_t eager_max; /* longer messages wait for their receiver */
    int progress;       /* enum wf_mpi_progress */
    int rules;          /* enum wf_coll_rules */
    bool local;         /* messages within a node do not pass the network */
    int64_t local_latency;
    uint64_t local_bandwidth;
    uint64_t control_bytes;    /* of the messages that arrange the transfer of a long one */
    uint64_t unexpected_limit; /* bytes of messages that a rank can hold without a receive */
    int64_t hw_latency;        /* of each level of a collective in hardware... */
    uint64_t hw_bandwidth;     /* ...and of its data */
    char *algorithms[WF_COLL_KINDS]; /* "auto" is what the rules choose */
};

enum wf_mpi_progress {
    WF_PROGRESS_INDEPENDENT, /* whatever the rank is doing */
    WF_PROGRESS_CALLS,       /* only while it is in a call */
};

extern const struct wf_param wf_mpi_params[]; /* over struct wf_mpi_params */

struct wf_caller;

/* What a rank spends its time on. */
enum wf_spent {
    WF_SPENT_COMPUTING,
    WF_SPENT_ON_MESSAGES, /* CPU time */
    WF_SPENT_WAITING,     /* plus an enum wf_rank_in: in what */
    WF_SPENT_KINDS = WF_SPENT_WAITING + 3,
};

/* A message that arrived. */
struct wf_delivery {
    uint32_t from; /* rank of the run */
    uint64_t bytes;
    int64_t departure, arrival; /* from the sender's hands; of the last byte */
};

/* A communicator, as a rank sees it: ranks of the communicator to ranks of the run. */
struct wf_rank_group {
    uint32_t id; /* below WF_RANK_GROUPS_MAX */
    uint32_t size, rank;
    uint32_t base; /* added to... */
    uint32_t first, stride, width, stride2;
    const uint32_t *members; /* ...members[r], or if null, to what the numbers above say */
};

#define WF_RANK_GROUPS_MAX (UINT32_C(1) << 26)

static inline uint32_t wf_rank_group_member(const struct wf_rank_group *group, uint32_t r)
{
    return group->base + (group->members != NULL
                              ? group->members[r]
                              : group->first + r % group->width * group->stride +
                                    r / group->width * group->stride2);
}

struct wf_mpi {
    const struct wf_net *net;
    const struct wf_place *place;
    const struct wf_mpi_params *params;
    const struct wf_coll_ops *algorithm[WF_COLL_KINDS]; /* null: what the rules choose */
    uint8_t formula[WF_COLL_KINDS];                     /* enum wf_formula, if not 0 */
    size_t slots_offset;                                /* in a node's state */
    size_t slot_size;
    bool runs_ahead; /* ranks may send later than now */
    bool in_step;    /* calls are made when the engine's time has come to the rank's clock */
    bool sends_only; /* nobody receives, and all messages are sent at once */

    /* The layer above. */
    void *arg;
    /* Makes the next calls of a rank. */
    void (*resume)(void *arg, const struct wf_caller *who);
    /* The arguments and the communicator of a collective that was begun with this cookie. */
    void (*recall)(void *arg, const struct wf_caller *who, const uint64_t *cookie,
                   struct wf_coll_args *args, struct wf_rank_group *group);
    /* A message from another rank has arrived for good. */
    void (*note)(void *arg, const struct wf_caller *to, const struct wf_delivery *delivery);
    /* What a rank does from its clock until then. May be null. */
    void (*spent)(void *arg, const struct wf_caller *who, enum wf_spent what, int64_t until);
    /* For a layer above that has to know, both may be null: a receive that left something open
     * has met its message from `peer`; a wait or a test has completed a request. */
    void (*matched)(void *arg, const struct wf_caller *who, uint32_t request, uint32_t peer,
                    int32_t tag);
    void (*taken)(void *arg, const struct wf_caller *who, uint32_t request);
    /* Likewise: something one-sided has arrived at its target `who` from the rank `origin`. */
    void (*remote)(void *arg, const struct wf_caller *who, uint32_t origin);
    /* Why something of a rank goes on. May be null. */
    void (*because)(void *arg, const struct wf_caller *who, const struct wf_cause *cause);
};

/* Lays out nodes. The caller has set place, params, arg and the functions; `background` says
 * whether a rank may have more under way than its blocking calls and eager messages. A slot
 * holds `slot_size` bytes of which the first are a struct wf_rank. Fails with WF_EUSAGE if a
 * setting names an unknown algorithm. */
WF_NODISCARD
enum wf_status wf_mpi_init(struct wf_mpi *mpi, const struct wf_net *net, size_t slot_size,
                           bool background, struct wf_err *err);
size_t wf_mpi_node_size(const struct wf_mpi *mpi); /* of a node's state */
size_t wf_mpi_payload_max(const struct wf_mpi *mpi);

/* Connects the network to the engine, to which the nodes have been added, and to these ranks.
 */
void wf_mpi_attach(struct wf_mpi *mpi, struct wf_net *net, struct wf_engine *engine,
                   uint32_t first_node);

/* For a node's handlers: its first and its later events. A rank's first call is made `delay`
 * after the start. */
void wf_mpi_start(const struct wf_mpi *mpi, struct wf_ctx *ctx, uint32_t slot, int64_t delay);
void wf_mpi_event(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                  const struct wf_event *ev);

#endif
