/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Sends a list of messages through the packet model, without ranks, and records when each
 * packet was delivered. */

#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "model/net/packet/packet.h"

struct message {
    int64_t at;
    uint32_t src, dst;
    uint64_t bytes;
};

struct arrival {
    uint32_t src, dst, number;
    int64_t at;
};

/* The delivery of a packet. Compared byte by byte, so it has no padding. */
struct packet_fact {
    uint32_t src, dst, number, spare;
    uint64_t packet;
    int64_t at;
};

struct traffic {
    const char *topo;
    const struct message *messages; /* sorted by time for each source */
    size_t n_messages;
    uint32_t n_nodes;         /* 0: all */
    uint32_t nics, nic_group; /* as in struct wf_net_env; messages are between endpoints */
    const struct wf_packet_params *params;
    enum wf_scheduler scheduler;
    uint64_t threads;
    uint64_t perturb_seed;
};

struct traffic_result {
    struct packet_fact *facts; /* sorted by (src, dst, number, packet); sequential runs only */
    size_t n_facts;
    int64_t *arrivals; /* arrival of the last byte of each message; sequential runs only */
    uint64_t *order;   /* order of arrival of each message, from 1 */
    uint64_t n_arrived;
    int64_t *left; /* when the message had left its node, as returned by send() */
    struct wf_net_totals totals;
    struct wf_run run;
};

enum { KIND_MESSAGE = WF_NET_KINDS };

struct traffic_model {
    const struct traffic *traffic;
    const struct wf_net *net;
    struct traffic_result *result;
    size_t capacity;
    bool records; /* sequential runs only: there every event is final at once */
};

static inline struct wf_packet_params packet_defaults(void)
{
    struct wf_packet_params params;
    struct wf_err err = {.status = WF_OK};

    memset(&params, 0, sizeof(params));
    must(wf_param_defaults(wf_net_packet_ops.params, &params, &err), &err);
    return params;
}

static inline void packet_set(struct wf_packet_params *params, const char *name,
                              const char *value)
{
    struct wf_err err = {.status = WF_OK};

    must(wf_param_set(wf_net_packet_ops.params, params, "net.", name, value, &err), &err);
}

static inline void packet_release(struct wf_packet_params *params)
{
    wf_param_release(wf_net_packet_ops.params, params);
}

static inline void traffic_probe(void *arg, const struct wf_packet_delivery *delivery)
{
    struct traffic_model *model = arg;
    struct traffic_result *result = model->result;

    for (uint64_t i = 0; i < delivery->count; i++) {
        if (result->n_facts == model->capacity) {
            model->capacity = 2 * model->capacity + 1024;
            result->facts = wf_xrealloc(result->facts, model->capacity, sizeof(*result->facts));
        }
        result->facts[result->n_facts++] = (struct packet_fact){
            delivery->src,       delivery->dst,
            delivery->number,    0,
            delivery->first + i, delivery->at + (int64_t)i * delivery->spacing};
    }
}

static inline int compare_facts(const void *left, const void *right)
{
    const struct packet_fact *a = left, *b = right;

    if (a->src != b->src) {
        return a->src < b->src ? -1 : 1;
    }
    if (a->dst != b->dst) {
        return a->dst < b->dst ? -1 : 1;
    }
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return a->packet < b->packet ? -1 : a->packet > b->packet;
}

static inline void release_traffic(struct traffic_result *result)
{
    free(result->facts);
    free(result->arrivals);
    free(result->order);
    free(result->left);
}

static inline void traffic_init(void *state, struct wf_ctx *ctx)
{
    const struct traffic_model *model = wf_model(ctx);
    uint32_t node = wf_self(ctx) - model->net->first_node;

    for (uint64_t i = 0; i < model->traffic->n_messages; i++) {
        uint32_t src = model->traffic->messages[i].src;
        if (wf_net_interface_of(&model->net->ends, src).node == node) {
            wf_schedule(ctx, wf_self(ctx), model->traffic->messages[i].at, KIND_MESSAGE, &i,
                        sizeof(i));
        }
    }
}

static inline void traffic_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct traffic_model *model = wf_model(ctx);

    if (ev->kind != KIND_MESSAGE) {
        wf_net_event(model->net, ctx, state, ev);
        return;
    }

    const struct message *message = &model->traffic->messages[ev->payload[0]];
    struct wf_net_message msg = {.bytes = message->bytes, .src_node = message->src};

    msg.header[0] = (uint32_t)ev->payload[0];
    uint32_t nic = wf_net_interface_of(&model->net->ends, message->src).nic;
    int64_t left = model->net->ops->send(model->net, ctx, wf_net_part(model->net, state, nic),
                                         message->dst, &msg, wf_now(ctx));
    if (model->records) {
        model->result->left[ev->payload[0]] = left;
    }
}

static inline void traffic_arrived(void *arg, struct wf_ctx *ctx, void *node,
                                   const struct wf_net_message *msg, int64_t at)
{
    const struct traffic_model *model = arg;

    if (model->records) {
        model->result->arrivals[msg->header[0]] = at;
        model->result->order[msg->header[0]] = ++model->result->n_arrived;
    }
}

static inline void traffic_sent(void *arg, struct wf_ctx *ctx, void *node,
                                const struct wf_net_message *msg)
{
    const struct traffic_model *model = arg;

    if (model->records) {
        model->result->left[msg->header[0]] = wf_now(ctx);
    }
}

static inline void traffic_finish(const void *state, struct wf_ctx *ctx)
{
    const struct traffic_model *model = wf_model(ctx);

    for (uint32_t nic = 0; nic < model->net->ends.nics; nic++) {
        model->net->ops->finish(model->net, ctx,
                                wf_net_part(model->net, wf_unconst(state), nic), nic,
                                wf_tally(ctx));
    }
}

static inline void traffic_merge(void *into, const void *from)
{
    wf_net_totals_merge(into, from);
}

/* All messages may overtake others, if the network is told to let them. */
static inline bool traffic_may_overtake(const struct wf_net_message *msg)
{
    (void)msg;
    return true;
}

/* Short messages are control messages. */
static inline bool traffic_is_control(const struct wf_net_message *msg)
{
    return msg->bytes <= 1000;
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
    const struct wf_net_env env = {.topo = topo,
                                   .n_nodes = n_nodes,
                                   .nics = traffic->nics,
                                   .nic_group = traffic->nic_group};
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
    const struct wf_net_user user = {.arg = &model,
                                     .arrived = traffic_arrived,
                                     .sent = traffic_sent,
                                     .may_overtake = traffic_may_overtake,
                                     .is_control = traffic_is_control};
    struct wf_engine *engine = wf_engine_new(&config, NULL);

    result.arrivals = wf_xcalloc(traffic->n_messages + 1, sizeof(*result.arrivals));
    result.order = wf_xcalloc(traffic->n_messages + 1, sizeof(*result.order));
    result.left = wf_xcalloc(traffic->n_messages + 1, sizeof(*result.left));
    if (model.records) {
        wf_packet_set_probe(net, traffic_probe, &model);
    }
    uint32_t first =
        wf_engine_add(engine, &process, n_nodes, net->ends.nics * net->node_size, &model);
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

/* Whether other schedulers give the same result as a sequential run. */
static inline bool traffic_agrees(struct traffic *traffic,
                                  const struct traffic_result *expected)
{
    static const enum wf_scheduler schedulers[] = {WF_CHECK_UNDO, WF_CONSERVATIVE, WF_PERTURB};
    bool equal = true;

    for (size_t i = 0; i < sizeof(schedulers) / sizeof(schedulers[0]); i++) {
        traffic->scheduler = schedulers[i];
        traffic->threads = schedulers[i] == WF_CHECK_UNDO ? 1 : 2;
        traffic->perturb_seed = i + 1;
        struct traffic_result found = run_traffic(traffic);
        equal = equal && found.run.digest == expected->run.digest &&
                memcmp(&found.totals, &expected->totals, sizeof(found.totals)) == 0;
        release_traffic(&found);
    }
    return equal;
}

/* The number of nodes of a topology. */
static inline uint32_t traffic_nodes(const char *spec)
{
    struct wf_topo *topo = NULL;
    struct wf_err err = {.status = WF_OK};

    must(wf_topo_create(spec, &topo, &err), &err);
    uint32_t n = topo->n_nodes;
    wf_topo_free(topo);
    return n;
}

static inline int traffic_by_time(const void *left, const void *right)
{
    const struct message *a = left, *b = right;

    return a->at < b->at ? -1 : a->at > b->at;
}

/* Fills in `least` to `most` - 1 random messages of less than `bytes` bytes, a third of them to
 * node 0; returns how many. */
static inline size_t traffic_random(uint64_t seed, const char *topo, struct message *messages,
                                    size_t least, size_t most, uint64_t bytes)
{
    uint32_t n_nodes = traffic_nodes(topo);
    size_t n = least + wf_test_rand(seed, 1, 0) % (most - least);

    for (size_t i = 0; i < n; i++) {
        messages[i] = (struct message){
            .at = (int64_t)(wf_test_rand(seed, 2, i) % 20 * 25600),
            .src = (uint32_t)(wf_test_rand(seed, 3, i) % n_nodes),
            .dst = (uint32_t)(wf_test_rand(seed, 4, i) % 3 == 0
                                  ? 0
                                  : wf_test_rand(seed, 5, i) % n_nodes),
            .bytes = wf_test_rand(seed, 6, i) % bytes,
        };
    }
    qsort(messages, n, sizeof(messages[0]), traffic_by_time);
    return n;
}
