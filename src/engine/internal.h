/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_INTERNAL_H
#define WF_ENGINE_INTERNAL_H

/*
 * What the files of the engine share: processes in blocks, blocks dealt to workers, and the
 * context in which a worker runs handlers. A worker is one thread of one operating-system
 * process; workers are numbered over all of them.
 */

#include "base/buf.h"
#include "engine/barrier.h"
#include "engine/cells.h"
#include "engine/chunk.h"
#include "engine/comm.h"
#include "engine/engine.h"
#include "engine/run.h"

/* What the engine keeps of a process; its state follows in memory. */
struct wf_lp {
    uint64_t digest; /* of the events it has executed, chained in their order */
    uint64_t sent;   /* the next event's sequence number */
    uint64_t draws;
};

/* A group of processes added by one call. */
struct wf_group {
    const struct wf_process_ops *ops;
    void *model;
    uint32_t first, count;
    uint32_t stride; /* bytes from one process to the next */
    uint32_t state_size;
};

/* Consecutive processes of one group that stay together: the unit of partition and of cache. */
struct wf_block {
    unsigned char *records; /* null if another process of the run has them */
    const struct wf_group *group;
    uint32_t first, count;
    uint32_t owner; /* the worker */
};

/* Takes down what must be undone later; see spec.h. */
struct wf_recording {
    struct wf_buf undo; /* entries, the last one first in the chain */
    uint32_t undo_last; /* offset of the last entry + 1, 0 if none */
    struct wf_buf sent; /* events scheduled, one stride each */
    bool log_changes;   /* the handler's announcements are wanted */
};

struct wf_worker;

struct wf_ctx {
    const struct wf_event *now;
    struct wf_lp *lp;
    const struct wf_block *block;
    uint32_t self;
    uint32_t note_size;
    struct wf_worker *worker;
    struct wf_recording *recording; /* null when what happens is final */
    /* Takes a copy of the event on its way to its process. */
    void (*send)(struct wf_worker *worker, const struct wf_event *ev);
    int64_t lookahead; /* 0 while processes are initialised, when anything goes */
    int64_t end;       /* first time at which nothing happens */
    struct wf_event *out; /* a stride of room */
    uint64_t note[WF_NOTE_MAX / 8];
};

struct wf_counters {
    uint64_t executed;
    uint64_t committed;
    uint64_t rolled_back;
    uint64_t rollbacks;
    uint64_t antis;
    uint64_t remote;
    uint64_t rounds; /* windows or GVT rounds */
    uint64_t throttles;
    double gvt_seconds;
    int64_t last_time; /* of the committed events */
};

struct wf_worker {
    struct wf_ctx ctx;
    struct wf_engine *engine;
    uint32_t thread; /* in this process */
    uint32_t number; /* in the run */
    uint32_t *blocks; /* own, by global number */
    uint32_t n_blocks;
    unsigned char *records; /* the memory of all its processes */
    struct wf_pool pool;
    struct wf_cells cells;
    struct wf_event *current; /* a stride of room for the event being executed */
    unsigned char *tally;
    struct wf_counters count;
    uint64_t overflows; /* events scheduled beyond the end of time */
    void *scheduler;    /* the scheduler's own */
    int64_t next_progress_ns;
};

struct wf_engine {
    struct wf_engine_config config;
    struct wf_comm *comm;
    uint32_t n_processes, process;
    uint32_t n_threads; /* of this process; the same in all */

    struct wf_group *groups;
    uint32_t n_groups;
    uint32_t next_id;
    int64_t lookahead; /* INT64_MAX if nobody promised yet */
    size_t cell_size;
    size_t tally_size;
    wf_merge_fn *merge;

    /* Fixed when the run starts. */
    uint32_t stride; /* of events */
    unsigned block_shift;
    uint32_t n_blocks;
    struct wf_block *blocks;
    uint32_t *local_block; /* global block number -> number among its owner's */
    struct wf_depot depot;
    struct wf_worker *workers; /* n_threads */
    struct wf_barrier barrier;
    unsigned char *tally; /* merged */

    bool interrupted;
    struct wf_err failure; /* what a scheduler has to report; set by one thread only */
    double start_wall, start_cpu, end_wall, end_cpu; /* of the events; one thread sets them */
};

static inline uint32_t wf_engine_block_of(const struct wf_engine *engine, uint32_t id)
{
    return id >> engine->block_shift;
}

static inline struct wf_lp *wf_block_lp(const struct wf_block *block, uint32_t id)
{
    return (void *)(block->records + (size_t)(id - block->first) * block->group->stride);
}

static inline struct wf_lp *wf_engine_lp(const struct wf_engine *engine, uint32_t id)
{
    return wf_block_lp(&engine->blocks[wf_engine_block_of(engine, id)], id);
}

static inline uint32_t wf_engine_owner(const struct wf_engine *engine, uint32_t id)
{
    return engine->blocks[wf_engine_block_of(engine, id)].owner;
}

static inline bool wf_engine_should_stop(const struct wf_engine *engine)
{
    return engine->config.stop != NULL && *engine->config.stop != 0;
}

/* Points the context at a process. */
static inline void wf_ctx_enter(struct wf_ctx *ctx, const struct wf_block *block, uint32_t id,
                                const struct wf_event *now)
{
    ctx->now = now;
    ctx->block = block;
    ctx->lp = wf_block_lp(block, id);
    ctx->self = id;
    ctx->note_size = 0;
}

/* Executes an event for good: digest, handler, commit. */
void wf_worker_execute(struct wf_worker *worker, const struct wf_event *ev);
/* Adds the event to the digest of the process the context points at. */
void wf_ctx_digest(struct wf_ctx *ctx, const struct wf_event *ev);
void wf_ctx_commit(struct wf_ctx *ctx, const struct wf_event *ev, const void *note);

/* Tells the user how far the run is, if he wants to know and it is time to. */
void wf_worker_progress(struct wf_worker *worker, int64_t time);

/* A scheduler. All three run in every thread of the run at once. */
struct wf_scheduler_ops {
    bool alone; /* uses one thread of one process, however many there are */
    /* Makes worker->scheduler and sets ctx.send, so that processes can be initialised. */
    void (*prepare)(struct wf_worker *worker);
    /* Executes events until none are left, the end or a request to stop. */
    void (*run)(struct wf_worker *worker);
    void (*release)(struct wf_worker *worker);
};

extern const struct wf_scheduler_ops wf_sequential_ops;
extern const struct wf_scheduler_ops wf_conservative_ops;
extern const struct wf_scheduler_ops wf_optimistic_ops;
extern const struct wf_scheduler_ops wf_check_undo_ops;

#endif
