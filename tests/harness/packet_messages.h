/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TESTS_HARNESS_PACKET_PARCELS_H
#define WF_TESTS_HARNESS_PACKET_PARCELS_H

/* What goes into a run of packet_traffic.h, and what comes out of it. */

#include "harness/replay_harness.h"
#include "net/packet/packet.h"

struct parcel {
    int64_t at;
    uint32_t src, dst;
    uint64_t bytes;
};

struct arrival {
    uint32_t src, dst, number;
    int64_t at;
};

/* A packet's delivery; compared whole. */
struct packet_fact {
    uint32_t src, dst, number, spare;
    uint64_t packet;
    int64_t at;
};

struct traffic {
    const char *topo;
    const struct parcel *parcels; /* by time for each source */
    size_t n_parcels;
    uint32_t n_nodes; /* 0: all */
    const struct wf_packet_params *params;
    enum wf_scheduler scheduler;
    uint64_t threads;
    uint64_t perturb_seed;
};

struct traffic_result {
    struct packet_fact
        *facts; /* in the order of (src, dst, number, packet); sequential runs only */
    size_t n_facts;
    int64_t *arrivals; /* of the parcels, in their order: last byte; likewise */
    uint64_t *order;   /* in which they arrived, from 1 */
    uint64_t n_arrived;
    int64_t *left; /* when the parcel had left its node, as send() said */
    struct wf_net_totals totals;
    struct wf_run run;
};

enum { KIND_PARCEL = WF_NET_KINDS };

struct traffic_model {
    const struct traffic *traffic;
    const struct wf_net *net;
    struct traffic_result *result;
    size_t capacity;
    bool records; /* only what is final is written down outside of processes */
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

#endif
