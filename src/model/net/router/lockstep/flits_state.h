/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The state of wormhole switching in lock step: packets, queues, channels, routers and blocks of
 * routers, and where they are in memory. Private to model/net/router/lockstep/flits.c.
 *
 * Routers take a cycle in blocks of 64, phase by phase: all flits that reach the routers of a block,
 * then all nodes, and so on (flits_cycle.h). A phase is one long loop over a list, where a router
 * alone has a few flits whose number processors cannot predict.
 */

#include "model/net/router/lockstep/flits.h"
#include "model/net/router/lockstep/step.h"

enum {
    PORTS_MAX = WF_LOCKSTEP_FLIT_PORTS,
    QUEUES_MAX = WF_LOCKSTEP_FLIT_QUEUES,
    BLOCK = 64 /* routers */
};

/* A place is a queue or a channel of a block: the number of its router there * 64 + its number in the
 * router. */
enum { PLACE_BITS = 6 /* for QUEUES_MAX */ };

/* A packet in a queue, or at its node. */
struct packet {
    uint32_t dst, born;
    uint32_t way; /* hops so far << 16 | bit d: it travels dimension d downwards */
};

/* No member of what follows is a byte: for all a compiler knows, a byte that is written may be part
 * of anything, so that it would load everything again. */

/* A queue at the end of a channel, or between a node and its router. Its packets are in a ring:
 * from `first` those whose head has arrived, up to `tail` those whose head is on its way. */
struct queue {
    uint32_t back_at; /* arrivals_at() of the router with the channel that leads here... */
    uint32_t next_at; /* ...and of that with the queue at the end of `channel` */
    uint16_t back,
        next;         /* places of that channel and that queue; of a channel to the node, next
                              * is any place of the same block */
    uint16_t channel; /* that the first packet holds, if it is in `goes` */
    uint16_t here, gone; /* flits that have arrived; flits of the first that have left */
    uint16_t port;       /* output port of the first packet, if it is in `waits` or `goes`... */
    uint16_t vcs;        /* ...and the channels of the port that it may take, as bits */
    uint16_t accept;     /* channel to accept first, if several are offered */
    uint16_t first, n, tail; /* ring */
};

/* A queue whose first packet has begun to wait for the end of the routing delay. */
struct begun {
    uint32_t ready; /* cycle in which it is routed */
    uint32_t place;
};

/* A virtual channel of an output port. Those to the node always have room; `used` counts for the
 * channels that lead from there. */
struct channel {
    uint16_t used;   /* flits in the queue at its end, or on the link */
    uint16_t holder; /* queue whose packet holds it, unless it is in `free` */
    uint16_t grant;  /* queue that gets its first offer */
};

/* A port as an input and as an output of the switch. */
struct port {
    uint16_t turn;   /* virtual channel that requests the switch first */
    uint16_t accept; /* output to accept first */
    uint16_t grant;  /* first queue of the input that gets its first offer */
};

/* What only some phases need of a router. */
struct router {
    uint64_t
        toward[PORTS_MAX]; /* queues whose first packet has a channel of each output port */
    struct port ports[PORTS_MAX];
    /* The node: the packets that wait are a ring; the first may have left in part. */
    uint32_t waiting_first, n_waiting;
    uint32_t sent; /* flits of the first that have left */
    uint32_t vc;   /* channel of the last flit that left */
};

/* Sets of queues and channels of each router are words, a bit for each. */
struct block {
    uint64_t waits[BLOCK], goes[BLOCK]; /* queues whose first packet waits for a channel, or
                                         * has one */
    uint64_t flits[BLOCK];              /* queues in which a flit is */
    uint64_t room[BLOCK]; /* queues at the end of whose channel there is room for a flit */
    uint64_t free[BLOCK]; /* channels that no packet holds */
    uint64_t asking;      /* routers, a bit for each: `waits` is not empty */
    uint64_t sending;     /* routers whose node has packets that wait */
    uint32_t begun_first, n_begun; /* queues whose first packet is to be routed, a ring */
};

/* Numbers of a router that the compiler knows in frequent networks. */
struct shape {
    uint32_t vcs;
    uint32_t local;    /* the port to the node: that after those with links */
    uint32_t n_queues; /* there are as many channels */
};

/* What reaches the routers of a block in a cycle: places in the block, in any order. A port gets and
 * sends at most one flit in a cycle, which limits the length of the lists. */
struct arrivals {
    uint32_t n_flits, n_heads, n_credits;
    uint16_t lists[]; /* queues that flits enter; those of them whose flit is the first of its
                       * packet; channels for which a place becomes free */
};

/* A wheel has the arrivals of all blocks for each cycle: those of this one, and those of the cycles
 * in which what is sent now arrives. */
struct wheels {
    char *now, *by_link, *by_node, *credits;
};

/* The whole run. */
struct flits {
    struct wf_lockstep_net net;
    struct shape shape;
    uint32_t n_places, capacity, n_blocks;
    uint8_t port_of[QUEUES_MAX]; /* of each queue */
    uint32_t hop, entry, back; /* cycles of a flit on a link, from its node, of a free place */
    uint32_t routing_delay, mask;
    char *arrivals; /* wheel */
    struct block *blocks;
    struct begun *begun; /* [n_blocks * begun_length()] */
    struct router *routers;
    struct queue *queues;
    struct channel *channels;
    struct packet *packets, *waiting;
    uint32_t *carried; /* packets of each channel of links */
    struct wf_lockstep_count count;
};

/* ---- where things are ---- */

static inline struct shape shape_of(uint32_t n_links, uint32_t vcs)
{
    return (struct shape){vcs, n_links, (n_links + 1) * vcs};
}

/* A block in a cycle. */
struct here {
    struct flits *f;
    struct shape shape;
    struct wheels wheels;
    struct block *block;
    struct router *routers; /* of the block, as queues and channels */
    struct queue *queues;
    struct channel *channels;
    struct begun *begun;
    uint32_t first, n; /* routers */
    uint32_t at;       /* arrivals_at() of the routers */
    uint32_t cycle, capacity, phits;
};

static inline uint32_t list_length(const struct shape *shape)
{
    return BLOCK * (shape->local + 1);
}

/* Of the ring of packets that are to be routed, in which a queue is at most once. */
static inline uint32_t begun_length(const struct shape *shape)
{
    return BLOCK * shape->n_queues;
}

static inline size_t arrivals_size(const struct shape *shape)
{
    return (sizeof(struct arrivals) + 3 * sizeof(uint16_t) * list_length(shape) + 63) / 64 * 64;
}

static inline struct wheels wheels_at(const struct flits *f, const struct shape *shape,
                                      uint32_t cycle)
{
    const size_t size = f->n_blocks * arrivals_size(shape);

    return (struct wheels){
        .now = f->arrivals + (cycle & f->mask) * size,
        .by_link = f->arrivals + ((cycle + f->hop) & f->mask) * size,
        .by_node = f->arrivals + ((cycle + f->entry) & f->mask) * size,
        .credits = f->arrivals + ((cycle + f->back) & f->mask) * size,
    };
}

/* The first block... */
static inline struct here here_first(struct flits *f, const struct shape *shape, uint32_t cycle)
{
    return (struct here){
        .f = f,
        .shape = *shape,
        .wheels = wheels_at(f, shape, cycle),
        .block = f->blocks,
        .routers = f->routers,
        .queues = f->queues,
        .channels = f->channels,
        .begun = f->begun,
        .n = f->net.n < BLOCK ? f->net.n : BLOCK,
        .cycle = cycle,
        .capacity = f->capacity,
        .phits = f->net.rules.phits,
    };
}

/* ...and the next. */
static inline void here_next(struct here *h)
{
    h->first += BLOCK;
    h->n = h->f->net.n - h->first < BLOCK ? h->f->net.n - h->first : BLOCK;
    h->at += (uint32_t)(arrivals_size(&h->shape) / 64);
    h->block++;
    h->begun += begun_length(&h->shape);
    h->routers += BLOCK;
    h->queues += (size_t)BLOCK * h->shape.n_queues;
    h->channels += (size_t)BLOCK * h->shape.n_queues;
}

/* Where the arrivals of a router's block are in those of a cycle, in units of 64 bytes. */
static inline uint32_t arrivals_at(const struct shape *shape, uint32_t router)
{
    return (uint32_t)(router / BLOCK * (arrivals_size(shape) / 64));
}

static inline struct arrivals *arrivals_of(char *wheel, uint32_t at)
{
    return (void *)(wheel + (size_t)at * 64);
}

static inline uint16_t *list_of_flits(struct arrivals *arrivals)
{
    return arrivals->lists;
}

static inline uint16_t *list_of_heads(const struct here *h, struct arrivals *arrivals)
{
    return arrivals->lists + list_length(&h->shape);
}

static inline uint16_t *list_of_credits(const struct here *h, struct arrivals *arrivals)
{
    return arrivals->lists + (size_t)2 * list_length(&h->shape);
}

static inline uint32_t place_of(uint32_t router, uint32_t number)
{
    return router << PLACE_BITS | number;
}

static inline uint32_t router_at(uint32_t place)
{
    return place >> PLACE_BITS;
}

static inline uint32_t number_at(uint32_t place)
{
    return place & (QUEUES_MAX - 1);
}

/* Of a place in the block. */
static inline struct queue *queue_at(const struct here *h, uint32_t place)
{
    return &h->queues[router_at(place) * h->shape.n_queues + number_at(place)];
}

/* A packet in the queue `number` of router r. */
static inline struct packet *packet_of(const struct here *h, uint32_t r, uint32_t number,
                                       uint32_t i)
{
    return &h->f->packets[((size_t)r * h->shape.n_queues + number) * h->f->n_places + i];
}

/* The first packet of a queue in the block. */
static inline struct packet *first_packet(const struct here *h, uint32_t place)
{
    return packet_of(h, h->first + router_at(place), number_at(place),
                     queue_at(h, place)->first);
}

static inline uint32_t port_of(const struct here *h, uint32_t queue)
{
    /* A division by a number that the compiler knows is a shift, another one takes longer. */
    return __builtin_constant_p(h->shape.vcs) ? queue / h->shape.vcs : h->f->port_of[queue];
}

/* The end of a link: the queue of its first virtual channel. */
struct link {
    uint32_t router, queue;
};

/* Where flits go that leave router r by a port. Those to the node stay. */
static inline struct link link_of(const struct here *h, uint32_t r, uint32_t port)
{
    const struct wf_lockstep_net *net = &h->f->net;
    const size_t at = (size_t)r * h->shape.local + port;

    return port == h->shape.local
               ? (struct link){r, 0}
               : (struct link){net->neighbor[at], net->in_port[at] * h->shape.vcs};
}

static inline uint16_t after(const struct flits *f, uint32_t i)
{
    return (uint16_t)(i + 1 == f->n_places ? 0 : i + 1);
}

static inline uint64_t bit(uint32_t number)
{
    return UINT64_C(1) << number;
}

static inline uint32_t lowest(uint64_t set)
{
    return (uint32_t)__builtin_ctzll(set);
}
