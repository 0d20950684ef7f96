/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The rules of routers with virtual channels. The headers of this folder have each rule once, as a
 * function of values. Events (net/router), lock step on cores and kernels for GPUs (lockstep)
 * execute them, each on a state of its own. docs/models/router.md describes the rules.
 *
 * Rules that look at several queues or channels read the state through struct wf_router_reads.
 * Compiled for devices, too: fixed-width integers, static functions, no library.
 */

#include "model/net/router/rules/draw.h"
#include "model/net/router/rules/turns.h"

#include <stdbool.h>
#include <stdint.h>

enum wf_router_routing {
    WF_ROUTER_OBLIVIOUS_1VC, /* the three designs in INSEE's paper... */
    WF_ROUTER_OBLIVIOUS_3VC,
    WF_ROUTER_ADAPTIVE_3VC,
    WF_ROUTER_DOR, /* ...and the schemes that they use, with any number of channels */
    WF_ROUTER_ADAPTIVE,
    WF_ROUTER_DATELINE,
    WF_ROUTER_DATELINE_FREE,
    WF_ROUTER_UPDOWN,
    WF_ROUTER_MINIMAL,
    WF_ROUTER_VALIANT,
    WF_ROUTER_UGAL, /* another name for the next */
    WF_ROUTER_UGAL_L,
    WF_ROUTER_UGAL_G,
    WF_ROUTER_PAR,
    WF_ROUTER_ECMP,
    WF_ROUTER_TABLE,
    WF_ROUTER_USUAL,
    WF_ROUTER_AUTO_ROUTING,
    WF_ROUTER_POLICY =
        WF_ROUTER_AUTO_ROUTING, /* as a scheme: model/net/route/route.h decides */
};

enum wf_router_request_order {
    WF_ROUTER_FIRST,
    WF_ROUTER_SHORTEST,
    WF_ROUTER_RANDOM,
    WF_ROUTER_SMART,
    WF_ROUTER_SOURCE,
};

enum wf_router_injection {
    WF_ROUTER_INJECT_SHORTEST,
    WF_ROUTER_INJECT_DIRECTION,
    WF_ROUTER_INJECT_LONGEST_PATH,
};

/* What the rules depend on, the same for all routers of a network. */
struct wf_router_rules {
    uint64_t seed;
    uint64_t transit;     /* probability that packets in transit go first, in units of 2^-53 */
    uint32_t scheme;      /* enum wf_router_routing without the presets and policies */
    uint32_t request;     /* enum wf_router_request_order */
    uint32_t arbitration; /* enum wf_router_arbitration */
    uint32_t injection;   /* enum wf_router_injection */
    uint32_t vcs;         /* virtual channels of a link... */
    uint32_t set_vcs;    /* ...those for routes of one epoch; all without failures in time... */
    uint32_t class_vcs;  /* ...and those that a policy needs for these */
    uint32_t phits;      /* of a packet */
    uint32_t turnaround; /* cycles */
    uint32_t restriction; /* packets */
    uint32_t bubble;      /* a packet enters a ring only if one more would fit */
    uint32_t escapes;     /* channels of each link that adaptive packets use as a last resort */
    uint32_t n_dims;      /* of a grid on which the scheme is for grids; else 0 */
    uint32_t rings;       /* bit d: dimension d is a ring of more than two */
};

#define WF_ROUTER_NONE    UINT32_C(0xffffffff) /* no channel */
#define WF_ROUTER_CONSUME UINT32_C(0xfffffffe) /* instead of a channel: at the destination */

/* Rules count time in cycles from the current one on, or since something happened. Longer times than
 * WF_ROUTER_LONG count as that: it is too long to matter, or a router decides once more than needed. */
#define WF_ROUTER_LONG     UINT32_C(0xfffffffe)
#define WF_ROUTER_NOT_SOON UINT32_C(0xffffffff) /* something else will wake the router */

/* A queue, as rules see it in a cycle. */
struct wf_router_queue_now {
    uint32_t n;          /* packets whose head has arrived and that have not begun to leave */
    uint32_t since_head; /* cycles since the last head arrived */
    uint32_t since_left; /* cycles since a packet began to leave; WF_ROUTER_LONG: none has... */
    uint32_t pace;       /* ...and the cycles per phit with which it leaves */
    uint32_t link_pace;  /* cycles per phit of the link that ends here... */
    uint32_t capacity;   /* ...and the packets for which there is room */
};

/* Likewise a virtual channel of an outgoing link. */
struct wf_router_channel_now {
    uint32_t used;     /* places in the queue at its end that are taken... */
    uint32_t capacity; /* ...of this many packets */
    uint32_t pace;     /* cycles in which the link moves a phit */
    uint32_t free_in; /* cycles until the packet that leaves by it has left; 0: there is none */
    bool is_held;     /* by a packet that waits for the link */
};

/* Facts about a queue or its first packet. */
enum wf_router_fact {
    WF_ROUTER_BORN,    /* the cycle in which it entered its injection queue */
    WF_ROUTER_ASKED,   /* that of its first request */
    WF_ROUTER_WAITING, /* packets in the queue, with this one */
};

/* How an execution reads its state of a router. If the table is constant, compilers make one function
 * of a rule and of what it reads. `router` is what the execution passes on. */
struct wf_router_reads {
    struct wf_router_channel_now (*channel)(const void *router, uint32_t channel);
    struct wf_router_queue_now (*queue)(const void *router, uint32_t input); /* of a link */
    void (*want)(const void *router, uint32_t channel); /* a packet waits for a place there */
    uint64_t (*first)(const void *router, uint32_t input, enum wf_router_fact what);
};

/* A router in a cycle. */
struct wf_router_here {
    const struct wf_router_rules *rules;
    const struct wf_router_reads *reads;
    const void *router;
    uint32_t vertex;
    uint64_t cycle;
};

/* Rules that read the state are always a part of their caller, which knows the table. */
#define WF_ROUTER_RULE static inline __attribute__((always_inline))

/* So are, in builds for speed, the functions of the table. Without optimisation, and with gcc's -Og,
 * a compiler may not know the table's members and would refuse. */
#ifdef NDEBUG
#define WF_ROUTER_READ WF_ROUTER_RULE
#else
#define WF_ROUTER_READ static inline
#endif

/* A random number below n: the `count`-th of this cycle for a purpose (model/net/router/rules/draw.h). */
WF_ROUTER_RULE uint32_t wf_router_below(const struct wf_router_here *here, uint32_t what,
                                        uint32_t count, uint32_t n)
{
    return n == 1 ? 0
                  : wf_rng_below32(wf_router_draw(here->rules->seed, here->vertex, what,
                                                  here->cycle, count),
                                   n);
}
