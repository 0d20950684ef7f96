/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The state of wormhole switching in lock step: packets, queues, channels and routers, and where they
 * are in memory. Private to lockstep/flits.c, which moves the flits.
 */

#include "lockstep/flits.h"
#include "lockstep/step.h"

enum {
    PORTS_MAX = WF_LOCKSTEP_FLIT_PORTS,
    QUEUES_MAX = WF_LOCKSTEP_FLIT_QUEUES,
    NO_PORT = 0xff
};

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
    uint32_t ready;          /* first cycle in which the first packet may request a channel */
    uint16_t here, gone;     /* flits that have arrived; flits of the first that have left */
    uint16_t vcs;            /* channels of its port that the first packet may take, as bits */
    uint16_t port;           /* output port of the first packet; NO_PORT: not routed yet */
    uint16_t channel;        /* that the first packet holds, if it is in `goes`... */
    uint16_t next;           /* ...the queue at its end... */
    uint32_t to;             /* ...and the router there */
    uint16_t accept;         /* channel to accept first, if several are offered */
    uint16_t first, n, tail; /* ring */
};

/* A virtual channel of an output port. Those to the node always have room; `used` counts for the
 * channels that lead from there. */
struct channel {
    uint16_t used;   /* flits in the queue at its end, or on the link */
    uint16_t holder; /* queue whose packet holds it, unless it is in `free` */
    uint16_t grant;  /* queue that gets its first offer */
};

/* What is at the other end of a port: where flits go that leave by it, or where flits came from that
 * enter by it. */
struct link {
    uint32_t
        to; /* router. Flits of a node come from its own, and go to one that does not exist */
    uint32_t first; /* there, for the first virtual channel: the queue that flits enter, or the
                     * channel that they used */
};

/* A port as an input and as an output of the switch. */
struct port {
    uint16_t turn;   /* virtual channel that requests the switch first */
    uint16_t accept; /* output to accept first */
    uint16_t grant;  /* input that gets its first offer */
};

/* Sets of queues and channels are words, a bit for each. */
struct router {
    uint64_t waits, goes; /* queues whose first packet waits for a channel, or has one */
    uint64_t flits;       /* queues in which a flit is */
    uint64_t room;        /* queues at the end of whose channel there is room for a flit */
    uint64_t free;        /* channels that no packet holds */
    uint64_t
        toward[PORTS_MAX]; /* queues whose first packet has a channel of each output port */
    struct port ports[PORTS_MAX];
    /* The node: the packets that wait are a ring; the first may have left in part. */
    uint32_t waiting_first, n_waiting;
    uint32_t sent; /* flits of the first that have left */
    uint32_t vc;   /* channel of the last flit that left */
};

/* Numbers of a router that the compiler knows in frequent networks. */
struct shape {
    uint32_t vcs;
    uint32_t local;    /* the port to the node: that after those with links */
    uint32_t n_queues; /* there are as many channels */
};

/* What reaches a router in a cycle. A link moves one flit in a cycle, so that no queue gets two. */
struct arrivals {
    uint64_t flits;   /* queues that they enter... */
    uint64_t heads;   /* ...and those of them whose flit is the first of its packet */
    uint64_t credits; /* channels for which a place becomes free */
};

/* A wheel has the arrivals of all routers for each cycle: those of this one, and those of the cycles
 * in which what is sent now arrives. */
struct wheels {
    struct arrivals *now, *by_link, *by_node, *credits;
};

/* The whole run. */
struct flits {
    struct wf_lockstep_net net;
    struct shape shape;
    uint32_t n_places, capacity;
    uint8_t port_of[QUEUES_MAX]; /* of each queue */
    uint32_t hop, entry, back; /* cycles of a flit on a link, from its node, of a free place */
    uint32_t routing_delay, mask;
    struct link *backs;        /* by router and port: where flits came from */
    struct arrivals *arrivals; /* wheel */
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

/* A router in a cycle. */
struct here {
    struct flits *f;
    struct shape shape;
    struct wheels wheels;
    struct router *router;
    struct queue *queues;
    struct channel *channels;
    const struct link *backs;
    uint32_t r, cycle;
};

static inline struct wheels wheels_at(const struct flits *f, uint32_t cycle)
{
    const size_t n = f->net.n + 1; /* with the router that does not exist */

    return (struct wheels){
        .now = f->arrivals + (cycle & f->mask) * n,
        .by_link = f->arrivals + ((cycle + f->hop) & f->mask) * n,
        .by_node = f->arrivals + ((cycle + f->entry) & f->mask) * n,
        .credits = f->arrivals + ((cycle + f->back) & f->mask) * n,
    };
}

/* The first router... */
static inline struct here here_first(struct flits *f, const struct shape *shape, uint32_t cycle)
{
    return (struct here){
        .f = f,
        .shape = *shape,
        .wheels = wheels_at(f, cycle),
        .router = f->routers,
        .queues = f->queues,
        .channels = f->channels,
        .backs = f->backs,
        .cycle = cycle,
    };
}

/* ...and the next. */
static inline void here_next(struct here *h)
{
    h->r++;
    h->router++;
    h->queues += h->shape.n_queues;
    h->channels += h->shape.n_queues;
    h->backs += PORTS_MAX;
}

static inline struct packet *packet_of(const struct here *h, uint32_t r, uint32_t queue,
                                       uint32_t place)
{
    return &h->f->packets[((size_t)r * h->shape.n_queues + queue) * h->f->n_places + place];
}

static inline uint32_t port_of(const struct here *h, uint32_t queue)
{
    /* A division by a number that the compiler knows is a shift, another one takes longer. */
    return __builtin_constant_p(h->shape.vcs) ? queue / h->shape.vcs : h->f->port_of[queue];
}

/* Where flits go that leave by a port. */
static inline struct link link_of(const struct here *h, uint32_t port)
{
    const struct wf_lockstep_net *net = &h->f->net;
    const size_t at = (size_t)h->r * h->shape.local + port;

    return port == h->shape.local
               ? (struct link){net->n, 0}
               : (struct link){net->neighbor[at], net->in_port[at] * h->shape.vcs};
}

static inline uint16_t after(const struct flits *f, uint32_t place)
{
    return (uint16_t)(place + 1 == f->n_places ? 0 : place + 1);
}

static inline uint64_t bit(uint32_t number)
{
    return UINT64_C(1) << number;
}

static inline uint32_t lowest(uint64_t set)
{
    return (uint32_t)__builtin_ctzll(set);
}

/* A word without its lowest byte that is not 0. */
static inline uint64_t without_byte(uint64_t word)
{
    return word & ~(UINT64_C(0xff) << (lowest(word) & ~7u));
}

/* The first member of a set in a cyclic order that begins with `first`, which may also be the number
 * after the last. */
static inline uint32_t first_from(uint64_t set, uint32_t first)
{
    uint64_t turned = set >> (first & 63) | set << (-first & 63);

    return (lowest(turned) + first) & 63;
}
