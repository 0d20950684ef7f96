/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A closed queueing network: customers wait in line at stations with one server each, are
 * served for an exponential time, and travel on to a random station. The line is a list of
 * cells, and the engine saves copies of the state: this model tests undoing without an undo
 * handler.
 */
#include "base/rng.h"
#include "engine/models/bench.h"

enum kind { ARRIVE, DEPART };

struct queues {
    uint64_t stations;
    uint64_t customers; /* per station, at the start */
    int64_t service;
    int64_t travel;
    int64_t end;
};

/* A customer who waits in line. */
struct place {
    uint64_t customer;
    uint32_t next, padding;
};

struct state {
    uint32_t first, last; /* cells; the first is being served */
    uint64_t length;
    uint64_t served;
};

struct tally {
    uint64_t served;
    uint64_t in_line;
};

static int64_t service_time(struct wf_ctx *ctx, const struct queues *queues)
{
    return (int64_t)(wf_rng_exponential(wf_random(ctx)) * (double)queues->service);
}

static void queues_init(void *state, struct wf_ctx *ctx)
{
    const struct queues *queues = wf_model(ctx);

    for (uint64_t i = 0; i < queues->customers; i++) {
        uint64_t customer = wf_self(ctx) * queues->customers + i;
        wf_schedule(ctx, wf_self(ctx), queues->travel, ARRIVE, &customer, sizeof(customer));
    }
}

static void arrive(struct state *own, uint64_t customer, struct wf_ctx *ctx)
{
    uint32_t cell = wf_cell_new(ctx);
    struct place *place = wf_cell_edit(ctx, cell);

    place->customer = customer;
    if (own->length++ == 0) {
        own->first = cell;
        wf_schedule(ctx, wf_self(ctx), service_time(ctx, wf_model(ctx)), DEPART, NULL, 0);
    } else {
        struct place *last = wf_cell_edit(ctx, own->last);
        last->next = cell;
    }
    own->last = cell;
}

static void depart(struct state *own, struct wf_ctx *ctx)
{
    const struct queues *queues = wf_model(ctx);
    const struct place *first = wf_cell_read(ctx, own->first);
    uint32_t cell = own->first;
    uint64_t customer = first->customer;

    own->first = first->next;
    wf_cell_free(ctx, cell);
    own->served++;
    wf_note(ctx, &customer, sizeof(customer));
    uint32_t to = (uint32_t)wf_rng_below(wf_random(ctx), queues->stations);
    wf_schedule(ctx, to, queues->travel, ARRIVE, &customer, sizeof(customer));
    if (--own->length > 0) {
        wf_schedule(ctx, wf_self(ctx), service_time(ctx, queues), DEPART, NULL, 0);
    }
}

static void queues_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    if (ev->kind == ARRIVE) {
        arrive(state, ev->payload[0], ctx);
    } else {
        depart(state, ctx);
    }
}

static void queues_commit(const struct wf_event *ev, const void *note, struct wf_ctx *ctx)
{
    struct tally *tally = wf_tally(ctx);

    tally->served += ev->kind == DEPART;
}

static void queues_finish(const void *state, struct wf_ctx *ctx)
{
    const struct state *own = state;
    struct tally *tally = wf_tally(ctx);

    tally->in_line += own->length;
}

static void queues_merge(void *into, const void *from)
{
    struct tally *all = into;
    const struct tally *part = from;

    all->served += part->served;
    all->in_line += part->in_line;
}

static const struct wf_process_ops queues_process = {
    .name = "station",
    .payload_max = sizeof(uint64_t),
    .init = queues_init,
    .event = queues_event,
    .commit = queues_commit,
    .finish = queues_finish,
};

static enum wf_status queues_build(struct wf_engine *engine, void *params, struct wf_err *err)
{
    struct queues *queues = params;

    (void)wf_engine_add(engine, &queues_process, (uint32_t)queues->stations,
                        sizeof(struct state), queues);
    wf_engine_promise(engine, queues->travel);
    wf_engine_cells(engine, sizeof(struct place));
    wf_engine_tally(engine, sizeof(struct tally), queues_merge);
    return WF_OK;
}

#define AT(member) offsetof(struct queues, member)

static const struct wf_param queues_params[] = {
    WF_PARAM_ROW(struct queues, stations, COUNT, .def = "1024", .min = "1", .max = "1073741824",
                 .doc = "Stations, each with one server"),
    WF_PARAM_ROW(struct queues, customers, COUNT, .def = "4", .max = "1000000",
                 .doc = "Customers at each station when the run starts"),
    WF_PARAM_ROW(struct queues, service, TIME, .def = "1us", .max = "1h",
                 .doc = "Mean of the exponential service time"),
    WF_PARAM_ROW(struct queues, travel, TIME, .def = "200ns", .max = "1h",
                 .doc = "Time from one station to the next"),
    WF_PARAM_ROW(struct queues, end, TIME, .def = "50us", .min = "1ps",
                 .doc = "Simulated time at which to end"),
    WF_PARAM_END,
};

const struct wf_bench_ops wf_bench_queues_ops = {
    .name = "queues",
    .summary = "a closed network of queues, customers in order",
    .params = queues_params,
    .params_size = sizeof(struct queues),
    .end_offset = AT(end),
    .build = queues_build,
};
