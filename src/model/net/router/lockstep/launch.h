/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the host tells the kernels of model/net/router/lockstep/kernels.c. Compiled for devices, too. */

#include "model/net/router/lockstep/state.h"

/* What differs between networks that are simulated at once. */
struct wf_lockstep_varied {
    uint64_t seed;
    double scale;
    uint32_t silent, spare;
};

/* Cycles `begin` to `end` of one or several networks. */
struct wf_lockstep_launch {
    struct wf_lockstep_net net; /* the first network; pointers are those of the device */
    const struct wf_lockstep_varied *varied; /* by network */
    uint64_t state_stride;                   /* bytes to the state of the next network */
    uint32_t *count;                         /* for barriers; 0 at the beginning */
    uint32_t n_nets;
    uint32_t begin, end; /* cycles */
    uint32_t chunk;      /* one network: routers of a block */
    uint32_t tile;       /* routers that a block handles at a time */
};

struct wf_lockstep_pack {
    struct wf_lockstep_net net;
    uint64_t state_stride;
    uint32_t *packets; /* by network, router and channel */
    uint32_t *blocked; /* by network and router: bits of the inputs that are blocked */
    uint32_t n_nets;
};

struct wf_lockstep_waits {
    struct wf_lockstep_net net;
    uint64_t state_stride;
    struct wf_lockstep_wait *waits;
    uint32_t n;
};

struct wf_lockstep_sum {
    struct wf_lockstep_out *out;
    uint32_t n;
};
