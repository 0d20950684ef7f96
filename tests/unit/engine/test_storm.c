/* SPDX-License-Identifier: Apache-2.0 */
/* One process sends to all others at one time. All those events have the same (time, delta,
 * source), and the budget of a worker does not hold them all. */
#include "harness/engine_harness.h"

enum { PROCESSES = 2000 };

struct storm {
    bool by_one; /* process 0 sends to all; else everybody sends to himself */
};

static void storm_init(void *state, struct wf_ctx *ctx)
{
    const struct storm *storm = wf_model(ctx);

    if (!storm->by_one) {
        wf_schedule(ctx, wf_self(ctx), 10, 0, NULL, 0);
    } else if (wf_self(ctx) == 0) {
        for (uint32_t i = 0; i < PROCESSES; i++) {
            wf_schedule(ctx, i, 10, 0, NULL, 0);
        }
    }
}

static void storm_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    if (++*(uint64_t *)state < 3) {
        wf_schedule(ctx, wf_self(ctx), 10, 0, NULL, 0);
    }
}

static const struct wf_process_ops storm_ops = {
    .name = "storm", .init = storm_init, .event = storm_event};

static void build(struct wf_engine *engine, void *model)
{
    (void)wf_engine_add(engine, &storm_ops, PROCESSES, sizeof(uint64_t), model);
}

static void run_storm(bool by_one)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct storm storm = {by_one};
    struct outcome expected = run_model(&config, build, &storm, NULL, 0), out;

    for (uint64_t way = 0; way < 4; way++) {
        config = engine_defaults(WF_OPTIMISTIC, 1 + way % 2);
        config.memory = 16384;
        config.safe = way / 2 == 0;
        out = run_model(&config, build, &storm, NULL, 0);
        CHECK(same_outcome(&config, &expected, &out));
    }
}

static void everybody_at_once(void)
{
    run_storm(false);
}

static void one_to_all_at_once(void)
{
    run_storm(true);
}

/* ---- a process that is far ahead of the others ---- */

enum { PLAYERS = 4, PASSES = 20000, FAR = 1000000000 };

/* Process 0 has one event, far ahead; the others pass a ball. */
static void ahead_init(void *state, struct wf_ctx *ctx)
{
    if (wf_self(ctx) == 0) {
        wf_schedule(ctx, 0, FAR, 0, NULL, 0);
    } else if (wf_self(ctx) == 1) {
        wf_schedule(ctx, 1, 10, 0, NULL, 0);
    }
}

static void ahead_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    uint32_t self = wf_self(ctx);

    if (self > 0 && ++*(uint64_t *)state < PASSES / PLAYERS) {
        wf_schedule(ctx, self % PLAYERS + 1, 10, 0, NULL, 0);
    }
}

static const struct wf_process_ops ahead_ops = {
    .name = "ahead", .init = ahead_init, .event = ahead_event};

static void build_ahead(struct wf_engine *engine, void *model)
{
    (void)wf_engine_add(engine, &ahead_ops, PLAYERS + 1, sizeof(uint64_t), model);
}

/* While the ball is in the mailbox of `perturb` there is only the event far ahead to execute. What
 * is committed later stands behind it in the history, and must not fill it for good. */
static void an_event_far_ahead_does_not_fill_the_history(void)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct outcome expected = run_model(&config, build_ahead, NULL, NULL, 0), out;

    config = engine_defaults(WF_PERTURB, 1);
    config.memory = 65536;
    out = run_model(&config, build_ahead, NULL, NULL, 0);
    CHECK(same_outcome(&config, &expected, &out));
    printf("# %llu rounds, %llu throttles\n", (unsigned long long)out.run.gvt_rounds,
           (unsigned long long)out.run.memory_throttles);
    CHECK(out.run.memory_throttles < PASSES / 50);
}

/* ---- senders that change their minds ---- */

enum { FICKLE = 6, TURNS = 400 };

/* To whom a process sends depends on the order of all that it has received, and times are few: an event
 * that is cancelled and the one that is sent instead often have the same key and two receivers. */
static void fickle_init(void *state, struct wf_ctx *ctx)
{
    *(uint64_t *)state = wf_self(ctx);
    wf_schedule(ctx, wf_self(ctx), 10, 0, NULL, 0);
}

static void fickle_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    uint64_t *mind = state;

    *mind = (*mind ^ ev->key.src) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (wf_now(ctx) < (int64_t)10 * TURNS) {
        wf_schedule(ctx, (uint32_t)(*mind >> 40) % FICKLE, 10 + 10 * (int64_t)(*mind >> 63), 0,
                    NULL, 0);
    }
}

static const struct wf_process_ops fickle_ops = {
    .name = "fickle", .init = fickle_init, .event = fickle_event};

static void build_fickle(struct wf_engine *engine, void *model)
{
    (void)wf_engine_add(engine, &fickle_ops, FICKLE, sizeof(uint64_t), model);
}

static void the_event_that_was_cancelled_goes(void)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct outcome expected = run_model(&config, build_fickle, NULL, NULL, 0), out;

    for (uint32_t seed = 1; seed <= 20; seed++) {
        config = engine_defaults(WF_PERTURB, 1);
        config.lps_per_kp = FICKLE;
        config.perturb_seed = seed;
        out = run_model(&config, build_fickle, NULL, NULL, 0);
        CHECK(same_outcome(&config, &expected, &out));
    }
}

int main(void)
{
    RUN(everybody_at_once);
    RUN(one_to_all_at_once);
    RUN(an_event_far_ahead_does_not_fill_the_history);
    RUN(the_event_that_was_cancelled_goes);
    return wf_test_done();
}
