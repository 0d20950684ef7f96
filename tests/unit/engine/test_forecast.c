/* SPDX-License-Identifier: Apache-2.0 */
/* What a run would take on several threads is counted, exactly and for the better partition. */
#include "base/clock.h"
#include "engine/core/forecast.h"
#include "engine/tuning.h"
#include "harness/engine_harness.h"

enum {
    PROCESSES = 128,
    WINDOWS = 500,
    STEP = 10, /* length of a window */
};

/* Each of the first `balls` processes throws a ball, or several at once, to the process `apart` further, once in a
 * window. */
struct game {
    uint32_t balls, apart, more;
};

static void game_init(void *state, struct wf_ctx *ctx)
{
    const struct game *game = wf_model(ctx);

    for (uint32_t i = 0; wf_self(ctx) < game->balls && i <= game->more; i++) {
        wf_schedule(ctx, wf_self(ctx), STEP, 0, NULL, 0);
    }
}

static void game_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct game *game = wf_model(ctx);

    ++*(uint64_t *)state;
    if (wf_now(ctx) < STEP * WINDOWS) {
        wf_schedule(ctx, (wf_self(ctx) + game->apart) % game->balls, STEP, 0, NULL, 0);
    }
}

static const struct wf_process_ops game_ops = {
    .name = "game", .init = game_init, .event = game_event};

static void build(struct wf_engine *engine, void *model)
{
    (void)wf_engine_add(engine, &game_ops, PROCESSES, sizeof(uint64_t), model);
    wf_engine_promise(engine, STEP);
}

static struct wf_run play(struct game game, enum wf_scheduler scheduler)
{
    struct wf_engine_config config = engine_defaults(scheduler, 2);

    config.fit = false;
    config.forecast = true;
    return run_model(&config, build, &game, NULL, 0).run;
}

static bool is(const struct wf_run_forecast *one, uint32_t threads, int partition,
               uint64_t critical, uint64_t remote)
{
    bool right = one->threads == threads && one->partition == partition &&
                 one->critical_events == critical && one->remote_events == remote;

    if (!right) {
        printf("# %u threads, partition %d: %llu critical, %llu remote\n", one->threads,
               one->partition, (unsigned long long)one->critical_events,
               (unsigned long long)one->remote_events);
    }
    return right;
}

/* Only the lower half of the processes has events: in blocks one of two threads has all of them. The
 * first events are those of the processes themselves. */
static void work_on_one_side_is_spread(void)
{
    struct wf_run run = play((struct game){64, 4, 0}, WF_SEQUENTIAL);
    uint64_t remote = UINT64_C(64) * (WINDOWS - 1);

    CHECK(run.events_committed == UINT64_C(64) * WINDOWS && run.meeting_seconds > 0);
    CHECK(is(&run.forecasts[0], 2, WF_PARTITION_SPREAD, UINT64_C(32) * WINDOWS, 0));
    CHECK(is(&run.forecasts[1], 4, WF_PARTITION_SPREAD, UINT64_C(16) * WINDOWS, 0));
    CHECK(is(&run.forecasts[2], 16, WF_PARTITION_SPREAD, UINT64_C(4) * WINDOWS, remote));
    CHECK(is(&run.forecasts[3], 64, WF_PARTITION_SPREAD, UINT64_C(1) * WINDOWS, remote));
}

/* Likewise, but neighbours talk: the longer the stretches, the fewer events are for another thread, as long as
 * all threads have some. */
static void neighbours_on_one_side_stay_together(void)
{
    struct wf_run run = play((struct game){64, 1, 0}, WF_SEQUENTIAL);
    uint64_t later = WINDOWS - 1;

    CHECK(is(&run.forecasts[0], 2, WF_PARTITION_SPREAD_32, UINT64_C(32) * WINDOWS, 2 * later));
    CHECK(is(&run.forecasts[1], 4, WF_PARTITION_SPREAD_8, UINT64_C(16) * WINDOWS, 8 * later));
    CHECK(is(&run.forecasts[2], 16, WF_PARTITION_SPREAD, UINT64_C(4) * WINDOWS, 64 * later));
}

static void balanced_neighbours_stay_together(void)
{
    struct wf_run run = play((struct game){128, 1, 0}, WF_SEQUENTIAL);
    uint64_t later = WINDOWS - 1;

    CHECK(is(&run.forecasts[0], 2, WF_PARTITION_BLOCK, UINT64_C(64) * WINDOWS, 2 * later));
    CHECK(is(&run.forecasts[1], 4, WF_PARTITION_BLOCK, UINT64_C(32) * WINDOWS, 4 * later));
    CHECK(is(&run.forecasts[2], 16, WF_PARTITION_BLOCK, UINT64_C(8) * WINDOWS, 16 * later));
    CHECK(is(&run.forecasts[3], 64, WF_PARTITION_BLOCK, UINT64_C(2) * WINDOWS, 64 * later));
}

/* Few events: the run goes on with a queue. */
static void events_of_a_queue_are_counted(void)
{
    struct wf_run run = play((struct game){8, 1, 0}, WF_SEQUENTIAL);

    CHECK(is(&run.forecasts[0], 2, WF_PARTITION_SPREAD, UINT64_C(4) * WINDOWS,
             UINT64_C(8) * (WINDOWS - 1)));
}

/* The counts of two threads are those of the forecast. */
static void forecast_counts_are_those_of_two_threads(void)
{
    struct game game = {128, 1, 0};
    struct wf_run one = play(game, WF_SEQUENTIAL), two = play(game, WF_CONSERVATIVE);

    CHECK(two.threads == 2 && two.forecasts[0].threads == 0);
    CHECK(two.remote_events == one.forecasts[0].remote_events);
    CHECK(two.windows == WINDOWS && two.thread_events_max == one.forecasts[0].critical_events);
}

/* After a trial a run goes on with the threads that were asked for, and with the better partition. */
static void trial_finds_the_partition(void)
{
    static const struct {
        struct game game;
        int partition;
    } cases[] = {{{64, 4, 0}, WF_PARTITION_SPREAD},
                 {{64, 1, 0}, WF_PARTITION_SPREAD_32},
                 {{128, 1, 0}, WF_PARTITION_BLOCK}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_engine_config config = engine_defaults(WF_CONSERVATIVE, 2);
        struct game game = cases[i].game;
        config.trial = 1000;
        config.moves = true;
        struct wf_run run = run_model(&config, build, &game, NULL, 0).run;
        CHECK(run.threads == 2 && run.partition == cases[i].partition &&
              run.windows == WINDOWS);
        CHECK(run.digest == play(game, WF_SEQUENTIAL).digest);
        /* Thread 0 executed the trial, up to the end of its last window, and half of the rest. */
        uint64_t trial = (1000 + game.balls - 1) / game.balls * game.balls;
        CHECK(run.thread_events_min == (UINT64_C(1) * game.balls * WINDOWS - trial) / 2);
    }
}

/* More first events than a trial has, and several for each process: both threads have theirs from the start. */
static void many_first_events_need_no_trial(void)
{
    struct wf_engine_config config = engine_defaults(WF_CONSERVATIVE, 2);
    struct game game = {PROCESSES, 1, WF_TUNE_TRIAL_EVENTS / PROCESSES};

    config.fit = true;
    config.moves = true;
    config.end = 4 * STEP;
    struct wf_run two = run_model(&config, build, &game, NULL, 0).run;
    config.scheduler = WF_SEQUENTIAL;
    CHECK(two.digest == run_model(&config, build, &game, NULL, 0).run.digest);
    CHECK(wf_clock_cores() < 2 ||
          (two.threads == 2 && two.thread_events_min == two.thread_events_max));
}

/* 1,000 windows of 100 events of 1 us, in blocks all for one thread, spread for all alike. */
static struct wf_forecast_choice choose(uint32_t max, int partition, double meeting_seconds)
{
    struct wf_forecast forecast = {.n_windows = 1000, .n_events = 100000};

    for (unsigned bits = 0; bits <= WF_FORECAST_BITS; bits++) {
        forecast.parts[WF_FORECAST_BLOCK].critical[bits] = 100000;
        for (unsigned kind = WF_FORECAST_SPREAD; kind < WF_FORECAST_KINDS; kind++) {
            forecast.parts[kind].critical[bits] = UINT64_C(100000) >> bits;
        }
    }
    return wf_forecast_choose(&forecast, max, partition, 1e-6, meeting_seconds);
}

static void choice_is_what_takes_least(void)
{
    struct wf_forecast_choice choice = choose(64, WF_PARTITION_AUTO, 0);

    CHECK(choice.threads == 64 && choice.partition == WF_PARTITION_SPREAD);
    CHECK(choose(12, WF_PARTITION_AUTO, 0).threads == 12);
    CHECK(choose(1, WF_PARTITION_AUTO, 0).threads == 1);
    CHECK(choose(64, WF_PARTITION_BLOCK, 0).threads == 1); /* the user's wish */
    /* 8 threads: 12.5 us of work and 4 meetings; 16: 6.25 and 8. */
    CHECK(choose(64, WF_PARTITION_AUTO, 1.7e-6).threads == 8);
    CHECK(choose(64, WF_PARTITION_AUTO, 60e-6).threads ==
          1); /* 50 us of work and 60 of waiting */
}

int main(void)
{
    RUN(work_on_one_side_is_spread);
    RUN(neighbours_on_one_side_stay_together);
    RUN(balanced_neighbours_stay_together);
    RUN(events_of_a_queue_are_counted);
    RUN(forecast_counts_are_those_of_two_threads);
    RUN(trial_finds_the_partition);
    RUN(many_first_events_need_no_trial);
    RUN(choice_is_what_takes_least);
    return wf_test_done();
}
