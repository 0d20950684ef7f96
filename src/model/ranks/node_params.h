/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The parameters of a node, scope "node": what a message costs its ranks and network
 * interfaces, the cores and the memory that ranks share, and the noise of the operating system.
 * They hold on every network model. docs/models/node.md has the equations.
 */

#include "base/param.h"

#include <stdbool.h>
#include <stdint.h>

/* WF_PARAM_WORD stands for the word in the table: "auto" or "unlimited". */
struct wf_node_params {
    /* Messages. */
    int64_t o_send, o_recv;        /* CPU time per message; auto: as the network model says */
    uint64_t copy_send, copy_recv; /* 1/O: rate at which a rank's CPU handles bytes */
    int copies;                    /* enum wf_node_copies: which messages these apply to */
    uint64_t copy_unexpected;      /* rate at which an unexpected eager message is copied */
    int64_t injection_delay, ejection_delay; /* of a network interface */
    int64_t gap;          /* least time between two messages at a network interface */
    int64_t registration; /* time to register the memory of a long message, on each side... */
    uint64_t registration_rate; /* ...and how fast its bytes are registered */

    /* Cores and memory. */
    uint64_t sockets, domains;      /* of the node; a domain has a memory of its own (NUMA) */
    uint64_t cores;                 /* of the node; unlimited: one for each rank */
    int bind;                       /* enum wf_node_bind */
    uint64_t memory_bandwidth;      /* of a domain */
    uint64_t core_bandwidth;        /* what the computation of one rank draws from it at most */
    double memory_bound;            /* share of computing that waits for memory */
    struct wf_list local_latency;   /* of messages in a domain, a socket, a node; or one... */
    struct wf_list local_bandwidth; /* ...value for all. auto: as mpi.local_... */
    int64_t time_slice;  /* with more ranks than cores: how long a rank computes at a time */
    int64_t switch_cost; /* CPU time to go from one rank to another on a core */

    /* Network interfaces. */
    uint64_t nics;
    int nic_policy;      /* enum wf_node_nic_policy */
    uint64_t stripe_min; /* least size of a message that all interfaces share */
    uint64_t nic_group;  /* nodes whose interfaces of the same number are neighbours */
    char *nic_domains;   /* domain of each interface, "0,0,1,1"; "": evenly spread */

    /* Noise of the operating system. */
    int noise; /* enum wf_node_noise */
    int64_t noise_period, noise_duration;
    int64_t poll;        /* time between two polls of a rank for messages */
    uint64_t host_cores; /* that all nodes of the run share; unlimited: each has its own */
};

enum wf_node_copies {
    WF_NODE_COPIES_ALL,   /* as in LogGOPS */
    WF_NODE_COPIES_EAGER, /* messages sent by rendezvous are not copied */
};

enum wf_node_bind {
    WF_NODE_BIND_PACK,   /* ranks fill one domain after another */
    WF_NODE_BIND_SPREAD, /* ranks go to the domains in turn */
};

enum wf_node_nic_policy {
    WF_NODE_NIC_RANK,        /* each rank has one interface */
    WF_NODE_NIC_ROUND_ROBIN, /* long messages take the interfaces in turn */
    WF_NODE_NIC_STRIPE,      /* long messages are divided among all interfaces */
};

enum wf_node_noise {
    WF_NODE_NOISE_NONE,
    WF_NODE_NOISE_FIXED,       /* once in a period, always of the same duration */
    WF_NODE_NOISE_UNIFORM,     /* durations from 0 to twice the mean */
    WF_NODE_NOISE_EXPONENTIAL, /* exponentially distributed durations */
};

extern const struct wf_param wf_node_params[]; /* parameters of struct wf_node_params */

/* A node with the default of every parameter: nothing costs anything. */
extern const struct wf_node_params wf_node_free;

/* A node on which computing takes as long as on this one, and nothing else costs anything. */
struct wf_node_params wf_node_compute_only(const struct wf_node_params *params);

/* WF_EUSAGE if parameters contradict each other; the message begins with the name of one. */
enum wf_status wf_node_params_check(const struct wf_node_params *params, struct wf_err *err);

/* The time that bytes take at a rate that may be unlimited. */
int64_t wf_node_rate_ps(uint64_t bytes, uint64_t rate);
