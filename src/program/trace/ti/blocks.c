/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/ti/blocks.h"

#include "base/array.h"
#include "program/trace/kit/workers.h"
#include "program/trace/ti/text.h"

#include <stdlib.h>

/* Bytes of a chunk, which one worker surveys, and of a block, which one worker reads: both are at
 * least this long, if there are not fewer. */
enum { CHUNK_BYTES = 1 << 20, CHUNKS_MAX = 16, BLOCK_BYTES = 1 << 17 };

/* A chunk begins and ends anywhere between two lines. */
struct chunk {
    uint64_t begin, end;
    uint64_t n_lines;
    bool has_ranks, in_order;
    uint32_t first, last;     /* ranks */
    struct wf_ti_block *cuts; /* where blocks begin in it */
    uint32_t n_cuts, capacity;
};

struct survey {
    const char *path;
    uint64_t size;
    uint32_t n;
    struct chunk chunks[CHUNKS_MAX];
};

/* Notes the rank of a line. */
static void see_rank(struct chunk *chunk, const struct wf_trace_place *place)
{
    uint32_t rank = (uint32_t)place->rank;
    uint64_t latest = chunk->n_cuts > 0 ? chunk->cuts[chunk->n_cuts - 1].begin : chunk->begin;

    if (!chunk->has_ranks) {
        chunk->has_ranks = true;
        chunk->first = rank;
    } else if (rank == chunk->last + 1 && place->byte - latest >= BLOCK_BYTES) {
        WF_PUSH(chunk->cuts, chunk->n_cuts, chunk->capacity,
                (struct wf_ti_block){.begin = place->byte, .line = place->line - 1});
    } else if (rank != chunk->last && rank != chunk->last + 1) {
        chunk->in_order = false;
    }
    chunk->last = rank;
}

static void survey_chunk(void *arg, uint32_t worker, uint32_t item, struct wf_err *err)
{
    struct survey *survey = arg;
    struct chunk *chunk = &survey->chunks[item];
    struct wf_ti_text text = {.line = NULL};

    (void)worker;
    chunk->in_order = true;
    wf_ti_text_open(&text, survey->path, err);
    wf_intext_part(&text.file, chunk->begin, chunk->end, 0);
    while (chunk->in_order && wf_ti_text_next_rank(&text)) {
        see_rank(chunk, &text.file.place);
    }
    chunk->n_lines = text.file.place.line;
    wf_ti_text_close(&text);
}

/* Divides the file into chunks; false if it cannot be read. */
static bool divide(struct survey *survey)
{
    struct wf_err err = {.status = WF_OK};
    struct wf_intext file;
    size_t length = 0;

    if (wf_intext_open(&file, survey->path, &err) != WF_OK) {
        return false;
    }
    uint64_t size = file.size, n = size / CHUNK_BYTES, begin = 0;
    survey->n = n < 1 ? 1 : n > CHUNKS_MAX ? CHUNKS_MAX : (uint32_t)n;
    for (uint32_t i = 0; i < survey->n; i++) {
        uint64_t end = size / survey->n * (i + 1);
        if (i + 1 == survey->n || end < begin) {
            end = i + 1 == survey->n ? size : begin;
        } else {
            wf_intext_part(&file, end, size, 0);
            (void)wf_intext_line(&file, &length);
            end = wf_intext_at(&file);
        }
        survey->chunks[i] = (struct chunk){.begin = begin, .end = end};
        begin = end;
    }
    survey->size = size;
    wf_intext_close(&file);
    return err.status == WF_OK;
}

/* Whether a chunk goes on where the ranks before `next` end: with the last of them or the next. */
static bool follows(const struct chunk *chunk, uint32_t next)
{
    return chunk->in_order && (!chunk->has_ranks || chunk->first == next ||
                               (next > 0 && chunk->first == next - 1));
}

/* Joins the chunks; false if their ranks are not in order. */
static bool join(const struct survey *survey, struct wf_ti_blocks *blocks)
{
    uint64_t n_lines = 0;
    bool in_order = true;

    WF_PUSH(blocks->items, blocks->n, blocks->capacity, (struct wf_ti_block){.begin = 0});
    for (uint32_t i = 0; i < survey->n && in_order; i++) {
        const struct chunk *chunk = &survey->chunks[i];
        in_order = follows(chunk, blocks->n_ranks);
        blocks->n_ranks = chunk->has_ranks ? chunk->last + 1 : blocks->n_ranks;
        for (uint32_t k = 0; k < chunk->n_cuts; k++) {
            WF_GROW(blocks->items, blocks->n, blocks->capacity);
            blocks->items[blocks->n - 1].end = chunk->cuts[k].begin;
            blocks->items[blocks->n] = chunk->cuts[k];
            blocks->items[blocks->n++].line += n_lines;
        }
        n_lines += chunk->n_lines;
    }
    blocks->items[blocks->n - 1].end = survey->size;
    return in_order && blocks->n_ranks > 0;
}

bool wf_ti_blocks_find(struct wf_ti_blocks *blocks, const char *path)
{
    struct survey survey = {.path = path};
    struct wf_err err = {.status = WF_OK};

    *blocks = (struct wf_ti_blocks){.n = 0};
    bool found = divide(&survey);
    if (found) {
        wf_trace_visit_all(survey.n, wf_trace_workers(survey.n), survey_chunk, &survey, &err);
        found = err.status == WF_OK && join(&survey, blocks);
    }
    for (uint32_t i = 0; i < survey.n; i++) {
        free(survey.chunks[i].cuts);
    }
    if (!found) {
        wf_ti_blocks_fini(blocks);
    }
    return found;
}

void wf_ti_blocks_fini(struct wf_ti_blocks *blocks)
{
    free(blocks->items);
    *blocks = (struct wf_ti_blocks){.n = 0};
}
