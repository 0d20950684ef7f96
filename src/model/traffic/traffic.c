/* SPDX-License-Identifier: Apache-2.0 */
#include "model/traffic/model.h"

#include "base/histogram.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/net/net.h"
#include "model/traffic/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEND = WF_NET_KINDS,
    DONE,   /* a message of this node has arrived */
    ANSWER, /* to itself: send a reply to a node, the payload */
};

/* The state of a node, after the network's part. */
struct node {
    uint64_t missing; /* closed loop: messages of this round that are still in progress */
    uint64_t rounds;  /* rounds begun so far */
    uint64_t halted;  /* the network is in a deadlock: the node sends no more */
    uint64_t bursts, messages; /* whose random numbers have been drawn */
};

/* The header of a message. */
struct header {
    uint32_t born[2]; /* picoseconds */
    uint32_t what;    /* REQUEST or REPLY */
    uint32_t spare[2];
};
enum { REQUEST, REPLY };

_Static_assert(sizeof(struct header) == sizeof(((struct wf_net_message *)0)->header), "fits");

/* The note that an event leaves for its commit. */
struct note {
    int64_t latency; /* latency of a message that arrived; -1: no message */
    uint64_t bytes;
    uint64_t offered, offered_bytes, dropped, dropped_bytes;
};

/* ---- sending ---- */

static struct node *node_of(const struct wf_traffic *traffic, void *state)
{
    return (void *)((unsigned char *)state + traffic->offset);
}

static uint32_t number_of(const struct wf_traffic *traffic, const struct wf_ctx *ctx)
{
    return wf_self(ctx) - traffic->net->first_node;
}

uint64_t wf_traffic_size(const struct wf_traffic *traffic, struct wf_traffic_draw *draw)
{
    const struct wf_traffic_params *set = traffic->set;

    if (traffic->sizes.n > 0) {
        return wf_traffic_weights_choose(&traffic->sizes, wf_traffic_draw(draw));
    }
    if (set->long_share > 0 &&
        (double)(wf_traffic_draw(draw) >> 11) * 0x1p-53 < set->long_share) {
        return set->long_size;
    }
    return set->size;
}

static void send(const struct wf_traffic *traffic, struct wf_ctx *ctx, void *state,
                 uint32_t dst, uint32_t what, uint64_t bytes)
{
    const struct wf_net *net = traffic->net;
    struct wf_net_message msg = {.bytes = bytes, .src_node = number_of(traffic, ctx)};
    struct header header = {.what = what};
    int64_t now = wf_now(ctx);

    memcpy(header.born, &now, sizeof(header.born));
    memcpy(msg.header, &header, sizeof(header));
    (void)net->ops->send(net, ctx, state, dst, &msg, now);
}

/* Sends a burst; returns the number of messages that were not dropped. */
static uint64_t send_burst(const struct wf_traffic *traffic, struct wf_ctx *ctx, void *state,
                           struct note *note)
{
    const struct wf_net *net = traffic->net;
    struct node *node = node_of(traffic, state);
    bool drops =
        traffic->set->drop && traffic->set->rounds == 0 && net->ops->can_inject != NULL;
    uint64_t sent = 0;

    wf_touch(ctx, node, sizeof(*node));
    for (uint64_t i = 0; i < traffic->set->burst; i++) {
        struct wf_traffic_draw draw = {.seed = traffic->seed,
                                       .node = number_of(traffic, ctx),
                                       .message = node->messages++};
        int64_t dst = wf_traffic_pattern_next(traffic->pattern, &draw);
        if (dst < 0) {
            continue;
        }
        uint64_t bytes = wf_traffic_size(traffic, &draw);
        note->offered++;
        note->offered_bytes += bytes;
        if (drops && !net->ops->can_inject(net, ctx, state, (uint32_t)dst)) {
            note->dropped++;
            note->dropped_bytes += bytes;
            continue;
        }
        send(traffic, ctx, state, (uint32_t)dst, REQUEST, bytes);
        sent++;
    }
    return sent;
}

/* -ln(x) for 0 < x < 1, the same on every machine. */
static double minus_log(double x)
{
    return wf_rng_exponential((uint64_t)(x * 0x1p64) - 1);
}

double wf_traffic_scale(double chance)
{
    return chance >= 1 ? 0 : minus_log(1 - chance);
}

/* In a Bernoulli process the number of cycles has a geometric distribution, which is an exponential
 * number rounded up. */
int64_t wf_traffic_gap(const struct wf_traffic *traffic, uint32_t node, uint64_t burst,
                       int64_t now)
{
    double cycle = (double)traffic->set->cycle, chance = wf_traffic_chance(traffic, node), gap;

    if (chance <= 0) {
        return WF_TIME_MAX;
    }
    uint64_t random = wf_traffic_draw_gap(traffic->seed, node, burst);
    if (traffic->set->arrivals == WF_TRAFFIC_POISSON) {
        gap = wf_rng_exponential(random) / chance * cycle;
    } else {
        gap = (1 + floor(wf_traffic_gap_cycles(random, wf_traffic_scale(chance)))) * cycle;
    }
    if (gap >= 1e18) {
        return WF_TIME_MAX;
    }
    /* A picosecond after the begin of a cycle routers decide: not at the same time. */
    return (int64_t)gap + ((now + (int64_t)gap) % traffic->set->cycle == 1 ? 1 : 0);
}

static void schedule_send(const struct wf_traffic *traffic, struct wf_ctx *ctx, void *state)
{
    struct node *node = node_of(traffic, state);

    wf_touch(ctx, node, sizeof(*node));
    int64_t gap = wf_traffic_gap(traffic, number_of(traffic, ctx), node->bursts++, wf_now(ctx));
    if (gap < WF_TIME_MAX - wf_now(ctx)) {
        wf_schedule(ctx, wf_self(ctx), gap, SEND, NULL, 0);
    }
}

/* Begins a round of a closed loop. A round without messages ends at once. */
static void begin_round(const struct wf_traffic *traffic, struct wf_ctx *ctx, void *state,
                        struct note *note)
{
    struct node *node = node_of(traffic, state);

    wf_touch(ctx, node, sizeof(*node));
    while (node->missing == 0 && node->rounds < traffic->set->rounds) {
        node->rounds++;
        node->missing = send_burst(traffic, ctx, state, note);
    }
}

/* The time until a node reacts to a message. On networks that count time in cycles it waits for
 * the next one, so that it does not matter in which order events of this instant happen. */
static int64_t reaction(const struct wf_traffic *traffic, const struct wf_ctx *ctx)
{
    int64_t cycle = traffic->set->cycle, since = wf_now(ctx) % cycle;

    return traffic->net->ops->clock != NULL && since > 0 ? cycle - since : 0;
}

static void one_done(const struct wf_traffic *traffic, struct wf_ctx *ctx, void *state)
{
    struct node *node = node_of(traffic, state);

    wf_touch(ctx, node, sizeof(*node));
    if (--node->missing == 0) {
        wf_schedule(ctx, wf_self(ctx), reaction(traffic, ctx), SEND, NULL, 0);
    }
}

static void answer(const struct wf_traffic *traffic, struct wf_ctx *ctx, void *state,
                   uint32_t to)
{
    int64_t delay = reaction(traffic, ctx);
    uint64_t payload = to;

    if (delay > 0) {
        wf_schedule(ctx, wf_self(ctx), delay, ANSWER, &payload, sizeof(payload));
    } else {
        send(traffic, ctx, state, to, REPLY, traffic->set->reply);
    }
}

static void arrived(void *arg, struct wf_ctx *ctx, void *state,
                    const struct wf_net_message *msg, int64_t at)
{
    const struct wf_traffic *traffic = arg;
    struct header header;
    int64_t born;

    memcpy(&header, msg->header, sizeof(header));
    memcpy(&born, header.born, sizeof(born));
    const struct note note = {.latency = at - born, .bytes = msg->bytes};
    wf_note(ctx, &note, sizeof(note));
    if (traffic->set->rounds == 0) {
        return;
    }
    if (header.what == REPLY) {
        one_done(traffic, ctx, state);
    } else if (traffic->set->reply > 0) {
        answer(traffic, ctx, state, msg->src_node);
    } else {
        /* The source learns this by an event that bypasses the network, with the least
         * delay. */
        bool own = msg->src_node == number_of(traffic, ctx);
        wf_schedule(ctx, traffic->net->first_node + msg->src_node,
                    (at - wf_now(ctx)) + (own ? 0 : traffic->net->promise_ps), DONE, NULL, 0);
    }
}

static void halted(void *arg, struct wf_ctx *ctx, void *state)
{
    struct node *node = node_of(arg, state);

    wf_touch(ctx, node, sizeof(*node));
    node->halted = 1;
}

/* ---- the process ---- */

static void node_init(void *state, struct wf_ctx *ctx)
{
    const struct wf_traffic *traffic = wf_model(ctx);

    if (traffic->set->rounds > 0) {
        wf_schedule(ctx, wf_self(ctx), 0, SEND, NULL, 0);
    } else {
        schedule_send(traffic, ctx, state);
    }
}

static void node_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct wf_traffic *traffic = wf_model(ctx);

    if (ev->kind < WF_NET_KINDS) {
        traffic->net->ops->event(traffic->net, ctx, state, ev);
        return;
    }
    if (ev->kind == DONE) {
        one_done(traffic, ctx, state);
        return;
    }
    if (ev->kind == ANSWER) {
        send(traffic, ctx, state, (uint32_t)ev->payload[0], REPLY, traffic->set->reply);
        return;
    }
    struct note note = {.latency = -1};
    if (node_of(traffic, state)->halted != 0) {
        return;
    }
    if (traffic->set->rounds > 0) {
        begin_round(traffic, ctx, state, &note);
    } else {
        (void)send_burst(traffic, ctx, state, &note);
        schedule_send(traffic, ctx, state);
    }
    wf_note(ctx, &note, sizeof(note));
}

static void node_commit(const struct wf_event *ev, const void *from, struct wf_ctx *ctx)
{
    const struct wf_traffic *traffic = wf_model(ctx);
    struct wf_traffic_tally *tally = wf_tally(ctx);
    struct wf_net_counters *counters = wf_net_counters_of(traffic->net, ctx);
    struct note note;

    if (counters != NULL && traffic->net->ops->commit != NULL && ev->kind < WF_NET_KINDS) {
        traffic->net->ops->commit(traffic->net, ev, ctx);
    }
    if (from == NULL) {
        return;
    }
    memcpy(&note, from, sizeof(note));
    if (counters != NULL && note.latency >= 0) {
        counters->word[wf_histogram_bucket((uint64_t)note.latency)]++;
    }
    int64_t number = traffic->batch_ps > 0 ? ev->key.time / traffic->batch_ps : 0;
    struct wf_traffic_batch *batch =
        &tally->batches[number < WF_TRAFFIC_BATCHES ? number : WF_TRAFFIC_BATCHES - 1];
    batch->offered += note.offered;
    batch->offered_bytes += note.offered_bytes;
    batch->dropped += note.dropped;
    batch->dropped_bytes += note.dropped_bytes;
    if (note.latency >= 0) {
        wf_traffic_latency(batch, note.latency, note.bytes);
        tally->last = ev->key.time > tally->last ? ev->key.time : tally->last;
    }
}

static void node_finish(const void *state, struct wf_ctx *ctx)
{
    const struct wf_traffic *traffic = wf_model(ctx);
    struct wf_traffic_tally *tally = wf_tally(ctx);
    const struct node *node = (const void *)((const unsigned char *)state + traffic->offset);

    if (traffic->net->ops->usage != NULL) {
        traffic->net->ops->usage(traffic->net, ctx, state, &tally->usage);
    }
    if (traffic->net->ops->finish != NULL) {
        traffic->net->ops->finish(traffic->net, ctx, state, 0, &tally->totals);
    }
    tally->rounds_left += traffic->set->rounds - node->rounds + (node->missing > 0);
}

static struct wf_net_usage *usage_of(void *arg, struct wf_ctx *ctx)
{
    struct wf_traffic_tally *tally = wf_tally(ctx);

    return &tally->usage;
}

/* ---- set-up ---- */

static enum wf_status read_sources(struct wf_traffic *traffic, struct wf_err *err)
{
    struct wf_traffic_weights weights;
    const char *path = traffic->set->sources;

    if (path[0] == '\0') {
        return WF_OK;
    }
    enum wf_status status = wf_traffic_weights_read(path, &weights, err);
    if (status != WF_OK) {
        return status;
    }
    traffic->factors = wf_xcalloc(traffic->n_nodes, sizeof(double));
    for (uint32_t i = 0; i < traffic->n_nodes; i++) {
        traffic->factors[i] = 1;
    }
    for (size_t i = 0; i < weights.n && status == WF_OK; i++) {
        uint64_t percent = weights.up_to[i] - (i > 0 ? weights.up_to[i - 1] : 0);
        if (weights.values[i] >= traffic->n_nodes) {
            status = wf_err_set(err, WF_EINVAL, "%.200s: there is no node %" PRIu64, path,
                                weights.values[i]);
        } else if (traffic->set->load * (double)percent > 100) {
            status = wf_err_set(err, WF_EINVAL,
                                "%.200s: %" PRIu64 " %% of a load of %g are more than 1 phit "
                                "per cycle, which is all that node %" PRIu64 " can send",
                                path, percent, traffic->set->load, weights.values[i]);
        } else {
            traffic->factors[weights.values[i]] = (double)percent / 100;
        }
    }
    wf_traffic_weights_free(&weights);
    return status;
}

static enum wf_status prepare_sizes(struct wf_traffic *traffic, struct wf_err *err)
{
    const struct wf_traffic_params *set = traffic->set;

    traffic->mean_size =
        (double)set->size * (1 - set->long_share) + (double)set->long_size * set->long_share;
    if (set->sizes[0] != '\0') {
        WF_TRY(wf_traffic_weights_read(set->sizes, &traffic->sizes, err));
        if (traffic->sizes.up_to[traffic->sizes.n - 1] == 0) {
            return wf_err_set(err, WF_EINVAL, "%.200s: no line has a weight", set->sizes);
        }
        traffic->mean_size = wf_traffic_weights_mean(&traffic->sizes);
    }
    if (!(set->load <= 1)) {
        return wf_err_set(err, WF_EINVAL,
                          "traffic.load: a load of %g is more than 1 phit per node and cycle, "
                          "which is all that a node can send",
                          set->load);
    }
    if (set->reply > 0 && set->rounds == 0) {
        return wf_err_set(err, WF_EINVAL,
                          "traffic.reply: replies need a closed loop; add rounds, as in -p "
                          "traffic.rounds=10");
    }
    if (traffic->mean_size <= 0) {
        return wf_err_set(err, WF_EINVAL, "traffic.size: expected more than 0 bytes");
    }
    traffic->chance = set->load * (double)set->phit / (traffic->mean_size * (double)set->burst);
    return WF_OK;
}

enum wf_status wf_traffic_new(const struct wf_traffic_config *config, struct wf_traffic **out,
                              struct wf_err *err)
{
    const struct wf_traffic_params *set = config->params;
    struct wf_traffic *traffic = wf_xcalloc(1, sizeof(*traffic));

    traffic->set = set;
    traffic->n_nodes = config->n_nodes;
    traffic->seed = config->seed;
    enum wf_status status = wf_traffic_pattern_create(
        config->pattern, &set->pattern, config->topo, config->n_nodes, &traffic->pattern, err);
    WF_THEN(status, prepare_sizes(traffic, err));
    WF_THEN(status, read_sources(traffic, err));
    if (status == WF_OK && (double)set->cycles * (double)set->cycle >= (double)WF_TIME_MAX) {
        status = wf_err_set(err, WF_EINVAL,
                            "traffic.cycles: longer than the largest simulated time");
    }
    if (status != WF_OK) {
        wf_traffic_free(traffic);
        return status;
    }
    traffic->batch_ps = wf_traffic_end(traffic) / WF_TRAFFIC_BATCHES;
    *out = traffic;
    return WF_OK;
}

void wf_traffic_free(struct wf_traffic *traffic)
{
    if (traffic != NULL) {
        wf_traffic_pattern_free(traffic->pattern);
        wf_traffic_weights_free(&traffic->sizes);
        free(traffic->factors);
        free(traffic);
    }
}

int64_t wf_traffic_end(const struct wf_traffic *traffic)
{
    return traffic->set->rounds > 0 ? 0 : (int64_t)traffic->set->cycles * traffic->set->cycle;
}

void wf_traffic_build(struct wf_traffic *traffic, struct wf_engine *engine, struct wf_net *net)
{
    const struct wf_net_user user = {.arg = traffic,
                                     .arrived = arrived,
                                     .halted = halted,
                                     .any_order = true,
                                     .usage = usage_of};

    traffic->net = net;
    traffic->offset = net->node_size;
    traffic->ops = (struct wf_process_ops){
        .name = "node",
        .payload_max = net->payload_max,
        .announces_changes = true,
        .init = node_init,
        .event = node_event,
        .commit = node_commit,
        .finish = node_finish,
    };
    uint32_t first = wf_engine_add(engine, &traffic->ops, net->ends.n_nodes,
                                   net->node_size + sizeof(struct node), traffic);
    /* The counters of the network follow the tally, if it keeps any. */
    size_t size = sizeof(struct wf_traffic_tally);
    if (net->n_sums > 0) {
        net->counters_offset = size;
        size += wf_net_counters_size(net);
    }
    wf_net_attach(net, engine, first, &user);
    wf_engine_tally(engine, size, net->n_sums > 0 ? wf_traffic_merge_all : wf_traffic_merge);
}
