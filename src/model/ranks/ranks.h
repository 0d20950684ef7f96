/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * MPI ranks as processes of an engine. Op sources feed the ranks; a network model carries their
 * messages. Each node is one process, which holds the network's part and the ranks on the node
 * (docs/dev/decisions/0003-node-process.md). Several programs (jobs) may run at once and share
 * the network.
 */

#include "base/param.h"
#include "base/status.h"
#include "model/coll/coll.h"
#include "model/coll/nccl.h"
#include "model/ranks/tally.h"

struct wf_cpu;
struct wf_engine;
struct wf_net;
struct wf_node_params;
struct wf_place;
struct wf_recording_options;
struct wf_ranks;
struct wf_source;
struct wf_storage_params;

/* Settings, scope "mpi". */
struct wf_mpi_params {
    uint64_t eager_max; /* longer messages wait for their receiver */
    int rendezvous;     /* enum wf_mpi_rendezvous */
    int progress;       /* enum wf_mpi_progress */
    int rules;          /* enum wf_coll_rules */
    int coll_order;     /* enum wf_mpi_coll_order */
    bool local;         /* messages within a node bypass the network */
    int64_t local_latency;
    uint64_t local_bandwidth;
    uint64_t
        control_bytes; /* size of the control messages for the transfer of a long message */
    uint64_t unexpected_limit;       /* bytes of unexpected messages that a rank can hold */
    int64_t hw_latency;              /* formula "hardware": latency of each level... */
    uint64_t hw_bandwidth;           /* ...and bandwidth of the data */
    uint64_t reduce_bandwidth;       /* at which received data is combined */
    struct wf_coll_nccl nccl;        /* for the rules and the formula of NCCL */
    char *algorithms[WF_COLL_KINDS]; /* "auto": the rules choose */
};

enum wf_mpi_rendezvous {
    WF_RENDEZVOUS_WRITE, /* the sender sends the data when the receiver asks for it */
    WF_RENDEZVOUS_READ,  /* the receiver fetches the data and confirms that */
};

enum wf_mpi_progress {
    WF_PROGRESS_INDEPENDENT, /* long messages progress independently of the rank */
    WF_PROGRESS_CALLS,       /* long messages progress only while the rank is in a call... */
    WF_PROGRESS_WAITS,       /* ...that waits or tests */
};

/* Collectives of one communicator that a rank has in progress. */
enum wf_mpi_coll_order {
    WF_COLL_ORDER_AUTO,   /* serial with the rules of NCCL, else free */
    WF_COLL_ORDER_FREE,   /* run at once */
    WF_COLL_ORDER_SERIAL, /* run one after another */
};

extern const struct wf_param wf_mpi_params[]; /* parameters of struct wf_mpi_params */

/* What NCCL knows about nodes with up to `slots` ranks, and the kinds of collectives that take
 * the time of its table: bits 1 << enum wf_coll_kind. */
struct wf_coll_nccl wf_mpi_nccl(const struct wf_mpi_params *mpi,
                                const struct wf_node_params *node, const struct wf_net *net,
                                uint32_t slots);
uint32_t wf_mpi_by_table(const struct wf_mpi_params *mpi);

/* Collectives whose time is a formula instead of messages (model/ranks/formula.h). */
enum wf_formula {
    WF_FORMULA_NONE,
    WF_FORMULA_IDEAL,
    WF_FORMULA_HARDWARE,
    WF_FORMULA_NCCL,
};

/* The formula with this name; WF_FORMULA_NONE if no formula has it. */
enum wf_formula wf_formula_find(const char *name);

enum wf_replay_policy {
    WF_POLICY_TIMED,  /* with compute times: a prediction */
    WF_POLICY_CAUSAL, /* order and dependencies of messages, no compute time */
    WF_POLICY_ASAP,   /* sends only, as fast as the network takes them */
};

enum wf_replay_wildcards {
    WF_WILDCARDS_RECORDED, /* wildcard receives match as recorded, if that was recorded */
    WF_WILDCARDS_ARRIVAL,  /* wildcard receives match what arrives first in this run */
};

/* Settings, scope "replay". */
struct wf_replay_params {
    int policy;           /* enum wf_replay_policy */
    int wildcards;        /* enum wf_replay_wildcards */
    int granularity;      /* enum wf_pe_granularity; for task graphs (model/ranks/tasks/pe.h) */
    bool captured;        /* predict the captured run, including the cost of capturing it */
    int copies;           /* enum wf_replay_copies */
    bool robust;          /* correct compute times that were disturbed while recorded */
    uint64_t stall_limit; /* ops of a rank without any time passing; 0: any number */
};

enum wf_replay_copies { WF_COPIES_AUTO, WF_COPIES_ALL, WF_COPIES_ONE };

extern const struct wf_param wf_replay_params[]; /* parameters of struct wf_replay_params */

/* A program and when it starts. */
struct wf_ranks_job {
    const struct wf_source *source; /* kept */
    int64_t start;                  /* picoseconds */
    uint64_t repeat;                /* number of runs, one after another; >= 1 */
};

struct wf_ranks_config {
    const struct wf_ranks_job
        *jobs;       /* the ranks of all jobs are numbered together in this order */
    uint32_t n_jobs; /* 1 or more */
    const struct wf_place *place;      /* kept; places the ranks of all jobs */
    struct wf_net *net;                /* kept; created for place->n_nodes, not yet attached */
    const struct wf_mpi_params *mpi;   /* kept */
    const struct wf_node_params *node; /* kept; null: wf_node_free */
    const struct wf_storage_params *storage; /* kept; null: files take no time */
    uint64_t seed;                           /* for the noise of nodes */
    const struct wf_replay_params *params;
    const struct wf_cpu *cpu;                     /* kept; null: compute times as recorded */
    const struct wf_recording_options *recording; /* null: the run is not recorded */
    /* By rank of the run: set to the time at which a rank ended, by the process that has the
     * rank; null: not needed. Kept. */
    int64_t *ends;
};

/* Adds the nodes and their ranks to the engine, connects the network and asks for a tally of
 * struct wf_ranks_tally; wf_engine_run() may follow. Fails with WF_EUSAGE if a setting names an
 * unknown algorithm or parameters of the node contradict each other, with WF_EINVAL if a node
 * has too many ranks or the network was created for another number of nodes. The caller owns
 * *out, which must live as long as the engine. */
enum wf_status wf_ranks_new(struct wf_engine *engine, const struct wf_ranks_config *config,
                            struct wf_ranks **out, struct wf_err *err);
void wf_ranks_free(struct wf_ranks *ranks); /* null is allowed */

/* Approximately what the run will send, for progress reports; 0: unknown. */
struct wf_expected {
    uint64_t messages, bytes;
};
struct wf_expected wf_ranks_expect(const struct wf_ranks *ranks);
