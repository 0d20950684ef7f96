/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_RANKS_H
#define WF_RANKS_RANKS_H

/*
 * Ranks fed by op sources, as processes of an engine: one process per node, which holds the
 * network's part and the ranks on the node (docs/dev/decisions/0003-node-process.md). Several
 * programs (jobs) may run at once and share the network.
 */

#include "base/param.h"
#include "base/status.h"
#include "ranks/node.h"
#include "ranks/tally.h"

#include <stdbool.h>
#include <stdint.h>

struct wf_cpu;
struct wf_engine;
struct wf_mpi_params;
struct wf_net;
struct wf_place;
struct wf_recording_options;
struct wf_replay;
struct wf_source;

enum wf_replay_policy {
    WF_POLICY_TIMED,  /* compute times too: a prediction */
    WF_POLICY_CAUSAL, /* order and dependencies of messages, no compute time */
    WF_POLICY_ASAP,   /* sends only, as fast as the network takes them */
};

enum wf_replay_wildcards {
    WF_WILDCARDS_RECORDED, /* what was left open is what it was in the recording, if there is
                              one */
    WF_WILDCARDS_ARRIVAL,  /* it is what comes first in this run */
};

/* Settings, scope "replay". */
struct wf_replay_params {
    int policy;      /* enum wf_replay_policy */
    int wildcards;   /* enum wf_replay_wildcards */
    int granularity; /* enum wf_pe_granularity; of programs of tasks (ranks/tasks/pe.h) */
    bool captured;   /* the run that was recorded, with what recording took */
};

extern const struct wf_param wf_replay_params[]; /* over struct wf_replay_params */

/* A program and when it starts. */
struct wf_ranks_job {
    const struct wf_source *source; /* kept */
    int64_t start;                  /* picoseconds */
    uint64_t repeat;                /* how often it is run, one after the other; >= 1 */
};

struct wf_ranks_config {
    const struct wf_ranks_job *jobs; /* their ranks are numbered together in this order */
    uint32_t n_jobs;                 /* 1 to WF_TALLY_JOBS */
    const struct wf_place *place;    /* kept; of all ranks of all jobs */
    struct wf_net *net;              /* kept; created for place->n_nodes, not yet attached */
    const struct wf_mpi_params *mpi; /* kept */
    const struct wf_replay_params *params;
    const struct wf_cpu *cpu;                     /* kept; null: compute times as they are */
    const struct wf_recording_options *recording; /* null: the run is not recorded */
};

/* Adds the nodes and their ranks to the engine, connects the network and asks for a tally of
 * struct wf_ranks_tally: all that is left to do is wf_engine_run(). Fails with WF_EINVAL if
 * there are too many ranks on a node or the network was made for another number of nodes. The
 * caller owns *out, which must live as long as the engine. */
WF_NODISCARD
enum wf_status wf_ranks_new(struct wf_engine *engine, const struct wf_ranks_config *config,
                            struct wf_replay **out, struct wf_err *err);
void wf_ranks_free(struct wf_replay *replay); /* null is allowed */

/* Roughly the messages of the run, to tell how far it is; 0 is unknown. */
uint64_t wf_ranks_expected_messages(const struct wf_replay *replay);

/* The job and the rank in it of a rank of the run. */
void wf_replay_find(const struct wf_replay *replay, uint32_t rank, uint32_t *job,
                    uint32_t *rank_in_job);

#endif
