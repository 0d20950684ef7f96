/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Processes, events and schedulers; nothing about networks or MPI programs.
 *
 * A model adds processes before the run. Each has a block of state that the engine owns and
 * a table of handlers. Handlers see only their own state and the context: to affect another
 * process they schedule an event for it. The same model runs unchanged under every scheduler,
 * thread count and process count, and gives the same digest.
 *
 * Under the optimistic schedulers a handler may see events that are cancelled later, in
 * combinations that cannot happen in the final run. It must not crash or loop forever on them;
 * the engine undoes what it did. A process never sees an event for itself that it has already
 * cancelled. A careful process never sees an event that is cancelled later.
 *
 * With several operating-system processes every one of them builds the same model; each then
 * holds the state of its share of the simulated processes.
 */

#include "base/status.h"
#include "engine/config.h"
#include "engine/event.h"

#include <stdbool.h>

struct wf_engine;
struct wf_comm; /* engine/hosts/comm.h */
struct wf_ctx;  /* what a handler may use while it runs */

struct wf_process_ops {
    const char *name;
    size_t payload_max; /* of the events it receives, at most WF_PAYLOAD_MAX */

    /* A speculative event is undone by `undo` if there is one. Otherwise, if this is set, the
     * engine restores the bytes that the handler announced with wf_touch(). Otherwise it
     * restores a copy of the whole state. */
    bool announces_changes;

    /* The effects of its events cannot be undone, because a real program runs in it. Every
     * scheduler executes each event once, when no earlier event can arrive any more. Needs no
     * `undo`, and makes the optimistic schedulers wait. */
    bool careful;

    /* Optional: schedules the first events; time is 0. */
    void (*init)(void *state, struct wf_ctx *ctx);
    void (*event)(void *state, const struct wf_event *ev, struct wf_ctx *ctx);
    /* Optional: fetches what `event` will need into the cache, cells by wf_cell_fetch(). Called a
     * few events earlier, if at all: the state may still change. It may call no function of the
     * engine but wf_model() and wf_cell_fetch(). */
    void (*fetch)(const void *state, const struct wf_event *ev, struct wf_ctx *ctx);
    /* Optional: the exact inverse of `event`. The engine itself takes back scheduled events,
     * random draws, cells and announced bytes; this restores the rest. */
    void (*undo)(void *state, const struct wf_event *ev, const void *note, struct wf_ctx *ctx);
    /* Optional: effects that cannot be undone. Called once per event, in key order for each
     * process. The state has changed since the event: use what the handler left in wf_note().
     */
    void (*commit)(const struct wf_event *ev, const void *note, struct wf_ctx *ctx);
    /* Whether commit() does nothing for events without a note and a trail, so that it need not be
     * called. */
    bool commits_notes;
    /* Optional: called for every process after the last event, to add to the tally. */
    void (*finish)(const void *state, struct wf_ctx *ctx);
};

/* Merges one part of a model's tally into another. The order of merging is not specified, and a
 * zeroed part (of a thread without processes) must change nothing: use integers, and minima and
 * maxima together with a count. */
typedef void wf_merge_fn(void *into, const void *from);

/* `comm` connects the operating-system processes of this run; the engine keeps the pointer.
 * Null means one process. */
struct wf_engine *wf_engine_new(const struct wf_engine_config *config, struct wf_comm *comm);
void wf_engine_free(struct wf_engine *engine); /* null is allowed */

/* Adds `count` processes of one kind, numbered consecutively from the number returned, which
 * is 0 for the first call. `state_size` bytes each are zeroed and moved only by memcpy: state
 * holds no pointers into itself. `model` is shared by all and read-only during the run. */
uint32_t wf_engine_add(struct wf_engine *engine, const struct wf_process_ops *ops,
                       uint32_t count, size_t state_size, void *model);

/* Promises that no process schedules an event for another process less than `delay` picoseconds
 * ahead; the smallest promise counts, and without one it is 0. Events of a process for itself
 * may have any delay. This lookahead is what lets schedulers run in parallel. */
void wf_engine_promise(struct wf_engine *engine, int64_t delay);

/* Gives each thread a zeroed block of `size` bytes for counting in commit and finish; `merge`
 * adds the blocks up at the end. */
void wf_engine_tally(struct wf_engine *engine, size_t size, wf_merge_fn *merge);

/* Asks for cells of at least `size` bytes (wf_cell_new_for()). */
void wf_engine_cells(struct wf_engine *engine, size_t size);

/* The scheduler that a configuration asks for, where so many operating-system processes run. */
int wf_scheduler_choose(const struct wf_engine_config *config, uint32_t n_processes);
/* Whether a scheduler uses one thread of one process only. */
bool wf_scheduler_is_alone(int scheduler); /* enum wf_scheduler */

struct wf_run; /* engine/run.h */

/* Runs until no events are left, the configured end, or a request to stop, and fills *run in
 * every process. An interrupted run returns WF_EINTR; unless it was to end at once, it is
 * consistent up to run->time. */
enum wf_status wf_engine_run(struct wf_engine *engine, struct wf_run *run, struct wf_err *err);

/* After the run, in process 0: the merged tally. */
const void *wf_engine_tally_get(const struct wf_engine *engine);

/* ---- for handlers ---- */

int64_t wf_now(const struct wf_ctx *ctx);
const struct wf_event *wf_now_event(const struct wf_ctx *ctx); /* being handled... */
const struct wf_key *wf_now_key(const struct wf_ctx *ctx);     /* ...and its key */
uint32_t wf_self(const struct wf_ctx *ctx);
void *wf_model(const struct wf_ctx *ctx);
void *wf_state(const struct wf_ctx *ctx); /* of this process, as its handler gets it */

void wf_schedule(struct wf_ctx *ctx, uint32_t dst, int64_t delay, uint16_t kind,
                 const void *payload, size_t size);
/* Likewise, for a process that has several parts: of its events that arrive at one instant,
 * those of a lower part come first. Parts are below WF_KEY_PARTS_MAX; wf_schedule() is part
 * 0. */
struct wf_event_target {
    uint32_t dst;
    uint16_t kind;
    uint16_t part; /* of the process that schedules the event */
};
void wf_schedule_to(struct wf_ctx *ctx, struct wf_event_target to, int64_t delay,
                    const void *payload, size_t size);

/* Likewise, but the caller writes the payload, all `size` bytes of it, to the address returned,
 * and then calls wf_schedule_end(). No other function of the context may be called in between.
 * For hot handlers: it saves copying the payload twice. */
void *wf_schedule_begin(struct wf_ctx *ctx, struct wf_event_target to, int64_t delay,
                        size_t size);
void wf_schedule_end(struct wf_ctx *ctx);

/* The next number of this process's own stream: a function of the run's seed, the process's
 * number and how many it has drawn. */
uint64_t wf_random(struct wf_ctx *ctx);

/* Announces that `size` bytes of the state at `at` are about to change. Costs next to nothing
 * unless the event may be undone from its log. */
void wf_touch(struct wf_ctx *ctx, void *at, size_t size);

/* Whether the event being handled is never undone. The handler may then do at once what it would
 * otherwise leave for `commit`, and use the tally. */
bool wf_now_is_final(const struct wf_ctx *ctx);

/* Keeps up to WF_NOTE_MAX bytes with this event for `undo` and `commit`; the last call counts.
 */
enum { WF_NOTE_MAX = 256 };
void wf_note(struct wf_ctx *ctx, const void *note, size_t size);

/* Appends `size` bytes, a multiple of 8, to the trail: data of any length that this event
 * leaves for `commit`. The caller fills in the bytes before any other call. */
void *wf_trail_extend(struct wf_ctx *ctx, size_t size);
/* The last `size` bytes of the trail, which may be changed until more is appended; null if the
 * trail is shorter. */
void *wf_trail_last(struct wf_ctx *ctx, size_t size);
/* In commit: the trail of the event, aligned to 8; *size is 0 if there is none. */
const void *wf_trail(const struct wf_ctx *ctx, size_t *size);

/* Cells: memory beyond the flat state, in numbered blocks of a few sizes. A number is
 * never 0, is valid in its own process only and must not be put into an event. The engine
 * undoes all calls. */
uint32_t wf_cell_new(struct wf_ctx *ctx); /* of the largest size asked for; zeroed */
/* Likewise, of at least `bytes` bytes, a size that wf_engine_cells() was asked for. */
uint32_t wf_cell_new_for(struct wf_ctx *ctx, size_t bytes);
void wf_cell_free(struct wf_ctx *ctx, uint32_t cell);
const void *wf_cell_read(struct wf_ctx *ctx, uint32_t cell);
/* Fetches cells into the cache; 0 stands for no cell. */
void wf_cell_fetch(struct wf_ctx *ctx, const uint32_t *cells, uint32_t n);
/* For writing, until the handler returns. The engine saves the old contents first. */
void *wf_cell_edit(struct wf_ctx *ctx, uint32_t cell);

/* In commit and finish, and in final events: this thread's part of the tally. */
void *wf_tally(struct wf_ctx *ctx);
