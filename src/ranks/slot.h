/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_SLOT_H
#define WF_RANKS_SLOT_H

/* What the files of replay/ share: a rank and the program it runs. */

#include "ops/source.h"
#include "ranks/calls.h"
#include "ranks/ranks.h"
#include "ranks/record/recorder.h"
#include "ranks/spread.h"

enum { WF_SLOT_REGIONS = 4 }; /* that may be open at once; deeper ones are not timed */

struct wf_replay {
    struct wf_mpi mpi;
    struct wf_process_ops ops;
    struct wf_replay_params params;
    const struct wf_cpu *cpu;
    int64_t *costs; /* of recording a computation, by rank of the run; null: they are nothing */
    struct wf_recorder recorder;
    uint32_t n_jobs;
    struct wf_ranks_job jobs[WF_TALLY_JOBS];
    uint32_t first[WF_TALLY_JOBS + 1]; /* the first rank of each */
    struct wf_spread spread[WF_TALLY_JOBS];
};

struct wf_rank_slot {
    struct wf_rank rank; /* first */
    struct wf_script {
        struct wf_cursor cursor;
        int64_t compute_ps;
        uint64_t runs;      /* that are over */
        uint32_t iteration; /* beginnings so far */
        uint32_t part;      /* of an op that is made segment by segment: segments made */
        uint32_t n_regions; /* open */
        uint32_t padding;
        int64_t polling_ps; /* spent on looking in vain, since it last did something else */
        struct {
            int64_t since;
            uint64_t value; /* that the program gave it */
            uint32_t number, padding;
        } regions[WF_SLOT_REGIONS];
    } progress;
};

/* One rank of a job, about to make a call. */
struct wf_turn {
    const struct wf_replay *replay;
    const struct wf_caller *who;
    struct wf_rank_slot *slot;
    const struct wf_source *source;
    uint32_t job, rank; /* its number in the job */
};

/* What an event leaves for its commit. */
struct wf_replay_note {
    uint16_t what, job; /* enum wf_replay_noted; of a mark, whose it is */
    uint32_t number;    /* of the region or iteration */
    int64_t at;         /* when the mark was passed; or how long the message took */
    int64_t time;       /* in the region; not kept of messages */
};

enum wf_replay_noted { WF_NOTED_LATENCY, WF_NOTED_REGION, WF_NOTED_BEGIN, WF_NOTED_END };

/* Makes the call that `op` is (ranks/execute.c). `before` is the cursor before it. */
WF_NODISCARD
enum wf_called wf_replay_call(const struct wf_turn *turn, const struct wf_op *op,
                              const struct wf_cursor *before);

/* struct wf_mpi.recall. */
void wf_replay_recall(void *arg, const struct wf_caller *who, const uint64_t *cookie,
                      struct wf_coll_args *args, struct wf_rank_group *group);

/* Communicators of different jobs must differ too; each job has this many. */
static inline uint32_t wf_replay_groups_per_job(const struct wf_replay *replay)
{
    return replay->n_jobs == 1 ? WF_RANK_GROUPS_MAX : WF_RANK_GROUPS_MAX / WF_TALLY_JOBS;
}

/* The job of a rank of the run. */
static inline uint32_t wf_replay_job_of(const struct wf_replay *replay, uint32_t rank)
{
    uint32_t job = 0;

    while (rank >= replay->first[job + 1]) {
        job++;
    }
    return job;
}

#endif
