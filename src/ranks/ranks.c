/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/node.h"

#include "base/text.h"
#include "ranks/collective.h"
#include "ranks/formula.h"
#include "ranks/protocol.h"

#include <assert.h>
#include <string.h>

static const char *const progress_names[] = {"independent", "calls", NULL};

#define ROW(row_name, row_type, member) \
    .name = (row_name), .type = (row_type), .offset = offsetof(struct wf_mpi_params, member)

/* One row per collective, called as the collective. */
#define ALGORITHM(kind, text, rooted)                                                        \
    {.name = (text),                                                                         \
     .type = WF_PARAM_TEXT,                                                                  \
     .offset = offsetof(struct wf_mpi_params, algorithms) + WF_COLL_##kind * sizeof(char *), \
     .def = "auto",                                                                          \
     .doc = "Algorithm of " text "; auto is what the rules choose, ideal and hardware are "  \
            "formulas"},

const struct wf_param wf_mpi_params[] = {
    {ROW("eager_max", WF_PARAM_SIZE, eager_max), .def = "18446744073709551615",
     .doc = "Messages up to this size are sent at once, longer ones when they are asked for"},
    {ROW("progress", WF_PARAM_ENUM, progress), .def = "independent", .choices = progress_names,
     .doc = "Whether long messages and nonblocking collectives go on while a rank computes, or "
            "only in its calls"},
    {ROW("control_bytes", WF_PARAM_SIZE, control_bytes), .def = "0",
     .doc = "Size of the messages that arrange the transfer of a long one"},
    {ROW("unexpected_limit", WF_PARAM_SIZE, unexpected_limit), .def = "18446744073709551615",
     .doc = "Bytes of messages without a receive that a rank can hold; more is its failure"},
    {ROW("local", WF_PARAM_BOOL, local), .def = "true",
     .doc = "Whether ranks on one node exchange messages without the network"},
    {ROW("local_latency", WF_PARAM_TIME, local_latency), .def = "300ns", .min = "0",
     .max = "1h", .what_if = WF_WHAT_IF_LATENCY, .doc = "Latency of a message within a node"},
    {ROW("local_bandwidth", WF_PARAM_RATE, local_bandwidth), .def = "10GB/s",
     .what_if = WF_WHAT_IF_BANDWIDTH, .doc = "Bandwidth of a message within a node"},
    {ROW("rules", WF_PARAM_ENUM, rules), .def = "mpich", .choices = wf_coll_rules_names,
     .doc = "Whose choice of algorithms for collectives is followed"},
    {ROW("hw_latency", WF_PARAM_TIME, hw_latency), .def = "500ns", .min = "0", .max = "1h",
     .what_if = WF_WHAT_IF_LATENCY,
     .doc = "Of collectives by the formula 'hardware': latency of each of log2(ranks) levels"},
    {ROW("hw_bandwidth", WF_PARAM_RATE, hw_bandwidth), .def = "10GB/s",
     .what_if = WF_WHAT_IF_BANDWIDTH,
     .doc = "Of collectives by the formula 'hardware': bandwidth of their data"},
    WF_COLL_MAP(ALGORITHM) WF_PARAM_END,
};

static enum wf_status unknown_algorithm(enum wf_coll_kind kind, const char *name,
                                        struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    wf_nearest_add(&nearest, "auto");
    wf_nearest_add(&nearest, wf_formula_names[WF_FORMULA_IDEAL]);
    wf_nearest_add(&nearest, wf_formula_names[WF_FORMULA_HARDWARE]);
    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        if ((*ops)->kind == kind) {
            wf_nearest_add(&nearest, (*ops)->name);
        }
    }
    (void)wf_nearest_hint(&nearest, hint);
    return wf_err_set(err, WF_EUSAGE, "mpi.%s: no algorithm '%.64s'%s", wf_coll_name(kind),
                      name, hint[0] != '\0' ? hint : "; 'weft coll list' shows all");
}

static enum wf_status find_algorithms(struct wf_mpi *mpi, struct wf_err *err)
{
    for (int kind = 0; kind < WF_COLL_KINDS; kind++) {
        const char *name = mpi->params->algorithms[kind];

        mpi->algorithm[kind] = NULL;
        mpi->formula[kind] = (uint8_t)wf_formula_find(name);
        if (strcmp(name, "auto") != 0 && mpi->formula[kind] == WF_FORMULA_NONE) {
            mpi->algorithm[kind] = wf_coll_find((enum wf_coll_kind)kind, name);
            if (mpi->algorithm[kind] == NULL) {
                return unknown_algorithm((enum wf_coll_kind)kind, name, err);
            }
        }
    }
    return WF_OK;
}

/* Ranks may run ahead of the engine's time if the network takes departures in any order; or if
 * it takes them in order and nothing departs from a node but what its one rank sends. */
static bool can_run_ahead(const struct wf_mpi *mpi, bool background)
{
    return !mpi->in_step &&
           (mpi->net->ahead == WF_NET_ANY ||
            (mpi->net->ahead == WF_NET_IN_ORDER && mpi->place->slots_max == 1 && !background &&
             mpi->params->eager_max == UINT64_MAX));
}

enum wf_status wf_mpi_init(struct wf_mpi *mpi, const struct wf_net *net, size_t slot_size,
                           bool background, struct wf_err *err)
{
    assert(slot_size >= sizeof(struct wf_rank) && slot_size % 8 == 0 &&
           net->node_size % 8 == 0 && mpi->place->slots_max <= WF_RANK_SLOTS_MAX);
    mpi->net = net;
    mpi->slots_offset = net->node_size;
    mpi->slot_size = slot_size;
    /* What a rank has not received yet, and what it does beside computing, is known only then.
     */
    mpi->in_step = mpi->params->progress == WF_PROGRESS_CALLS ||
                   mpi->params->unexpected_limit != UINT64_MAX;
    mpi->runs_ahead = can_run_ahead(mpi, background);
    return find_algorithms(mpi, err);
}

size_t wf_mpi_node_size(const struct wf_mpi *mpi)
{
    return mpi->slots_offset + mpi->place->slots_max * mpi->slot_size;
}

size_t wf_mpi_payload_max(const struct wf_mpi *mpi)
{
    size_t own = sizeof(struct wf_net_message);

    return mpi->net->payload_max > own ? mpi->net->payload_max : own;
}

void wf_mpi_attach(struct wf_mpi *mpi, struct wf_net *net, struct wf_engine *engine,
                   uint32_t first_node)
{
    const struct wf_net_user user = {
        .arg = mpi, .arrived = wf_protocol_arrived, .sent = wf_protocol_sent};

    assert(net == mpi->net && mpi->resume != NULL);
    wf_engine_cells(engine, WF_REQ_SIZE);
    wf_net_attach(net, engine, first_node, &user);
}

static void on_resume(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                      const struct wf_event *ev)
{
    uint32_t payload[2]; /* slot, ticket */

    memcpy(payload, ev->payload, sizeof(payload));
    const struct wf_caller who = wf_caller_at(mpi, ctx, node, payload[0]);
    if (who.rank->ticket != payload[1]) {
        return;
    }
    wf_touch(ctx, who.rank, sizeof(*who.rank));
    who.rank->noted = 0;
    if (who.rank->state != WF_RANK_FAILED) {
        wf_rank_wake(&who);
    }
}

static void on_continue(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                        const struct wf_event *ev)
{
    uint32_t payload[2]; /* slot, handle */

    memcpy(payload, ev->payload, sizeof(payload));
    const struct wf_caller who = wf_caller_at(mpi, ctx, node, payload[0]);
    wf_touch(ctx, who.rank, sizeof(*who.rank));
    who.rank->noted = 0;
    uint32_t cell = wf_cellmap_get(ctx, &who.rank->handles, payload[1]);
    if (cell != 0 && who.rank->state != WF_RANK_FAILED) {
        wf_collective_continue(&who, cell);
    }
}

static void on_depart(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                      const struct wf_event *ev)
{
    wf_protocol_depart(mpi, ctx, node, (const void *)ev->payload);
}

static void on_local(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                     const struct wf_event *ev)
{
    const struct wf_net_message *msg = (const void *)ev->payload;
    int64_t tail = wf_transfer_ps(msg->bytes, mpi->params->local_bandwidth);

    wf_protocol_deliver(mpi, ctx, node, msg, wf_time_add(wf_now(ctx), tail));
}

void wf_mpi_event(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                  const struct wf_event *ev)
{
    static void (*const on_kind[])(const struct wf_mpi *, struct wf_ctx *, void *,
                                   const struct wf_event *) = {
        [WF_NODE_RESUME - WF_NET_KINDS] = on_resume,
        [WF_NODE_CONTINUE - WF_NET_KINDS] = on_continue,
        [WF_NODE_DEPART - WF_NET_KINDS] = on_depart,
        [WF_NODE_LOCAL - WF_NET_KINDS] = on_local,
        [WF_NODE_SIGNAL - WF_NET_KINDS] = wf_formula_signal,
    };

    if (ev->kind < WF_NET_KINDS) {
        mpi->net->ops->event(mpi->net, ctx, node, ev);
    } else {
        on_kind[ev->kind - WF_NET_KINDS](mpi, ctx, node, ev);
    }
}
