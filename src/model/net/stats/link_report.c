/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/stats/link_report.h"

#include "base/histogram.h"
#include "base/mem.h"
#include "base/result/doc.h"
#include "model/net/links.h"
#include "model/topo/classes.h"
#include "model/topo/damage.h"

#include <stdlib.h>
#include <string.h>

const char *const wf_net_stats_names[] = {"off", "summary", "links", "classes", NULL};

struct wf_value *wf_net_report_section(struct wf_value *result)
{
    const struct wf_value *found = wf_doc_find(result, "network");

    /* part of `result`, which the caller may change */
    return found != NULL ? wf_unconst(found) : wf_doc_section(result, "network");
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* ---- classes ---- */

/* What the links of a class did. */
struct class_use {
    uint64_t links, packets, bytes, most_ps;
    double busy_ps; /* of all links; may be more than 2^64 */
};

/* Whether the report tells classes apart: if they may differ, or if the user asks for it. */
static bool has_classes(const struct wf_net_link_report *report)
{
    return report->classes != NULL || report->stats == WF_NET_STATS_CLASSES;
}

static void count_use(struct class_use *use, const struct wf_net_link_facts *link)
{
    use->links++;
    use->packets += link->packets;
    use->bytes += link->bytes;
    use->busy_ps += (double)link->busy_ps;
    use->most_ps = link->busy_ps > use->most_ps ? link->busy_ps : use->most_ps;
}

static void describe_properties(struct wf_value *item, const struct wf_net_link *link)
{
    char text[WF_UNITS_TEXT_MAX];

    if (link->latency >= 0) {
        wf_doc_count(item, "latency_ps", (uint64_t)link->latency);
    }
    if (link->bandwidth != 0) {
        wf_doc_text(item, "bandwidth", wf_format_rate(link->bandwidth, text));
    }
    if (link->delay >= 0) {
        wf_doc_count(item, "delay_ps", (uint64_t)link->delay);
    }
    if (link->buffer != 0) {
        wf_doc_count(item, "buffer_bytes", link->buffer);
    }
}

/* `uses` has an entry for each class; null: unknown. */
static void describe_classes(struct wf_value *network, const struct wf_topo *topo,
                             const struct wf_net_link *classes, const struct class_use *uses,
                             int64_t elapsed)
{
    struct wf_value *list = wf_doc_list(network, "link_classes");

    for (uint32_t i = 0; i < wf_topo_n_classes(topo); i++) {
        struct wf_value *item = wf_doc_section(list, NULL);

        wf_doc_text(item, "class", wf_topo_class_name(topo, i));
        if (classes != NULL) {
            describe_properties(item, &classes[i]);
        }
        if (uses != NULL) {
            const struct class_use *use = &uses[i];
            wf_doc_count(item, "links", use->links);
            wf_doc_count(item, "packets", use->packets);
            wf_doc_count(item, "bytes", use->bytes);
            wf_doc_measured(item, "mean_busy_percent",
                            percent(use->busy_ps, (double)elapsed * (double)use->links), 3);
            wf_doc_measured(item, "max_busy_percent",
                            percent((double)use->most_ps, (double)elapsed), 3);
        }
    }
}

void wf_net_report_classes(struct wf_value *network, const struct wf_topo *topo,
                           const struct wf_net_link *classes)
{
    describe_classes(network, topo, classes, NULL, 0);
}

void wf_net_report_failed(struct wf_value *result, const struct wf_topo *topo, const char *fail)
{
    struct wf_topo_damage damage;
    struct wf_err ignored; /* the network was built from the same text */
    uint64_t links = 0, switches = 0;

    if (fail[0] == '\0' || strchr(fail, '@') != NULL ||
        wf_topo_damage_read(&damage, topo, fail, &ignored) != WF_OK) {
        return;
    }
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t n_ports = wf_topo_ports(topo, v);
        switches += damage.vertices[v];
        for (uint32_t port = 0; port < n_ports; port++) {
            links += topo->ops->neighbor(topo, v, port) != WF_TOPO_NO_VERTEX &&
                     wf_topo_damage_neighbor(&damage, v, port) == WF_TOPO_NO_VERTEX;
        }
    }
    struct wf_value *section = wf_doc_section(wf_net_report_section(result), "failed");
    wf_doc_text(section, "what", fail);
    wf_doc_count(section, "links", links);
    wf_doc_count(section, "of_links", topo->n_links);
    wf_doc_count(section, "routers", switches);
    wf_topo_damage_fini(&damage);
}

/* ---- links ---- */

static void describe_link(struct wf_value *list, const struct wf_net_link_facts *link,
                          const struct wf_net_link_report *report)
{
    struct wf_value *item = wf_doc_section(list, NULL);
    int64_t elapsed = report->elapsed;

    wf_doc_count(item, "vertex", link->vertex);
    wf_doc_count(item, "port", link->port);
    wf_doc_count(item, "to", link->to);
    if (has_classes(report)) {
        uint32_t number = wf_topo_link_class(report->topo, link->vertex, link->port);
        wf_doc_text(item, "class", wf_topo_class_name(report->topo, number));
    }
    wf_doc_count(item, "packets", link->packets);
    wf_doc_count(item, "bytes", link->bytes);
    wf_doc_measured(item, "busy_percent", percent((double)link->busy_ps, (double)elapsed), 3);
    if (link->knows_waits) {
        wf_doc_count(item, "wait_ps", link->wait_ps);
        wf_doc_count(item, "peak_wait_ps", link->peak_ps);
        wf_doc_count(item, "peak_queue_bytes", link->peak_bytes);
    }
    if (link->load != NULL) {
        wf_net_link_load_describe(link->load, item);
    }
}

/* The busiest links; ties by number. */
struct hot {
    struct wf_net_link_facts links[WF_NET_STATS_HOT];
    uint32_t n;
};

static void keep_hot(struct hot *hot, const struct wf_net_link_facts *link)
{
    uint32_t at = hot->n;

    while (at > 0 && hot->links[at - 1].busy_ps < link->busy_ps) {
        at--;
    }
    if (at == WF_NET_STATS_HOT) {
        return;
    }
    hot->n += hot->n < WF_NET_STATS_HOT ? 1 : 0;
    memmove(&hot->links[at + 1], &hot->links[at], (hot->n - 1 - at) * sizeof(*link));
    hot->links[at] = *link;
}

void wf_net_report_links(struct wf_value *network, const struct wf_net_link_report *report)
{
    const struct wf_topo *topo = report->topo;
    struct hot hot = {.n = 0};
    struct wf_net_link_facts sum = {.knows_waits = true};
    uint64_t used = 0;
    struct class_use *uses = wf_xcalloc(wf_topo_n_classes(topo), sizeof(*uses));
    struct wf_value *list =
        report->stats == WF_NET_STATS_LINKS ? wf_doc_list(network, "links") : NULL;

    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t first = wf_topo_first_link(topo, v), n_ports = wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            struct wf_net_link_facts link = {.vertex = v, .port = port};
            link.to = topo->ops->neighbor(topo, v, port);
            if (link.to == WF_TOPO_NO_VERTEX) {
                continue;
            }
            report->facts(report->arg, first + port, &link);
            count_use(&uses[wf_topo_link_class(topo, v, port)], &link);
            if (link.packets == 0) {
                continue;
            }
            used++;
            sum.packets += link.packets;
            sum.bytes += link.bytes;
            sum.wait_ps += link.wait_ps;
            sum.knows_waits = sum.knows_waits && link.knows_waits;
            keep_hot(&hot, &link);
            if (list != NULL) {
                describe_link(list, &link, report);
            }
        }
    }
    wf_doc_count(network, "links_used", used);
    if (wf_doc_find(network, "packet_hops") == NULL) {
        wf_doc_count(network, "packet_hops", sum.packets);
    }
    wf_doc_count(network, "link_bytes", sum.bytes);
    if (sum.knows_waits) {
        wf_doc_count(network, "wait_ps", sum.wait_ps);
    }
    struct wf_value *hottest = wf_doc_list(network, "hot_links");
    for (uint32_t i = 0; i < hot.n; i++) {
        describe_link(hottest, &hot.links[i], report);
    }
    if (has_classes(report)) {
        describe_classes(network, topo, report->classes, uses, report->elapsed);
    }
    free(uses);
}

void wf_net_report_counts(struct wf_value *network, const char *name, const uint64_t *counts,
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

void wf_net_report_latencies(struct wf_value *network, const uint64_t *counts)
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
