/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As many events at the same time as possible. Everything happens on ticks of a clock,
 * including chains of events without delay. The state of a process and the events it sends
 * depend on the order of its events, so one event out of order changes everything after it.
 * With `instant`, processes reach each other without delay, and the lookahead is 0.
 */
#include "base/rng.h"
#include "engine/models/bench.h"

enum kind { TRAVEL, ECHO };

struct ties {
    uint64_t lps;
    uint64_t start_events;
    uint64_t echoes;
    bool instant;
    int64_t tick;
    int64_t end;
};

struct state {
    uint64_t hash; /* hash of all its events, in order */
    uint64_t events;
};

struct payload {
    uint64_t hash;
    uint64_t left; /* echoes still to come */
};

static void ties_init(void *state, struct wf_ctx *ctx)
{
    const struct ties *ties = wf_model(ctx);
    struct payload payload = {.hash = wf_self(ctx), .left = ties->echoes};

    for (uint64_t i = 0; i < ties->start_events; i++) {
        wf_schedule(ctx, wf_self(ctx), ties->tick, TRAVEL, &payload, sizeof(payload));
    }
}

/* A traveller continues to another process, on this tick or one of the next three. */
static void travel(const struct state *own, struct wf_ctx *ctx)
{
    const struct ties *ties = wf_model(ctx);
    uint64_t random = wf_random(ctx);
    uint32_t to = (uint32_t)wf_rng_below(random, ties->lps);
    int64_t ticks = 1 + (int64_t)(random % 3);
    struct payload payload = {.hash = own->hash, .left = random % (ties->echoes + 1)};

    /* At most one in four without delay: time must advance. */
    if (ties->instant && (random >> 8) % 4 == 0) {
        ticks = 0;
    }
    wf_schedule(ctx, to, ticks * ties->tick, TRAVEL, &payload, sizeof(payload));
}

static void ties_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    struct state *own = state;
    const struct payload *seen = (const void *)ev->payload;

    wf_touch(ctx, own, sizeof(*own));
    own->events++;
    own->hash = wf_rng_mix(own->hash ^ seen->hash ^ ev->key.src);
    if (seen->left > 0) {
        struct payload echo = {.hash = own->hash, .left = seen->left - 1};
        wf_schedule(ctx, wf_self(ctx), 0, ECHO, &echo, sizeof(echo));
    }
    if (ev->kind == TRAVEL) {
        travel(own, ctx);
    }
}

static const struct wf_process_ops ties_process = {
    .name = "ties",
    .payload_max = sizeof(struct payload),
    .announces_changes = true,
    .init = ties_init,
    .event = ties_event,
};

static enum wf_status ties_build(struct wf_engine *engine, void *params, struct wf_err *err)
{
    struct ties *ties = params;

    (void)wf_engine_add(engine, &ties_process, (uint32_t)ties->lps, sizeof(struct state), ties);
    wf_engine_promise(engine, ties->instant ? 0 : ties->tick);
    return WF_OK;
}

#define AT(member) offsetof(struct ties, member)

static const struct wf_param ties_params[] = {
    WF_PARAM_ROW(struct ties, lps, COUNT, .def = "64", .min = "1", .max = "1073741824",
                 .doc = "Simulated processes"),
    WF_PARAM_ROW(struct ties, start_events, COUNT, .def = "4", .max = "1000000",
                 .doc = "Events that each process starts with"),
    WF_PARAM_ROW(struct ties, echoes, COUNT, .def = "3", .max = "1000",
                 .doc = "Longest chain of events without delay"),
    WF_PARAM_ROW(struct ties, instant, BOOL, .def = "false",
                 .doc = "Let processes reach each other without delay, leaving no lookahead"),
    WF_PARAM_ROW(struct ties, tick, TIME, .def = "100ns", .min = "1ps", .max = "1h",
                 .doc = "Everything happens at multiples of this"),
    WF_PARAM_ROW(struct ties, end, TIME, .def = "20us", .min = "1ps",
                 .doc = "Simulated time at which to end"),
    WF_PARAM_END,
};

const struct wf_bench_ops wf_bench_ties_ops = {
    .name = "ties",
    .summary = "events at the same time, order matters",
    .params = ties_params,
    .params_size = sizeof(struct ties),
    .end_offset = AT(end),
    .build = ties_build,
};
