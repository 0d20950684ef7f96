/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The interface of scheduling policies: one file with a const struct wf_queue_policy and one line
 * in policies.def. After all arrivals and ends of an instant the simulation calls schedule(), which
 * starts jobs with wf_queue_start(). Every job has to start in the end, each once and on free nodes;
 * the same jobs start at the same times whenever they are asked for.
 */

#include "base/registry.h"
#include "model/queue/queue.h"

/* Nodes in use: by a job that runs, or one by its repair (WF_QUEUE_DOWN). */
struct wf_queue_use {
    int64_t expected; /* when the nodes are free at the latest, as the scheduler knows */
    int64_t end;      /* when they really are */
    int64_t start;
    uint32_t job, nodes;
    uint32_t *list; /* the nodes */
    size_t span;    /* of the result, with keep_nodes */
};

/* What a policy sees. It changes nothing but `planned`. */
struct wf_queue_sim {
    const struct wf_queue_config *config;
    struct wf_queue_job *jobs; /* what is left of them */
    int64_t now;
    uint32_t free; /* nodes */
    /* Jobs that wait, in the order of the policy. Those that have started are marked by
     * WF_QUEUE_NONE until schedule() returns. */
    uint32_t *waiting;
    size_t n_waiting;
    struct wf_queue_use *uses; /* in the order of expected ends */
    size_t n_uses;
    int64_t *planned; /* by job: when it is to start; WF_QUEUE_NEVER at first */
    bool early;       /* nodes became free earlier than expected, since the last call */
    struct wf_queue_own *own;
};

struct wf_queue_policy {
    const char *name, *summary;
    /* Whether a job is to be before another one in the queue; jobs that are not wait in the order
     * of submission. Null: all of them. */
    bool (*before)(const struct wf_queue_job *a, const struct wf_queue_job *b);
    void (*schedule)(struct wf_queue_sim *sim);
};

#define WF_QUEUE_POLICY(name) extern const struct wf_queue_policy wf_queue_policy_##name;
#include "model/queue/policies.def"
extern struct wf_registry wf_queue_policy_registry; /* for plug-ins */

/* All policies, null-terminated. */
const struct wf_queue_policy *const *wf_queue_policies(void);

/* Starts the job at a place of the queue. Its nodes must be free. */
WF_PLUGIN_API void wf_queue_start(struct wf_queue_sim *sim, size_t place);

static inline const struct wf_queue_job *wf_queue_waiting(const struct wf_queue_sim *sim,
                                                          size_t place)
{
    return &sim->jobs[sim->waiting[place]];
}

/* Starts jobs in the order of the queue until one does not fit; returns its place, or
 * n_waiting. */
WF_PLUGIN_API size_t wf_queue_start_first(struct wf_queue_sim *sim);

/* The first place from `place` on whose job fits on the free nodes and either asks for at most `time` or
 * takes at most `extra` nodes; n_waiting if there is none. Mostly looks at a few of many jobs. */
size_t wf_queue_next_fitting(struct wf_queue_sim *sim, size_t place, int64_t time,
                             uint32_t extra);

/* The schedule() of EASY backfilling, for policies with another order. */
WF_PLUGIN_API void wf_queue_easy(struct wf_queue_sim *sim);
