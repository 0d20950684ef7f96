/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/tasks/streams.h"

#include "model/ranks/tasks/pe_rules.h"

enum { OPEN_PER_CELL = 5 };

struct open_cell {
    uint64_t end[OPEN_PER_CELL];
    uint32_t task[OPEN_PER_CELL];
    uint32_t next; /* cell, or 0 */
};

_Static_assert(sizeof(struct open_cell) <= WF_PE_CELL_SIZE, "cells are too small");

void wf_pe_open_push(struct wf_ctx *ctx, struct wf_pe_open_list *list, uint64_t end,
                     uint32_t task)
{
    if (list->last == 0 || list->used == OPEN_PER_CELL) {
        uint32_t cell = wf_cell_new(ctx);
        if (list->last == 0) {
            list->first = cell;
            list->taken = 0;
            list->end = end;
        } else {
            ((struct open_cell *)wf_cell_edit(ctx, list->last))->next = cell;
        }
        list->last = cell;
        list->used = 0;
    }

    struct open_cell *last = wf_cell_edit(ctx, list->last);
    last->end[list->used] = end;
    last->task[list->used] = task;
    list->used++;
}

static uint32_t first_task(struct wf_ctx *ctx, const struct wf_pe_open_list *list)
{
    return ((const struct open_cell *)wf_cell_read(ctx, list->first))->task[list->taken];
}

uint32_t wf_pe_open_pop(struct wf_ctx *ctx, struct wf_pe_open_list *list)
{
    uint32_t cell = list->first;
    const struct open_cell *first = wf_cell_read(ctx, cell);
    uint32_t task = first->task[list->taken];
    bool last = cell == list->last;

    list->taken++;
    if (list->taken == (last ? list->used : OPEN_PER_CELL)) {
        list->first = first->next;
        list->taken = 0;
        if (last) {
            list->last = 0;
            list->used = 0;
        } else {
            first = wf_cell_read(ctx, list->first);
        }
        wf_cell_free(ctx, cell);
    }
    if (list->first != 0) {
        list->end = first->end[list->taken];
    }
    return task;
}

struct wf_pe_stream *wf_pe_stream_first(struct wf_ctx *ctx, struct wf_pe_stream *streams,
                                        uint32_t n, int64_t until)
{
    struct wf_pe_stream *found = NULL;

    for (uint32_t i = 0; i < n; i++) {
        const struct wf_pe_open_list *open = &streams[i].open;

        if (wf_pe_open_has(open, until) &&
            (found == NULL || open->end < found->open.end ||
             (open->end == found->open.end &&
              first_task(ctx, open) < first_task(ctx, &found->open)))) {
            found = &streams[i];
        }
    }
    return found;
}
