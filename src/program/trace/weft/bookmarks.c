/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/weft/bookmarks.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    MARKS_MAX = 16,
    NEAR = 8, /* ops that are decoded rather than bookmarked */
};

/* The position of a decoder; the members have the meaning that they have there. */
struct mark {
    uint64_t n_done, last;
    uint32_t end, at, depth;
    uint64_t used; /* number of the search that used it last */
    struct wf_native_decoder_loop loops[WF_NATIVE_LOOPS_MAX];
};

struct wf_native_bookmarks {
    uint64_t n_searches;
    uint32_t n;
    struct mark marks[MARKS_MAX];
    uint64_t values[][WF_FIELDS_MAX]; /* those of a mark after those of the one before */
};

void wf_native_bookmarks_free(struct wf_native_bookmarks *marks)
{
    free(marks);
}

/* The last bookmark that is not after op `n`, or null. */
static struct mark *find_mark(struct wf_native_bookmarks *marks, uint64_t n)
{
    struct mark *found = NULL;

    for (uint32_t i = 0; i < marks->n; i++) {
        struct mark *mark = &marks->marks[i];
        if (mark->n_done <= n && (found == NULL || mark->n_done > found->n_done)) {
            found = mark;
        }
    }
    return found;
}

static struct mark *oldest(struct wf_native_bookmarks *marks)
{
    struct mark *found = &marks->marks[0];

    for (uint32_t i = 1; i < marks->n; i++) {
        found = marks->marks[i].used < found->used ? &marks->marks[i] : found;
    }
    return found;
}

static uint64_t (*values_of(struct wf_native_decoder *block,
                            const struct mark *mark))[WF_FIELDS_MAX]
{
    struct wf_native_bookmarks *marks = block->bookmarks;

    return marks->values + (size_t)(mark - marks->marks) * block->n_slots;
}

void wf_native_bookmarks_keep(struct wf_native_decoder *block)
{
    size_t size = block->n_slots * sizeof(block->values[0]);

    if (block->bookmarks == NULL) {
        block->bookmarks = wf_xcalloc(1, sizeof(struct wf_native_bookmarks) + MARKS_MAX * size);
    }
    struct wf_native_bookmarks *marks = block->bookmarks;
    const struct mark *before = find_mark(marks, block->n_done);
    if (block->n_done <= NEAR || (before != NULL && block->n_done - before->n_done <= NEAR)) {
        return;
    }
    struct mark *mark = marks->n < MARKS_MAX ? &marks->marks[marks->n++] : oldest(marks);
    *mark = (struct mark){.n_done = block->n_done,
                          .last = block->last,
                          .end = block->end,
                          .at = block->at,
                          .depth = block->depth,
                          .used = marks->n_searches};
    memcpy(mark->loops, block->loops, block->depth * sizeof(block->loops[0]));
    memcpy(values_of(block, mark), block->values, size);
}

void wf_native_bookmarks_approach(struct wf_native_decoder *block, uint64_t n)
{
    struct mark *mark = block->bookmarks != NULL ? find_mark(block->bookmarks, n) : NULL;

    if (mark == NULL) {
        return;
    }
    mark->used = ++block->bookmarks->n_searches;
    if (mark->n_done <= block->n_done) {
        return;
    }
    block->n_done = mark->n_done;
    block->last = mark->last;
    block->end = mark->end;
    block->at = mark->at;
    block->depth = mark->depth;
    memcpy(block->loops, mark->loops, mark->depth * sizeof(mark->loops[0]));
    memcpy(block->values, values_of(block, mark), block->n_slots * sizeof(block->values[0]));
}
