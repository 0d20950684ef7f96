/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TESTS_HARNESS_PACKET_TRAFFIC_H
#define WF_TESTS_HARNESS_PACKET_TRAFFIC_H

/* Messages written down one by one, sent through the packet model without ranks, and what
 * became of every packet. */

#include "harness/packet_messages.h"

static inline void traffic_init(void *state, struct wf_ctx *ctx)
{
    const struct traffic_model *model = wf_model(ctx);
    uint32_t node = wf_self(ctx) - model->net->first_node;

    (void)state;
    for (uint64_t i = 0; i < model->traffic->n_parcels; i++) {
        if (model->traffic->parcels[i].src == node) {
            wf_schedule(ctx, wf_self(ctx), model->traffic->parcels[i].at, KIND_PARCEL, &i,
                        sizeof(i));
        }
    }
}

static inline void traffic_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct traffic_model *model = wf_model(ctx);

    if (ev->kind != KIND_PARCEL) {
        model->net->ops->event(model->net, ctx, state, ev);
        return;
    }

    const struct parcel *parcel = &model->traffic->parcels[ev->payload[0]];
    struct wf_net_message msg = {.bytes = parcel->bytes, .src_node = parcel->src};

    msg.header[0] = (uint32_t)ev->payload[0];
    int64_t left =
        model->net->ops->send(model->net, ctx, state, parcel->dst, &msg, wf_now(ctx));
    if (model->records) {
        model->result->left[ev->payload[0]] = left;
    }
}

static inline void traffic_arrived(void *arg, struct wf_ctx *ctx, void *node,
                                   const struct wf_net_message *msg, int64_t at)
{
    const struct traffic_model *model = arg;

    (void)ctx;
    (void)node;
    if (model->records) {
        model->result->arrivals[msg->header[0]] = at;
        model->result->order[msg->header[0]] = ++model->result->n_arrived;
    }
}

static inline void traffic_sent(void *arg, struct wf_ctx *ctx, void *node,
                                const struct wf_net_message *msg)
{
    const struct traffic_model *model = arg;

    (void)node;
    if (model->records) {
        model->result->left[msg->header[0]] = wf_now(ctx);
    }
}

static inline void traffic_finish(const void *state, struct wf_ctx *ctx)
{
    const struct traffic_model *model = wf_model(ctx);

    model->net->ops->finish(model->net, ctx, state, wf_tally(ctx));
}

static inline void traffic_merge(void *into, const void *from)
{
    uint64_t *a = into;
    const uint64_t *b = from;

    for (size_t i = 0; i < sizeof(struct wf_net_totals) / sizeof(uint64_t); i++) {
        a[i] += b[i];
    }
}

/* Runs the traffic; the caller releases the result. */
static inline struct traffic_result run_traffic(const struct traffic *traffic)
{
    struct traffic_result result = {.n_facts = 0};
    const struct setup setup = {.scheduler = traffic->scheduler,
                                .threads = traffic->threads,
                                .batch = 4,
                                .gvt_interval = 4,
                                .perturb_seed = traffic->perturb_seed};
    const struct wf_engine_config config = engine_config(&setup);
    struct wf_err err = {.status = WF_OK};
    struct wf_topo *topo = NULL;

    must(wf_topo_create(traffic->topo, &topo, &err), &err);
    uint32_t n_nodes = traffic->n_nodes > 0 ? traffic->n_nodes : topo->n_nodes;
    const struct wf_net_env env = {.topo = topo, .n_nodes = n_nodes};
    struct wf_net *net = make_net(&wf_net_packet_ops, traffic->params, &env);
    struct traffic_model model = {.traffic = traffic,
                                  .net = net,
                                  .result = &result,
                                  .records = traffic->scheduler == WF_SEQUENTIAL};
    const struct wf_process_ops process = {
        .name = "node",
        .payload_max = net->payload_max,
        .announces_changes = true,
        .init = traffic_init,
        .event = traffic_event,
        .finish = traffic_finish,
    };
    const struct wf_net_user user = {
        .arg = &model, .arrived = traffic_arrived, .sent = traffic_sent};
    struct wf_engine *engine = wf_engine_new(&config, NULL);

    result.arrivals = wf_xcalloc(traffic->n_parcels + 1, sizeof(*result.arrivals));
    result.order = wf_xcalloc(traffic->n_parcels + 1, sizeof(*result.order));
    result.left = wf_xcalloc(traffic->n_parcels + 1, sizeof(*result.left));
    if (model.records) {
        wf_packet_set_probe(net, traffic_probe, &model);
    }
    uint32_t first = wf_engine_add(engine, &process, n_nodes, net->node_size, &model);
    wf_engine_tally(engine, sizeof(result.totals), traffic_merge);
    wf_net_attach(net, engine, first, &user);
    must(wf_engine_run(engine, &result.run, &err), &err);
    memcpy(&result.totals, wf_engine_tally_get(engine), sizeof(result.totals));
    if (result.n_facts > 0) {
        qsort(result.facts, result.n_facts, sizeof(*result.facts), compare_facts);
    }
    wf_engine_free(engine);
    wf_net_free(net);
    wf_topo_free(topo);
    return result;
}

#endif
