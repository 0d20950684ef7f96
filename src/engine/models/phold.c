/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PHOLD (Fujimoto, "Performance of Time Warp under synthetic workloads", 1990). The number
 * of events is fixed: each event, when executed, schedules another after an exponential
 * delay, for a random process or for its own. The model has an undo handler and so tests
 * reverse computation.
 */
#include "base/rng.h"
#include "engine/models/bench.h"

struct phold {
    uint64_t lps;
    uint64_t start_events;
    double remote;
    int64_t mean;
    int64_t lookahead;
    int64_t end;
    uint32_t remote_threshold; /* in units of 2^-32 */
    double spread;             /* mean delay beyond the lookahead */
};

struct state {
    uint64_t events;
};

static void schedule_next(struct wf_ctx *ctx, const struct phold *phold)
{
    uint64_t where = wf_random(ctx);
    double delay = wf_rng_exponential_of(wf_random(ctx)) * phold->spread;
    uint32_t dst = wf_self(ctx);

    if (wf_rng_chance(where, phold->remote_threshold)) {
        dst = (uint32_t)wf_rng_below(where << 32, phold->lps);
    }
    /* Without a payload there is nothing between the two calls. */
    (void)wf_schedule_begin(ctx, (struct wf_event_target){.dst = dst},
                            phold->lookahead + (int64_t)delay, 0);
    wf_schedule_end(ctx);
}

static void phold_init(void *state, struct wf_ctx *ctx)
{
    const struct phold *phold = wf_model(ctx);

    for (uint64_t i = 0; i < phold->start_events; i++) {
        double delay = wf_rng_exponential_of(wf_random(ctx)) * phold->spread;
        wf_schedule(ctx, wf_self(ctx), phold->lookahead + (int64_t)delay, 0, NULL, 0);
    }
}

static void phold_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    struct state *own = state;

    own->events++;
    schedule_next(ctx, wf_model(ctx));
}

static void phold_undo(void *state, const struct wf_event *ev, const void *note,
                       struct wf_ctx *ctx)
{
    struct state *own = state;

    own->events--;
}

static const struct wf_process_ops phold_process = {
    .name = "phold",
    .init = phold_init,
    .event = phold_event,
    .undo = phold_undo,
};

static enum wf_status phold_build(struct wf_engine *engine, void *params, struct wf_err *err)
{
    struct phold *phold = params;

    if (phold->lookahead > phold->mean) {
        return wf_err_set(err, WF_EUSAGE, "phold.lookahead is larger than phold.mean");
    }
    double threshold = phold->remote * 4294967296.0;
    phold->remote_threshold = threshold >= 4294967295.0 ? UINT32_MAX : (uint32_t)threshold;
    phold->spread = (double)(phold->mean - phold->lookahead);
    (void)wf_engine_add(engine, &phold_process, (uint32_t)phold->lps, sizeof(struct state),
                        phold);
    wf_engine_promise(engine, phold->lookahead);
    return WF_OK;
}

#define AT(member) offsetof(struct phold, member)

static const struct wf_param phold_params[] = {
    WF_PARAM_ROW(struct phold, lps, COUNT, .def = "65536", .min = "1", .max = "1073741824",
                 .doc = "Simulated processes"),
    WF_PARAM_ROW(struct phold, start_events, COUNT, .def = "16", .max = "1000000",
                 .doc = "Events that each process starts with"),
    WF_PARAM_ROW(struct phold, remote, REAL, .def = "0.1", .min = "0", .max = "1",
                 .doc = "Share of events that go to a random process instead of the same one"),
    WF_PARAM_ROW(struct phold, mean, TIME, .def = "1us", .min = "1ps", .max = "1h",
                 .doc = "Mean delay of an event"),
    WF_PARAM_ROW(struct phold, lookahead, TIME, .def = "100ns", .max = "1h",
                 .doc = "Least delay; the rest is exponential"),
    WF_PARAM_ROW(struct phold, end, TIME, .def = "10us", .min = "1ps",
                 .doc = "Simulated time at which to end"),
    WF_PARAM_END,
};

const struct wf_bench_ops wf_bench_phold_ops = {
    .name = "phold",
    .summary = "events that beget events, for a random process now and then",
    .params = phold_params,
    .params_size = sizeof(struct phold),
    .end_offset = AT(end),
    .build = phold_build,
};
