/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A worker is one thread of one operating-system process. Workers are numbered over all threads
 * of the run. A worker owns blocks of simulated processes and runs their handlers in its
 * context.
 */

#include "base/buf.h"
#include "engine/core/cells.h"
#include "engine/model.h"
#include "engine/queue/blocks.h"
#include "engine/queue/chunk.h"

#include <stdalign.h>

/* The engine's data of a process, called LP (logical process); the state of the process follows in
 * memory. */
struct wf_lp {
    uint64_t digest; /* chained hash of the events it has executed */
    uint64_t sent;   /* the next event's sequence number */
    uint64_t random; /* place in its stream of random numbers; 0: nothing was drawn */
};

/* A group of processes added by one call. */
struct wf_process_group {
    const struct wf_process_ops *ops;
    void *model;
    uint32_t first, count;
    uint32_t stride; /* bytes from one process to the next */
    uint32_t state_size;
};

/* Processes of one group, owned by one worker and executed together (engine/queue/blocks.h). */
struct wf_block {
    unsigned char
        *lps; /* of its processes; null if another operating-system process has them */
    const struct wf_process_group *group;
    uint32_t first, count;
    uint32_t spread,
        within;     /* `within` has the bits of a number that are its place in a stretch */
    uint32_t end;   /* the number after the group's last process */
    uint32_t owner; /* the worker */
    uint32_t payload_max; /* of the group's operations */
};

/* The place of a process of the block among its others. */
static inline uint32_t wf_block_index(const struct wf_block *block, uint32_t id)
{
    uint32_t apart = id - block->first;

    if (__builtin_expect(block->spread == 0, 1)) {
        return apart;
    }
    return (apart >> block->spread & ~block->within) | (apart & block->within);
}

/* The process that has this place. */
static inline uint32_t wf_block_id(const struct wf_block *block, uint32_t index)
{
    return block->first + ((index & ~block->within) << block->spread | (index & block->within));
}

static inline struct wf_lp *wf_block_lp(const struct wf_block *block, uint32_t id)
{
    return (void *)(block->lps + (size_t)wf_block_index(block, id) * block->group->stride);
}

enum { WF_UNDO_SEEN = 32 };

/* What one event changed and scheduled, so that it can be undone later; see undo.h. */
struct wf_undo_log {
    struct wf_buf entries; /* chained backwards */
    uint32_t last;         /* offset of the last entry + 1, 0 if there is none */
    struct wf_buf sent;    /* events scheduled, side by side */
    bool log_changes;      /* wf_touch() adds entries */
    bool has_seen;         /* `seen` is not all 0 */
    /* Cells that the event has logged or got, each in the place of its number: it need not log
     * them again. Cells share places, so that some are evicted and logged twice. */
    uint32_t seen[WF_UNDO_SEEN];
};

struct wf_worker;
struct wf_wheel; /* engine/queue/wheel.h */
struct wf_near;  /* engine/queue/near.h */

struct wf_ctx {
    const struct wf_event *now;
    struct wf_lp *lp;
    const struct wf_block *block;
    uint32_t self;
    uint32_t note_size;
    struct wf_worker *worker;
    struct wf_undo_log *undo_log; /* null while nothing has to be undone */
    /* Events for processes of this worker are written directly into windows if there are any.
     * For each block of the engine its bags, by slot of the wheel; null for blocks of other
     * workers and without windows. */
    struct wf_bag **bags;
    struct wf_wheel *wheel;
    struct wf_near *near; /* with `bags`: events for the window being run */
    /* Without windows: events are appended to this log, side by side; null: they go through
     * send(). */
    struct wf_buf *sent;
    /* Queues a copy of the event for its process. */
    void (*send)(struct wf_worker *worker, const struct wf_event *ev);
    const struct wf_block *blocks; /* of the engine, like the next three */
    uint32_t n_blocks;
    struct wf_block_map map;
    uint64_t seed;        /* of random numbers */
    int64_t lookahead;    /* 0 while processes are initialised */
    int64_t end;          /* events at this time or later are dropped */
    struct wf_event *out; /* one stride: an event that send() queues */
    bool is_out;          /* wf_schedule_end() passes it to send() */
    uint64_t note[WF_NOTE_MAX / 8];
    struct wf_buf trail;      /* of the event being handled */
    const void *final_trail;  /* of the event being committed */
    size_t final_trail_bytes; /* its length in bytes */
};

struct wf_counters {
    uint64_t executed;
    uint64_t committed;
    uint64_t rolled_back;
    uint64_t rollbacks;
    uint64_t antis;
    uint64_t remote;
    uint64_t rounds; /* windows or GVT rounds */
    uint64_t alone;  /* windows that one thread executed for all */
    uint64_t throttles;
    double gvt_seconds;
    int64_t last_time; /* of the committed events */
};

struct wf_worker {
    alignas(64) struct wf_ctx ctx; /* aligned: workers share no cache line */
    struct wf_engine *engine;
    uint32_t thread;  /* in this process */
    uint32_t number;  /* in the run */
    uint32_t *blocks; /* global numbers of its blocks */
    uint32_t n_blocks;
    unsigned char *lps; /* of its processes */
    struct wf_pool pool;
    struct wf_cells cells;
    struct wf_event *current; /* one stride: the event being executed */
    unsigned char *tally;
    struct wf_counters count;
    uint64_t overflows;           /* events scheduled beyond the end of time */
    uint64_t dropped;             /* events scheduled at or after the end of the run */
    void *scheduler;              /* data of the scheduler */
    struct wf_forecast *forecast; /* engine/core/forecast.h; null: none is wanted */
    int64_t next_progress_ns;
};

/* Points the context at a process of its block, the receiver of the event. */
static inline void wf_ctx_point(struct wf_ctx *ctx, struct wf_lp *lp,
                                const struct wf_event *now)
{
    ctx->now = now;
    ctx->lp = lp;
    ctx->self = now->dst;
    ctx->note_size = 0;
    ctx->trail.size = 0;
}

/* Points the context at a process of any block. */
static inline void wf_ctx_enter(struct wf_ctx *ctx, const struct wf_block *block, uint32_t id,
                                const struct wf_event *now)
{
    ctx->block = block;
    wf_ctx_point(ctx, wf_block_lp(block, id), now);
    ctx->self = id;
}

/* What the handler left with wf_note(), or null. */
static inline const void *wf_ctx_note(const struct wf_ctx *ctx)
{
    return ctx->note_size == 0 ? NULL : ctx->note;
}

/* Executes an event that is never undone: digest, handler, commit. */
void wf_worker_execute(struct wf_worker *worker, const struct wf_event *ev);

/* Calls the progress function of the configuration, if there is one, a few times a second. */
void wf_worker_progress(struct wf_worker *worker, int64_t time);

/* A scheduler. Every thread of the run calls the three functions, all at the same time. */
struct wf_scheduler_ops {
    bool alone; /* uses one thread of one process only */
    /* Sets worker->scheduler and ctx.send; then the processes are initialised. */
    void (*prepare)(struct wf_worker *worker);
    /* Executes events until none are left, the end is reached or a stop is requested. */
    void (*run)(struct wf_worker *worker);
    void (*release)(struct wf_worker *worker);
};

extern const struct wf_scheduler_ops wf_scheduler_sequential;
extern const struct wf_scheduler_ops wf_scheduler_conservative;
extern const struct wf_scheduler_ops wf_scheduler_optimistic;
extern const struct wf_scheduler_ops wf_scheduler_check_undo;
/* Begins on one thread and chooses how it goes on: conservative, or sequential. */
extern const struct wf_scheduler_ops wf_scheduler_trial;
