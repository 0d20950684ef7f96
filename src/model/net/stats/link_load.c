/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/stats/link_load.h"

#include "base/result/doc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* wf_touch(), unless the load is not in the state of a process. */
static void announce(struct wf_ctx *ctx, void *at, size_t size)
{
    if (ctx != NULL) {
        wf_touch(ctx, at, size);
    }
}

static void fit(struct wf_ctx *ctx, struct wf_net_link_load *load, int64_t last)
{
    uint64_t by = wf_net_link_load_narrow(load, (uint64_t)last);

    if (by > 0) {
        announce(ctx, load, sizeof(*load));
        wf_net_link_load_widen(load, by);
    }
}

static void add_bytes(struct wf_ctx *ctx, struct wf_net_link_load *load,
                      const struct wf_net_departures *d)
{
    int64_t last = d->at + (int64_t)(d->n - 1) * d->spacing;

    fit(ctx, load, last > d->at ? last : d->at);
    for (uint64_t i = 0; i < d->n;) { /* window by window */
        uint64_t at = (uint64_t)d->at + i * (uint64_t)d->spacing;
        uint64_t window = at >> wf_net_link_load_shift(load), here = d->n - i;
        uint64_t end = (window + 1) << wf_net_link_load_shift(load);
        if (d->spacing > 0 && (end - at - 1) / (uint64_t)d->spacing + 1 < here) {
            here = (end - at - 1) / (uint64_t)d->spacing + 1;
        }
        announce(ctx, &load->load[window], sizeof(uint64_t));
        load->load[window] += here * d->bytes;
        i += here;
    }
}

void wf_net_link_load_add(struct wf_ctx *ctx, struct wf_net_link_load *load,
                          const struct wf_net_departures *d)
{
    add_bytes(ctx, load, d);
    announce(ctx, &load->lost, sizeof(load->lost) + sizeof(load->by));
    wf_net_link_load_add_sender(load, d->node, d->n * d->bytes);
}

/* ---- the description ---- */

static void sort(struct wf_net_link_sender by[WF_NET_LOAD_SENDERS])
{
    for (int i = 1; i < WF_NET_LOAD_SENDERS; i++) {
        struct wf_net_link_sender one = by[i];
        int at = i;
        while (at > 0 && (by[at - 1].bytes < one.bytes ||
                          (by[at - 1].bytes == one.bytes && by[at - 1].node > one.node))) {
            by[at] = by[at - 1];
            at--;
        }
        by[at] = one;
    }
}

void wf_net_link_load_describe(const struct wf_net_link_load *load, struct wf_value *link)
{
    struct wf_net_link_sender by[WF_NET_LOAD_SENDERS];
    char text[WF_NET_LOAD_WINDOWS * 21] = "";
    size_t n = WF_NET_LOAD_WINDOWS, used = 0;

    while (n > 0 && load->load[n - 1] == 0) {
        n--;
    }
    for (size_t i = 0; i < n; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%" PRIu64,
                                 i == 0 ? "" : " ", load->load[i]);
    }
    wf_doc_count(link, "load_window_ps", UINT64_C(1) << wf_net_link_load_shift(load));
    wf_doc_text(link, "load_bytes", text);
    memcpy(by, load->by, sizeof(by));
    sort(by);
    struct wf_value *list = wf_doc_list(link, "filled_by");
    for (int i = 0; i < WF_NET_LOAD_SENDERS && by[i].bytes > 0; i++) {
        struct wf_value *item = wf_doc_section(list, NULL);
        wf_doc_count(item, "node", by[i].node);
        wf_doc_count(item, "bytes", by[i].bytes);
    }
    wf_doc_count(link, "filled_by_more_bytes", load->lost);
}
