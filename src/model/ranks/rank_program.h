/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A rank together with the program that it runs: where it is in its source, the communicators and
 * peers that ops name, the arguments of collectives. Private to ranks/.
 */

#include "model/ranks/caller.h"

enum { WF_SLOT_REGIONS = 4 }; /* nested regions that are timed; deeper ones are not */

/* The cold part of a position, which few programs need: a cell that a rank gets on first use. */
struct wf_script_cold {
    uint32_t outer[4];  /* of the cursor */
    uint32_t span;      /* of the cursor */
    uint32_t iteration; /* iterations begun so far */
    uint32_t n_regions; /* open regions */
    uint32_t region;    /* cell of the innermost region that is timed, or 0 */
    uint64_t runs;      /* completed runs of the program */
    /* Unsuccessful polls since the last other op (model/ranks/live_polls.h). */
    int64_t polling_ps; /* time spent on them */
    int64_t poll_from;  /* the wait before the present one began at this time... */
    bool poll_waits;    /* ...and is part of the clock */
    bool poll_trust;    /* the last wait ended because something arrived */
    uint16_t polls;     /* of what was polled first, at most UINT16_MAX... */
    uint16_t poll_asks; /* ...and those of other things since */
    uint16_t
        poll_vain; /* this often the program polled before, waited and then did something else */
    uint32_t polled; /* what was polled first */
};

/* An open region that is timed, in a cell. */
struct wf_script_region {
    int64_t since;
    uint64_t value; /* given by the program */
    uint32_t number;
    uint32_t around; /* cell of the region that it is in, or 0 */
};

extern const struct wf_script_cold wf_rank_no_script_cold;

/* A rank together with the program it runs. */
struct wf_rank_program {
    const struct wf_ranks *ranks;
    const struct wf_caller *who;
    struct wf_rank_slot *slot;
    const struct wf_source *source;
    uint32_t job, rank; /* its number in the job */
    uint32_t first;     /* the first rank of the job */
    bool only_world;    /* its program has no communicators but WF_COMM_WORLD */
};

static inline struct wf_rank_program wf_rank_program_of(const struct wf_caller *who)
{
    const struct wf_ranks *ranks = who->ranks;
    uint32_t job = ranks->n_jobs == 1 ? 0 : wf_ranks_job_of(ranks, who->number);

    return (struct wf_rank_program){
        .ranks = ranks,
        .who = who,
        .slot = (struct wf_rank_slot *)who->rank,
        .source = ranks->jobs[job].source,
        .job = job,
        .rank = who->number - ranks->first[job],
        .first = ranks->first[job],
        .only_world = ranks->jobs[job].source->ops->group == NULL,
    };
}

/* The cold part of the position, to read... */
static inline const struct wf_script_cold *
wf_rank_script_cold(const struct wf_rank_program *program)
{
    uint32_t cell = program->slot->progress.cold;

    return cell != 0 ? wf_cell_read(program->who->ctx, cell) : &wf_rank_no_script_cold;
}

/* ...and to change, until the handler returns. */
struct wf_script_cold *wf_rank_script_cold_edit(const struct wf_rank_program *program);

/* A communicator as a rank sees it: maps its ranks to ranks of the run. */
struct wf_rank_group {
    uint32_t id; /* below WF_RANK_GROUPS_MAX */
    uint32_t size, rank;
    uint32_t base; /* added to... */
    uint32_t first, stride, width, stride2;
    const uint32_t *members; /* ...members[r]; null: as the four numbers above give */
};

static inline uint32_t wf_rank_group_member(const struct wf_rank_group *group, uint32_t r)
{
    return group->base + (group->members != NULL
                              ? group->members[r]
                              : group->first + r % group->width * group->stride +
                                    r / group->width * group->stride2);
}

/* The communicator of an op. False if there is no such communicator. */
bool wf_rank_find_group(const struct wf_rank_program *program, uint32_t comm,
                        struct wf_rank_group *out);

/* The arguments of a collective, but for what the machine adds (wf_collective_complete()). */
void wf_rank_collective_args(const struct wf_op *op, const struct wf_rank_group *group,
                             struct wf_coll_args *args);

/* Identifies a collective in the rank's program. The last word is usually 0. */
enum { WF_RANK_COOKIE_WORDS = 4 };

/* The arguments and the communicator of the collective that began with this cookie. */
void wf_rank_recall(const struct wf_caller *who, const uint64_t *cookie,
                    struct wf_coll_args *args, struct wf_rank_group *group);

/* ---- live programs (model/ranks/live.c), if wf_ranks.live is not null ---- */

/* Tells the program of the rank about its clock and its last poll and wildcard receive. */
void wf_live_answer(const struct wf_rank_program *program);
/* A wildcard receive has matched a message from `peer`. */
void wf_live_matched(const struct wf_caller *who, uint32_t request, uint32_t peer, int32_t tag);
/* A wait or test has completed a request. */
void wf_live_taken(const struct wf_caller *who, uint32_t request);
/* A put or get of rank `origin` has arrived at its target. */
void wf_live_remote(const struct wf_caller *who, uint32_t origin);
/* The state of live programs; null if no job is one. */
struct wf_live *wf_live_new(const struct wf_ranks *ranks);
/* Prepares them for a run of several operating-system processes, before it. */
void wf_live_spread(struct wf_live *live, struct wf_ranks *ranks, struct wf_engine *engine);
void wf_live_free(struct wf_live *live); /* null is allowed */
