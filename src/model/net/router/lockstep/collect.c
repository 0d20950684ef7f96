/* SPDX-License-Identifier: Apache-2.0 */
/* The tally of a run, as the events leave it. */
#include "model/net/router/events/stats.h"
#include "model/net/router/lockstep/inside.h"

#include <string.h>

static void add_links(const struct wf_lockstep *lock, const uint32_t *packets,
                      struct wf_net_usage *usage)
{
    const struct wf_lockstep_net *net = &lock->net;

    for (uint32_t r = 0; r < net->n; r++) {
        for (uint32_t port = 0; port < wf_lockstep_ports(net, r); port++) {
            const uint32_t *own = packets + ((size_t)r * net->n_ports + port) * net->rules.vcs;
            uint64_t sum = 0;
            for (uint32_t vc = 0; vc < net->rules.vcs; vc++) {
                sum += own[vc];
                usage->vcs[vc] += own[vc];
            }
            if (sum > 0) { /* else there may be no such link */
                uint64_t busy = sum * wf_lockstep_kind(net, r, port).pace;
                usage->carried += sum;
                usage->busy += busy;
                wf_net_usage_link(usage, (struct wf_net_link_usage){busy, r, port});
            }
        }
    }
}

static void add_wait(const struct wf_lockstep *lock, const struct wf_lockstep_wait *from,
                     struct wf_net_usage *usage)
{
    const struct wf_router_view view = {.model = lock->model, .vertex = from->router};
    struct wf_net_wait wait = {.queue = wf_router_queue(&view, from->input),
                               .is_full = from->is_full};

    for (uint32_t i = 0; i < from->n; i++) {
        wait.targets[wait.n++] = wf_router_queue_after(&view, from->targets[i]);
    }
    wf_net_waits_add(&usage->waits, &wait);
}

static void add_usage(const struct wf_lockstep *lock, const struct wf_lockstep_final *final,
                      struct wf_net_usage *usage)
{
    const struct wf_lockstep_out *out = final->out;
    const struct wf_topo *topo = lock->model->topo;

    usage->packets = out->consumed;
    usage->hops = out->hops;
    usage->digest = out->digest;
    usage->injected = out->injected;
    usage->waited = out->waited * lock->net.cycle_ps;
    usage->links = topo->n_links * (topo->oneway ? 1 : 2);
    add_links(lock, final->packets, usage);
    for (size_t i = 0; i < final->n_waits; i++) {
        add_wait(lock, &final->waits[i], usage);
    }
}

void wf_lockstep_collect(const struct wf_lockstep *lock, const struct wf_lockstep_final *final,
                         struct wf_traffic_tally *tally)
{
    const struct wf_lockstep_net *net = &lock->net;
    const struct wf_router_counts counts = {
        .latencies = final->out->latencies,
        .by_hops = final->out->by_hops,
        .packets = final->packets,
        .loads = final->loads,
        .n_ports = net->n_ports,
    };

    memcpy(tally->batches, final->out->batches, sizeof(tally->batches));
    tally->rounds_left = final->out->rounds_left;
    tally->last = (int64_t) final->out->last;
    add_usage(lock, final, &tally->usage);
    if (lock->model->net.n_sums > 0) {
        wf_router_stats_fill(lock->model, &counts, (void *)(tally + 1));
    }
}
