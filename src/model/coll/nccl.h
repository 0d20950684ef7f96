/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * How long collectives of GPUs take by NCCL and RCCL: latency and bandwidth of each algorithm and
 * protocol, and the pair that is the fastest. The structure is that of NCCL's own tuning model;
 * its figures were fitted to published measurements (docs/models/nccl.md). All arithmetic is in
 * integers.
 */

#include "model/coll/coll.h"

/* The generation of GPUs, which selects the tables. */
enum wf_coll_nccl_gpu {
    WF_COLL_NCCL_VOLTA,
    WF_COLL_NCCL_AMPERE,
    WF_COLL_NCCL_HOPPER,
    WF_COLL_NCCL_BLACKWELL,
    WF_COLL_NCCL_MI300, /* the tables of RCCL */
    WF_COLL_NCCL_GPUS,
};
extern const char *const wf_coll_nccl_gpu_names[]; /* null-terminated */

enum wf_coll_nccl_algorithm {
    WF_COLL_NCCL_TREE,
    WF_COLL_NCCL_RING,
    WF_COLL_NCCL_NVLS,      /* the NVLink switches reduce */
    WF_COLL_NCCL_NVLS_TREE, /* the same within nodes, trees between them */
    WF_COLL_NCCL_COLLNET,   /* the switches of the network reduce */
    WF_COLL_NCCL_PAIRS,     /* groups of sends and receives */
    WF_COLL_NCCL_ALGORITHMS,
};

extern const char *const wf_coll_nccl_algorithm_names[]; /* by enum */

/* What the library knows about the machine. Rates are in units of base/units.h. */
struct wf_coll_nccl {
    int gpu;               /* enum wf_coll_nccl_gpu */
    uint64_t nvlink;       /* of a GPU to the others of its node, in each direction */
    uint64_t nic;          /* of a network interface */
    int64_t nic_latency;   /* picoseconds */
    uint64_t nics;         /* of a node; 0: any number */
    uint64_t nics_per_gpu; /* that a GPU uses; 0: 1 */
    bool nvls;
    bool sharp; /* the network reduces */
};

/* A machine of H100 GPUs. */
extern const struct wf_coll_nccl wf_coll_nccl_default;

/* A choice, and the time that it takes. */
struct wf_coll_nccl_choice {
    enum wf_coll_nccl_algorithm algorithm;
    enum wf_coll_protocol protocol;
    int64_t time; /* picoseconds */
};

/* Whether NCCL has this kind of collective. */
bool wf_coll_nccl_has(enum wf_coll_kind kind);

/* The fastest of all or, with `messages`, of those that can be simulated as messages. `bytes` is
 * the whole data: of an allgather or alltoall, the blocks of all ranks. The time never falls if
 * `bytes` grows. The kind is one that NCCL has. */
struct wf_coll_nccl_choice wf_coll_nccl_choose(const struct wf_coll_args *args, uint64_t bytes,
                                               bool messages);

/* The messages that stand for what a collective of several nodes sends through the network, as
 * steps (model/coll/traffic.c), as many for each rank; null if there are none. Except for alltoall(v), the message of
 * each rank has wf_coll_traffic_bytes() of `bytes`, as above. */
const struct wf_coll_ops *wf_coll_traffic(const struct wf_coll_args *args);
uint64_t wf_coll_traffic_bytes(const struct wf_coll_args *args, uint64_t bytes);

/* What a protocol adds to a collective that is simulated as messages: once at its beginning, and
 * for each message, beyond the same time of the protocol LL. Picoseconds. */
int64_t wf_coll_nccl_base_ps(enum wf_coll_protocol protocol);
int64_t wf_coll_nccl_step_ps(enum wf_coll_protocol protocol, bool same_node);
