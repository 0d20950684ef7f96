/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/packet/stats.h"

#include "base/histogram.h"
#include "base/int128.h"

#include <string.h>

/* The counters. Sums: latencies of messages, packets by hops, bytes by window, struct
 * wf_packet_port_stats of each link, and with net.stats=links the load of each link. Maxima:
 * the longest wait of each link. */
enum {
    SUMS_PER_LINK = 4,
    HOPS_AT = WF_HISTOGRAM_BUCKETS,
    WINDOWS_AT = HOPS_AT + WF_NET_STATS_HOPS,
};

static uint64_t n_windows(const struct wf_packet_net *model)
{
    return model->stats_window > 0 ? WF_PACKET_STATS_WINDOWS : 0;
}

static uint64_t links_at(const struct wf_packet_net *model)
{
    return WINDOWS_AT + n_windows(model);
}

static uint32_t n_links(const struct wf_packet_net *model)
{
    return wf_topo_first_link(model->topo, model->topo->n_vertices);
}

/* With net.stats=links. */
static uint64_t loads_at(const struct wf_packet_net *model)
{
    return links_at(model) + (uint64_t)SUMS_PER_LINK * n_links(model);
}

void wf_packet_stats_init(struct wf_packet_net *model)
{
    if (model->stats != WF_NET_STATS_OFF) {
        model->net.n_sums = loads_at(model);
        if (model->stats == WF_NET_STATS_LINKS) {
            model->net.n_sums += (uint64_t)WF_NET_LINK_LOAD_WORDS * n_links(model);
        }
        model->net.n_maxima = n_links(model);
    }
}

void wf_packet_stats_count(const struct wf_packet_view *view, uint32_t port,
                           const struct wf_packet_served *served)
{
    struct wf_packet_port_stats *stats = &view->stats[port];
    int64_t last = served->wait + (int64_t)(served->n - 1) * served->step;
    uint64_t longest = (uint64_t)(last > served->wait ? last : served->wait);

    wf_touch(view->ctx, stats, sizeof(*stats));
    stats->packets += served->n;
    stats->bytes += served->bytes;
    stats->busy_ps += (uint64_t)served->duration;
    /* n times the mean of the first and the last; n times their sum is even */
    stats->wait_ps += (uint64_t)((wf_u128)(uint64_t)(served->wait + last) * served->n / 2);
    stats->peak_ps = longest > stats->peak_ps ? longest : stats->peak_ps;
    if (view->loads != NULL) {
        const struct wf_net_departures load = {.at = served->at,
                                               .spacing = served->spacing,
                                               .n = served->n,
                                               .bytes = served->bytes / served->n,
                                               .node = served->node};
        wf_net_link_load_add(view->ctx, &view->loads[port], &load);
    }
}

/* The node's packets by hops. */
static uint64_t *by_hops_at(const struct wf_packet_view *view)
{
    return (void *)((unsigned char *)view->node + view->model->own_size);
}

void wf_packet_stats_delivered(const struct wf_packet_view *view,
                               const struct wf_packet_run *run)
{
    uint64_t *by_hops = by_hops_at(view);
    uint32_t hops = run->head.route.vcs.hops;
    uint64_t *count = &by_hops[hops < WF_NET_STATS_HOPS ? hops : WF_NET_STATS_HOPS - 1];

    wf_touch(view->ctx, count, sizeof(*count));
    *count += run->count;
}

void wf_packet_stats_finish(const struct wf_packet_view *view)
{
    const struct wf_packet_net *model = view->model;
    struct wf_net_counters *counters = wf_net_counters_of(&model->net, view->ctx);

    if (view->stats == NULL || counters == NULL) {
        return;
    }

    uint32_t link = wf_packet_links_number(&model->links, view->vertex, 0);
    uint32_t n_ports = wf_topo_ports(model->topo, view->vertex);
    for (uint32_t port = 0; port < n_ports; port++) {
        uint64_t *sums =
            &counters->word[links_at(model) + (uint64_t)SUMS_PER_LINK * (link + port)];
        memcpy(sums, &view->stats[port], SUMS_PER_LINK * sizeof(*sums));
        counters->word[model->net.n_sums + link + port] = view->stats[port].peak_ps;
    }
    if (view->loads != NULL) {
        memcpy(&counters->word[loads_at(model) + (uint64_t)WF_NET_LINK_LOAD_WORDS * link],
               view->loads, n_ports * sizeof(*view->loads));
    }
    if (view->node == NULL) {
        return;
    }
    const uint64_t *by_hops = by_hops_at(view);
    for (uint32_t i = 0; i < WF_NET_STATS_HOPS; i++) {
        counters->word[HOPS_AT + i] += by_hops[i];
    }
}

/* Counts bytes that arrive over a link, by the arrival time of their heads. Packets that
 * were announced but do not come are subtracted again. */
static void count_windows(const struct wf_packet_net *model, const struct wf_event *ev,
                          uint64_t *windows)
{
    const struct wf_packet_train_event *train = (const void *)ev->payload;
    uint32_t kind = wf_net_kind(ev);
    bool many = kind == WF_PACKET_TRAIN || kind == WF_PACKET_CUT;
    uint64_t n = many ? train->count : 1, bytes = model->links.full_bytes;

    if (kind == WF_PACKET_LAST) {
        const struct wf_packet_last_event *last = (const void *)ev->payload;
        bytes = wf_packet_rest(model, last->msg.bytes) + model->header_bytes;
    }
    for (uint64_t i = 0; i < n;) { /* window by window */
        int64_t at = ev->key.time + (many ? (int64_t)i * train->spacing : 0);
        uint64_t window = (uint64_t)(at / model->stats_window), here = 1;
        int64_t end = (int64_t)(window + 1) * model->stats_window;

        if (window >= WF_PACKET_STATS_WINDOWS - 1) {
            window = WF_PACKET_STATS_WINDOWS - 1;
            here = n - i;
        } else if (many) {
            here = (uint64_t)((end - at - 1) / train->spacing) + 1;
            here = here < n - i ? here : n - i;
        }
        windows[window] += kind == WF_PACKET_CUT ? -(here * bytes) : here * bytes;
        i += here;
    }
}

void wf_packet_stats_commit(const struct wf_net *net, const struct wf_event *ev,
                            struct wf_ctx *ctx)
{
    const struct wf_packet_net *model = wf_packet_of(net);

    if (wf_net_kind(ev) <= WF_PACKET_CUT && model->stats_window > 0) {
        struct wf_net_counters *counters = wf_net_counters_of(net, ctx);
        if (counters != NULL) {
            count_windows(model, ev, &counters->word[WINDOWS_AT]);
        }
    }
}

/* ---- the description ---- */

struct described {
    const struct wf_packet_net *model;
    const struct wf_net_counters *counters;
};

static void facts_of(const void *arg, uint32_t link, struct wf_net_link_facts *out)
{
    const struct described *of = arg;
    const struct wf_packet_net *model = of->model;
    const struct wf_packet_link_kind *kind =
        &model->links.kinds[wf_packet_links_kind(&model->links, link)];
    struct wf_packet_port_stats stats;

    memcpy(&stats, &of->counters->word[links_at(model) + (uint64_t)SUMS_PER_LINK * link],
           SUMS_PER_LINK * sizeof(uint64_t));
    out->packets = stats.packets;
    out->bytes = stats.bytes;
    out->busy_ps = stats.busy_ps;
    out->knows_waits = true;
    out->wait_ps = stats.wait_ps;
    out->peak_ps = of->counters->word[of->counters->n_sums + link];
    out->peak_bytes =
        (uint64_t)((wf_u128)out->peak_ps * model->links.full_bytes / (uint64_t)kind->full_ps);
    if (model->stats == WF_NET_STATS_LINKS) {
        out->load = (const void *)&of->counters
                        ->word[loads_at(model) + (uint64_t)WF_NET_LINK_LOAD_WORDS * link];
    }
}

void wf_packet_stats_describe(const struct wf_net *net, const struct wf_net_counters *counters,
                              int64_t elapsed, struct wf_value *result)
{
    const struct wf_packet_net *model = wf_packet_of(net);
    struct wf_value *network = wf_net_report_section(result);
    const struct described of = {model, counters};
    const struct wf_net_link_report report = {model->topo, (enum wf_net_stats)model->stats,
                                              elapsed,     facts_of,
                                              &of,         net->link_classes};

    wf_net_report_latencies(network, counters->word);
    wf_net_report_counts(network, "packets_by_hops", &counters->word[HOPS_AT],
                         WF_NET_STATS_HOPS);
    if (model->stats_window > 0) {
        wf_doc_count(network, "window_ps", (uint64_t)model->stats_window);
        wf_net_report_counts(network, "window_bytes", &counters->word[WINDOWS_AT],
                             WF_PACKET_STATS_WINDOWS);
    }
    wf_net_report_links(network, &report);
}
