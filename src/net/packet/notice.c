/* SPDX-License-Identifier: Apache-2.0 */
#include "net/packet/notice.h"

enum { ENTRIES = 5 };

/* What a neighbour told of one of its ports. */
struct entry {
    int64_t free;
    uint32_t port; /* + 1; 0: nothing */
    uint32_t waiting;
};

/* Some of what a neighbour told. */
struct page {
    uint32_t next; /* cell */
    uint32_t spare;
    struct entry entries[ENTRIES];
};

_Static_assert(sizeof(struct page) <= sizeof(struct wf_train), "fits into a cell");

static struct wf_port_news *news_of(const struct wf_spot *spot, uint32_t port)
{
    const struct wf_packet_net *model = spot->model;
    size_t n_ports = spot->node != NULL ? model->node_ports : model->other_ports;
    unsigned char *at = (unsigned char *)(spot->channels + n_ports * model->n_channels);

    if (spot->stats != NULL) {
        at += n_ports * sizeof(struct wf_port_stats);
    }
    return (struct wf_port_news *)(void *)at + port;
}

/* A queue in packets. */
static uint64_t length(int64_t free, uint32_t waiting, int64_t now, int64_t full_ps)
{
    return (free > now ? (uint64_t)((free - now) / full_ps) : 0) + waiting;
}

/* Sends word of `port` to whoever is behind `by`. */
static void send(const struct wf_spot *spot, uint32_t by, uint32_t port,
                 const struct wf_port_news *news)
{
    const struct wf_packet_links *links = &spot->model->links;
    uint32_t link = wf_links_number(links, spot->vertex, by), to = links->to[link];

    if (by == port || to == WF_TOPO_NO_VERTEX || links->in_port[link] == WF_PACKET_NO_PORT ||
        !wf_links_is_router(links, to)) {
        return; /* it would go back there, or nobody is there who chooses */
    }
    const struct wf_packet_news payload = {
        .by = links->in_port[link], .port = port, .free = news->free, .waiting = news->waiting};
    int64_t delay = links->kinds[wf_links_kind(links, link)].latency + links->router_delay;

    wf_schedule(spot->ctx, wf_packet_process(spot->model, to), delay, WF_PACKET_NEWS, &payload,
                sizeof(payload));
}

void wf_news_tell(const struct wf_spot *spot, uint32_t port)
{
    const struct wf_packet_net *model = spot->model;
    const struct wf_packet_links *links = &model->links;
    uint32_t link = wf_links_number(links, spot->vertex, port), waiting = 0;
    int64_t now = spot->key.time, full_ps = links->kinds[wf_links_kind(links, link)].full_ps;
    struct wf_port_news *news = news_of(spot, port);

    if (!wf_links_is_router(links, links->to[link]) ||
        !wf_links_is_router(links, spot->vertex)) {
        return; /* to an end node there is no other way, and from there none */
    }
    for (uint32_t i = 0; i < model->n_channels; i++) {
        waiting += spot->channels[port * model->n_channels + i].waiting;
    }
    uint64_t here = length(spot->ports[port].free, waiting, now, full_ps);
    uint64_t told = length(news->free, news->waiting, now, full_ps);
    if ((here > told ? here - told : told - here) < model->news_step) {
        return;
    }
    wf_touch(spot->ctx, news, sizeof(*news));
    news->free = spot->ports[port].free;
    news->waiting = waiting;
    uint32_t n_ports = wf_topo_ports(model->topo, spot->vertex);
    for (uint32_t by = 0; by < n_ports; by++) {
        send(spot, by, port, news);
    }
}

static bool is_over(const struct entry *entry, int64_t now)
{
    return entry->port == 0 || (entry->free <= now && entry->waiting == 0);
}

/* Writes an entry into its place, or else into one that nobody needs any more. */
void wf_news_event(const struct wf_spot *spot, const struct wf_packet_news *news)
{
    const struct entry told = {news->free, news->port + 1, news->waiting};
    struct wf_port_news *head = news_of(spot, news->by);
    uint32_t place = 0, slot = 0;
    bool found = false;

    for (uint32_t cell = head->known; cell != 0 && !found;) {
        const struct page *page = wf_cell_read(spot->ctx, cell);
        for (uint32_t i = 0; i < ENTRIES && !found; i++) {
            found = page->entries[i].port == told.port;
            if (found || (place == 0 && is_over(&page->entries[i], spot->key.time))) {
                place = cell;
                slot = i;
            }
        }
        cell = page->next;
    }
    if (place == 0) {
        place = wf_cell_new(spot->ctx);
        ((struct page *)wf_cell_edit(spot->ctx, place))->next = head->known;
        wf_touch(spot->ctx, head, sizeof(*head));
        head->known = place;
    }
    ((struct page *)wf_cell_edit(spot->ctx, place))->entries[slot] = told;
}

static uint32_t port_to(const struct wf_spot *spot, uint32_t vertex)
{
    const struct wf_packet_links *links = &spot->model->links;
    uint32_t n_ports = wf_topo_ports(spot->model->topo, spot->vertex), port = 0;
    const uint32_t *to = &links->to[wf_links_number(links, spot->vertex, 0)];

    while (port < n_ports && to[port] != vertex) {
        port++;
    }
    return port < n_ports ? port : WF_TOPO_NO_PORT;
}

uint64_t wf_news_waits(const struct wf_spot *spot, uint32_t vertex, uint32_t port)
{
    const struct wf_packet_links *links = &spot->model->links;
    uint32_t kind = wf_links_kind(links, wf_links_number(links, vertex, port));
    int64_t full_ps = links->kinds[kind].full_ps;
    uint32_t by = port_to(spot, vertex);

    for (uint32_t cell = by == WF_TOPO_NO_PORT ? 0 : news_of(spot, by)->known; cell != 0;) {
        const struct page *page = wf_cell_read(spot->ctx, cell);
        for (uint32_t i = 0; i < ENTRIES; i++) {
            const struct entry *entry = &page->entries[i];
            if (entry->port == port + 1) {
                return length(entry->free, entry->waiting, spot->key.time, full_ps);
            }
        }
        cell = page->next;
    }
    return 0;
}
