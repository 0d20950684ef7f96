/* SPDX-License-Identifier: Apache-2.0 */
/* What a transport did: the section `transport` of the network in a result. */
#include "base/arith.h"
#include "base/histogram.h"
#include "base/int128.h"
#include "model/net/stats/link_report.h"
#include "model/net/transport/model.h"

/* Sums, after those of the packet model. */
enum {
    DROPS,
    TRIMS,
    MARKS,
    PAUSES,
    PAUSED_PS,
    SENT_AGAIN,
    TIMEOUTS,
    FLOWS,
    SHARES,         /* of flows, in units of 2^-20 of an interface... */
    SHARES_SQUARED, /* ...and their squares */
    TIMES,          /* histogram of the times of flows */
    SUMS = TIMES + WF_HISTOGRAM_BUCKETS,
    /* With PFC, a sum for each class and link follows: the number of the link, + 1, for which
     * packets wait at the end that came over this link. */
};

/* Maxima, after those of the packet model. */
enum { QUEUE, INSIDE, LONGEST, SHORTEST /* UINT64_MAX less the time */, MAXIMA };

enum { SHARE_SHIFT = 20, ROWS = 256, ROWS_SHOWN = 64 };

/* The words of a row, a flow. */
enum { ROW_TIME, ROW_NODES, ROW_BYTES, ROW_BEGIN };

static uint64_t n_waits(const struct wf_transport_net *net)
{
    const struct wf_topo *topo = net->packet.topo;

    return net->is_lossless
               ? (uint64_t)net->n_classes * wf_topo_first_link(topo, topo->n_vertices)
               : 0;
}

void wf_transport_stats_init(struct wf_transport_net *net)
{
    struct wf_net *head = &net->packet.net;

    head->n_sums = wf_max_u64(head->n_sums, WF_HISTOGRAM_BUCKETS);
    net->sums_at = head->n_sums;
    net->maxima_at = head->n_maxima;
    head->n_sums += SUMS + n_waits(net);
    head->n_maxima += MAXIMA;
    head->n_rows = ROWS;
}

static void raise_to(uint64_t *word, uint64_t value)
{
    *word = value > *word ? value : *word;
}

/* The rate of a flow over its whole time, as a share of an interface. */
static uint64_t share_of(const struct wf_transport_net *net,
                         const struct wf_transport_receiver *flow)
{
    int64_t time = wf_max_i64(flow->end - flow->begin, 1);
    int64_t alone = wf_transfer_ps(wf_max_u64(flow->bytes, 1), net->line_rate);

    return (uint64_t)(((wf_u128)(uint64_t)alone << SHARE_SHIFT) / (uint64_t)time);
}

static void count_flow(const struct wf_transport_view *v, struct wf_net_counters *counters,
                       const struct wf_transport_receiver *flow)
{
    const struct wf_transport_net *net = v->net;
    uint64_t *sums = &counters->word[net->sums_at];
    uint64_t *maxima = &counters->word[counters->n_sums + net->maxima_at];
    uint64_t time = (uint64_t)(flow->end - flow->begin), share = share_of(net, flow);
    const uint64_t row[WF_NET_ROW_WORDS] = {
        [ROW_TIME] = wf_max_u64(time, 1),
        [ROW_NODES] = (uint64_t)flow->id.peer << 32 | v->at.vertex,
        [ROW_BYTES] = flow->bytes,
        [ROW_BEGIN] = (uint64_t)flow->begin,
    };

    wf_net_counters_row(counters, row);

    sums[FLOWS]++;
    sums[SHARES] += share;
    sums[SHARES_SQUARED] += share * share;
    sums[TIMES + wf_histogram_bucket(time)]++;
    raise_to(&maxima[LONGEST], time);
    raise_to(&maxima[SHORTEST], UINT64_MAX - time);
}

static void count_ports(const struct wf_transport_view *v, uint64_t *sums, uint64_t *maxima)
{
    uint32_t n_ports = wf_topo_ports(v->net->packet.topo, v->at.vertex);

    for (uint32_t i = 0; i < n_ports; i++) {
        const struct wf_transport_port *port = wf_transport_port_at(v, i);
        sums[DROPS] += port->drops;
        sums[TRIMS] += port->trims;
        sums[MARKS] += port->marks;
        sums[PAUSES] += port->pauses;
        sums[PAUSED_PS] += port->paused_ps;
        raise_to(&maxima[INSIDE], port->most_inside);
        for (uint32_t class = 0; class < v->net->n_classes; class ++) {
            raise_to(&maxima[QUEUE], wf_transport_queue_at(v, i, class)->most);
        }
    }
}

/* With PFC or credits: what the packets at a stopped port wait for. */
static void count_waits(const struct wf_transport_view *v, uint64_t *waits)
{
    const struct wf_packet_links *links = &v->net->packet.links;
    uint64_t n_links = n_waits(v->net) / v->net->n_classes;
    uint32_t n_ports = wf_topo_ports(v->net->packet.topo, v->at.vertex);

    for (uint32_t port = 0; port < n_ports; port++) {
        uint32_t stopped = wf_transport_port_at(v, port)->stopped;
        for (uint32_t class = 0; class < v->net->n_classes; class ++) {
            uint32_t cell =
                (stopped >> class & 1) != 0 ? wf_transport_queue_at(v, port, class)->head : 0;
            while (cell != 0) {
                uint32_t in_port = wf_transport_input_of(v, &cell);
                if (in_port == WF_PACKET_NO_PORT) {
                    continue; /* the node's own */
                }
                uint32_t back = wf_packet_links_number(links, v->at.vertex, in_port);
                uint32_t in =
                    wf_packet_links_number(links, links->to[back], links->in_port[back]);
                waits[class * n_links + in] =
                    UINT64_C(1) + wf_packet_links_number(links, v->at.vertex, port);
            }
        }
    }
}

struct wf_net_deadlock wf_transport_stats_stuck(const struct wf_net *net,
                                                const struct wf_net_counters *counters)
{
    const struct wf_transport_net *own = wf_transport_of(wf_packet_of(net));
    const uint64_t *waits = &counters->word[own->sums_at + SUMS];
    const struct wf_packet_links *links = &own->packet.links;
    uint64_t n = n_waits(own), n_links = n / own->n_classes, at = 0;
    struct wf_net_deadlock deadlock = {.n = 0};

    while (at < n && waits[at] == 0) {
        at++;
    }
    if (at >= n) {
        return deadlock;
    }
    const uint64_t *of = &waits[at - at % n_links]; /* one class never waits for another */
    uint64_t link = at % n_links;
    for (uint64_t i = 0; i < n_links && of[link] != 0; i++) {
        link = of[link] - 1;
    }
    for (uint64_t first = link; of[link] != 0;) { /* `link` is on a cycle */
        if (deadlock.n < WF_NET_DEADLOCK_QUEUES) {
            deadlock.queues[deadlock.n] = (struct wf_net_queue){.vertex = links->to[link],
                                                                .port = links->in_port[link],
                                                                .vc = (uint16_t)(at / n_links)};
        }
        deadlock.n++;
        link = of[link] - 1;
        if (link == first) {
            break;
        }
    }
    return of[link] != 0 ? deadlock : (struct wf_net_deadlock){.n = 0};
}

void wf_transport_stats_finish(const struct wf_transport_view *v)
{
    const struct wf_net *net = &v->net->packet.net;
    struct wf_net_counters *counters = wf_net_counters_of(net, v->at.ctx);

    if (counters == NULL) {
        return;
    }
    uint64_t *sums = &counters->word[v->net->sums_at];
    uint64_t *maxima = &counters->word[net->n_sums + v->net->maxima_at];

    count_ports(v, sums, maxima);
    if (v->net->is_lossless) {
        count_waits(v, sums + SUMS);
    }
    if (v->node == NULL) {
        return;
    }
    sums[SENT_AGAIN] += v->node->sent_again;
    sums[TIMEOUTS] += v->node->timeouts;
    const struct wf_cellmap *flows = &v->node->receivers;
    for (uint32_t cell = wf_transport_flow_next(v->at.ctx, flows, 0); cell != 0;
         cell = wf_transport_flow_next(v->at.ctx, flows, cell)) {
        const struct wf_transport_receiver *flow = wf_cell_read(v->at.ctx, cell);
        if (flow->messages > 0) {
            count_flow(v, counters, flow);
        }
    }
}

/* Jain's index: 1 if all flows have the same share, 1 / n if one has all. */
static double fairness(const uint64_t *sums)
{
    double sum = (double)sums[SHARES];

    return sums[SHARES_SQUARED] == 0
               ? 1
               : sum * sum / ((double)sums[FLOWS] * (double)sums[SHARES_SQUARED]);
}

/* The time that `permille` of the flows do not exceed: exact if one of the rows, which begin
 * with the slowest flow, has it, else the least time of its bucket. */
static uint64_t quantile_of(const uint64_t *sums, const uint64_t *rows, uint64_t shortest,
                            uint32_t permille)
{
    uint64_t n_slower = (uint64_t)((wf_u128)sums[FLOWS] * (1000 - permille) / 1000);

    return n_slower < ROWS
               ? rows[n_slower * WF_NET_ROW_WORDS + ROW_TIME]
               : wf_max_u64(wf_histogram_quantile(&sums[TIMES], permille), shortest);
}

static void describe_rows(struct wf_value *section, const struct wf_transport_net *net,
                          const uint64_t *row)
{
    struct wf_value *list = wf_doc_list(section, "slowest_flows");

    for (uint32_t i = 0; i < ROWS_SHOWN && row[ROW_TIME] != 0; i++, row += WF_NET_ROW_WORDS) {
        struct wf_value *item = wf_doc_section(list, NULL);
        wf_doc_count(item, "source", row[ROW_NODES] >> 32);
        wf_doc_count(item, "destination", row[ROW_NODES] & UINT32_MAX);
        wf_doc_count(item, "bytes", row[ROW_BYTES]);
        wf_doc_count(item, "begin_ps", row[ROW_BEGIN]);
        wf_doc_count(item, "time_ps", row[ROW_TIME]);
        wf_doc_measured(item, "share",
                        (double)wf_transfer_ps(wf_max_u64(row[ROW_BYTES], 1), net->line_rate) /
                            (double)row[ROW_TIME],
                        4);
    }
}

static void describe_flows(struct wf_value *section, const struct wf_transport_net *net,
                           const struct wf_net_counters *counters)
{
    const uint64_t *sums = &counters->word[net->sums_at];
    const uint64_t *maxima = &counters->word[counters->n_sums + net->maxima_at];
    const uint64_t *rows = &counters->word[counters->n_sums + counters->n_maxima];
    wf_doc_count(section, "flows", sums[FLOWS]);
    if (sums[FLOWS] == 0) {
        return;
    }
    struct wf_value *times = wf_doc_section(section, "flow_time_ps");
    uint64_t shortest = UINT64_MAX - maxima[SHORTEST];
    wf_doc_count(times, "min", shortest);
    wf_doc_count(times, "p50", quantile_of(sums, rows, shortest, 500));
    wf_doc_count(times, "p99", quantile_of(sums, rows, shortest, 990));
    wf_doc_count(times, "max", maxima[LONGEST]);
    wf_doc_measured(section, "fairness", fairness(sums), 4);
    describe_rows(section, net, rows);
}

void wf_transport_stats_describe(const struct wf_net *net,
                                 const struct wf_net_counters *counters, int64_t elapsed,
                                 struct wf_value *result)
{
    const struct wf_transport_net *own = wf_transport_of(wf_packet_of(net));
    const uint64_t *sums = &counters->word[own->sums_at];
    const uint64_t *maxima = &counters->word[net->n_sums + own->maxima_at];

    if (own->packet.stats != WF_NET_STATS_OFF) {
        wf_packet_stats_describe(net, counters, elapsed, result);
    }
    struct wf_value *section = wf_doc_section(wf_net_report_section(result), "transport");
    wf_doc_text(section, "name", own->control->name);
    wf_doc_count(section, "dropped", sums[DROPS]);
    wf_doc_count(section, "trimmed", sums[TRIMS]);
    wf_doc_count(section, "sent_again", sums[SENT_AGAIN]);
    wf_doc_count(section, "timeouts", sums[TIMEOUTS]);
    wf_doc_count(section, "marked", sums[MARKS]);
    wf_doc_count(section, "pauses", sums[PAUSES]);
    wf_doc_count(section, "paused_ps", sums[PAUSED_PS]);
    wf_doc_count(section, "max_queue_bytes", maxima[QUEUE]);
    if (own->is_lossless) {
        wf_doc_count(section, "max_input_bytes", maxima[INSIDE]);
    }
    describe_flows(section, own, counters);
}
