/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_REPLAY_REPLAY_H
#define WF_REPLAY_REPLAY_H

/*
 * Ranks fed by an op source, as processes of an engine: one process per node, which holds the
 * network's part and the ranks on the node (docs/dev/decisions/0003-node-process.md).
 */

#include "base/status.h"
#include "replay/tally.h"

#include <stdint.h>

struct wf_engine;
struct wf_net;
struct wf_replay;
struct wf_source;

struct wf_replay_config {
    const struct wf_source *source; /* kept */
    struct wf_net *net; /* kept; created for wf_replay_n_nodes() nodes, not yet attached */
    uint32_t
        ranks_per_node; /* 1 to 65536; ranks are placed in order, a node being filled first */
    uint64_t cpu_scale; /* on compute times, as of wf_cpu_scale(); 0 is WF_CPU_SCALE_ONE */
};

/* The nodes that so many ranks need. */
uint32_t wf_replay_n_nodes(uint32_t n_ranks, uint32_t ranks_per_node);

/* Adds the nodes and their ranks to the engine, connects the network and asks for a tally of
 * struct wf_replay_tally: all that is left to do is wf_engine_run(). Fails with WF_EINVAL if
 * there are too many ranks on a node or the network was made for another number of nodes. The
 * caller owns *out, which must live as long as the engine. */
WF_NODISCARD
enum wf_status wf_replay_new(struct wf_engine *engine, const struct wf_replay_config *config,
                             struct wf_replay **out, struct wf_err *err);
void wf_replay_free(struct wf_replay *replay); /* null is allowed */

/* Roughly the events of the run, to tell how far it is; 0 is unknown. */
uint64_t wf_replay_expected_events(const struct wf_replay *replay);

#endif
