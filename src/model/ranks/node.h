/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The node process. Its state is the network's part for each of its interfaces, these
 * interfaces (model/ranks/nic.h), one rank slot for each rank on the node, and what the ranks share
 * (model/ranks/local.h, model/ranks/turns.h). Events of the network's kinds go to the network model, all
 * others to the handler of their kind (model/ranks/node.c). Private to ranks/.
 *
 * A rank makes calls (model/ranks/calls.h) until one of them blocks; wf_node_resume() continues
 * the rank once the call is complete.
 */

#include "engine/cargo.h"

#include "base/arith.h"
#include "model/net/net.h"
#include "model/ranks/cpu/contention.h"
#include "model/ranks/local.h"
#include "model/ranks/looks.h"
#include "model/ranks/nic.h"
#include "model/ranks/node_params.h"
#include "model/ranks/noise.h"
#include "model/ranks/place.h"
#include "model/ranks/rails.h"
#include "model/ranks/rank.h"
#include "model/ranks/ranks.h"
#include "model/ranks/record/recorder.h"
#include "model/ranks/turns.h"
#include "program/ops/live.h"
#include "program/ops/source.h"

enum {
    WF_RANK_SLOTS_MAX = 65536, /* ranks on a node: their slots are numbered with 16 bits */
    WF_SLOT_REGIONS = 4,       /* nested regions that are timed; deeper ones are not */
};

/* Event kinds of nodes; smaller numbers are the network's kinds. */
enum wf_node_event {
    WF_NODE_RESUME = WF_NET_KINDS, /* continues a rank */
    WF_NODE_CONTINUE,              /* continues a collective that can send now */
    WF_NODE_DEPART,                /* hands a message to the network interface */
    WF_NODE_LOCAL,                 /* a message within the node */
    WF_NODE_SIGNAL,                /* a signal of a formula collective */
    WF_NODE_INJECT,                /* hands a message to the network */
    WF_NODE_ARRIVED,               /* a message that the network interface delayed */
    WF_NODE_TURN,                  /* a core has served a rank, or goes on to another one */
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

/* A live program in a run of several operating-system processes. */
struct wf_live_homes {
    struct wf_homes homes; /* first */
    const struct wf_ranks *ranks;
    const struct wf_engine *engine;
    uint32_t job;
};

/* What all ranks of a run share. */
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
    struct wf_node_looks looks;
    struct wf_turns turns;                              /* of ranks that share cores */
    const struct wf_coll_ops *algorithm[WF_COLL_KINDS]; /* null: the rules choose */
    uint8_t formula[WF_COLL_KINDS];                     /* enum wf_formula */
    bool by_node;    /* collectives depend on which ranks share a node */
    bool in_line;    /* those of a communicator run one after another */
    bool runs_ahead; /* ranks may send later than now */
    bool in_step;    /* ranks make calls only when the engine's time has reached their clock */
    bool in_time;    /* messages that the network interface delays get an event */
    bool sends_only; /* nothing is received, and all messages are eager */
    bool sees_all;   /* commit looks at more than the note of an event */
    bool is_simple;  /* ranks do not share cores, and nothing is recorded */
    bool
        short_receives; /* receives of eager messages take less memory (model/ranks/request.h) */
    bool has_live;      /* a job is a live program, which must be told what its ranks receive */
    struct wf_process_ops ops;
    struct wf_replay_params params;
    uint64_t stall_limit; /* a rank fails if it executes so many ops at one time */
    const struct wf_cpu *cpu;
    int64_t *capture_ps; /* cost of capturing one computation, by rank of the run; null: none */
    struct wf_recorder recorder;
    uint32_t n_jobs;
    struct wf_ranks_job jobs[WF_TALLY_JOBS];
    uint32_t first[WF_TALLY_JOBS + 1]; /* the first rank of each job */
    struct wf_live_homes homes[WF_TALLY_JOBS];
};

/* A rank slot in the state of a node. */
struct wf_rank_slot {
    struct wf_rank rank; /* first */
    struct wf_script {
        uint64_t word[3]; /* position in the source: wf_cursor.word */
        int64_t compute_ps;
        int64_t stalled_at; /* the rank's clock when it was last resumed... */
        uint64_t stalled;   /* ...and the ops that it has executed since the clock moved */
        uint32_t part;      /* parts done of an op that is executed in parts */
        uint32_t rest;      /* cell with a struct wf_script_rest; 0: all its members are zero */
    } progress;
};

_Static_assert(sizeof(struct wf_rank_slot) % 8 == 0, "slots are aligned");

/* What few programs need of their position: a cell that a rank gets on first use. */
struct wf_script_rest {
    uint32_t outer[4];  /* of the cursor */
    uint32_t span;      /* of the cursor */
    uint32_t iteration; /* iterations begun so far */
    uint32_t n_regions; /* open regions */
    uint32_t region;    /* cell of the innermost region that is timed, or 0 */
    uint64_t runs;      /* completed runs of the program */
    int64_t polling_ps; /* time spent on unsuccessful polls since the last other op */
};

/* An open region that is timed, in a cell. */
struct wf_script_region {
    int64_t since;
    uint64_t value; /* given by the program */
    uint32_t number;
    uint32_t around; /* cell of the region that it is in, or 0 */
};

/* A rank in one of its events. */
struct wf_caller {
    const struct wf_ranks *ranks;
    struct wf_ctx *ctx;
    void *node;
    struct wf_rank *rank;
    struct wf_recording *sums; /* wf_recorder_sums() */
    uint32_t slot;             /* rank slot on the node */
    uint32_t number;           /* number of the rank in the run */
};

/* The rank in a slot of the node that handles the event. */
static inline struct wf_caller wf_caller_at(const struct wf_ranks *ranks, struct wf_ctx *ctx,
                                            void *node, uint32_t slot)
{
    unsigned char *slots = (unsigned char *)node + ranks->slots_at;

    return (struct wf_caller){
        .ranks = ranks,
        .ctx = ctx,
        .node = node,
        .rank = (struct wf_rank *)(void *)(slots + slot * sizeof(struct wf_rank_slot)),
        .sums = wf_recorder_sums(&ranks->recorder, ctx),
        .slot = slot,
        .number = wf_place_rank(ranks->place, wf_self(ctx) - ranks->net->first_node, slot),
    };
}

/* Likewise at the beginning of an event, and announces that the rank's state may change. */
static inline struct wf_caller wf_caller_enter(const struct wf_ranks *ranks, struct wf_ctx *ctx,
                                               void *node, uint32_t slot)
{
    struct wf_caller who = wf_caller_at(ranks, ctx, node, slot);

    wf_touch(ctx, who.rank, sizeof(*who.rank));
    who.rank->noted = 0;
    return who;
}

extern const struct wf_rank_more wf_rank_nothing_more;
extern const struct wf_script_rest wf_rank_no_rest;

/* What the rank needs beside its slot, for reading... */
static inline const struct wf_rank_more *wf_rank_more(const struct wf_caller *who)
{
    return who->rank->more != 0 ? wf_cell_read(who->ctx, who->rank->more)
                                : &wf_rank_nothing_more;
}

/* ...and for writing, until the handler returns. */
struct wf_rank_more *wf_rank_more_edit(const struct wf_caller *who);

/* A wildcard receive or a probe has found a message from `source`, a rank of the run. */
void wf_rank_saw(const struct wf_caller *who, uint32_t source, int32_t tag);

/* Frees the cell of a rank that has ended and waits for nothing any more. A rank that can still
 * ask for a long message keeps the number of its last handle there. */
void wf_rank_more_settle(const struct wf_caller *who);

/* A rank together with the program it runs. */
struct wf_turn {
    const struct wf_ranks *ranks;
    const struct wf_caller *who;
    struct wf_rank_slot *slot;
    const struct wf_source *source;
    uint32_t job, rank; /* its number in the job */
    uint32_t first;     /* the first rank of the job */
    bool is_plain;      /* its program has no communicators but WF_COMM_WORLD */
};

/* The job of a rank of the run. */
static inline uint32_t wf_ranks_job_of(const struct wf_ranks *ranks, uint32_t rank)
{
    uint32_t job = 0;

    while (rank >= ranks->first[job + 1]) {
        job++;
    }
    return job;
}

static inline struct wf_turn wf_turn_of(const struct wf_caller *who)
{
    const struct wf_ranks *ranks = who->ranks;
    uint32_t job = ranks->n_jobs == 1 ? 0 : wf_ranks_job_of(ranks, who->number);

    return (struct wf_turn){
        .ranks = ranks,
        .who = who,
        .slot = (struct wf_rank_slot *)who->rank,
        .source = ranks->jobs[job].source,
        .job = job,
        .rank = who->number - ranks->first[job],
        .first = ranks->first[job],
        .is_plain = ranks->jobs[job].source->ops->group == NULL,
    };
}

/* What few programs need of their position, for reading... */
static inline const struct wf_script_rest *wf_rank_rest(const struct wf_turn *turn)
{
    uint32_t cell = turn->slot->progress.rest;

    return cell != 0 ? wf_cell_read(turn->who->ctx, cell) : &wf_rank_no_rest;
}

/* ...and for writing, until the handler returns. */
struct wf_script_rest *wf_rank_rest_edit(const struct wf_turn *turn);

/* A communicator as a rank sees it: maps its ranks to ranks of the run. */
struct wf_rank_group {
    uint32_t id; /* below WF_RANK_GROUPS_MAX */
    uint32_t size, rank;
    uint32_t base; /* added to... */
    uint32_t first, stride, width, stride2;
    const uint32_t *members; /* ...members[r]; null: as the four numbers above give */
};

#define WF_RANK_GROUPS_MAX (UINT32_C(1) << 26)

static inline uint32_t wf_rank_group_member(const struct wf_rank_group *group, uint32_t r)
{
    return group->base + (group->members != NULL
                              ? group->members[r]
                              : group->first + r % group->width * group->stride +
                                    r / group->width * group->stride2);
}

/* The number of communicators of each job; communicators of different jobs differ. */
static inline uint32_t wf_ranks_groups_per_job(const struct wf_ranks *ranks)
{
    return ranks->n_jobs == 1 ? WF_RANK_GROUPS_MAX : WF_RANK_GROUPS_MAX / WF_TALLY_JOBS;
}

/* ---- nodes of ranks and of PEs (model/ranks/node.c) ---- */

/* WF_EINVAL unless the network has the nodes of the place, and these have slots for `n`
 * ranks or PEs (`what`). */
WF_NODISCARD
enum wf_status wf_node_check(const struct wf_place *place, const struct wf_net *net, uint32_t n,
                             const char *what, struct wf_err *err);

/* The largest payload of an event for a node, in bytes. */
static inline size_t wf_node_payload_max(const struct wf_net *net)
{
    return net->payload_max > sizeof(struct wf_net_message) ? net->payload_max
                                                            : sizeof(struct wf_net_message);
}

/* In commit: the network's statistics, and the recording. */
void wf_node_commit(const struct wf_net *net, const struct wf_recorder *recorder,
                    const struct wf_event *ev, struct wf_ctx *ctx);
/* In commit: counts a message with this latency. */
void wf_node_count_latency(const struct wf_recorder *recorder, struct wf_ranks_tally *tally,
                           int64_t latency);

/* In finish: lays out the tally and adds the network's part of the node. */
void wf_node_finish(const struct wf_net *net, const struct wf_recorder *recorder,
                    const void *node, struct wf_ranks_tally *tally, struct wf_ctx *ctx);

#define WF_NO_WAIT INT64_C(-1)

/* In finish: adds the totals of a rank or PE. */
struct wf_rank_totals {
    uint32_t number, job;
    uint64_t messages, bytes; /* sent */
    uint64_t longest;         /* bytes of the longest message */
    int64_t clock, compute_ps, overhead_ps;
    int64_t wait_ps[WF_IN_KINDS]; /* WF_NO_WAIT: it has no such calls */
    bool ended;                   /* the rank reached its end */
};
void wf_node_count_rank(const struct wf_recorder *recorder, struct wf_ranks_tally *tally,
                        const struct wf_rank_totals *totals);

extern const struct wf_process_ops wf_node_ops; /* complete except payload_max and careful */

/* Instead of wf_node_ops.event, if the run is recorded. */
void wf_node_event_recorded(void *state, const struct wf_event *ev, struct wf_ctx *ctx);

/* Executes the rank's ops until one blocks. */
void wf_node_resume(const struct wf_caller *who);

/* The note that an event leaves for its commit; at most one for each event (rank.noted). */
struct wf_node_note {
    uint16_t what, job; /* enum wf_node_noted; job of the region or iteration */
    uint32_t number;    /* number of the region or iteration */
    int64_t at;         /* when the rank passed the mark; or the latency of the message */
    int64_t time;       /* time spent in the region; absent for messages */
};

enum wf_node_noted { WF_NOTED_LATENCY, WF_NOTED_REGION, WF_NOTED_BEGIN, WF_NOTED_END };

/* A message that departed from rank `from` at this time has arrived. */
void wf_node_note_message(const struct wf_caller *to, const struct wf_sent *sent);

/* ---- ops (model/ranks/execute.c) ---- */

enum wf_called {
    WF_CALLED_DONE,
    WF_CALLED_BLOCKED, /* the rank is resumed once the call is complete */
    WF_CALLED_AGAIN,   /* the rank is resumed to make the same call again */
};

/* Executes one op. The position of the rank is still that before the op. */
WF_NODISCARD
enum wf_called wf_rank_execute(const struct wf_turn *turn, const struct wf_op *op);

/* Records that the rank began the op at `from`. `called` is the outcome of wf_rank_execute(). */
void wf_rank_note_call(const struct wf_turn *turn, const struct wf_op *op, int64_t from,
                       enum wf_called called);

/* Identifies a collective in the rank's program. The last word is usually 0. */
enum { WF_RANK_COOKIE_WORDS = 4 };

/* The arguments and the communicator of the collective that began with this cookie. */
void wf_rank_recall(const struct wf_caller *who, const uint64_t *cookie,
                    struct wf_coll_args *args, struct wf_rank_group *group);

/* ---- live programs (model/ranks/live.c); wf_ranks.has_live says whether there is one ---- */

/* Tells the program of the rank about its clock and its last poll and wildcard receive. */
void wf_live_answer(const struct wf_turn *turn);
/* A wildcard receive has matched a message from `peer`. */
void wf_live_matched(const struct wf_caller *who, uint32_t request, uint32_t peer, int32_t tag);
/* A wait or test has completed a request. */
void wf_live_taken(const struct wf_caller *who, uint32_t request);
/* A put or get of rank `origin` has arrived at its target. */
void wf_live_remote(const struct wf_caller *who, uint32_t origin);
/* Prepares live programs for a run of several operating-system processes. */
void wf_live_spread(struct wf_ranks *ranks, struct wf_engine *engine);

/* ---- recording ---- */

/* Records an activity of the rank. */
static inline void wf_rank_did(const struct wf_caller *who, enum wf_spent what, int64_t from,
                               int64_t until)
{
    if (wf_recorder_is_on(&who->ranks->recorder) && until > from) {
        wf_recorder_add(&who->ranks->recorder, who->ctx, who->sums,
                        &(struct wf_span){from, until, who->number, (uint32_t)what});
    }
}

/* Likewise, from its clock until a later time. */
static inline void wf_rank_spent(const struct wf_caller *who, enum wf_spent what, int64_t until)
{
    wf_rank_did(who, what, who->rank->clock, until);
}

/* Records why a track of the rank continues; fills in cause.rank. */
static inline void wf_cause_note(const struct wf_caller *who, struct wf_cause cause)
{
    if (wf_recorder_wants_causes(&who->ranks->recorder)) {
        cause.rank = who->number;
        wf_recorder_cause(&who->ranks->recorder, who->ctx, &cause);
    }
}
