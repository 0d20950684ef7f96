/* SPDX-License-Identifier: Apache-2.0 */
/* Windows with few events are executed by one thread, those with many by all. */
#include "base/clock.h"
#include "engine/tuning.h"
#include "harness/engine_harness.h"

enum {
    /* Windows with so many events are worth two threads even where other programs use the cores. */
    PROCESSES = 3 * WF_TUNE_WINDOWS_ALONE * WF_TUNE_SHARED_WINDOW,
    STEP = 10, /* length of a window */
    STRIDE = 511,
    ALWAYS = 20, /* balls that are passed on in each window */
    PHASE = 800, /* windows */
};

/* Balls are passed on once in a window: few of them all the time, and in the second of three phases
 * as many as `middle`. */
struct game {
    uint32_t middle;
};

enum { BALL, BALL_OF_THE_MIDDLE };

static void game_init(void *state, struct wf_ctx *ctx)
{
    const struct game *game = wf_model(ctx);

    if (wf_self(ctx) < ALWAYS) {
        wf_schedule(ctx, wf_self(ctx), STEP, BALL, NULL, 0);
    } else if (wf_self(ctx) < game->middle) {
        wf_schedule(ctx, wf_self(ctx), STEP * PHASE, BALL_OF_THE_MIDDLE, NULL, 0);
    }
}

static void game_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    int64_t end = STEP * PHASE * (ev->kind == BALL ? 3 : 2);

    ++*(uint64_t *)state;
    if (wf_now(ctx) + STEP < end) {
        wf_schedule(ctx, (wf_self(ctx) + STRIDE) % PROCESSES, STEP, ev->kind, NULL, 0);
    }
}

static const struct wf_process_ops game_ops = {
    .name = "game", .init = game_init, .event = game_event};

static void build(struct wf_engine *engine, void *model)
{
    (void)wf_engine_add(engine, &game_ops, PROCESSES, sizeof(uint64_t), model);
    wf_engine_promise(engine, STEP);
}

static bool play(uint32_t middle, uint64_t threads, bool fit, struct wf_run *run)
{
    struct game game = {middle};
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct outcome expected = run_model(&config, build, &game, NULL, 0);

    config = engine_defaults(WF_CONSERVATIVE, threads);
    config.fit = fit;
    struct outcome out = run_model(&config, build, &game, NULL, 0);
    *run = out.run;
    return same_outcome(&config, &expected, &out);
}

static void one_thread_executes_windows_with_few_events(void)
{
    struct wf_run run;

    CHECK(play(0, 2, true, &run));
    CHECK(run.threads == 2);
    CHECK(run.windows_alone > 2 * PHASE && run.windows_alone < run.windows);
}

/* The first phase is noticed after some windows, and so is the beginning of the second one. */
static void all_threads_execute_windows_with_many_events(void)
{
    struct wf_run run;

    CHECK(play(PROCESSES, 2, true, &run));
    CHECK(run.windows_alone > PHASE / 2 && run.windows_alone < 2 * PHASE);
}

static void all_threads_execute_everything_if_the_user_wants_it(void)
{
    struct wf_run run;

    CHECK(play(0, 2, false, &run) && run.windows_alone == 0);
    CHECK(play(0, 1, true, &run) && run.windows_alone == 0);
}

int main(void)
{
    if (wf_clock_cores() > 1) { /* with one core there is one thread */
        RUN(one_thread_executes_windows_with_few_events);
        RUN(all_threads_execute_windows_with_many_events);
    }
    RUN(all_threads_execute_everything_if_the_user_wants_it);
    return wf_test_done();
}
