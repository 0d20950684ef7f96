/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/router/events/stats.h"

#include "base/histogram.h"

#include <string.h>

/* The counters: latencies of messages, packets by hops, packets of each link, with
 * net.stats=links the load of each link. */
enum { HOPS_AT = WF_HISTOGRAM_BUCKETS, LINKS_AT = HOPS_AT + WF_NET_STATS_HOPS };

static uint32_t n_links(const struct wf_router_net *model)
{
    return wf_topo_first_link(model->topo, model->topo->n_vertices);
}

static uint64_t loads_at(const struct wf_router_net *model)
{
    return LINKS_AT + (uint64_t)n_links(model);
}

void wf_router_stats_layout(const struct wf_router_net *model, struct wf_router_layout *layout,
                            bool is_node)
{
    if (model->set.stats != WF_NET_STATS_OFF && is_node) {
        layout->by_hops = layout->size;
        layout->size += WF_NET_STATS_HOPS * sizeof(uint64_t);
    }
    if (model->set.stats == WF_NET_STATS_LINKS) {
        layout->loads = layout->size;
        layout->size += layout->n_ports * sizeof(struct wf_net_link_load);
    }
}

void wf_router_stats_init(struct wf_router_net *model)
{
    if (model->set.stats != WF_NET_STATS_OFF) {
        model->net.n_sums = loads_at(model);
        if (model->set.stats == WF_NET_STATS_LINKS) {
            model->net.n_sums += (uint64_t)WF_NET_LINK_LOAD_WORDS * n_links(model);
        }
    }
}

static void *part(const struct wf_router_view *view, size_t at)
{
    return (unsigned char *)view->head + at;
}

void wf_router_stats_leaves(const struct wf_router_view *view, uint32_t port,
                            const struct wf_router_packet *packet)
{
    const struct wf_router_net *model = view->model;

    if (view->layout->loads != 0) {
        struct wf_net_link_load *loads = part(view, view->layout->loads);
        const struct wf_net_departures load = {.at = view->now * model->set.cycle,
                                               .n = 1,
                                               .bytes = model->set.packet,
                                               .node = packet->msg.src_node};
        wf_net_link_load_add(view->ctx, &loads[port], &load);
    }
}

void wf_router_stats_consumed(const struct wf_router_view *view,
                              const struct wf_router_packet *packet)
{
    if (view->layout->by_hops != 0) {
        uint64_t *by_hops = part(view, view->layout->by_hops);
        uint32_t hops = packet->hops < WF_NET_STATS_HOPS ? packet->hops : WF_NET_STATS_HOPS - 1;

        wf_touch(view->ctx, &by_hops[hops], sizeof(by_hops[hops]));
        by_hops[hops]++;
    }
}

void wf_router_stats_finish(const struct wf_router_view *view)
{
    const struct wf_router_net *model = view->model;
    const struct wf_router_layout *layout = view->layout;
    struct wf_net_counters *counters = wf_net_counters_of(&model->net, view->ctx);

    if (counters == NULL) {
        return;
    }
    uint32_t first = wf_topo_first_link(model->topo, view->vertex);
    uint32_t n_ports = wf_topo_ports(model->topo, view->vertex);
    for (uint32_t port = 0; port < n_ports; port++) {
        uint64_t *packets = &counters->word[LINKS_AT + first + port];
        for (uint32_t vc = 0; vc < model->rules.vcs; vc++) {
            *packets += view->channels[port * model->rules.vcs + vc].packets;
        }
    }
    const uint64_t *by_hops = part(view, layout->by_hops);
    for (uint32_t i = 0; layout->by_hops != 0 && i < WF_NET_STATS_HOPS; i++) {
        counters->word[HOPS_AT + i] += by_hops[i];
    }
    if (layout->loads != 0) {
        memcpy(&counters->word[loads_at(model) + (uint64_t)WF_NET_LINK_LOAD_WORDS * first],
               part(view, layout->loads), n_ports * sizeof(struct wf_net_link_load));
    }
}

void wf_router_stats_fill(const struct wf_router_net *model,
                          const struct wf_router_counts *counts,
                          struct wf_net_counters *counters)
{
    *counters =
        (struct wf_net_counters){model->net.n_sums, model->net.n_maxima, model->net.n_rows};
    memcpy(counters->word, counts->latencies, WF_HISTOGRAM_BUCKETS * sizeof(uint64_t));
    memcpy(&counters->word[HOPS_AT], counts->by_hops, WF_NET_STATS_HOPS * sizeof(uint64_t));
    for (uint32_t v = 0; v < model->topo->n_vertices; v++) {
        uint32_t first = wf_topo_first_link(model->topo, v);
        for (uint32_t port = 0; port < wf_topo_ports(model->topo, v); port++) {
            size_t at = ((size_t)v * counts->n_ports + port) * model->rules.vcs;
            for (uint32_t vc = 0; vc < model->rules.vcs; vc++) {
                counters->word[LINKS_AT + first + port] += counts->packets[at + vc];
            }
            if (model->set.stats == WF_NET_STATS_LINKS) {
                uint64_t to =
                    loads_at(model) + (uint64_t)WF_NET_LINK_LOAD_WORDS * (first + port);
                memcpy(&counters->word[to], &counts->loads[(size_t)v * counts->n_ports + port],
                       sizeof(struct wf_net_link_load));
            }
        }
    }
}

struct described {
    const struct wf_router_net *model;
    const struct wf_net_counters *counters;
};

static void facts_of(const void *arg, uint32_t link, struct wf_net_link_facts *out)
{
    const struct described *of = arg;
    const struct wf_router_net *model = of->model;
    const struct wf_router_link_kind *kind =
        &model->kinds[model->kind_of != NULL ? model->kind_of[link] : 0];

    out->packets = of->counters->word[LINKS_AT + link];
    out->bytes = out->packets * model->set.packet;
    out->busy_ps = out->packets * model->rules.phits * kind->pace * (uint64_t)model->set.cycle;
    if (model->set.stats == WF_NET_STATS_LINKS) {
        out->load = (const void *)&of->counters
                        ->word[loads_at(model) + (uint64_t)WF_NET_LINK_LOAD_WORDS * link];
    }
}

void wf_router_stats_describe(const struct wf_net *net, const struct wf_net_counters *counters,
                              int64_t elapsed, struct wf_value *result)
{
    const struct wf_router_net *model = wf_router_of(net);
    struct wf_value *network = wf_net_report_section(result);
    const struct described of = {model, counters};
    const struct wf_net_link_report report = {model->topo, (enum wf_net_stats)model->set.stats,
                                              elapsed,     facts_of,
                                              &of,         net->link_classes};

    wf_net_report_latencies(network, counters->word);
    wf_net_report_counts(network, "packets_by_hops", &counters->word[HOPS_AT],
                         WF_NET_STATS_HOPS);
    wf_net_report_links(network, &report);
}
