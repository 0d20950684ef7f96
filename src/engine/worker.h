/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_WORKER_H
#define WF_ENGINE_WORKER_H

/*
 * A worker is one thread of one operating-system process; workers are numbered over all of
 * them. It owns blocks of processes and runs their handlers in its context.
 */

#include "base/buf.h"
#include "engine/block.h"
#include "engine/cells.h"
#include "engine/chunk.h"

#include <stdalign.h>

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
    int64_t lookahead;    /* 0 while processes are initialised, when anything goes */
    int64_t end;          /* first time at which nothing happens */
    struct wf_event *out; /* a stride of room */
    uint64_t note[WF_NOTE_MAX / 8];
    struct wf_buf trail;      /* of the event being handled */
    const void *final_trail;  /* of the event being committed... */
    size_t final_trail_bytes; /* ...and its length */
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
    alignas(64) struct wf_ctx ctx; /* two workers never share a cache line */
    struct wf_engine *engine;
    uint32_t thread;  /* in this process */
    uint32_t number;  /* in the run */
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

/* Points the context at a process. */
static inline void wf_ctx_enter(struct wf_ctx *ctx, const struct wf_block *block, uint32_t id,
                                const struct wf_event *now)
{
    ctx->now = now;
    ctx->block = block;
    ctx->lp = wf_block_lp(block, id);
    ctx->self = id;
    ctx->note_size = 0;
    ctx->trail.size = 0;
}

/* What the handler noted, or null. */
static inline const void *wf_ctx_note(const struct wf_ctx *ctx)
{
    return ctx->note_size == 0 ? NULL : ctx->note;
}

/* Executes an event for good: digest, handler, commit. */
void wf_worker_execute(struct wf_worker *worker, const struct wf_event *ev);
/* Adds the event to the digest of the process the context points at. */
void wf_ctx_digest(struct wf_ctx *ctx, const struct wf_event *ev);

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
