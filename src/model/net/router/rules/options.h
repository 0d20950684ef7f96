/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Which channels the first packet of a queue may request. The rules on grids are those of INSEE's
 * FSIN. Channels are listed as spans, each of channels of one port; on grids there is at most one
 * for each dimension.
 */

#include "model/net/router/rules/grid.h"

enum { WF_ROUTER_ESCAPE = 0 }; /* the channel of adaptive routing that cannot deadlock */

/* The first packet of a queue, and where it is. */
struct wf_router_asker {
    uint32_t input;
    uint32_t port, vc; /* of the input, unless it is injected here */
    bool injected;
    bool before;           /* wf_router_is_before() */
    uint32_t left, down;   /* on grids, bits of dimensions: still to travel, and downwards */
    uint32_t since;        /* if links differ: cycles since its head arrived... */
    uint32_t pace;         /* ...and cycles per phit of the link by which it comes; else 0 */
    const uint32_t *ports; /* trees: the ports that it may take */
    uint32_t n_ports;
    uint32_t chosen; /* policies: the channel chosen, + 1 */
};

/* Channels first, first + step, ... before `end`. */
struct wf_router_span {
    uint32_t first, end, step;
};

/* All channels of a port from number `vc` on. */
static inline struct wf_router_span wf_router_span_of(const struct wf_router_rules *rules,
                                                      uint32_t port, uint32_t vc)
{
    return (struct wf_router_span){port * rules->vcs + vc, (port + 1) * rules->vcs, 1};
}

static inline struct wf_router_span wf_router_span_one(uint32_t channel)
{
    return (struct wf_router_span){channel, channel + 1, 1};
}

/* Dimension order: a packet that stays in a dimension keeps its channel. */
static inline struct wf_router_span wf_router_dor(const struct wf_router_rules *rules,
                                                  const struct wf_router_asker *asker)
{
    uint32_t dim = wf_router_first_dim(asker->left);
    uint32_t port = wf_router_dim_port(asker->down, dim);

    return !asker->injected && asker->port / 2 == dim
               ? wf_router_span_one(port * rules->vcs + asker->vc)
               : wf_router_span_of(rules, port, 0);
}

/* Two classes of channels: the lower ones for packets that have still to cross the dateline of
 * the ring, the upper ones for the others (Dally and Seitz, "Deadlock-free message routing in
 * multiprocessor interconnection networks", IEEE Transactions on Computers, 1987). */
static inline struct wf_router_span wf_router_dateline(const struct wf_router_rules *rules,
                                                       const struct wf_router_asker *asker)
{
    uint32_t dim = wf_router_first_dim(asker->left);
    uint32_t first = wf_router_dim_port(asker->down, dim) * rules->vcs;
    bool before = asker->before;
    bool low = before || rules->scheme == WF_ROUTER_DATELINE_FREE;

    return (struct wf_router_span){first + (low ? 0 : rules->vcs / 2),
                                   first + (before ? rules->vcs / 2 : rules->vcs), 1};
}

/* Whether an adaptive packet continues in its dimension by `port`, in its own channel. */
static inline bool wf_router_stays(const struct wf_router_asker *asker, uint32_t port)
{
    return !asker->injected && asker->vc != WF_ROUTER_ESCAPE && (port ^ 1) == asker->port;
}

/* Fully adaptive, minimal: a span for each dimension; dimension order as the escape. */
static inline struct wf_router_span wf_router_adaptive(const struct wf_router_rules *rules,
                                                       const struct wf_router_asker *asker,
                                                       uint32_t dim)
{
    uint32_t port = wf_router_dim_port(asker->down, dim);

    if ((asker->left >> dim & 1) == 0) {
        return (struct wf_router_span){0, 0, 1};
    }
    return rules->request == WF_ROUTER_SMART && wf_router_stays(asker, port)
               ? wf_router_span_one(port * rules->vcs + asker->vc)
               : wf_router_span_of(rules, port, 1);
}

/* The channel that an adaptive packet tries last; WF_ROUTER_NONE for others. */
static inline uint32_t wf_router_escape(const struct wf_router_rules *rules,
                                        const struct wf_router_asker *asker)
{
    uint32_t dim = wf_router_first_dim(asker->left);

    return rules->escapes == 0
               ? WF_ROUTER_NONE
               : wf_router_dim_port(asker->down, dim) * rules->vcs + WF_ROUTER_ESCAPE;
}

/* The channels of the class that a policy chose. Beyond those that it needs, each class has several,
 * all alike. */
static inline struct wf_router_span wf_router_chosen(const struct wf_router_rules *rules,
                                                     const struct wf_router_asker *asker)
{
    uint32_t first = asker->chosen - 1, vc = first % rules->vcs % rules->set_vcs;

    return (struct wf_router_span){first, first - vc + rules->set_vcs, rules->class_vcs};
}

/* ---- all networks ---- */

/* The number of spans of a packet. */
static inline uint32_t wf_router_spans(const struct wf_router_rules *rules,
                                       const struct wf_router_asker *asker)
{
    return rules->scheme == WF_ROUTER_ADAPTIVE ? rules->n_dims
           : rules->n_dims > 0                 ? 1
           : rules->scheme == WF_ROUTER_UPDOWN ? asker->n_ports
                                               : asker->chosen != 0;
}

/* The k-th span. A span may be empty. */
WF_ROUTER_RULE struct wf_router_span wf_router_span(const struct wf_router_rules *rules,
                                                    const struct wf_router_asker *asker,
                                                    uint32_t k)
{
    if (rules->n_dims == 0) { /* up and then down a tree, any channel is free of deadlock */
        return rules->scheme == WF_ROUTER_UPDOWN ? wf_router_span_of(rules, asker->ports[k], 0)
                                                 : wf_router_chosen(rules, asker);
    }
    return rules->scheme == WF_ROUTER_DOR        ? wf_router_dor(rules, asker)
           : rules->scheme == WF_ROUTER_ADAPTIVE ? wf_router_adaptive(rules, asker, k)
                                                 : wf_router_dateline(rules, asker);
}
