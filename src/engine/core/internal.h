/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The engine as its own files see it: processes lie in blocks, and workers own blocks. */

#include "engine/cargo.h"
#include "engine/core/worker.h"
#include "engine/hosts/barrier.h"
#include "engine/hosts/comm.h"
#include "engine/queue/pending.h"
#include "engine/run.h"
#include "engine/tuning.h"

#include <pthread.h>

/* Groups of processes start at multiples of the largest block, so that the block of a process
 * is a shift of its number. */
enum { WF_ID_ALIGN_SHIFT = 11 };

struct wf_engine {
    struct wf_engine_config config;
    struct wf_comm *comm;
    uint32_t n_processes, process;
    uint32_t n_threads;     /* in every process */
    uint32_t n_threads_max; /* that a trial may choose; without one, n_threads */
    uint64_t trial;         /* events of a trial; 0: there is none */
    const struct wf_scheduler_ops *scheduler;
    uint32_t alone_below; /* WF_TUNE_WINDOWS_ALONE, or what a trial measured */
    pthread_t *threads;   /* n_threads_max; the first is not used */
    enum wf_run_fit fit;  /* why there are fewer threads than were asked for */

    struct wf_process_group *groups;
    uint32_t n_groups;
    uint32_t next_id;
    int64_t lookahead;                      /* INT64_MAX before the first promise */
    uint32_t cell_sizes[WF_CELL_SIZES_MAX]; /* ascending, multiples of 8 */
    uint32_t n_cell_sizes;
    size_t tally_size;
    wf_merge_fn *merge;
    struct wf_cargo cargo; /* functions are null if there is none */

    /* Fixed when the run starts. */
    uint32_t stride; /* bytes from one event to the next, payload included */
    struct wf_block_map map;
    uint32_t n_blocks;
    struct wf_block *blocks;
    uint32_t *local_block; /* global block number -> number among its owner's */
    struct wf_depot depot;
    struct wf_worker *workers; /* n_threads */
    struct wf_barrier barrier;
    struct wf_bag dealt;  /* the events before and after a trial, until threads have theirs */
    unsigned char *tally; /* merged */

    bool interrupted;
    struct wf_err failure; /* of a scheduler; one thread sets it */
    double start_wall, start_cpu, end_wall,
        end_cpu; /* of handling events; one thread sets them */
};

static inline uint32_t wf_engine_block_of(const struct wf_engine *engine, uint32_t id)
{
    return wf_block_number(engine->map, id);
}

static inline struct wf_lp *wf_engine_lp(const struct wf_engine *engine, uint32_t id)
{
    return wf_block_lp(&engine->blocks[wf_engine_block_of(engine, id)], id);
}

static inline uint32_t wf_engine_owner(const struct wf_engine *engine, uint32_t id)
{
    return engine->blocks[wf_engine_block_of(engine, id)].owner;
}

/* Prefetches memory of the next pending events. Returns the event whose process was prefetched,
 * or null. Must be inlined: a compiler sees no effect in a call of it and drops the call. */
__attribute__((always_inline)) static inline const struct wf_event *
wf_engine_prefetch(const struct wf_engine *engine, const struct wf_pending *pending)
{
    const struct wf_event *ev = wf_pending_ahead(pending, WF_TUNE_QUEUE_AHEAD);

    if (ev != NULL) {
        __builtin_prefetch(ev);
        ev = wf_pending_ahead(pending, WF_TUNE_QUEUE_AHEAD / 2);
        __builtin_prefetch(wf_engine_lp(engine, ev->dst), 1);
    }
    return ev;
}

/* Whether the events of this process cannot be undone. */
static inline bool wf_engine_is_careful(const struct wf_engine *engine, uint32_t id)
{
    return engine->blocks[wf_engine_block_of(engine, id)].group->ops->careful;
}

/* Appends the cargo for another process to a message for it. */
static inline void wf_engine_load(const struct wf_engine *engine, uint32_t process,
                                  struct wf_buf *message)
{
    if (engine->cargo.load != NULL) {
        engine->cargo.load(engine->cargo.arg, process, message);
    }
}

static inline void wf_engine_unload(const struct wf_engine *engine, const unsigned char *bytes,
                                    size_t size)
{
    if (size > 0) {
        engine->cargo.unload(engine->cargo.arg, bytes, size);
    }
}

/* Sets what the context of a worker has of the engine. */
void wf_worker_begin(struct wf_worker *worker);

/* Cuts the groups of a run on one thread anew, for several, moves the states, and starts the threads. Each
 * joins the run. */
void wf_engine_split(struct wf_engine *engine, uint32_t n_threads, int partition);

/* Events are handled from now on: thread 0 says so, again if events were dealt meanwhile. */
void wf_engine_start_clock(struct wf_engine *engine);

/* trial.c: a thread takes its events, meets the others, and runs. */
void wf_worker_join(struct wf_worker *worker);

/* partition.c: cuts groups of processes into blocks, deals the blocks to workers, and allocates
 * zeroed states for those of this operating-system process. */
void wf_engine_partition(struct wf_engine *engine, uint32_t n_workers);
/* Likewise, once more: copies the states of the one worker that had all processes. */
void wf_engine_repartition(struct wf_engine *engine);

/* Whether the model has careful processes: programs that run. */
bool wf_engine_has_careful(const struct wf_engine *engine);

/* stats.c: adds up counters, digests and tallies of all workers of `n_processes` processes.
 * Every process calls it; all get the same *run, and process 0 gets the merged tally. */
void wf_engine_collect(struct wf_engine *engine, uint32_t n_processes, struct wf_run *run);

/* The flag that asks to stop, 0 if there is none. Another thread may set it at any time. */
static inline int wf_engine_stop(const struct wf_engine *engine)
{
    return engine->config.stop != NULL ? __atomic_load_n(engine->config.stop, __ATOMIC_RELAXED)
                                       : 0;
}

/* Whether to stop in the middle of a window. */
static inline bool wf_engine_must_stop(const struct wf_engine *engine)
{
    return wf_engine_stop(engine) > WF_STOP_SOON;
}

static inline bool wf_engine_should_stop(const struct wf_engine *engine)
{
    return wf_engine_stop(engine) != 0;
}
