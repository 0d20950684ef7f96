/* SPDX-License-Identifier: Apache-2.0 */
/* Mixes processes whose events cannot be undone with others whose events can. Under every
 * scheduler, the former must perform their effects outside of their state once and in order. */
#include "harness/engine_harness.h"

enum { PROCESSES = 60, HOPS = 12, BALLS = 2 };

struct world {
    int64_t delay;      /* minimum delay to another process */
    uint32_t n_careful; /* number of careful processes */
    uint32_t first[2];  /* numbers of the first careful and the first other process */
    int64_t *last;      /* by process: when it was last at work... */
    uint64_t *executed; /* ...and how often: outside of the state on purpose */
};

static uint32_t number_of(const struct world *world, uint32_t i)
{
    return i < world->n_careful ? world->first[0] + i : world->first[1] + i - world->n_careful;
}

static void pass_on(struct wf_ctx *ctx, uint32_t hops)
{
    const struct world *world = wf_model(ctx);
    uint64_t draw = wf_random(ctx);
    uint32_t to =
        draw % 4 == 0 ? wf_self(ctx) : number_of(world, (uint32_t)(draw >> 8) % PROCESSES);
    int64_t delay = world->delay + (int64_t)(draw >> 40) % 5;

    wf_schedule(ctx, to, to == wf_self(ctx) ? delay / 2 : delay, 0, &hops, sizeof(hops));
}

static void ball_init(void *state, struct wf_ctx *ctx)
{
    for (uint32_t i = 0; i < BALLS; i++) {
        pass_on(ctx, HOPS);
    }
}

static void ball_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    uint32_t hops;

    ++*(uint64_t *)state;
    memcpy(&hops, ev->payload, sizeof(hops));
    if (hops > 0) {
        pass_on(ctx, hops - 1);
    }
}

static void careful_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct world *world = wf_model(ctx);
    uint32_t self = wf_self(ctx) - world->first[0];

    CHECK(world->last[self] <= wf_now(ctx));
    world->last[self] = wf_now(ctx);
    world->executed[self]++;
    CHECK(world->executed[self] == *(uint64_t *)state + 1);
    ball_event(state, ev, ctx);
}

static const struct wf_process_ops ball_ops = {
    .name = "ball", .payload_max = sizeof(uint32_t), .init = ball_init, .event = ball_event};
static const struct wf_process_ops careful_ops = {.name = "careful",
                                                  .payload_max = sizeof(uint32_t),
                                                  .careful = true,
                                                  .init = ball_init,
                                                  .event = careful_event};

static void build(struct wf_engine *engine, void *model)
{
    struct world *world = model;

    world->first[0] =
        wf_engine_add(engine, &careful_ops, world->n_careful, sizeof(uint64_t), model);
    if (world->n_careful < PROCESSES) {
        world->first[1] = wf_engine_add(engine, &ball_ops, PROCESSES - world->n_careful,
                                        sizeof(uint64_t), model);
    }
    wf_engine_promise(engine, world->delay);
}

static struct outcome run_world(const struct wf_engine_config *config, int64_t delay,
                                uint32_t n_careful)
{
    int64_t last[PROCESSES] = {0};
    uint64_t executed[PROCESSES] = {0};
    struct world world = {delay, n_careful, {0}, last, executed};

    return run_model(config, build, &world, NULL, 0);
}

static void once_and_in_order(void)
{
    static const int64_t delays[] = {0, 1, 7, 1000};

    for (size_t d = 0; d < sizeof(delays) / sizeof(delays[0]); d++) {
        for (uint32_t n_careful = 20; n_careful <= PROCESSES; n_careful += 20) {
            struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
            struct outcome expected = run_world(&config, delays[d], n_careful);

            for (size_t i = 1; way_to_run(i, &config); i++) {
                struct outcome out = run_world(&config, delays[d], n_careful);
                CHECK(same_outcome(&config, &expected, &out));
            }
        }
    }
}

int main(void)
{
    RUN(once_and_in_order);
    return wf_test_done();
}
