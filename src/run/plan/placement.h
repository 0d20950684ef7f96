/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The assignment of ranks to nodes. A job with `ranks_per_node` ranks on a node is placed by
 * one of:
 *
 *   linear          the first free nodes, filled in the order of ranks
 *   auto            the same, but the jobs together must fill all nodes of a hierarchy
 *   roundrobin      the same nodes, with the ranks dealt over them in turn
 *   random          random free nodes, filled in the order of ranks
 *   block:4x4x2     in a topology with coordinates: the free nodes of one block of this size,
 *                   then those of the next block, filled in the order of ranks; a node with
 *                   several interfaces lies where its first interface does
 *   nodes:0,8-11    these nodes, filled in the order of ranks
 *   file:nodes.txt  the node of each rank, one per line; ranks_per_node is ignored
 *   tracer:config   as a configuration of TraceR maps the job of this number (run/import/tracer.h)
 *
 * Jobs that name their nodes (nodes, file) are placed first, then the others in the order of
 * their numbers. Two jobs share a node only if both name it.
 */

#include "base/status.h"
#include "model/ranks/place.h"
#include "model/topo/topo.h"

enum wf_placement_kind {
    WF_PLACEMENT_AUTO,
    WF_PLACEMENT_LINEAR,
    WF_PLACEMENT_ROUNDROBIN,
    WF_PLACEMENT_RANDOM,
    WF_PLACEMENT_BLOCK,
    WF_PLACEMENT_NODES, /* this kind and the next ones name the nodes of a job */
    WF_PLACEMENT_FILE,
    WF_PLACEMENT_TRACER,
};

struct wf_placement {
    enum wf_placement_kind kind;
    uint32_t n_dims; /* dimensions of a block */
    uint32_t block[WF_TOPO_COORDS_MAX];
    const char *path; /* path of a file, or list of nodes; points into the text that was read */
};

/* Reads a placement in the syntax above. Anything else is WF_EUSAGE. */
enum wf_status wf_placement_parse(const char *text, struct wf_placement *out,
                                  struct wf_err *err);

struct wf_placement_job {
    struct wf_placement placement;
    uint32_t n_ranks, ranks_per_node;
};

struct wf_placement_env {
    const struct wf_placement_job *jobs;
    uint32_t n_jobs;
    const struct wf_topo *topo; /* null: as many nodes as needed */
    const char *topo_name;      /* for messages */
    uint32_t nics, nic_group;   /* as in struct wf_net_env */
    uint64_t seed;
};

/* Places the ranks of all jobs, at most UINT32_MAX, numbered together in the order of the jobs.
 * Ranks that do not fit and invalid files are WF_EINVAL (or WF_EIO). The caller releases *out
 * with wf_placement_release(). */
enum wf_status wf_placement_make(const struct wf_placement_env *env, struct wf_place *out,
                                 struct wf_err *err);
/* Makes all nodes of the topology part of the run, also those after the last one with a rank. */
void wf_placement_use_all(const struct wf_placement_env *env, struct wf_place *place);
void wf_placement_release(struct wf_place *place);

/* Whether a job is placed by a file, which messages then name. */
bool wf_placement_has_files(const struct wf_placement_env *env);

/* Estimates the bytes that the placement needs for one rank; 0 if no tables are needed. */
uint64_t wf_placement_memory(const struct wf_placement_env *env);
