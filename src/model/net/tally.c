/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/tally.h"

#include "base/array.h"
#include "model/topo/topo.h"

#include <string.h>

static bool goes_before(const struct wf_net_link_usage *a, const struct wf_net_link_usage *b)
{
    if (a->busy != b->busy) {
        return a->busy > b->busy;
    }
    return a->vertex != b->vertex ? a->vertex < b->vertex : a->port < b->port;
}

void wf_net_usage_link(struct wf_net_usage *usage, struct wf_net_link_usage link)
{
    uint32_t at = WF_NET_USAGE_LINKS;

    if (link.busy == 0) {
        return;
    }
    while (at > 0 && goes_before(&link, &usage->busiest[at - 1])) {
        at--;
    }
    if (at < WF_NET_USAGE_LINKS) {
        memmove(&usage->busiest[at + 1], &usage->busiest[at],
                (WF_NET_USAGE_LINKS - 1 - at) * sizeof(link));
        usage->busiest[at] = link;
    }
}

void wf_net_usage_merge(struct wf_net_usage *into, const struct wf_net_usage *from)
{
    into->packets += from->packets;
    into->hops += from->hops;
    into->busy += from->busy;
    into->carried += from->carried;
    for (uint32_t i = 0; i < from->waits.n; i++) {
        wf_net_waits_add(&into->waits, &from->waits.at[i]);
    }
    into->injected += from->injected;
    into->digest += from->digest;
    into->waited += from->waited;
    into->links = from->links > into->links ? from->links : into->links;
    for (uint32_t i = 0; i < WF_NET_USAGE_LINKS; i++) {
        wf_net_usage_link(into, from->busiest[i]);
    }
    for (uint32_t i = 0; i < WF_NET_USAGE_VCS; i++) {
        into->vcs[i] += from->vcs[i];
    }
}

/* Keeps the earlier of two losses. */
static void loss_merge(struct wf_net_loss *into, const struct wf_net_loss *from)
{
    if (from->at != 0 && (into->at == 0 || 4 * WF_ORDER(from->at, into->at) +
                                                   2 * WF_ORDER(from->src, into->src) +
                                                   WF_ORDER(from->dst, into->dst) <
                                               0)) {
        *into = *from;
    }
}

void wf_net_losses_add(struct wf_net_losses *losses, const struct wf_net_loss *loss,
                       uint64_t bytes)
{
    losses->n_packets++;
    losses->n_bytes += bytes;
    losses->n_cut_off += loss->port == WF_TOPO_NO_PORT ? 1 : 0;
    loss_merge(&losses->first, loss);
}

void wf_net_totals_merge(struct wf_net_totals *into, const struct wf_net_totals *from)
{
    into->nodes += from->nodes;
    into->fingerprint += from->fingerprint;
    into->packets_sent += from->packets_sent;
    into->packets_received += from->packets_received;
    into->bytes_sent += from->bytes_sent;
    into->bytes_received += from->bytes_received;
    into->losses.resent += from->losses.resent;
    into->losses.n_packets += from->losses.n_packets;
    into->losses.n_bytes += from->losses.n_bytes;
    into->losses.n_cut_off += from->losses.n_cut_off;
    loss_merge(&into->losses.first, &from->losses.first);
    if (from->deadlock.n > 0) {
        into->deadlock = from->deadlock;
        into->deadlock_ps = from->deadlock_ps;
    }
}

/* Whether row a goes before row b. */
static bool row_goes_before(const uint64_t *a, const uint64_t *b)
{
    for (uint32_t i = 0; i < WF_NET_ROW_WORDS; i++) {
        if (a[i] != b[i]) {
            return a[i] > b[i];
        }
    }
    return false;
}

void wf_net_counters_row(struct wf_net_counters *counters, const uint64_t row[WF_NET_ROW_WORDS])
{
    uint64_t *rows = &counters->word[counters->n_sums + counters->n_maxima];
    uint64_t low = 0, high = counters->n_rows;

    while (low < high) { /* the first place whose row goes after this one */
        uint64_t middle = low + (high - low) / 2;
        if (row_goes_before(row, &rows[middle * WF_NET_ROW_WORDS])) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    if (low < counters->n_rows) {
        uint64_t *at = &rows[low * WF_NET_ROW_WORDS];
        memmove(at + WF_NET_ROW_WORDS, at,
                (counters->n_rows - 1 - low) * WF_NET_ROW_WORDS * sizeof(*at));
        memcpy(at, row, WF_NET_ROW_WORDS * sizeof(*at));
    }
}

void wf_net_counters_merge(struct wf_net_counters *into, const struct wf_net_counters *from)
{
    if (from->n_sums == 0) {
        return;
    }
    into->n_sums = from->n_sums;
    into->n_maxima = from->n_maxima;
    into->n_rows = from->n_rows;
    for (uint64_t i = 0; i < from->n_sums; i++) {
        into->word[i] += from->word[i];
    }
    for (uint64_t i = from->n_sums; i < from->n_sums + from->n_maxima; i++) {
        into->word[i] = from->word[i] > into->word[i] ? from->word[i] : into->word[i];
    }
    const uint64_t *row = &from->word[from->n_sums + from->n_maxima];
    for (uint64_t i = 0; i < from->n_rows && row[0] != 0; i++, row += WF_NET_ROW_WORDS) {
        wf_net_counters_row(into, row);
    }
}
