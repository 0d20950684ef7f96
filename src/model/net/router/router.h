/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Routers with virtual channels and virtual cut-through, as INSEE's FSIN simulates them
 * (Navaridas, Miguel-Alonso, Pascual and Ridruejo, "Simulating and evaluating interconnection
 * networks with INSEE", Simulation Modelling Practice and Theory 19, 2011), packet by packet
 * instead of phit by phit: between two decisions about a packet nothing needs simulation.
 * docs/models/router.md has the rules and the timing.
 */

#include "model/net/net.h"
#include "model/net/router/rules/arbitrate.h"

enum wf_router_flow { WF_ROUTER_AUTO, WF_ROUTER_PLAIN, WF_ROUTER_BUBBLE };

/* Whether packets of adaptive wormhole routing leave escape channels again. */
enum wf_router_escaping { WF_ROUTER_MAY_LEAVE, WF_ROUTER_STAYS };

enum wf_router_switching { WF_ROUTER_CUT_THROUGH, WF_ROUTER_WORMHOLE };

struct wf_router_params {
    int64_t cycle;
    uint64_t phit, packet; /* bytes */
    int routing;           /* enum wf_router_routing; the other choices have enums too */
    char *routing_file;
    int ecmp;           /* enum wf_route_flow */
    uint64_t info_step; /* bytes; 0: a packet */
    uint64_t ugal_threshold;
    char *fail;      /* model/net/fault/fault.h; "": nothing fails */
    int fail_action; /* enum wf_fault_action; this and the next for failures in time */
    int64_t resend_delay;
    uint64_t vcs;   /* 0: as many as the routing needs */
    uint64_t queue; /* packets per input channel */
    int flow;
    uint64_t injection_queues, injection_length;
    int injection;
    bool consume_one;
    int request;
    int escape; /* enum wf_router_escaping */
    int arbitration;
    uint64_t pipeline, link_delay, credit_delay, turnaround; /* cycles */
    double transit_priority;
    uint64_t restriction; /* packets */
    int switching;
    uint64_t routing_delay; /* cycles; this and the next two only with wormhole switching */
    bool speculative, hold_switch;
    double global_restriction;
    uint64_t global_delay, watchdog; /* cycles */
    int stats;                       /* enum wf_net_stats */
    char *links;                     /* model/net/links.h */
};
