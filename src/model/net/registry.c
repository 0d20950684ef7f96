/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/net.h"

#include "base/lookup.h"

#include <assert.h>
#include <stdlib.h>

static const struct wf_net_ops *const net_table[] = {
#define WF_NET_MODEL(name) &wf_net_##name##_ops,
#include "model/net/models.def"
    NULL,
};

const struct wf_net_ops *const *wf_net_table(void)
{
    return net_table;
}

enum wf_status wf_net_find(const char *name, const struct wf_net_ops **out, struct wf_err *err)
{
    *out = wf_lookup("network model", name, net_table, err);
    return *out != NULL ? WF_OK : WF_EUSAGE;
}

enum wf_status wf_net_create(const struct wf_net_ops *ops, const void *params,
                             const struct wf_net_env *env, struct wf_net **out,
                             struct wf_err *err)
{
    struct wf_net_env own = *env;

    if (!ops->uses_topology) {
        own.topo = NULL;
    }
    WF_TRY(wf_net_ends_check(&own, err));
    if (own.topo != NULL && own.topo->ops->prepare != NULL) {
        own.topo->ops->prepare(own.topo); /* before the run, not as a part of it */
    }
    return ops->create(params, env, out, err);
}

void wf_net_attach(struct wf_net *net, struct wf_engine *engine, uint32_t first_node,
                   const struct wf_net_user *user)
{
    assert(net->user.arrived == NULL && user->arrived != NULL);
    net->first_node = first_node;
    net->user = *user;
    wf_engine_promise(engine, net->promise_ps);
    if (net->ops->attach != NULL) {
        net->ops->attach(net, engine);
    }
}

void wf_net_add_others(struct wf_net *net, struct wf_engine *engine, uint32_t n_vertices,
                       const struct wf_process_ops *ops, size_t state_size)
{
    uint32_t n_others = n_vertices - net->ends.after;

    if (n_others > 0) {
        net->first_other = wf_engine_add(engine, ops, n_others, state_size, net);
    }
}

struct wf_net_home wf_net_home_of_many(const struct wf_net *net, uint32_t vertex)
{
    const struct wf_net_ends *ends = &net->ends;

    /* Vertices after the last group are switches or nodes that the run does not have. */
    if (vertex < ends->after + ends->gaps) {
        struct wf_net_interface place = wf_net_interface_of(ends, vertex);
        if (place.node < ends->n_nodes) {
            return (struct wf_net_home){net->first_node + place.node, place.nic};
        }
    }
    return (struct wf_net_home){net->first_other + wf_net_other(ends, vertex), 0};
}

void wf_net_free(struct wf_net *net)
{
    if (net != NULL && net->ops->destroy != NULL) {
        net->ops->destroy(net);
    } else {
        free(net);
    }
}

struct wf_net_counters *wf_net_counters_of(const struct wf_net *net, struct wf_ctx *ctx)
{
    if (net->counters_offset == 0 || net->n_sums == 0) {
        return NULL;
    }

    unsigned char *tally = wf_tally(ctx);
    struct wf_net_counters *words = (void *)(tally + net->counters_offset);

    if (net->counters_mark != 0) {
        *(uint64_t *)(void *)(tally + net->counters_mark) = net->counters_offset;
    }
    words->n_sums = net->n_sums;
    words->n_maxima = net->n_maxima;
    words->n_rows = net->n_rows;
    return words;
}
