/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/notices.h"

enum { ENTRIES = 4 };

struct page {
    uint32_t next; /* cell */
    uint32_t n;    /* entries in use, which are the first ones */
    struct wf_net_notice entries[ENTRIES];
};

_Static_assert(sizeof(struct page) == WF_NET_NOTICES_CELL, "fits into a cell");

static bool is_over(const struct wf_net_notice *entry, int64_t over)
{
    return entry->value <= over && entry->more == 0;
}

/* A place in the list. */
struct place {
    uint32_t cell, slot; /* cell 0: none */
};

static struct place place_of_notice(struct wf_ctx *ctx, uint32_t cells, uint32_t port,
                                    int64_t over)
{
    struct place place = {.cell = 0};

    for (uint32_t cell = cells; cell != 0;) {
        const struct page *page = wf_cell_read(ctx, cell);
        for (uint32_t i = 0; i < ENTRIES; i++) {
            bool used = i < page->n;
            if (used && page->entries[i].port == port) {
                return (struct place){cell, i};
            }
            if (place.cell == 0 && (!used || is_over(&page->entries[i], over))) {
                place = (struct place){cell, i};
            }
        }
        cell = page->next;
    }
    return place;
}

void wf_net_notices_put(struct wf_ctx *ctx, uint32_t *cells, const struct wf_net_notice *notice,
                        int64_t over)
{
    struct place place = place_of_notice(ctx, *cells, notice->port, over);

    if (place.cell == 0) {
        place.cell = wf_cell_new_for(ctx, sizeof(struct page));
        ((struct page *)wf_cell_edit(ctx, place.cell))->next = *cells;
        wf_touch(ctx, cells, sizeof(*cells));
        *cells = place.cell;
    }
    struct page *page = wf_cell_edit(ctx, place.cell);
    page->entries[place.slot] = *notice;
    page->n = place.slot < page->n ? page->n : place.slot + 1;
}

const struct wf_net_notice *wf_net_notices_get(struct wf_ctx *ctx, uint32_t cells,
                                               uint32_t port)
{
    for (uint32_t cell = cells; cell != 0;) {
        const struct page *page = wf_cell_read(ctx, cell);
        for (uint32_t i = 0; i < page->n; i++) {
            if (page->entries[i].port == port) {
                return &page->entries[i];
            }
        }
        cell = page->next;
    }
    return NULL;
}
