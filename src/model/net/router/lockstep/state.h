/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A network of cut-through routers under synthetic traffic, as lock step simulates it: all
 * routers take one cycle after the other. The rules are those of net/router/rules, which events
 * (net/router) execute, too: the digest of both is the same.
 *
 * Everything is in three blocks of memory. `tables` do not change during a run and may be shared
 * by runs that differ only in load and seed. `state` is the network; all zero is its beginning.
 * `out` has counts, which are only added to. A struct wf_lockstep_net has the numbers that
 * describe the network and pointers into the blocks.
 *
 * Compiled for devices, too: fixed-width integers, static functions, no library. An execution
 * defines, before it includes this file, what differs:
 *
 *   WF_LOCKSTEP_DEVICE            nothing of the host is there; always with the next
 *   WF_LOCKSTEP_TILES             what belongs to a router is in one piece, struct wf_lockstep_own;
 *                                 only for networks of wf_lockstep_fits_tiles()
 *   WF_LOCKSTEP_TIGHT             records are small; wf_lockstep_is_small() tells for which networks
 *   WF_LOCKSTEP_LOAD(x)           reads, and
 *   WF_LOCKSTEP_STORE(x, v)       writes a word that other routers write or read
 *   WF_LOCKSTEP_LOAD_PACKET(p, q) reads a packet that another router wrote: *q = *p
 *   WF_LOCKSTEP_WANT(c)           marks a channel as wanted, perhaps by several threads at once
 *   WF_LOCKSTEP_SET(p, v)         *p |= v, by any thread that works on the router
 *   WF_LOCKSTEP_CLEAR(p, v)       *p &= ~v, likewise
 *   WF_LOCKSTEP_OR(p, v)          *p |= v, atomically
 *   WF_LOCKSTEP_ADD32(p, v), WF_LOCKSTEP_ADD64(p, v), WF_LOCKSTEP_MAX64(p, v)   counts in `out`
 */

#include "base/histogram.h"
#include "model/net/router/lockstep/records.h"
#include "model/net/router/rules/arbitrate.h"
#include "model/net/router/rules/request.h"
#include "model/traffic/batch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef WF_LOCKSTEP_LOAD
#define WF_LOCKSTEP_LOAD(x)               (x)
#define WF_LOCKSTEP_SET(p, v)             (*(p) |= (v))
#define WF_LOCKSTEP_CLEAR(p, v)           (*(p) &= ~(v))
#define WF_LOCKSTEP_STORE(x, v)           ((x) = (v))
#define WF_LOCKSTEP_LOAD_PACKET(from, to) (*(to) = *(from))
#define WF_LOCKSTEP_WANT(c)               ((c)->tail |= (wf_lockstep_short)WF_LOCKSTEP_WANTED)
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
#define WF_LOCKSTEP_NONE  UINT32_C(0xffffffff) /* no vertex */
#define WF_LOCKSTEP_NEVER UINT32_C(0xffffffff) /* cycle */

enum wf_lockstep_pattern {
    WF_LOCKSTEP_UNIFORM,
    WF_LOCKSTEP_TABLE, /* always the same destination: partners[] */
    WF_LOCKSTEP_HOT_SPOT,
    WF_LOCKSTEP_HOT_REGION,
    WF_LOCKSTEP_OTHER, /* asks model/traffic/pattern.h; not for tiles */
};

/* A list of records, model/net/router/lockstep/messages.h: those from `first` to before `n`. */
struct wf_lockstep_list {
    void *items;
    uint32_t first, n, capacity, spare;
};

/* What a node has, if messages are not all single packets that are injected at once or dropped. */
struct wf_lockstep_sender {
    int64_t next; /* picoseconds: the next burst */
    uint64_t missing,
        rounds; /* closed loops: messages of this round that are still in progress,
                               * rounds begun */
    struct wf_lockstep_list waiting; /* struct wf_lockstep_new_packet: messages; `index` is the
                                        * number of packets that are left */
    struct wf_lockstep_list partial; /* struct wf_lockstep_partial */
    struct wf_lockstep_list reactions; /* struct wf_lockstep_reaction, by cycle */
};

/* Likewise what all nodes share. */
struct wf_lockstep_mail {
    uint32_t needed;
    uint32_t least, done_mask; /* closed loops without answers: cycles until a node learns that
                                * its message has arrived, and the mask of the wheel of these */
    uint64_t rounds, reply, packet;

    struct wf_lockstep_sender *senders; /* by node */
    uint32_t *done; /* by cycle and node: messages that have arrived elsewhere */
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

struct wf_net_link_load; /* model/net/stats/link_words.h */

/* The network, by value. Sizes first, then what may differ between runs that share tables, then
 * the blocks. */
struct wf_lockstep_net {
    struct wf_router_rules rules;
    uint32_t n, n_nodes;       /* vertices; nodes are the first of them */
    uint32_t node_ports;       /* ports of a node... */
    uint32_t other_ports;      /* ...and of another vertex, as the router model counts them */
    uint32_t n_ports;          /* the larger of the two */
    uint32_t n_injection;      /* injection queues of a node... */
    uint32_t injection_length; /* ...and their packets */
    uint32_t n_inputs;         /* most inputs of a vertex */
    uint32_t n_words;          /* of bits for n_inputs; those of inputs and of channels */
    uint32_t queue;            /* places of the ring of an input at the end of a link */
    uint32_t head_last;        /* cycles of the wheel of heads - 1, see wf_lockstep_spoke() */
    uint32_t credit_last;      /* likewise for free places */
    uint32_t head_delay, credit_delay_max; /* the longest delays, which need one cycle more */
    uint32_t credit_delay, n_kinds, consume_one, pattern;
    uint32_t self, hot_node, hot_nodes; /* patterns */
    uint32_t has_more, stats, has_kinds, has_scales;
    uint32_t slow;                /* some links take several cycles for a phit */
    struct wf_lockstep_kind kind; /* of all links, unless has_kinds */
    uint32_t watchdog, drop, burst;
    uint64_t limit; /* of packets in the network; 0: there is none */
    uint64_t hot;   /* probability, in units of 2^-53 */
    uint64_t cycle_ps, batch_ps, message_bytes;

    uint32_t tight; /* devices: records are small */
    uint32_t base;  /* devices: the router to which the first words of `own` belong */

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
    /* With one-way links: where the link into each input port begins, by router and port; null:
     * input ports have the numbers of the output ports that lead back. */
    const struct wf_lockstep_end *before;

    /* state */
    uint32_t *wake;  /* by router: the cycle of its next decision, + 1; 0: none. On devices its
                        * complement, so that the largest of several counts */
    uint32_t *next;  /* by node: the cycle of its next burst */
    uint32_t *heads; /* wheel: bits of the inputs at which a head arrives in a cycle */
    uint32_t *credits; /* wheel: bits of the channels at whose end a place is free again */
    uint32_t *busy;    /* by word and router: bits of the inputs that have packets */
    struct wf_lockstep_input *inputs;
    struct wf_lockstep_channel *channels;
    struct wf_lockstep_link *links;
    struct wf_lockstep_router *routers;
    struct wf_lockstep_node *nodes;
    uint32_t
        *own; /* tiles: instead of `busy` to `nodes`; on devices of `wake` and `next`, too */
    struct wf_lockstep_stored *packets;  /* rings of the inputs at the end of links... */
    struct wf_lockstep_stored *injected; /* ...and of injection queues */
    struct wf_lockstep_more *more, *more_injected; /* beside them, if has_more */
    struct wf_lockstep_mail mail;
    struct wf_net_link_load *loads; /* of each link, with net.stats=links; else null */

    struct wf_lockstep_out *out;
    /* On hosts: */
    void *host; /* struct wf_lockstep, for policies and patterns */
};

/* ---- where things are ---- */

/* Element i of router r, of `each` elements of each router. */
static inline size_t wf_lockstep_at(uint32_t r, uint32_t i, uint32_t each)
{
    return (size_t)r * each + i;
}

static inline size_t wf_lockstep_port(const struct wf_lockstep_net *net, uint32_t r,
                                      uint32_t port)
{
    return wf_lockstep_at(r, port, net->n_ports);
}

#ifdef WF_LOCKSTEP_TILES

/* Words of `own` of each router, with records of the sizes of this execution. */
static inline uint32_t wf_lockstep_own_words(const struct wf_lockstep_net *net)
{
    return WF_LOCKSTEP_OWN_WORDS + net->n_inputs * WF_LOCKSTEP_WORDS(INPUT) +
           net->n_ports * net->rules.vcs * WF_LOCKSTEP_WORDS(CHANNEL) +
           net->n_ports * WF_LOCKSTEP_WORDS(LINK);
}

static inline struct wf_lockstep_own *wf_lockstep_own(const struct wf_lockstep_net *net,
                                                      uint32_t r)
{
    uint32_t *own = net->own + (size_t)((r - net->base) * wf_lockstep_own_words(net));

    return (struct wf_lockstep_own *)own;
}

static inline struct wf_lockstep_input *wf_lockstep_input(const struct wf_lockstep_net *net,
                                                          uint32_t r, uint32_t input)
{
    uint32_t *words = (uint32_t *)wf_lockstep_own(net, r);

    return (struct wf_lockstep_input *)(words + WF_LOCKSTEP_OWN_WORDS) + input;
}

static inline struct wf_lockstep_channel *wf_lockstep_channel(const struct wf_lockstep_net *net,
                                                              uint32_t r, uint32_t channel)
{
    return (struct wf_lockstep_channel *)wf_lockstep_input(net, r, net->n_inputs) + channel;
}

static inline struct wf_lockstep_link *wf_lockstep_link(const struct wf_lockstep_net *net,
                                                        uint32_t r, uint32_t port)
{
    return (struct wf_lockstep_link *)wf_lockstep_channel(net, r,
                                                          net->n_ports * net->rules.vcs) +
           port;
}

static inline struct wf_lockstep_router *wf_lockstep_router(const struct wf_lockstep_net *net,
                                                            uint32_t r)
{
    return &wf_lockstep_own(net, r)->router;
}

static inline struct wf_lockstep_node *wf_lockstep_node(const struct wf_lockstep_net *net,
                                                        uint32_t r)
{
    return &wf_lockstep_own(net, r)->node;
}

static inline uint32_t *wf_lockstep_next(const struct wf_lockstep_net *net, uint32_t r)
{
#ifdef WF_LOCKSTEP_DEVICE
    return &wf_lockstep_own(net, r)->next;
#else
    return &net->next[r];
#endif
}

static inline uint32_t *wf_lockstep_waking(const struct wf_lockstep_net *net, uint32_t r)
{
    return &wf_lockstep_own(net, r)->wake;
}

static inline uint32_t *wf_lockstep_busy(const struct wf_lockstep_net *net, uint32_t r,
                                         uint32_t word)
{
    (void)word;
    return &wf_lockstep_own(net, r)->busy;
}

#else

static inline struct wf_lockstep_input *wf_lockstep_input(const struct wf_lockstep_net *net,
                                                          uint32_t r, uint32_t input)
{
    return &net->inputs[wf_lockstep_at(r, input, net->n_inputs)];
}

static inline struct wf_lockstep_channel *wf_lockstep_channel(const struct wf_lockstep_net *net,
                                                              uint32_t r, uint32_t channel)
{
    return &net->channels[wf_lockstep_at(r, channel, net->n_ports * net->rules.vcs)];
}

static inline struct wf_lockstep_link *wf_lockstep_link(const struct wf_lockstep_net *net,
                                                        uint32_t r, uint32_t port)
{
    return &net->links[wf_lockstep_port(net, r, port)];
}

static inline struct wf_lockstep_router *wf_lockstep_router(const struct wf_lockstep_net *net,
                                                            uint32_t r)
{
    return &net->routers[r];
}

static inline struct wf_lockstep_node *wf_lockstep_node(const struct wf_lockstep_net *net,
                                                        uint32_t r)
{
    return &net->nodes[r];
}

static inline uint32_t *wf_lockstep_next(const struct wf_lockstep_net *net, uint32_t r)
{
    return &net->next[r];
}

static inline uint32_t *wf_lockstep_waking(const struct wf_lockstep_net *net, uint32_t r)
{
    return &net->wake[r];
}

static inline uint32_t *wf_lockstep_busy(const struct wf_lockstep_net *net, uint32_t r,
                                         uint32_t word)
{
    return &net->busy[wf_lockstep_at(r, word, net->n_words)];
}

#endif

static inline const uint16_t *wf_lockstep_coords(const struct wf_lockstep_net *net, uint32_t r)
{
    return net->coords + wf_lockstep_at(r, 0, net->rules.n_dims);
}

/* Ports of a vertex, and the number of its first injection queue. */
static inline uint32_t wf_lockstep_ports(const struct wf_lockstep_net *net, uint32_t r)
{
    const uint32_t of_node = net->node_ports, of_other = net->other_ports;

    return r < net->n_nodes ? of_node : of_other;
}

static inline uint32_t wf_lockstep_inputs_of(const struct wf_lockstep_net *net, uint32_t r)
{
    return wf_lockstep_ports(net, r) * net->rules.vcs +
           (r < net->n_nodes ? net->n_injection : 0);
}

static inline bool wf_lockstep_is_injected(const struct wf_lockstep_net *net, uint32_t r,
                                           uint32_t input)
{
    return input >= wf_lockstep_ports(net, r) * net->rules.vcs;
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

#ifndef WF_LOCKSTEP_TILES
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

/* ---- records ---- */

#ifdef WF_LOCKSTEP_TIGHT

/* Cycles per phit with which the last packet of a queue began to leave. */
static inline uint32_t wf_lockstep_pace(const struct wf_lockstep_net *net,
                                        const struct wf_lockstep_input *input)
{
    (void)net;
    (void)input;
    return 1;
}

/* Notes, as far as records have it, that the first packet of a queue asks for the first time... */
static inline void wf_lockstep_asks(struct wf_lockstep_input *input, uint32_t cycle)
{
    (void)input;
    (void)cycle;
}

/* ...when it did... */
static inline uint32_t wf_lockstep_asked(const struct wf_lockstep_input *input)
{
    (void)input;
    return 0;
}

/* ...and that it leaves. */
static inline void wf_lockstep_forget(struct wf_lockstep_input *input, uint32_t pace)
{
    (void)pace;
    input->seen = 0;
}

/* When a channel is free again, if its holder has begun to leave: a link that is busy carries the
 * packet of the channel before the one to look at first. */
static inline uint32_t wf_lockstep_channel_free(const struct wf_lockstep_net *net, uint32_t r,
                                                uint32_t channel)
{
    const struct wf_lockstep_link link = *wf_lockstep_link(net, r, channel / net->rules.vcs);
    uint32_t after = channel % net->rules.vcs + 1;

    return link.turn == (after == net->rules.vcs ? 0 : after) ? link.free : 0;
}

static inline void wf_lockstep_busy_until(const struct wf_lockstep_net *net, uint32_t r,
                                          uint32_t channel, uint32_t cycle)
{
    wf_lockstep_link(net, r, channel / net->rules.vcs)->free = cycle;
}

static inline struct wf_lockstep_packet
wf_lockstep_unpacked(const struct wf_lockstep_stored *stored)
{
    uint32_t hops = stored->since >> 24 << 4 | stored->to >> 28;

    return (struct wf_lockstep_packet){.dst = stored->to & 0xffffff,
                                       .born = stored->since & 0xffffff,
                                       .way = hops << 16 | (stored->to >> 24 & 0xf)};
}

static inline struct wf_lockstep_stored
wf_lockstep_packed(const struct wf_lockstep_packet *packet)
{
    uint32_t hops = packet->way >> 16;

    return (struct wf_lockstep_stored){hops << 28 | (packet->way & 0xf) << 24 | packet->dst,
                                       hops >> 4 << 24 | packet->born};
}

#else

static inline uint32_t wf_lockstep_pace(const struct wf_lockstep_net *net,
                                        const struct wf_lockstep_input *input)
{
    return net->slow != 0 ? input->pace : 1;
}

static inline void wf_lockstep_asks(struct wf_lockstep_input *input, uint32_t cycle)
{
    input->asked = input->asked == 0 ? cycle + 1 : input->asked;
}

static inline uint32_t wf_lockstep_asked(const struct wf_lockstep_input *input)
{
    return input->asked;
}

static inline void wf_lockstep_forget(struct wf_lockstep_input *input, uint32_t pace)
{
    input->asked = 0;
    input->pace = (uint16_t)pace;
}

static inline uint32_t wf_lockstep_channel_free(const struct wf_lockstep_net *net, uint32_t r,
                                                uint32_t channel)
{
    return wf_lockstep_channel(net, r, channel)->free;
}

static inline void wf_lockstep_busy_until(const struct wf_lockstep_net *net, uint32_t r,
                                          uint32_t channel, uint32_t cycle)
{
    wf_lockstep_channel(net, r, channel)->free = cycle;
    wf_lockstep_link(net, r, channel / net->rules.vcs)->free = cycle;
}

static inline struct wf_lockstep_packet
wf_lockstep_unpacked(const struct wf_lockstep_stored *stored)
{
    return stored->packet;
}

static inline struct wf_lockstep_stored
wf_lockstep_packed(const struct wf_lockstep_packet *packet)
{
    return (struct wf_lockstep_stored){*packet};
}

#endif

/* Place `slot` in the ring of an input: number of the packet in `packets`, or in `injected`. */
static inline size_t wf_lockstep_slot(const struct wf_lockstep_net *net, uint32_t r,
                                      uint32_t input, uint32_t slot)
{
    uint32_t links = wf_lockstep_ports(net, r) * net->rules.vcs;

    return input < links ? wf_lockstep_at(r, input * net->queue + slot,
                                          net->n_ports * net->rules.vcs * net->queue)
                         : wf_lockstep_at(r, (input - links) * net->injection_length + slot,
                                          net->n_injection * net->injection_length);
}

static inline struct wf_lockstep_stored *
wf_lockstep_packet(const struct wf_lockstep_net *net, uint32_t r, uint32_t input, uint32_t slot)
{
    struct wf_lockstep_stored *base =
        wf_lockstep_is_injected(net, r, input) ? net->injected : net->packets;

    return &base[wf_lockstep_slot(net, r, input, slot)];
}

/* The packet there, which another router may have written. */
static inline struct wf_lockstep_packet
wf_lockstep_read(const struct wf_lockstep_net *net, uint32_t r, uint32_t input, uint32_t slot)
{
    struct wf_lockstep_stored stored;

    WF_LOCKSTEP_LOAD_PACKET(wf_lockstep_packet(net, r, input, slot), &stored);
    return wf_lockstep_unpacked(&stored);
}

static inline struct wf_lockstep_more *
wf_lockstep_more(const struct wf_lockstep_net *net, uint32_t r, uint32_t input, uint32_t slot)
{
    struct wf_lockstep_more *base =
        wf_lockstep_is_injected(net, r, input) ? net->more_injected : net->more;

    return &base[wf_lockstep_slot(net, r, input, slot)];
}

/* Word `word` of router r in a wheel of last + 1 cycles, for a cycle. On hosts this is a power of two;
 * devices have less memory. */
static inline uint32_t *wf_lockstep_spoke(const struct wf_lockstep_net *net, uint32_t *wheel,
                                          uint32_t last, uint32_t cycle, uint32_t word,
                                          uint32_t r)
{
#ifdef WF_LOCKSTEP_DEVICE
    size_t slot = cycle % (last + 1);
#else
    size_t slot = cycle & last;
#endif

    return &wheel[(slot * net->n_words + word) * net->n + r];
}
