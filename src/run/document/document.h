/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Fills the sections of a result document from the tally and the recording of a run. */

#include "base/status.h"
#include "engine/run.h"
#include "model/ranks/tally.h"
#include "program/ops/robust.h"
#include "run/document/efficiency.h"

#include <stdbool.h>

struct wf_engine;
struct wf_job;
struct wf_plan;
struct wf_source;
struct wf_value;

/* Adds the section `run` and returns it. `memory_estimate` is in bytes. */
struct wf_value *wf_document_run(struct wf_value *root, const struct wf_plan *plan,
                                 const struct wf_run *run, uint64_t memory_estimate);

/* Adds the properties of link classes as the network model used them, unless statistics of
 * links have them already. */
void wf_document_links(const struct wf_job *job, struct wf_value *result);

uint32_t wf_document_nodes_used(const struct wf_job *job); /* those with ranks */

/* Adds how many nodes have ranks, and the ranks on the fullest of them. */
void wf_document_nodes(const struct wf_job *job, struct wf_value *result);

struct wf_document_job {
    uint32_t first; /* rank of the run */
    int64_t start;
    const struct wf_source *source; /* for the names of regions; may be null */
    struct wf_fold fold;            /* which ranks each rank stands for */
};

/* The programs of a replay. */
struct wf_document_jobs {
    uint32_t n;
    const struct wf_document_job *of;
    const struct wf_ranks_tally *ideal; /* tally of a run on an ideal network; null if none */
    const struct wf_ranks_tally *free_network; /* likewise, with what messages cost nodes */
    const struct wf_fault_plan *faults; /* failures in time of the network; null if none */
    struct wf_net_deadlock stuck;       /* of the network at the end; its length is 0 if none */
    double peak16, peak8; /* operations per second of a rank's processor; 0 if unknown */
    uint64_t memory;      /* bytes of a rank's processor; 0 if unknown */
};

/* The programs of a job, valid as long as it. */
struct wf_document_jobs wf_document_jobs_of(const struct wf_job *job);

/* Fills the section `result` of a replay from its tally. `interrupted` means that the user
 * ended the run. Otherwise, if ranks did not finish, returns WF_ESIM; `err` then tells what the
 * first of them waits for. */
enum wf_status wf_document_replay(struct wf_value *result, const struct wf_run *run,
                                  const struct wf_document_jobs *jobs,
                                  const struct wf_ranks_tally *tally, bool interrupted,
                                  struct wf_err *err);

/* Adds the section `collective` or `training`, if the program of the job is one of these. The tally
 * is that of the job in a completed run. */
void wf_document_work(struct wf_value *result, const struct wf_document_jobs *jobs,
                      uint32_t job, const struct wf_job_tally *tally);

/* The times from which the efficiencies of all jobs together are computed; jobs->ideal is
 * set. */
struct wf_efficiency_times wf_document_efficiency_times(const struct wf_document_jobs *jobs,
                                                        const struct wf_ranks_tally *tally);

/* What failures in time have to do with ranks that wait, for the end of a message: empty, or
 * text after a semicolon. `buf` has WF_FAULT_TEXT_MAX bytes. */
const char *wf_document_losses(const struct wf_document_jobs *jobs,
                               const struct wf_net_totals *totals, char *buf);

/* The job that a rank of the run belongs to. */
uint32_t wf_document_job_of(const struct wf_document_jobs *jobs, uint32_t rank);

/* Why a rank did not finish, into a buffer of WF_DOCUMENT_TEXT_MAX bytes: "waits for a message
 * from rank 3 with tag 7". */
enum { WF_DOCUMENT_TEXT_MAX = 192, WF_DOCUMENT_NAME_MAX = 48 };
const char *wf_document_blocked_text(const struct wf_document_jobs *jobs,
                                     const struct wf_blocked *blocked, char *buf);
/* Describes a message that a rank did not receive: "rank 1 did not receive a message from rank
 * 3 with tag 7". */
const char *wf_document_leftover_text(const struct wf_document_jobs *jobs,
                                      const struct wf_rank_leftover *leftover, char *buf);
/* Adds a rank by its number in its job, and the job if there are several. */
void wf_document_add_rank(struct wf_value *item, const struct wf_document_jobs *jobs,
                          uint32_t rank);
/* "rank 3", or "rank 3 of job 1" if there are several jobs, into WF_DOCUMENT_NAME_MAX bytes. */
const char *wf_document_rank_name(const struct wf_document_jobs *jobs, uint32_t rank,
                                  char *buf);

/* The time when the last rank ended. If ranks did not end, the time that the run reached. */
int64_t wf_document_end(const struct wf_ranks_tally *tally, const struct wf_run *run);

/* Adds the lists `iterations` and `regions`, each unless it is empty. */
void wf_document_marks(struct wf_value *result, const struct wf_document_jobs *jobs,
                       const struct wf_ranks_tally *tally);
/* Adds a section with minimum, mean and maximum. */
void wf_document_spread(struct wf_value *parent, const char *name, const struct wf_stat *stat);

/* Adds the section `critical_path` of a replay that was recorded and completed. */
void wf_document_path(struct wf_value *root, const struct wf_job *job,
                      const struct wf_engine *engine);
/* Adds the section `recording` of a replay that was recorded. */
void wf_document_recording(struct wf_value *root, const struct wf_job *job,
                           const struct wf_engine *engine, const struct wf_run *run);

/* Adds the calls and regions of a recording to its section, if they were recorded. */
struct wf_recording;
void wf_document_calls(struct wf_value *section, struct wf_recording *recording,
                       const struct wf_document_jobs *jobs);

/* Adds the digest of a run, or the digest of its facts, after its status: the digest of an
 * interrupted run is marked as partial. */
void wf_document_digest(struct wf_value *result, uint64_t digest);

/* ---- measured compute spans that took unusually long (program/ops/robust.h) ---- */

/* Adds the section `robust` to the document of a prediction in which disturbed spans are
 * corrected, and a warning if spans decide it that took unusually long for no reason that was
 * counted. `raw_time` is the prediction without corrections, in picoseconds. */
void wf_sim_spans_describe(const struct wf_robust *const *programs, uint32_t n,
                           uint64_t raw_time, struct wf_value *root);

/* Adds a warning to the document of a replay if few spans of a program decide the prediction
 * and their witnesses took far less. */
void wf_sim_spans_warn(const struct wf_robust *robust, enum wf_robust_which which,
                       struct wf_value *root);

/* ---- warnings ---- */

/* A warning is one line that names its remedy. Most are about what the machine of a scenario
 * leaves out, although the user did not ask for that. */

/* Adds to the list `warnings` of a document the parameters that are given but have no effect
 * because of the others. */
void wf_sim_warn_unused(const struct wf_plan *plan, struct wf_value *root);
/* Likewise what was assumed to make the programs. */
void wf_sim_warn_assumed(const struct wf_plan *plan, struct wf_value *root);

/* Whether a program needs more memory than a device has; `words` then says how much. */
bool wf_sim_memory_lacks(const struct wf_plan *plan, char *words, size_t size);

/* Adds what programs did with files, if anything; servers are in the tally of the run, `whole`. */
void wf_document_files(const struct wf_job *job, const struct wf_ranks_tally *tally,
                       const struct wf_ranks_tally *whole, int64_t end,
                       struct wf_value *result);

/* Adds the list `warnings` to the document of a replay, unless it is empty. */
void wf_sim_warnings(const struct wf_job *job, const struct wf_ranks_tally *tally,
                     struct wf_value *root);

/* Adds one line to that list. */
WF_PRINTF(2, 3)
void wf_sim_warn(struct wf_value *root, const char *fmt, ...);
