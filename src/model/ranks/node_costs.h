/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a message costs the CPUs of its ranks and the network interfaces of its nodes, on any
 * network model: the parameters of a node (model/ranks/node_params.h) with every `auto` resolved for
 * one network. Computed once before a run. docs/models/node.md has the equations. Private to
 * ranks/, except for the critical path.
 */

#include "model/net/net.h"
#include "model/ranks/node_params.h"

struct wf_node_costs {
    int64_t o_send, o_recv;                         /* CPU time per message... */
    int64_t o_one_sided;                            /* ...and per put or get, at its origin */
    uint64_t copy_send, copy_recv, copy_unexpected; /* rates, or WF_PARAM_WORD: no time */
    int64_t injection;    /* delay in the sending network interface... */
    int64_t delay;        /* ...and in both */
    int64_t gap;          /* least time between two messages of an interface */
    int64_t registration; /* time to register the memory of a message sent by rendezvous... */
    uint64_t registration_rate; /* ...and how fast its bytes are registered */
    bool copies_long;           /* messages sent by rendezvous are copied as well */
    bool registers;             /* registering takes time */
    bool send_takes_time;       /* the CPU time of a send depends on its bytes */
    bool recv_takes_time;       /* the CPU time of a receive depends on its bytes */
    /* The CPU time of receives is counted in this unit: o_recv if that is all they cost, else a
     * picosecond. */
    int64_t recv_unit;
};

struct wf_node_costs wf_node_costs_of(const struct wf_node_params *node,
                                      const struct wf_net *net);

/* The CPU time to send a message, eager or by rendezvous. */
static inline int64_t wf_node_send_ps(const struct wf_node_costs *costs, uint64_t bytes,
                                      bool eager)
{
    if (costs->copy_send == WF_PARAM_WORD || !(eager || costs->copies_long)) {
        return costs->o_send;
    }
    return wf_time_add(costs->o_send, wf_transfer_ps(bytes, costs->copy_send));
}

/* The time to register the memory of a message sent by rendezvous. */
static inline int64_t wf_node_register_ps(const struct wf_node_costs *costs, uint64_t bytes)
{
    return costs->registers ? wf_time_add(costs->registration,
                                          wf_node_rate_ps(bytes, costs->registration_rate))
                            : 0;
}

/* The CPU time to receive a message, if that depends on its bytes. `unexpected`: the message
 * was eager and arrived before its receive, so the CPU copies it once more... */
int64_t wf_node_recv_bytes_ps(const struct wf_node_costs *costs, uint64_t bytes, bool eager,
                              bool unexpected);
/* ...and in general. */
static inline int64_t wf_node_recv_ps(const struct wf_node_costs *costs, uint64_t bytes,
                                      bool eager, bool unexpected)
{
    return costs->recv_takes_time ? wf_node_recv_bytes_ps(costs, bytes, eager, unexpected)
                                  : costs->o_recv;
}
