/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the promises of engine.h to a model, under every scheduler. */
#include "harness/engine_harness.h"

#include <pthread.h>

/* Runs the model in every configuration. True if all outcomes equal the first, which is stored
 * in *expected. */
static bool all_ways_agree(build_fn *build, void *model, int64_t end, struct outcome *expected)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    bool same = true;

    config.end = end;
    *expected = run_model(&config, build, model, NULL, 0);
    for (size_t i = 1; way_to_run(i, &config); i++) {
        struct outcome out = run_model(&config, build, model, NULL, 0);
        same = same_outcome(&config, expected, &out) && same;
    }
    return same;
}

/* ---- nothing at all ---- */

static void idle_init(void *state, struct wf_ctx *ctx)
{
}

static void idle_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    wf_panic("an event for process %u, which has none", wf_self(ctx));
}

/* Counts the processes, and the bytes of state that are not zero. */
static void idle_finish(const void *state, struct wf_ctx *ctx)
{
    uint64_t *tally = wf_tally(ctx);
    const unsigned char *bytes = state;

    tally[0]++;
    for (size_t i = 0; i < 100; i++) {
        tally[1] += bytes[i] != 0;
    }
}

static void add_up(void *into, const void *from)
{
    ((uint64_t *)into)[0] += ((const uint64_t *)from)[0];
    ((uint64_t *)into)[1] += ((const uint64_t *)from)[1];
}

static const struct wf_process_ops idle = {
    .name = "idle", .init = idle_init, .event = idle_event, .finish = idle_finish};

static void build_idle(struct wf_engine *engine, void *model)
{
    wf_engine_tally(engine, 2 * sizeof(uint64_t), add_up);
    if (wf_engine_add(engine, &idle, *(uint32_t *)model, 100, NULL) != 0) {
        abort();
    }
}

static void a_run_without_events_ends(void)
{
    static const uint32_t counts[] = {0, 1, 3, 5000};

    for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
        struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
        for (size_t i = 0; way_to_run(i, &config); i++) {
            uint32_t count = counts[n];
            uint64_t tally[2];
            struct outcome out = run_model(&config, build_idle, &count, tally, sizeof(tally));
            CHECK(out.status == WF_OK);
            CHECK_U64(out.run.events_committed, 0);
            CHECK(out.run.time == 0);
            CHECK_U64(tally[0], count);
            CHECK_U64(tally[1], 0);
            CHECK(wf_engine_efficiency_percent(&out.run) == 100.0);
        }
    }
}

/* ---- a clock ---- */

struct clock {
    uint32_t count;
    int64_t period;
};

static void clock_init(void *state, struct wf_ctx *ctx)
{
    const struct clock *clock = wf_model(ctx);

    wf_schedule(ctx, wf_self(ctx), clock->period, 0, NULL, 0);
}

static void clock_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct clock *clock = wf_model(ctx);

    ++*(uint64_t *)state;
    wf_schedule(ctx, wf_self(ctx), clock->period, 0, NULL, 0);
}

static const struct wf_process_ops clock_ops = {
    .name = "clock", .init = clock_init, .event = clock_event};

static void build_clock(struct wf_engine *engine, void *model)
{
    (void)wf_engine_add(engine, &clock_ops, ((struct clock *)model)->count, sizeof(uint64_t),
                        model);
}

static void events_at_the_end_do_not_happen(void)
{
    static const struct {
        int64_t end;
        uint64_t events;
        int64_t last;
    } cases[] = {{1, 0, 0}, {10, 0, 0}, {11, 1, 10}, {90, 8, 80}, {91, 9, 90}, {100, 9, 90}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct outcome expected;
        for (uint32_t count = 1; count <= 3; count += 2) {
            CHECK(all_ways_agree(build_clock, &(struct clock){count, 10}, cases[c].end,
                                 &expected));
            CHECK(expected.status == WF_OK);
            CHECK_U64(expected.run.events_committed, count * cases[c].events);
            CHECK(expected.run.time == cases[c].last);
        }
    }
}

/* Windows that are nearly empty: a sequential run continues without windows. It must not leave
 * events in them, however far ahead they are. */
static void build_clocks(struct wf_engine *engine, void *model)
{
    static struct clock clocks[] = {{3, 10}, {2, 4321}, {1, 25000}, {1, 999983}};

    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        build_clock(engine, &clocks[i]);
    }
    wf_engine_promise(engine, 10);
}

static void windows_that_do_not_pay_are_given_up(void)
{
    struct wf_engine_config config = engine_defaults(WF_CHECK_UNDO, 1);

    config.end = 2000000;
    struct outcome expected = run_model(&config, build_clocks, NULL, NULL, 0);
    CHECK_U64(expected.run.events_committed,
              3 * UINT64_C(199999) + 2 * UINT64_C(462) + UINT64_C(79) + 2);
    config.scheduler = WF_SEQUENTIAL;
    struct outcome out = run_model(&config, build_clocks, NULL, NULL, 0);
    CHECK(same_outcome(&config, &expected, &out));
    CHECK(out.run.windows > 0 && out.run.windows < 100000);
    config.scheduler = WF_OPTIMISTIC;
    out = run_model(&config, build_clocks, NULL, NULL, 0);
    CHECK(same_outcome(&config, &expected, &out));
}

/* The last picosecond is INT64_MAX - 1; a clock reaches it, or passes it. */
static void time_that_overflows_is_an_error_of_its_own(void)
{
    struct outcome expected;

    CHECK(all_ways_agree(build_clock, &(struct clock){2, INT64_MAX / 2}, 0, &expected));
    CHECK(expected.status == WF_ELIMIT);
    CHECK_U64(expected.run.events_committed, 4);
    CHECK(expected.run.time == INT64_MAX - 1);
    CHECK(strstr(expected.err.text, "2^63 ps") != NULL);
    CHECK(wf_status_exit_code(expected.status) == 5);
    CHECK(all_ways_agree(build_clock, &(struct clock){2, INT64_MAX}, 0, &expected));
    CHECK(expected.status == WF_ELIMIT);
    CHECK_U64(expected.run.events_committed, 0);
    /* After the requested end, overflow does not matter. */
    CHECK(all_ways_agree(build_clock, &(struct clock){2, INT64_MAX / 4}, INT64_MAX / 2,
                         &expected));
    CHECK(expected.status == WF_OK);
}

/* ---- time that overflows only in events that are rolled back ---- */

enum { PAIRS = 12, ROUNDS = 20 };

enum fuse_kind { LOOK, ARM };

/* Even processes arm the odd ones before these look, though speculation may see it otherwise.
 */
static void fuse_init(void *state, struct wf_ctx *ctx)
{
    for (int64_t round = 1; round <= ROUNDS; round++) {
        wf_schedule(ctx, wf_self(ctx), 1000 * round + (wf_self(ctx) % 2 == 0 ? 0 : 20), LOOK,
                    NULL, 0);
    }
}

static void fuse_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    uint64_t *armed = state;

    if (wf_self(ctx) % 2 == 0) {
        wf_schedule(ctx, wf_self(ctx) + 1, 10, ARM, NULL, 0);
        return;
    }
    if (ev->kind == LOOK && *armed == 0) {
        wf_schedule(ctx, wf_self(ctx), INT64_MAX, LOOK, NULL, 0);
    }
    *armed = ev->kind == ARM;
}

static const struct wf_process_ops fuse = {
    .name = "fuse", .init = fuse_init, .event = fuse_event};

static void build_fuse(struct wf_engine *engine, void *model)
{
    (void)wf_engine_add(engine, &fuse, 2 * PAIRS, sizeof(uint64_t), NULL);
    wf_engine_promise(engine, 10);
}

static void an_overflow_that_is_taken_back_is_none(void)
{
    struct outcome expected;

    CHECK(all_ways_agree(build_fuse, NULL, 0, &expected));
    CHECK(expected.status == WF_OK);
    CHECK_U64(expected.run.events_committed, UINT64_C(3) * PAIRS * ROUNDS);
}

/* ---- two kinds of processes, with a gap between their numbers ---- */

enum { PINGS = 5, PONGS = 3, PONG_WORDS = 25, HOPS = 60 };

struct ping_pong {
    uint32_t pings, pongs; /* numbers of the first ones */
};

struct tally {
    uint64_t events, wrong, processes;
};

static void tally_merge(void *into, const void *from)
{
    struct tally *all = into;
    const struct tally *part = from;

    all->events += part->events;
    all->wrong += part->wrong;
    all->processes += part->processes;
}

static void ping_send(struct wf_ctx *ctx, uint64_t hops)
{
    const struct ping_pong *model = wf_model(ctx);
    uint64_t random = wf_random(ctx), payload[5];

    for (uint64_t i = 0; i < 5; i++) {
        payload[i] = hops + i;
    }
    wf_schedule(ctx, model->pongs + (uint32_t)(random % PONGS), 20 + (int64_t)(random % 64), 1,
                payload, sizeof(payload));
}

static void ping_init(void *state, struct wf_ctx *ctx)
{
    ping_send(ctx, HOPS);
}

/* The state of a ping: the number of its events, then the errors found in them. */
static void ping_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    uint64_t *own = state;

    own[0]++;
    own[1] += ev->size != 8 || ev->kind != 2;
    if (ev->payload[0] > 0) {
        ping_send(ctx, ev->payload[0] - 1);
    }
}

static void ping_finish(const void *state, struct wf_ctx *ctx)
{
    const uint64_t *own = state;
    struct tally *tally = wf_tally(ctx);

    tally->events += own[0];
    tally->wrong += own[1];
    tally->processes++;
}

static void pong_init(void *state, struct wf_ctx *ctx)
{
    uint64_t *own = state;

    for (uint64_t i = 2; i < PONG_WORDS; i++) {
        own[i] = wf_self(ctx) * i;
    }
}

/* The state of a pong: the same, and many bytes that must not change. */
static void pong_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct ping_pong *model = wf_model(ctx);
    uint64_t *own = state, random = wf_random(ctx);

    own[0]++;
    own[1] += ev->size != 40 || ev->kind != 1 || ev->dst != wf_self(ctx);
    for (uint64_t i = 0; i < 5; i++) {
        own[1] += ev->payload[i] != ev->payload[0] + i;
    }
    wf_schedule(ctx, model->pings + (uint32_t)(random % PINGS), 20 + (int64_t)(random % 64), 2,
                ev->payload, 8);
}

static void pong_finish(const void *state, struct wf_ctx *ctx)
{
    const uint64_t *own = state;
    struct tally *tally = wf_tally(ctx);

    ping_finish(state, ctx);
    for (uint64_t i = 2; i < PONG_WORDS; i++) {
        tally->wrong += own[i] != wf_self(ctx) * i;
    }
}

static const struct wf_process_ops ping_ops = {.name = "ping",
                                               .payload_max = 8,
                                               .init = ping_init,
                                               .event = ping_event,
                                               .finish = ping_finish};
static const struct wf_process_ops pong_ops = {.name = "pong",
                                               .payload_max = 40,
                                               .init = pong_init,
                                               .event = pong_event,
                                               .finish = pong_finish};

static void build_ping_pong(struct wf_engine *engine, void *model)
{
    struct ping_pong *own = model;

    own->pings = wf_engine_add(engine, &ping_ops, PINGS, 2 * sizeof(uint64_t), model);
    (void)wf_engine_add(engine, &ping_ops, 0, 8, model); /* none of a kind is allowed */
    own->pongs = wf_engine_add(engine, &pong_ops, PONGS, PONG_WORDS * sizeof(uint64_t), model);
    wf_engine_promise(engine, 20);
    wf_engine_promise(engine, 1000); /* the smallest counts */
    wf_engine_tally(engine, sizeof(struct tally), tally_merge);
}

static void kinds_with_a_gap_between_their_numbers_reach_each_other(void)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct outcome expected = {.status = WF_OK};

    for (size_t i = 0; way_to_run(i, &config); i++) {
        struct ping_pong model;
        struct tally tally;
        struct outcome out = run_model(&config, build_ping_pong, &model, &tally, sizeof(tally));
        expected = i == 0 ? out : expected;
        CHECK(same_outcome(&config, &expected, &out));
        CHECK(model.pings == 0 && model.pongs >= PINGS);
        CHECK_U64(tally.events, UINT64_C(2) * PINGS * (HOPS + 1));
        CHECK_U64(tally.events, out.run.events_committed);
        CHECK_U64(tally.wrong, 0);
        CHECK_U64(tally.processes, PINGS + PONGS);
    }
}

/* ---- settings that must not matter, and the one that must ---- */

static void no_setting_but_the_seed_changes_the_digest(void)
{
    static const uint64_t lps_per_kp[] = {1, 2, 16, 128};
    static const int64_t leashes[] = {0, 1, 30, 5000};
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct ping_pong model;
    struct outcome expected = run_model(&config, build_ping_pong, &model, NULL, 0), out;

    for (size_t i = 0; i < 32; i++) {
        config = engine_defaults(i % 2 == 0 ? WF_OPTIMISTIC : WF_PERTURB, 2);
        config.lps_per_kp = lps_per_kp[i / 2 % 4];
        config.leash = leashes[i / 8];
        config.batch = 1 + i;
        config.gvt_interval = 1 + i % 5;
        out = run_model(&config, build_ping_pong, &model, NULL, 0);
        CHECK(same_outcome(&config, &expected, &out));
        CHECK(out.run.gvt_rounds > 0 && out.run.windows == 0);
        CHECK_U64(out.run.threads, 2);
        CHECK_U64(out.run.processes, 1);
    }
    config = engine_defaults(WF_SEQUENTIAL, 1);
    config.seed++;
    out = run_model(&config, build_ping_pong, &model, NULL, 0);
    CHECK(out.run.digest != expected.run.digest);
}

/* ---- two engines at once ---- */

struct job {
    struct wf_engine_config config;
    uint64_t digest;
    bool right;
};

static void *run_job(void *arg)
{
    struct job *job = arg;

    job->right = true;
    for (int i = 0; i < 2; i++) {
        struct ping_pong model;
        struct tally tally;
        struct outcome out =
            run_model(&job->config, build_ping_pong, &model, &tally, sizeof(tally));
        job->right &= out.status == WF_OK && out.run.digest == job->digest && tally.wrong == 0;
    }
    return NULL;
}

static void two_engines_run_at_once(void)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);

    for (size_t i = 1; way_to_run(i + 1, &config); i += 2) {
        struct job jobs[2];
        pthread_t thread;
        for (size_t j = 0; j < 2; j++) {
            struct ping_pong model;
            struct wf_engine_config plain = engine_defaults(WF_SEQUENTIAL, 1);
            jobs[j].config = plain;
            CHECK(way_to_run(i + j, &jobs[j].config));
            plain.seed = jobs[j].config.seed = 10 + j;
            jobs[j].digest = run_model(&plain, build_ping_pong, &model, NULL, 0).run.digest;
        }
        CHECK(jobs[0].digest != jobs[1].digest);
        CHECK(pthread_create(&thread, NULL, run_job, &jobs[1]) == 0);
        (void)run_job(&jobs[0]);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK(jobs[0].right && jobs[1].right);
    }
}

/* malloc() aligns to 16 bytes, which wider stores to the engine's barrier would not survive. */
static void an_engine_is_aligned_as_its_type_asks(void)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct wf_engine *engines[8];

    for (size_t i = 0; i < 8; i++) {
        engines[i] = wf_engine_new(&config, NULL);
        CHECK_U64((uintptr_t)engines[i] % 64, 0);
    }
    for (size_t i = 0; i < 8; i++) {
        wf_engine_free(engines[i]);
    }
}

int main(void)
{
    wf_engine_free(NULL);
    RUN(an_engine_is_aligned_as_its_type_asks);
    RUN(a_run_without_events_ends);
    RUN(events_at_the_end_do_not_happen);
    RUN(windows_that_do_not_pay_are_given_up);
    RUN(time_that_overflows_is_an_error_of_its_own);
    RUN(an_overflow_that_is_taken_back_is_none);
    RUN(kinds_with_a_gap_between_their_numbers_reach_each_other);
    RUN(no_setting_but_the_seed_changes_the_digest);
    RUN(two_engines_run_at_once);
    return wf_test_done();
}
