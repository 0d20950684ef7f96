/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/looped.h"

#include "base/buf.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The words of a cursor's `outer`. The first one is 0 or WF_CURSOR_AGAIN. */
enum {
    LOOPS = 1, /* how many loops have begun */
    ROUND,     /* of the present loop, from 0 on */
    DEPTH,     /* how many regions of such names are open */
};

struct start {
    uint64_t word[3];
};

struct looped {
    struct wf_source head; /* must be first */
    uint32_t times;
    struct wf_buf *starts; /* of each rank: struct start of every loop that has begun */
};

static bool is_loop(const struct looped *self, const struct wf_op *op)
{
    const char *name =
        op->kind == WF_OP_REGION_BEGIN || op->kind == WF_OP_REGION_END
            ? wf_source_name_of(self->head.inner, WF_NAME_REGION, (uint32_t)op->tag)
            : NULL;

    return name != NULL && strncmp(name, WF_LOOPED_REGION, sizeof(WF_LOOPED_REGION) - 1) == 0;
}

/* Remembers where a loop begins. This never changes, so a rollback need not restore it. */
static void remember(const struct looped *self, uint32_t rank, const struct wf_cursor *before)
{
    struct wf_buf *starts = &self->starts[rank];
    struct start start;

    if (starts->size / sizeof(start) == before->outer[LOOPS]) {
        memcpy(start.word, before->word, sizeof(start.word));
        wf_buf_append(starts, &start, sizeof(start));
    }
}

static void begin_loop(const struct looped *self, uint32_t rank, const struct wf_cursor *before,
                       struct wf_cursor *cursor)
{
    if (cursor->outer[DEPTH] == 0 && cursor->outer[ROUND] == 0) {
        remember(self, rank, before);
        cursor->outer[LOOPS]++;
    }
    cursor->outer[DEPTH]++;
}

static void end_loop(const struct looped *self, uint32_t rank, struct wf_cursor *cursor)
{
    const struct start *starts = (const void *)self->starts[rank].data;

    cursor->outer[DEPTH]--;
    if (cursor->outer[DEPTH] > 0) {
        return;
    }
    cursor->outer[ROUND]++;
    if (cursor->outer[ROUND] < self->times) {
        memcpy(cursor->word, starts[cursor->outer[LOOPS] - 1].word, sizeof(cursor->word));
    } else {
        cursor->outer[ROUND] = 0;
    }
}

static bool looped_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                        struct wf_op *op)
{
    const struct looped *self = (const struct looped *)source;
    const struct wf_cursor before = *cursor;

    if (!wf_source_next(source->inner, rank, cursor, op)) {
        return false;
    }
    if (before.outer[0] == WF_CURSOR_AGAIN || !is_loop(self, op)) {
        return true;
    }
    if (op->kind == WF_OP_REGION_BEGIN) {
        begin_loop(self, rank, &before, cursor);
    } else if (cursor->outer[DEPTH] > 0) {
        end_loop(self, rank, cursor);
    }
    return true;
}

static void looped_destroy(struct wf_source *source)
{
    struct looped *self = (struct looped *)source;

    for (uint32_t rank = 0; rank < self->head.n_ranks; rank++) {
        wf_buf_fini(&self->starts[rank]);
    }
    free(self->starts);
    wf_source_end(source);
}

static const struct wf_source_ops looped_ops = {
    .name = "looped",
    .summary = "another source whose loops are repeated",
    .destroy = looped_destroy,
    .next = looped_next,
    .wall = wf_source_no_wall, /* the trace has the time of one round only */
};

struct wf_source *wf_looped_new(struct wf_source *inner, uint32_t times)
{
    struct looped *self = wf_source_around(sizeof(*self), &looped_ops, inner, true);

    self->head.messages_expected = 0;
    self->times = times;
    self->starts = wf_xcalloc(inner->n_ranks, sizeof(*self->starts));
    return &self->head;
}
