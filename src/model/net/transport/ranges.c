/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of sequence numbers. What arrives out of order is nearly always a few ranges, however
 * many packets they have. */
#include "base/arith.h"
#include "model/net/transport/model.h"

struct range {
    uint32_t next; /* cell of the next range, which begins after the end of this one */
    uint32_t spare;
    uint64_t begin, end;
};

size_t wf_transport_ranges_cell_size(void)
{
    return sizeof(struct range);
}

static const struct range *look(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_read(ctx, cell);
}

/* The link to the first range that ends at or after `at`. */
static uint32_t *link_to_range(struct wf_ctx *ctx, uint32_t *list, uint64_t at)
{
    uint32_t *link = list;

    while (*link != 0 && look(ctx, *link)->end < at) {
        link = &((struct range *)wf_cell_edit(ctx, *link))->next;
    }
    return link;
}

static uint32_t insert(struct wf_ctx *ctx, uint32_t next, uint64_t begin, uint64_t end)
{
    uint32_t cell = wf_cell_new_for(ctx, sizeof(struct range));

    *(struct range *)wf_cell_edit(ctx, cell) =
        (struct range){.next = next, .begin = begin, .end = end};
    return cell;
}

uint64_t wf_transport_ranges_add(struct wf_ctx *ctx, uint32_t *list, uint64_t begin,
                                 uint64_t end)
{
    uint64_t had = 0, from = begin, to = end;
    uint32_t *link = link_to_range(ctx, list, begin);

    if (begin >= end) {
        return 0;
    }
    while (*link != 0 && look(ctx, *link)->begin <= end) { /* they become one */
        const struct range old = *look(ctx, *link);
        uint64_t low = wf_max_u64(old.begin, begin), high = wf_min_u64(old.end, end);

        had += high > low ? high - low : 0;
        from = wf_min_u64(from, old.begin);
        to = wf_max_u64(to, old.end);
        wf_cell_free(ctx, *link);
        *link = old.next;
    }
    *link = insert(ctx, *link, from, to);
    return end - begin - had;
}

uint64_t wf_transport_ranges_remove(struct wf_ctx *ctx, uint32_t *list, uint64_t begin,
                                    uint64_t end)
{
    uint64_t had = 0;
    uint32_t *link = link_to_range(ctx, list, begin);

    while (*link != 0 && look(ctx, *link)->begin < end) {
        const struct range old = *look(ctx, *link);
        uint64_t low = wf_max_u64(old.begin, begin), high = wf_min_u64(old.end, end);

        if (high <= low) { /* it only touches */
            link = &((struct range *)wf_cell_edit(ctx, *link))->next;
            continue;
        }
        had += high - low;
        wf_cell_free(ctx, *link);
        *link = old.next;
        if (high < old.end) {
            *link = insert(ctx, *link, high, old.end);
        }
        if (old.begin < low) {
            *link = insert(ctx, *link, old.begin, low);
            link = &((struct range *)wf_cell_edit(ctx, *link))->next;
        }
    }
    return had;
}

bool wf_transport_ranges_first(struct wf_ctx *ctx, uint32_t list, uint64_t *begin,
                               uint64_t *end)
{
    if (list == 0) {
        return false;
    }
    *begin = look(ctx, list)->begin;
    *end = look(ctx, list)->end;
    return true;
}

bool wf_transport_ranges_has(struct wf_ctx *ctx, uint32_t list, uint64_t begin, uint64_t end)
{
    while (list != 0 && look(ctx, list)->end < end) {
        list = look(ctx, list)->next;
    }
    return begin >= end || (list != 0 && look(ctx, list)->begin <= begin);
}

uint32_t wf_transport_ranges_next(struct wf_ctx *ctx, uint32_t list)
{
    return look(ctx, list)->next;
}
