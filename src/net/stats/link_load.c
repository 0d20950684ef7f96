/* SPDX-License-Identifier: Apache-2.0 */
#include "net/stats/link_load.h"

#include "result/doc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_SHIFT = 10 }; /* windows of a nanosecond */

static uint64_t shift_of(const struct wf_net_link_load *detail)
{
    return FIRST_SHIFT + detail->wider;
}

static void widen(struct wf_net_link_load *detail, uint64_t by)
{
    for (uint64_t i = 0; i < WF_NET_LOAD_WINDOWS; i++) {
        uint64_t bytes = detail->load[i];
        detail->load[i] = 0;
        detail->load[by < 64 ? i >> by : 0] += bytes;
    }
    detail->wider += by;
}

static void fit(struct wf_ctx *ctx, struct wf_net_link_load *detail, int64_t last)
{
    uint64_t by = 0;

    while ((uint64_t)last >> (shift_of(detail) + by) >= WF_NET_LOAD_WINDOWS) {
        by++;
    }
    if (by > 0) {
        wf_touch(ctx, detail, sizeof(*detail));
        widen(detail, by);
    }
}

static void add_load(struct wf_ctx *ctx, struct wf_net_link_load *detail,
                     const struct wf_net_departures *load)
{
    int64_t last = load->at + (int64_t)(load->n - 1) * load->spacing;

    fit(ctx, detail, last > load->at ? last : load->at);
    for (uint64_t i = 0; i < load->n;) { /* window by window */
        uint64_t at = (uint64_t)load->at + i * (uint64_t)load->spacing;
        uint64_t window = at >> shift_of(detail), here = load->n - i;
        uint64_t end = (window + 1) << shift_of(detail);
        if (load->spacing > 0 && (end - at - 1) / (uint64_t)load->spacing + 1 < here) {
            here = (end - at - 1) / (uint64_t)load->spacing + 1;
        }
        wf_touch(ctx, &detail->load[window], sizeof(uint64_t));
        detail->load[window] += here * load->bytes;
        i += here;
    }
}

/* Takes as much off all as makes room for one more, or is all that comes. */
static uint64_t make_room(struct wf_net_link_load *detail, uint64_t bytes)
{
    uint64_t least = bytes;

    for (int i = 0; i < WF_NET_LOAD_SENDERS; i++) {
        least = detail->by[i].bytes < least ? detail->by[i].bytes : least;
    }
    for (int i = 0; i < WF_NET_LOAD_SENDERS; i++) {
        detail->by[i].bytes -= least;
    }
    detail->lost += least;
    return bytes - least;
}

static void add_filler(struct wf_net_link_load *detail, uint32_t node, uint64_t bytes)
{
    struct wf_net_link_sender *room = NULL;

    for (int i = 0; i < WF_NET_LOAD_SENDERS; i++) {
        struct wf_net_link_sender *filler = &detail->by[i];
        if (filler->bytes > 0 && filler->node == node) {
            filler->bytes += bytes;
            return;
        }
        room = room == NULL && filler->bytes == 0 ? filler : room;
    }
    if (room == NULL) {
        bytes = make_room(detail, bytes);
        for (int i = 0; bytes > 0 && room == NULL; i++) {
            room = detail->by[i].bytes == 0 ? &detail->by[i] : NULL;
        }
    }
    if (bytes > 0) {
        *room = (struct wf_net_link_sender){bytes, node};
    }
}

void wf_net_link_load_add(struct wf_ctx *ctx, struct wf_net_link_load *detail,
                          const struct wf_net_departures *load)
{
    add_load(ctx, detail, load);
    wf_touch(ctx, &detail->lost, sizeof(detail->lost) + sizeof(detail->by));
    add_filler(detail, load->node, load->n * load->bytes);
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

void wf_net_link_load_describe(const struct wf_net_link_load *detail, struct wf_value *link)
{
    struct wf_net_link_sender by[WF_NET_LOAD_SENDERS];
    char text[WF_NET_LOAD_WINDOWS * 21] = "";
    size_t n = WF_NET_LOAD_WINDOWS, used = 0;

    while (n > 0 && detail->load[n - 1] == 0) {
        n--;
    }
    for (size_t i = 0; i < n; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%" PRIu64,
                                 i == 0 ? "" : " ", detail->load[i]);
    }
    wf_doc_count(link, "load_window_ps", UINT64_C(1) << shift_of(detail));
    wf_doc_text(link, "load_bytes", text);
    memcpy(by, detail->by, sizeof(by));
    sort(by);
    struct wf_value *list = wf_doc_list(link, "filled_by");
    for (int i = 0; i < WF_NET_LOAD_SENDERS && by[i].bytes > 0; i++) {
        struct wf_value *item = wf_doc_section(list, NULL);
        wf_doc_count(item, "node", by[i].node);
        wf_doc_count(item, "bytes", by[i].bytes);
    }
    wf_doc_count(link, "filled_by_more_bytes", detail->lost);
}
