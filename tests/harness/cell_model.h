/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Runs a data structure that is kept in cells next to a naive version of it in the flat state,
 * under every scheduler, and compares the two: rollback must work for both.
 *
 * Processes take steps at random times and trigger steps of other processes, so that the
 * optimistic schedulers roll back often. At the end each process frees its cells, and none may
 * be left.
 */

#include "engine/core/internal.h"
#include "harness/engine_harness.h"

enum { CELL_STEP = 1, CELL_POKE, CELL_CLEAR };
enum { CELL_DELAY = 5 };

/* The model. The state begins with a uint64_t, a hash of all results so far. */
struct cell_model {
    uint32_t processes, steps; /* number of processes; steps of each process */
    size_t state_size, cell_size;
    void (*step)(void *state, struct wf_ctx *ctx);
    void (*clear)(void *state, struct wf_ctx *ctx);
    bool (*is_right)(const void *state); /* checked at the end */
    const void *plan;                    /* belongs to the test */
};

/* The tally of a run: processes that found a difference, cells left on all threads, and
 * processes that have finished. */
enum { WRONG, CELLS_LEFT, FINISHED, CELL_COUNTS };

static inline void cell_counts_merge(void *into, const void *from)
{
    for (size_t i = 0; i < CELL_COUNTS; i++) {
        ((uint64_t *)into)[i] += ((const uint64_t *)from)[i];
    }
}

static inline const void *cell_plan(const struct wf_ctx *ctx)
{
    return ((const struct cell_model *)wf_model(ctx))->plan;
}

/* The number of cells of this thread that are in use. */
static inline uint64_t cells_in_use(const struct wf_ctx *ctx)
{
    const struct wf_cells *cells = &ctx->worker->cells;

    return cells->in_use;
}

static inline void cell_init(void *state, struct wf_ctx *ctx)
{
    const struct cell_model *model = wf_model(ctx);
    uint64_t steps = model->steps;

    wf_schedule(ctx, wf_self(ctx), 1 + wf_self(ctx), CELL_STEP, &steps, sizeof(steps));
    wf_schedule(ctx, wf_self(ctx), INT64_C(1) << 40, CELL_CLEAR, NULL, 0);
}

static inline void cell_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct cell_model *model = wf_model(ctx);
    uint64_t random = wf_random(ctx), steps = ev->payload[0];

    if (ev->kind == CELL_CLEAR) {
        model->clear(state, ctx);
        return;
    }
    model->step(state, ctx);
    if (ev->kind == CELL_STEP && steps > 1) {
        steps--;
        wf_schedule(ctx, wf_self(ctx), 1 + (int64_t)(random % 16), CELL_STEP, &steps,
                    sizeof(steps));
    }
    if (ev->kind == CELL_STEP && random >> 62 == 0) {
        /* The event carries the results, so that they become part of the digest. */
        wf_schedule(ctx, (uint32_t)(random >> 8) % model->processes,
                    CELL_DELAY + (int64_t)(random >> 40) % 16, CELL_POKE, state,
                    sizeof(uint64_t));
    }
}

static inline void cell_finish(const void *state, struct wf_ctx *ctx)
{
    const struct cell_model *model = wf_model(ctx);
    uint64_t *count = wf_tally(ctx);

    count[WRONG] += !model->is_right(state);
    count[CELLS_LEFT] = cells_in_use(ctx);
    count[FINISHED]++;
}

static const struct wf_process_ops cell_ops = {.name = "cells",
                                               .payload_max = sizeof(uint64_t),
                                               .announces_changes = true,
                                               .init = cell_init,
                                               .event = cell_event,
                                               .finish = cell_finish};

static inline void cell_build(struct wf_engine *engine, void *arg)
{
    struct cell_model *model = arg;

    (void)wf_engine_add(engine, &cell_ops, model->processes, model->state_size, model);
    wf_engine_promise(engine, CELL_DELAY);
    wf_engine_cells(engine, model->cell_size);
    wf_engine_tally(engine, CELL_COUNTS * sizeof(uint64_t), cell_counts_merge);
}

/* Runs the model in the first `n_ways` configurations of engine_harness.h. True if all results
 * were right and, unless all configurations are sequential, some events were rolled back. */
static inline bool cell_model_is_right(struct cell_model *model, size_t n_ways)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct outcome expected = {.status = WF_OK};
    uint64_t undone = 0;
    size_t i;

    for (i = 0; i < n_ways && way_to_run(i, &config); i++) {
        uint64_t count[CELL_COUNTS] = {0};
        struct outcome out = run_model(&config, cell_build, model, count, sizeof(count));
        expected = i == 0 ? out : expected;
        undone += out.run.events_rolled_back;
        if (out.status != WF_OK || count[WRONG] != 0 || count[CELLS_LEFT] != 0 ||
            count[FINISHED] != model->processes) {
            print_way(&config);
            printf("# %llu wrong, %llu cells left: %s\n", (unsigned long long)count[WRONG],
                   (unsigned long long)count[CELLS_LEFT], out.err.text);
            return false;
        }
        if (!same_outcome(&config, &expected, &out)) {
            return false;
        }
    }
    printf("# %llu events, %llu undone\n", (unsigned long long)expected.run.events_committed,
           (unsigned long long)undone);
    return i <= 2 || undone > 0;
}
