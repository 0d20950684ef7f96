/* SPDX-License-Identifier: Apache-2.0 */
#include "net/packet_stats.h"

#include "base/histogram.h"
#include "base/int128.h"

#include <string.h>

/* Words, in this order: latencies of messages, packets by hops, bytes by window, and then for
 * each link what struct wf_port_stats has but the longest wait; those are the maxima. */
enum {
    SUMS_PER_LINK = 4,
    HOPS_AT = WF_HISTOGRAM_BUCKETS,
    WINDOWS_AT = HOPS_AT + WF_STATS_HOPS,
};

static uint64_t n_windows(const struct wf_packet_net *model)
{
    return model->stats_window > 0 ? WF_STATS_WINDOWS : 0;
}

static uint64_t links_at(const struct wf_packet_net *model)
{
    return WINDOWS_AT + n_windows(model);
}

static uint32_t n_links(const struct wf_packet_net *model)
{
    return wf_topo_first_link(model->topo, model->topo->n_vertices);
}

void wf_stats_init(struct wf_packet_net *model)
{
    if (model->stats != WF_STATS_OFF) {
        model->net.n_sums = links_at(model) + (uint64_t)SUMS_PER_LINK * n_links(model);
        model->net.n_maxima = n_links(model);
    }
}

void wf_stats_count(const struct wf_spot *spot, uint32_t port, const struct wf_served *served)
{
    struct wf_port_stats *stats = &spot->stats[port];
    int64_t last = served->wait + (int64_t)(served->n - 1) * served->step;
    uint64_t longest = (uint64_t)(last > served->wait ? last : served->wait);

    wf_touch(spot->ctx, stats, sizeof(*stats));
    stats->packets += served->n;
    stats->bytes += served->bytes;
    stats->busy_ps += (uint64_t)served->duration;
    /* n times the mean of the first and the last, whose sum times n is even */
    stats->wait_ps += (uint64_t)((wf_u128)(uint64_t)(served->wait + last) * served->n / 2);
    stats->peak_ps = longest > stats->peak_ps ? longest : stats->peak_ps;
}

void wf_stats_delivered(const struct wf_spot *spot, const struct wf_piece *piece)
{
    uint64_t *by_hops = (uint64_t *)(spot->node + 1);
    uint32_t hops = piece->head.route.hops;
    uint64_t *count = &by_hops[hops < WF_STATS_HOPS ? hops : WF_STATS_HOPS - 1];

    wf_touch(spot->ctx, count, sizeof(*count));
    *count += piece->count;
}

/* The words in this thread's part of the tally; null if nobody keeps them. */
static struct wf_net_words *words_of(const struct wf_net *net, struct wf_ctx *ctx)
{
    if (net->words_offset == 0 || net->n_sums == 0) {
        return NULL;
    }

    struct wf_net_words *words = (void *)((unsigned char *)wf_tally(ctx) + net->words_offset);
    words->n_sums = net->n_sums;
    words->n_maxima = net->n_maxima;
    return words;
}

void wf_stats_finish(const struct wf_packet_net *model, struct wf_ctx *ctx, uint32_t vertex,
                     const struct wf_port_stats *ports, const uint64_t *by_hops)
{
    struct wf_net_words *words = words_of(&model->net, ctx);

    if (words == NULL) {
        return;
    }

    uint32_t link = wf_links_number(&model->links, vertex, 0);
    uint32_t n_ports = wf_topo_ports(model->topo, vertex);
    for (uint32_t port = 0; port < n_ports; port++) {
        uint64_t *sums =
            &words->word[links_at(model) + (uint64_t)SUMS_PER_LINK * (link + port)];
        memcpy(sums, &ports[port], SUMS_PER_LINK * sizeof(*sums));
        words->word[model->net.n_sums + link + port] = ports[port].peak_ps;
    }
    for (uint32_t i = 0; by_hops != NULL && i < WF_STATS_HOPS; i++) {
        words->word[HOPS_AT + i] += by_hops[i];
    }
}

/* Bytes that arrive over a link, by the time of their heads; those that were announced and do
 * not come are taken off again. */
static void count_windows(const struct wf_packet_net *model, const struct wf_event *ev,
                          uint64_t *windows)
{
    const struct wf_packet_train *train = (const void *)ev->payload;
    bool many = ev->kind == WF_PACKET_TRAIN || ev->kind == WF_PACKET_CUT;
    uint64_t n = many ? train->count : 1, bytes = model->links.full_bytes;

    if (ev->kind == WF_PACKET_LAST) {
        const struct wf_packet_last *last = (const void *)ev->payload;
        bytes = wf_packet_rest(model, last->msg.bytes) + model->header_bytes;
    }
    for (uint64_t i = 0; i < n;) { /* window by window */
        int64_t at = ev->key.time + (many ? (int64_t)i * train->spacing : 0);
        uint64_t window = (uint64_t)(at / model->stats_window), here = 1;
        int64_t end = (int64_t)(window + 1) * model->stats_window;

        if (window >= WF_STATS_WINDOWS - 1) {
            window = WF_STATS_WINDOWS - 1;
            here = n - i;
        } else if (many) {
            here = (uint64_t)((end - at - 1) / train->spacing) + 1;
            here = here < n - i ? here : n - i;
        }
        windows[window] += ev->kind == WF_PACKET_CUT ? -(here * bytes) : here * bytes;
        i += here;
    }
}

void wf_stats_commit(const struct wf_net *net, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct wf_packet_net *model = wf_to_packet(net);

    if (ev->kind <= WF_PACKET_CUT && model->stats_window > 0) {
        struct wf_net_words *words = words_of(net, ctx);
        if (words != NULL) {
            count_windows(model, ev, &words->word[WINDOWS_AT]);
        }
    }
}

/* ---- the description ---- */

struct link_facts {
    uint32_t vertex, port, to;
    struct wf_port_stats stats;
    uint64_t peak_bytes; /* queued, at most */
    double busy_percent;
};

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static struct link_facts facts_of(const struct wf_packet_net *model,
                                  const struct wf_net_words *words, uint32_t vertex,
                                  uint32_t port, int64_t elapsed)
{
    uint32_t link = wf_links_number(&model->links, vertex, port);
    const struct wf_link_kind *kind = &model->links.kinds[wf_links_kind(&model->links, link)];
    struct link_facts facts = {.vertex = vertex, .port = port, .to = model->links.to[link]};

    memcpy(&facts.stats, &words->word[links_at(model) + (uint64_t)SUMS_PER_LINK * link],
           SUMS_PER_LINK * sizeof(uint64_t));
    facts.stats.peak_ps = words->word[words->n_sums + link];
    facts.peak_bytes = (uint64_t)((wf_u128)facts.stats.peak_ps * model->links.full_bytes /
                                  (uint64_t)kind->full_ps);
    facts.busy_percent = percent((double)facts.stats.busy_ps, (double)elapsed);
    return facts;
}

static void describe_link(struct wf_value *list, const struct link_facts *link)
{
    struct wf_value *item = wf_doc_section(list, NULL);

    wf_doc_count(item, "vertex", link->vertex);
    wf_doc_count(item, "port", link->port);
    wf_doc_count(item, "to", link->to);
    wf_doc_count(item, "packets", link->stats.packets);
    wf_doc_count(item, "bytes", link->stats.bytes);
    wf_doc_measured(item, "busy_percent", link->busy_percent, 3);
    wf_doc_count(item, "wait_ps", link->stats.wait_ps);
    wf_doc_count(item, "peak_wait_ps", link->stats.peak_ps);
    wf_doc_count(item, "peak_queue_bytes", link->peak_bytes);
}

/* Keeps the busiest links, the first of equally busy ones before the others. */
static void keep_hot(struct link_facts *hot, uint32_t *n, const struct link_facts *link)
{
    uint32_t at = *n;

    while (at > 0 && hot[at - 1].stats.busy_ps < link->stats.busy_ps) {
        at--;
    }
    if (at == WF_STATS_HOT) {
        return;
    }
    *n += *n < WF_STATS_HOT ? 1 : 0;
    memmove(&hot[at + 1], &hot[at], (*n - 1 - at) * sizeof(*hot));
    hot[at] = *link;
}

static void describe_links(const struct wf_packet_net *model, const struct wf_net_words *words,
                           int64_t elapsed, struct wf_value *network)
{
    struct link_facts hot[WF_STATS_HOT];
    uint32_t n_hot = 0;
    uint64_t used = 0, packets = 0, bytes = 0, wait = 0;
    bool all = model->stats == WF_STATS_LINKS;
    struct wf_value *list = all ? wf_doc_list(network, "links") : NULL;

    for (uint32_t v = 0; v < model->topo->n_vertices; v++) {
        uint32_t n_ports = wf_topo_ports(model->topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            struct link_facts link = facts_of(model, words, v, port, elapsed);
            if (link.stats.packets == 0) {
                continue;
            }
            used++;
            packets += link.stats.packets;
            bytes += link.stats.bytes;
            wait += link.stats.wait_ps;
            keep_hot(hot, &n_hot, &link);
            if (all) {
                describe_link(list, &link);
            }
        }
    }
    wf_doc_count(network, "links_used", used);
    wf_doc_count(network, "packet_hops", packets);
    wf_doc_count(network, "link_bytes", bytes);
    wf_doc_count(network, "wait_ps", wait);
    struct wf_value *hottest = wf_doc_list(network, "hot_links");
    for (uint32_t i = 0; i < n_hot; i++) {
        describe_link(hottest, &hot[i]);
    }
}

static void describe_counts(struct wf_value *network, const char *name, const uint64_t *counts,
                            uint32_t n)
{
    struct wf_value *list = wf_doc_list(network, name);

    while (n > 0 && counts[n - 1] == 0) {
        n--;
    }
    for (uint32_t i = 0; i < n; i++) {
        wf_doc_count(list, NULL, counts[i]);
    }
}

static void describe_latencies(struct wf_value *network, const uint64_t *counts)
{
    static const struct {
        const char *name;
        uint32_t permille;
    } quantiles[] = {{"p50", 500}, {"p90", 900}, {"p99", 990}, {"p999", 999}, {"max", 1000}};
    struct wf_value *section = wf_doc_section(network, "latency_ps");

    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        wf_doc_count(section, quantiles[i].name,
                     wf_histogram_quantile(counts, quantiles[i].permille));
    }
    struct wf_value *list = wf_doc_list(section, "histogram");
    for (uint32_t i = 0; i < WF_HISTOGRAM_BUCKETS; i++) {
        if (counts[i] > 0) {
            struct wf_value *item = wf_doc_section(list, NULL);
            wf_doc_count(item, "least_ps", wf_histogram_least(i));
            wf_doc_count(item, "messages", counts[i]);
        }
    }
}

void wf_stats_describe(const struct wf_net *net, const struct wf_net_words *words,
                       int64_t elapsed, struct wf_value *result)
{
    const struct wf_packet_net *model = wf_to_packet(net);
    struct wf_value *network = wf_doc_section(result, "network");

    describe_latencies(network, words->word);
    describe_counts(network, "packets_by_hops", &words->word[HOPS_AT], WF_STATS_HOPS);
    if (model->stats_window > 0) {
        wf_doc_count(network, "window_ps", (uint64_t)model->stats_window);
        describe_counts(network, "window_bytes", &words->word[WINDOWS_AT], WF_STATS_WINDOWS);
    }
    describe_links(model, words, elapsed, network);
}
