/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_SIM_JOB_H
#define WF_SIM_JOB_H

/*
 * What a plan becomes: something that can be built on an engine, and says of a run what it
 * came to. There are three kinds: replays, synthetic traffic and
 * the engine's own benchmark models.
 */

#include "engine/run.h"
#include "sim/plan.h"

struct wf_engine;
struct wf_net;
struct wf_replay;
struct wf_source;
struct wf_traffic;

struct wf_job {
    const struct wf_job_ops *ops;
    const struct wf_plan *plan;
    struct wf_source *source; /* of a replay, as the next two */
    struct wf_net *net;
    struct wf_replay *replay;
    struct wf_traffic *traffic; /* of traffic, with the network */
    uint64_t expected_events;   /* roughly; 0 if nobody knows */
};

/* All members are required. */
struct wf_job_ops {
    /* Checks what needs no engine. */
    enum wf_status (*prepare)(struct wf_job *job, struct wf_err *err);
    /* Roughly the bytes that all processes of a run need together. */
    uint64_t (*memory)(const struct wf_job *job);
    enum wf_status (*build)(struct wf_job *job, struct wf_engine *engine, struct wf_err *err);

    /* In the first process, after a run that ended with `status`: fills the section `result`
     * of a document. Returns `status`, or WF_ESIM if the simulated program failed. */
    enum wf_status (*describe)(const struct wf_job *job, const struct wf_engine *engine,
                               const struct wf_run *run, struct wf_value *result,
                               enum wf_status status, struct wf_err *err);
};

extern const struct wf_job_ops wf_job_replay;
extern const struct wf_job_ops wf_job_bench;
extern const struct wf_job_ops wf_job_traffic;

/* On failure nothing is left to release. `plan` is kept. */
WF_NODISCARD
enum wf_status wf_job_init(struct wf_job *job, const struct wf_plan *plan, struct wf_err *err);
void wf_job_fini(struct wf_job *job);

/* Makes a run of synthetic traffic longer whose result has not converged, if the plan allows
 * it; whether it did. It has to be run again then. */
bool wf_job_lengthen(const struct wf_plan *plan, const struct wf_value *doc);

#endif
