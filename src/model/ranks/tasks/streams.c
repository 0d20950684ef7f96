/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/tasks/streams.h"

#include "model/ranks/tasks/pe_rules.h"

enum { OPEN_PER_CELL = 3 };

struct stream_cell {
    struct wf_pe_open open[OPEN_PER_CELL];
    uint32_t next; /* cell, or 0 */
};

_Static_assert(sizeof(struct stream_cell) <= WF_PE_CELL_SIZE, "cells are too small");

void wf_pe_stream_push(struct wf_ctx *ctx, struct wf_pe_stream *stream,
                       const struct wf_pe_open *open)
{
    if (stream->last == 0 || stream->used == OPEN_PER_CELL) {
        uint32_t cell = wf_cell_new(ctx);
        if (stream->last == 0) {
            stream->first = cell;
            stream->taken = 0;
        } else {
            ((struct stream_cell *)wf_cell_edit(ctx, stream->last))->next = cell;
        }
        stream->last = cell;
        stream->used = 0;
    }
    struct stream_cell *last = wf_cell_edit(ctx, stream->last);
    last->open[stream->used++] = *open;
}

static void drop_first(struct wf_ctx *ctx, struct wf_pe_stream *stream)
{
    uint32_t cell = stream->first;
    bool is_last = cell == stream->last;

    stream->taken++;
    if (stream->taken == (is_last ? stream->used : OPEN_PER_CELL)) {
        stream->first = ((const struct stream_cell *)wf_cell_read(ctx, cell))->next;
        stream->taken = 0;
        if (is_last) {
            stream->last = 0;
            stream->used = 0;
        }
        wf_cell_free(ctx, cell);
    }
}

static bool ends_before(const struct wf_pe_open *a, const struct wf_pe_open *b)
{
    if (a->finish != b->finish) {
        return a->finish < b->finish;
    }
    return a->at_once != b->at_once ? a->at_once < b->at_once : a->task < b->task;
}

bool wf_pe_stream_take(struct wf_ctx *ctx, struct wf_pe_stream *streams, uint32_t n,
                       int64_t until, struct wf_pe_open *out)
{
    struct wf_pe_stream *found = NULL;

    for (uint32_t i = 0; i < n; i++) {
        struct wf_pe_stream *stream = &streams[i];
        if (stream->first == 0) {
            continue;
        }
        const struct stream_cell *cell = wf_cell_read(ctx, stream->first);
        const struct wf_pe_open *open = &cell->open[stream->taken];
        if (open->finish <= until && (found == NULL || ends_before(open, out))) {
            found = stream;
            *out = *open;
        }
    }
    if (found != NULL) {
        drop_first(ctx, found);
    }
    return found != NULL;
}
