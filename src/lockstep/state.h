/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A network of cut-through routers under synthetic traffic, as lock step simulates it: all
 * routers take one cycle after the other. The rules are those of net/router, which executes the
 * same decisions as events; lockstep/step.h has them again for this form, and the digest of
 * both is the same.
 *
 * Everything is in three blocks of memory. `tables` do not change during a run and may be shared
 * by runs that differ only in load and seed. `state` is the network; all zero is its beginning.
 * `out` has counts, which are only added to. A struct wf_lockstep_net has the numbers that
 * describe the network and pointers into the blocks.
 *
 * Compiled for devices, too: fixed-width integers, static functions, no library. An execution
 * defines, before it includes this file, what differs:
 *
 *   WF_LOCKSTEP_DEVICE            nothing of the host is there: no policies, simple patterns only
 *   WF_LOCKSTEP_ROUTER_FASTEST    arrays have the router as their fastest index
 *   WF_LOCKSTEP_LOAD(x)           reads, and
 *   WF_LOCKSTEP_STORE(x, v)       writes a word that other routers write or read
 *   WF_LOCKSTEP_LOAD_PACKET(p, q) reads a packet that another router wrote: *q = *p
 *   WF_LOCKSTEP_WANT(c)           marks a channel as wanted, perhaps by several threads at once
 *   WF_LOCKSTEP_SET(p, v)         *p |= v, by any thread that works on the router
 *   WF_LOCKSTEP_OR(p, v)          *p |= v, atomically
 *   WF_LOCKSTEP_ADD32(p, v), WF_LOCKSTEP_ADD64(p, v), WF_LOCKSTEP_MAX64(p, v)   counts in `out`
 */

#include "base/histogram.h"
#include "traffic/batch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef WF_LOCKSTEP_LOAD
#define WF_LOCKSTEP_LOAD(x)               (x)
#define WF_LOCKSTEP_SET(p, v)             (*(p) |= (v))
#define WF_LOCKSTEP_STORE(x, v)           ((x) = (v))
#define WF_LOCKSTEP_LOAD_PACKET(from, to) (*(to) = *(from))
#define WF_LOCKSTEP_WANT(c)               ((c)->tail |= WF_LOCKSTEP_WANTED)
#define WF_LOCKSTEP_OR(p, v)              (void)__atomic_fetch_or((p), (v), __ATOMIC_RELAXED)
#define WF_LOCKSTEP_ADD32(p, v)           (*(p) += (v))
#define WF_LOCKSTEP_ADD64(p, v)           (*(p) += (v))
#define WF_LOCKSTEP_MAX64(p, v)           (*(p) = *(p) < (v) ? (v) : *(p))
#endif

enum {
    WF_LOCKSTEP_TARGETS_MAX = 8,     /* WF_NET_WAIT_TARGETS */
    WF_LOCKSTEP_HOPS = 64,           /* packets by hops; the last counts all that are longer */
    WF_LOCKSTEP_WINDOW_MAX = 1 << 16 /* cycles of the longest delay */
};
#define WF_LOCKSTEP_NONE    UINT32_C(0xffffffff) /* no channel; no vertex */
#define WF_LOCKSTEP_CONSUME UINT32_C(0xfffffffe)
#define WF_LOCKSTEP_NEVER   UINT32_C(0xffffffff) /* cycle */

/* Where packets may go; the numbers of enum wf_router_routing have other meanings elsewhere. */
enum wf_lockstep_scheme {
    WF_LOCKSTEP_DOR,
    WF_LOCKSTEP_ADAPTIVE,
    WF_LOCKSTEP_DATELINE,
    WF_LOCKSTEP_DATELINE_FREE,
    WF_LOCKSTEP_UPDOWN, /* this and the next on hosts only */
    WF_LOCKSTEP_POLICY,
};

/* enum wf_router_request_order, enum wf_router_arbitration and enum wf_router_injection, which
 * have the same numbers. */
enum { WF_LOCKSTEP_FIRST, WF_LOCKSTEP_SHORTEST, WF_LOCKSTEP_RANDOM, WF_LOCKSTEP_SMART };
enum { WF_LOCKSTEP_ROUND_ROBIN, WF_LOCKSTEP_AGE, WF_LOCKSTEP_DICE, WF_LOCKSTEP_FIFO };
enum { WF_LOCKSTEP_INJECT_SHORTEST, WF_LOCKSTEP_INJECT_DIRECTION, WF_LOCKSTEP_INJECT_LONGEST };

enum wf_lockstep_pattern {
    WF_LOCKSTEP_UNIFORM,
    WF_LOCKSTEP_TABLE, /* always the same destination: partners[] */
    WF_LOCKSTEP_HOT_SPOT,
    WF_LOCKSTEP_HOT_REGION,
    WF_LOCKSTEP_OTHER_PATTERN, /* hosts only */
};

/* ---- records; arrays of these are the state ---- */

/* A packet in a queue. */
struct wf_lockstep_packet {
    uint32_t dst;  /* node */
    uint32_t born; /* cycle in which it entered its injection queue */
    uint32_t way;  /* hops so far << 16 | on grids: bit d is set if it travels dimension d
                      downwards */
    uint32_t at;   /* cycle in which its head arrived */
};

/* What only some runs need to know of a packet; an array beside that of the packets. */
struct wf_lockstep_more {
    uint32_t src;    /* node */
    uint32_t number; /* of the message at its source */
    uint64_t route;  /* struct wf_route_state */
    uint64_t bytes;  /* of the message, if messages are not all alike... */
    uint64_t sent;   /* ...and when it was sent, in picoseconds */
    uint32_t reply;  /* closed loops: it is the answer to a message */
    uint32_t spare;
};

/* A queue: at the end of a channel of a link, or for injection. Its packets are in a ring. */
struct wf_lockstep_input {
    uint32_t head;   /* cycle in which the last packet arrived */
    uint32_t leave;  /* cycle in which the last packet began to leave, + 1; 0: none did */
    uint32_t asked;  /* cycle of the first packet's first request, + 1; 0: no request yet */
    uint16_t n;      /* packets that have arrived and have not begun to leave */
    uint16_t first;  /* place of the first in the ring */
    uint16_t taken;  /* channel that the first packet holds, + 1; 0: none */
    uint16_t pace;   /* cycles per phit with which the last packet began to leave */
    uint16_t chosen; /* what is known of the first packet; 0: nothing yet. With a policy: the
                        channel that it chose, + 1; on grids: WF_LOCKSTEP_KNOWN... */
    uint8_t bet;     /* next request of the first packet, in smart requests */
    uint8_t left;    /* ...and bit d is set if the packet has still to travel dimension d */
};

/* Bits of `chosen`; the lowest 8 are the dimensions that the packet travels downwards. */
#define WF_LOCKSTEP_KNOWN 0x8000u
#define WF_LOCKSTEP_BEFORE \
    0x100u /* it has still to cross the dateline of its first dimension */

/* A virtual channel of an outgoing link. */
struct wf_lockstep_channel {
    uint32_t free;    /* when it is free again, if its holder has begun to leave */
    uint32_t packets; /* packets carried so far */
    uint16_t holder;  /* input that holds it and waits for the link, + 1; 0: no input */
    uint16_t winner;  /* input that got it last, + 1 */
    uint16_t used;    /* used places of the queue at its end */
    uint16_t tail;    /* WF_LOCKSTEP_WANTED | the place for the next packet in that queue */
};
#define WF_LOCKSTEP_WANTED 0x8000u /* a packet waits for a place */

/* An outgoing link. */
struct wf_lockstep_link {
    uint32_t free;
    uint16_t waiting; /* channels that are held and wait for the link */
    uint16_t turn;    /* channel to look at first */
};

/* What a router has besides. */
struct wf_lockstep_router {
    uint32_t consume_free;   /* when only one packet is consumed at a time */
    uint32_t consume_winner; /* input that was consumed last, + 1 */
    uint32_t watch;          /* cycle in which to look for packets that do not move; 0: none */
    uint32_t shut;           /* nothing may be injected */
};

/* What a node has besides. */
struct wf_lockstep_node {
    uint32_t bursts, messages; /* whose random numbers have been drawn */
    uint32_t numbers;          /* messages sent */
    uint32_t spare;
};

/* Links that are alike. */
struct wf_lockstep_kind {
    uint32_t hop;   /* cycles from one router to the next: pipeline and link delay */
    uint32_t pace;  /* cycles in which the link moves a phit */
    uint32_t queue; /* packets in the queue of a channel at its end */
    uint32_t spare;
};

/* A queue whose first packet can continue only into full queues: struct wf_net_wait. */
struct wf_lockstep_wait {
    uint32_t router, input;
    uint32_t is_full;                          /* the queue itself */
    uint32_t n;                                /* full queues... */
    uint32_t targets[WF_LOCKSTEP_TARGETS_MAX]; /* ...and the channels that lead to them */
};

/* Counts of a run. All are sums, except the maxima. */
struct wf_lockstep_out {
    uint64_t digest;           /* wf_router_fact() */
    uint64_t consumed, hops;   /* packets at their node, and their hops */
    uint64_t injected, waited; /* packets that left injection queues, cycles they spent there */
    uint64_t last;             /* picoseconds: the last arrival */
    uint64_t blocked;     /* queues that the watchdog suspects: the run needs the detector */
    uint64_t rounds_left; /* closed loops: rounds that did not end */
    uint64_t sends;       /* packets that began to leave a router; for figures of speed */
    uint64_t by_hops[WF_LOCKSTEP_HOPS];       /* with net.stats */
    uint64_t latencies[WF_HISTOGRAM_BUCKETS]; /* with net.stats */
    struct wf_traffic_batch batches[WF_TRAFFIC_BATCHES];
};

/* The near end of a link. */
struct wf_lockstep_end {
    uint32_t router, port; /* WF_LOCKSTEP_NONE: there is no link */
};

/* The network, by value. Sizes first, then what may differ between runs that share tables, then
 * the blocks. */
struct wf_lockstep_net {
    uint32_t n, n_nodes;       /* vertices; nodes are the first of them */
    uint32_t node_ports;       /* ports of a node... */
    uint32_t other_ports;      /* ...and of another vertex, as the router model counts them */
    uint32_t n_ports;          /* the larger of the two */
    uint32_t vcs;              /* virtual channels of a link */
    uint32_t n_injection;      /* injection queues of a node... */
    uint32_t injection_length; /* ...and their packets */
    uint32_t n_inputs;         /* most inputs of a vertex */
    uint32_t n_words;          /* of bits for n_inputs; those of inputs and of channels */
    uint32_t queue;            /* places of the ring of an input at the end of a link */
    uint32_t head_mask;        /* cycles of the wheel of heads, a power of two, - 1 */
    uint32_t credit_mask;      /* likewise for free places */
    uint32_t phits, turnaround, credit_delay, restriction, n_kinds;
    uint32_t scheme, request, arbitration, injection, pattern;
    uint32_t bubble, escapes, consume_one;
    uint32_t n_dims, rings;             /* bit d: dimension d is a ring of more than two */
    uint32_t self, hot_node, hot_nodes; /* patterns */
    uint32_t has_more, stats, has_kinds, has_scales;
    uint32_t slow;                /* some links take several cycles for a phit */
    struct wf_lockstep_kind kind; /* of all links, unless has_kinds */
    uint32_t class_vcs;           /* with a policy: channels that it needs */
    uint32_t watchdog, drop, burst;
    uint64_t transit, hot; /* probabilities, in units of 2^-53 */
    uint64_t cycle_ps, batch_ps, message_bytes;

    uint64_t seed;
    double scale;    /* for wf_traffic_gap_cycles(), unless `scales` has it */
    uint32_t silent; /* no node sends anything */
    uint32_t end;    /* cycles of the run */

    /* tables */
    const uint32_t *neighbor; /* by router and port; WF_LOCKSTEP_NONE: no link */
    const uint16_t *in_port;  /* by router and port: the input port at the far end... */
    const uint16_t *kind_of;  /* ...and its kind; null: all links are of the first kind */
    const uint16_t *coords;   /* on grids, by router and dimension... */
    const uint32_t *size;     /* ...and the sizes of the dimensions */
    const uint32_t *partners; /* by node, with pattern WF_LOCKSTEP_TABLE */
    const double *scales;     /* by node; negative: it sends nothing. Null: `scale` */
    const struct wf_lockstep_kind *kinds;

    /* state */
    uint32_t *wake;    /* by router: the cycle of its next decision, + 1; 0: none */
    uint32_t *next;    /* by node: the cycle of its next burst */
    uint32_t *heads;   /* wheel: bits of the inputs at which a head arrives in a cycle */
    uint32_t *credits; /* wheel: bits of the channels at whose end a place is free again */
    uint32_t *busy;    /* by word and router: bits of the inputs that have packets */
    uint32_t *
        held; /* on devices, by router: bits of the inputs whose first packet holds a channel... */
    uint32_t *sending; /* ...and of the ports that packets wait for */
    struct wf_lockstep_input *inputs;
    struct wf_lockstep_channel *channels;
    struct wf_lockstep_link *links;
    struct wf_lockstep_router *routers;
    struct wf_lockstep_node *nodes;
    struct wf_lockstep_packet *packets;  /* rings of the inputs at the end of links... */
    struct wf_lockstep_packet *injected; /* ...and of injection queues */
    struct wf_lockstep_more *more, *more_injected; /* beside them, if has_more */

    struct wf_lockstep_out *out;
    /* On hosts: */
    void *host; /* struct wf_lockstep, for policies and other patterns */
    /* With one-way links: where the link into each input port begins, by router and port; null:
     * input ports have the numbers of the output ports that lead back. */
    const struct wf_lockstep_end *before;
    void *loads;    /* struct wf_net_link_load of each link of the run, with net.stats=links */
    void *messages; /* struct wf_lockstep_messages of the run; null if every message is a packet
                     * that is injected at once or dropped */
};

/* ---- where things are ---- */

/* Element i of router r, of `each` elements of each router. */
static inline size_t wf_lockstep_at(const struct wf_lockstep_net *net, uint32_t r, uint32_t i,
                                    uint32_t each)
{
#ifdef WF_LOCKSTEP_ROUTER_FASTEST
    (void)each;
    return (size_t)i * net->n + r;
#else
    (void)net;
    return (size_t)r * each + i;
#endif
}

static inline struct wf_lockstep_input *wf_lockstep_input(const struct wf_lockstep_net *net,
                                                          uint32_t r, uint32_t input)
{
    return &net->inputs[wf_lockstep_at(net, r, input, net->n_inputs)];
}

static inline struct wf_lockstep_channel *wf_lockstep_channel(const struct wf_lockstep_net *net,
                                                              uint32_t r, uint32_t channel)
{
    return &net->channels[wf_lockstep_at(net, r, channel, net->n_ports * net->vcs)];
}

static inline size_t wf_lockstep_port(const struct wf_lockstep_net *net, uint32_t r,
                                      uint32_t port)
{
    return wf_lockstep_at(net, r, port, net->n_ports);
}

static inline uint32_t wf_lockstep_coord(const struct wf_lockstep_net *net, uint32_t r,
                                         uint32_t dim)
{
    return net->coords[wf_lockstep_at(net, r, dim, net->n_dims)];
}

/* Ports of a vertex, and the number of its first injection queue. */
static inline uint32_t wf_lockstep_ports(const struct wf_lockstep_net *net, uint32_t r)
{
    const uint32_t of_node = net->node_ports, of_other = net->other_ports;

    return r < net->n_nodes ? of_node : of_other;
}

static inline uint32_t wf_lockstep_inputs_of(const struct wf_lockstep_net *net, uint32_t r)
{
    return wf_lockstep_ports(net, r) * net->vcs + (r < net->n_nodes ? net->n_injection : 0);
}

static inline bool wf_lockstep_is_injected(const struct wf_lockstep_net *net, uint32_t r,
                                           uint32_t input)
{
    return input >= wf_lockstep_ports(net, r) * net->vcs;
}

static inline struct wf_lockstep_kind wf_lockstep_kind(const struct wf_lockstep_net *net,
                                                       uint32_t r, uint32_t port)
{
    return net->has_kinds == 0 ? net->kind
                               : net->kinds[net->kind_of[wf_lockstep_port(net, r, port)]];
}

/* The near end of the link that ends at an input port. */
static inline struct wf_lockstep_end wf_lockstep_near_end(const struct wf_lockstep_net *net,
                                                          uint32_t r, uint32_t in_port)
{
    size_t at = wf_lockstep_port(net, r, in_port);

#ifndef WF_LOCKSTEP_DEVICE
    if (net->before != NULL) {
        return net->before[at];
    }
#endif
    return (struct wf_lockstep_end){net->neighbor[at], net->in_port[at]};
}

/* The kind of the link that ends at an input port; the first kind if there is none. */
static inline struct wf_lockstep_kind wf_lockstep_kind_in(const struct wf_lockstep_net *net,
                                                          uint32_t r, uint32_t port)
{
    if (net->has_kinds == 0) {
        return net->kind;
    }
    const struct wf_lockstep_end end = wf_lockstep_near_end(net, r, port);
    return end.router == WF_LOCKSTEP_NONE ? net->kinds[0]
                                          : wf_lockstep_kind(net, end.router, end.port);
}

/* Cycles per phit with which the last packet of a queue began to leave. */
static inline uint32_t wf_lockstep_pace(const struct wf_lockstep_net *net,
                                        const struct wf_lockstep_input *input)
{
    return net->slow != 0 ? input->pace : 1;
}

/* Place `slot` in the ring of an input: number of the packet in `packets`, or in `injected`. */
static inline size_t wf_lockstep_slot(const struct wf_lockstep_net *net, uint32_t r,
                                      uint32_t input, uint32_t slot)
{
    uint32_t links = wf_lockstep_ports(net, r) * net->vcs;

    return input < links
               ? wf_lockstep_at(net, r, input * net->queue + slot,
                                net->n_ports * net->vcs * net->queue)
               : wf_lockstep_at(net, r, (input - links) * net->injection_length + slot,
                                net->n_injection * net->injection_length);
}

static inline struct wf_lockstep_packet *
wf_lockstep_packet(const struct wf_lockstep_net *net, uint32_t r, uint32_t input, uint32_t slot)
{
    struct wf_lockstep_packet *base =
        wf_lockstep_is_injected(net, r, input) ? net->injected : net->packets;

    return &base[wf_lockstep_slot(net, r, input, slot)];
}

/* The packet there, which another router may have written. */
static inline struct wf_lockstep_packet
wf_lockstep_read(const struct wf_lockstep_net *net, uint32_t r, uint32_t input, uint32_t slot)
{
    struct wf_lockstep_packet packet;

    WF_LOCKSTEP_LOAD_PACKET(wf_lockstep_packet(net, r, input, slot), &packet);
    return packet;
}

static inline struct wf_lockstep_more *
wf_lockstep_more(const struct wf_lockstep_net *net, uint32_t r, uint32_t input, uint32_t slot)
{
    struct wf_lockstep_more *base =
        wf_lockstep_is_injected(net, r, input) ? net->more_injected : net->more;

    return &base[wf_lockstep_slot(net, r, input, slot)];
}

/* Word `word` of router r in a wheel, for a cycle. */
static inline uint32_t *wf_lockstep_spoke(const struct wf_lockstep_net *net, uint32_t *wheel,
                                          uint32_t slot, uint32_t word, uint32_t r)
{
    return &wheel[((size_t)slot * net->n_words + word) * net->n + r];
}

/* ---- the blocks ---- */

/* Takes `bytes` from a block, aligned to 16. */
static inline void *wf_lockstep_carve(void *base, uint64_t *at, uint64_t bytes)
{
    void *part = (unsigned char *)base + *at;

    *at += (bytes + 15) & ~UINT64_C(15);
    return part;
}

/* Sets the pointers into the state; returns its size. If only the size is wanted, `base` is any
 * pointer. */
static inline uint64_t wf_lockstep_place(struct wf_lockstep_net *net, void *base)
{
    const uint64_t n = net->n, channels = n * net->n_ports * net->vcs, words = n * net->n_words;
    const uint64_t places = channels * net->queue,
                   waiting = (uint64_t)net->n_nodes * net->n_injection * net->injection_length;
    /* Router-fastest arrays have an element for every router. */
    const uint64_t injected = net->n_nodes == 0 ? 0 : waiting / net->n_nodes * n;
    uint64_t at = 0;

    net->packets = wf_lockstep_carve(base, &at, places * sizeof(*net->packets));
    net->injected = wf_lockstep_carve(base, &at, injected * sizeof(*net->injected));
    net->inputs = wf_lockstep_carve(base, &at, n * net->n_inputs * sizeof(*net->inputs));
    net->channels = wf_lockstep_carve(base, &at, channels * sizeof(*net->channels));
    net->links = wf_lockstep_carve(base, &at, n * net->n_ports * sizeof(*net->links));
    net->routers = wf_lockstep_carve(base, &at, n * sizeof(*net->routers));
    net->nodes = wf_lockstep_carve(base, &at, net->n_nodes * sizeof(*net->nodes));
    net->wake = wf_lockstep_carve(base, &at, n * sizeof(*net->wake));
    net->next = wf_lockstep_carve(base, &at, n * sizeof(*net->next));
    net->held = wf_lockstep_carve(base, &at, n * sizeof(*net->held));
    net->sending = wf_lockstep_carve(base, &at, n * sizeof(*net->sending));
    net->busy = wf_lockstep_carve(base, &at, words * sizeof(*net->busy));
    net->heads =
        wf_lockstep_carve(base, &at, (net->head_mask + 1) * words * sizeof(*net->heads));
    net->credits =
        wf_lockstep_carve(base, &at, (net->credit_mask + 1) * words * sizeof(*net->credits));
    if (net->has_more != 0) {
        net->more = wf_lockstep_carve(base, &at, places * sizeof(*net->more));
        net->more_injected =
            wf_lockstep_carve(base, &at, injected * sizeof(*net->more_injected));
    }
    return at;
}

/* Likewise for the tables. */
static inline uint64_t wf_lockstep_place_tables(struct wf_lockstep_net *net, void *base)
{
    const uint64_t n = net->n, links = n * net->n_ports;
    uint64_t at = 0;

    net->kinds = wf_lockstep_carve(base, &at, net->n_kinds * sizeof(*net->kinds));
    net->neighbor = wf_lockstep_carve(base, &at, links * sizeof(*net->neighbor));
    net->in_port = wf_lockstep_carve(base, &at, links * sizeof(*net->in_port));
    net->coords = wf_lockstep_carve(base, &at, n * net->n_dims * sizeof(*net->coords));
    net->size = wf_lockstep_carve(base, &at, net->n_dims * sizeof(*net->size));
    net->partners = NULL;
    net->kind_of = NULL;
    net->scales = NULL;
    if (net->pattern == WF_LOCKSTEP_TABLE) {
        net->partners = wf_lockstep_carve(base, &at, net->n_nodes * sizeof(*net->partners));
    }
    if (net->has_kinds != 0) {
        net->kind_of = wf_lockstep_carve(base, &at, links * sizeof(*net->kind_of));
    }
    if (net->has_scales != 0) {
        net->scales = wf_lockstep_carve(base, &at, net->n_nodes * sizeof(*net->scales));
    }
    return at;
}
