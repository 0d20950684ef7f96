/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What all ranks of a run share, and the events of their nodes. Set up by model/ranks/ranks.c; does not
 * change during a run. Private to ranks/.
 */

#include "base/arith.h"
#include "model/net/net.h"
#include "model/ranks/cpu/contention.h"
#include "model/ranks/local.h"
#include "model/ranks/nic.h"
#include "model/ranks/node_params.h"
#include "model/ranks/noise.h"
#include "model/ranks/place.h"
#include "model/ranks/polling.h"
#include "model/ranks/rails.h"
#include "model/ranks/ranks.h"
#include "model/ranks/record/recorder.h"
#include "model/ranks/timeshare.h"
#include "model/storage/storage.h"
#include "program/ops/live.h"
#include "program/ops/source.h"

/* Event kinds of nodes; smaller numbers are the network's kinds. */
enum wf_node_event {
    WF_NODE_RESUME = WF_NET_KINDS, /* continues a rank */
    WF_NODE_CONTINUE,              /* continues a collective that can send now */
    WF_NODE_DEPART,                /* hands a message to the network interface */
    WF_NODE_LOCAL,                 /* a message within the node */
    WF_NODE_SIGNAL,                /* a signal of a formula collective */
    WF_NODE_INJECT,                /* hands a message to the network */
    WF_NODE_ARRIVED,               /* a message that the network interface delayed */
    WF_NODE_CORE,                  /* a core has served a rank, or goes on to another one */
    WF_NODE_FILE, /* a message of the servers' own network (model/ranks/files.h) */
};

/* Payload of WF_NODE_RESUME and WF_NODE_CONTINUE. */
struct wf_node_wakeup {
    uint32_t slot;
    uint32_t ticket; /* WF_NODE_RESUME: rank.ticket; WF_NODE_CONTINUE: the request's handle */
};

/* Payload of WF_NODE_ARRIVED. */
struct wf_node_delayed {
    struct wf_net_message msg;
    int64_t tail; /* from the event to the arrival of the last byte */
};

/* Where a rank must wait until the engine's time has reached its clock. */
enum wf_ranks_pace {
    WF_PACE_AHEAD, /* nowhere: messages depart later than now */
    WF_PACE_SENDS, /* where it sends */
    WF_PACE_CALLS, /* before every call */
};

/* How messages of the network reach their rank (model/ranks/node.c). */
enum wf_ranks_arrivals {
    WF_ARRIVALS_AT_ONCE,   /* one interface a node, which costs nothing */
    WF_ARRIVALS_EARLY,     /* the delay of the interface only makes the arrival later */
    WF_ARRIVALS_IN_EVENTS, /* a message that the interface delays gets an event */
    WF_ARRIVALS_POLLED,    /* an event when the rank polls (model/ranks/polling.h) */
    WF_ARRIVALS_KINDS,
};

/* How the collectives of the run are computed. */
struct wf_ranks_coll {
    const struct wf_coll_ops *algorithm[WF_COLL_KINDS]; /* null: the rules choose */
    struct wf_coll_nccl nccl;                           /* with the interfaces of the nodes */
    uint8_t formula[WF_COLL_KINDS];                     /* enum wf_formula */
    enum wf_mpi_coll_order order;                       /* not WF_COLL_ORDER_AUTO */
    /* The nodes of ranks, if that matters to algorithms or rules; else null. */
    const struct wf_place *place;
};

struct wf_clock_ops;
struct wf_live;

/* What a node holds for files (model/ranks/files.h). */
struct wf_files {
    struct wf_storage storage;
    size_t offset;                        /* in the state of a node */
    size_t local_at, units_at, unit_size; /* relative to the offset; sizes in bytes */
    uint32_t n_units, units_per_node;
};

/* Alternatives are pointers: null means that the run has no such thing. */
struct wf_ranks {
    const struct wf_net *net;
    const struct wf_place *place;
    struct wf_rails rails;
    const struct wf_mpi_params *mpi;
    const struct wf_node_params *node;
    struct wf_local local; /* messages within a node */
    struct wf_node_costs costs;
    struct wf_node_nics nics;
    size_t slots_at; /* offset of the rank slots in the state of a node */
    struct wf_cpu_contention contention;
    struct wf_noise noise;
    struct wf_node_polling polling;
    struct wf_files files;
    struct wf_timeshare *timeshare;   /* of ranks that share cores */
    const struct wf_clock_ops *clock; /* if cores are shared or the run is recorded */
    struct wf_live *live;             /* jobs that are live programs */
    struct wf_ranks_coll coll;
    enum wf_ranks_pace pace;
    enum wf_ranks_arrivals arrivals;
    struct wf_process_ops ops;
    struct wf_replay_params params;
    uint64_t stall_limit; /* a rank fails if it executes so many ops at one time */
    const struct wf_cpu *cpu;
    int64_t *capture_ps; /* cost of capturing one computation, by rank of the run; null: none */
    struct wf_recorder recorder;
    uint32_t n_jobs;
    struct wf_ranks_job *jobs; /* [n_jobs] */
    uint32_t *first;           /* [n_jobs + 1], the first rank of each job */
};

/* Nothing is received, and all messages are eager. */
static inline bool wf_ranks_only_send(const struct wf_ranks *ranks)
{
    return ranks->params.policy == WF_POLICY_ASAP;
}

/* Ranks read control messages only while they wait or test. They then wait for the engine's time
 * before every call. */
static inline bool wf_ranks_read_in_waits(const struct wf_ranks *ranks)
{
    return ranks->mpi->progress == WF_PROGRESS_WAITS;
}

/* Receives of eager messages may take less memory (model/ranks/request.h). Live programs ask for more
 * about a receive, and with mpi.progress=waits a sendrecv remembers the cell of its receive. */
static inline bool wf_ranks_have_short_receives(const struct wf_ranks *ranks)
{
    return ranks->live == NULL && !wf_ranks_read_in_waits(ranks);
}

/* The job of a rank of the run. */
static inline uint32_t wf_ranks_job_of(const struct wf_ranks *ranks, uint32_t rank)
{
    return wf_place_job(ranks->first, ranks->n_jobs, rank);
}

#define WF_RANK_GROUPS_MAX (UINT32_C(1) << 26)

/* The number of communicators of each job; communicators of different jobs differ. */
static inline uint32_t wf_ranks_groups_per_job(const struct wf_ranks *ranks)
{
    return WF_RANK_GROUPS_MAX / ranks->n_jobs;
}
