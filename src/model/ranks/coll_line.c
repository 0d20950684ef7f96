/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectives that wait in a line form a ring: the last one knows the first one
 * (wf_coll_request.behind). The one that runs is not in the ring; if nobody waits, it is the
 * last.
 */
#include "model/ranks/coll_line.h"

static uint32_t key_of(uint32_t group)
{
    return WF_RANK_LINES | group;
}

static uint32_t find_line(const struct wf_caller *who, uint32_t group)
{
    return wf_cellmap_get(who->ctx, &wf_rank_cold(who)->colls, key_of(group));
}

static struct wf_collective_line *edit_line(const struct wf_caller *who, uint32_t line)
{
    return wf_cell_edit(who->ctx, line);
}

static struct wf_collective_line *find_or_create_line(const struct wf_caller *who,
                                                      uint32_t group)
{
    uint32_t line = find_line(who, group);

    if (line == 0) {
        line = wf_cell_new_for(who->ctx, sizeof(struct wf_collective_line));
        *edit_line(who, line) = (struct wf_collective_line){.end = 0};
        wf_cellmap_put(who->ctx, &wf_rank_cold_edit(who)->colls, key_of(group), line);
    }
    return edit_line(who, line);
}

static void free_line(const struct wf_caller *who, uint32_t key)
{
    wf_cell_free(who->ctx, wf_cellmap_take(who->ctx, &wf_rank_cold_edit(who)->colls, key));
}

const struct wf_collective_line *wf_collective_line_join(const struct wf_caller *who,
                                                         uint32_t group, uint32_t cell)
{
    struct wf_collective_line *line = find_or_create_line(who, group);
    uint32_t last = line->last;

    line->last = cell;
    if (last == 0) {
        return line;
    }
    struct wf_rank_request *before = wf_request_edit(who, last);
    struct wf_rank_request *coll = wf_request_edit(who, cell);
    bool waits = (before->flags & WF_REQ_IN_LINE) != 0;
    coll->flags |= WF_REQ_IN_LINE;
    coll->coll.behind = waits ? before->coll.behind : cell;
    if (waits) {
        before->coll.behind = cell;
    }
    return NULL;
}

uint32_t wf_collective_line_leave(const struct wf_caller *who, uint32_t group, uint32_t cell,
                                  int64_t end, uint32_t track)
{
    struct wf_collective_line *line = edit_line(who, find_line(who, group));

    line->end = end;
    line->track = track;
    if (line->last == cell) {
        line->last = 0;
        if (who->rank->state == WF_RANK_ENDED) {
            free_line(who, key_of(group));
        }
        return 0;
    }
    struct wf_rank_request *last = wf_request_edit(who, line->last);
    uint32_t next = last->coll.behind;
    struct wf_rank_request *coll = wf_request_edit(who, next);
    last->coll.behind = coll->coll.behind;
    coll->flags &= (uint16_t)~WF_REQ_IN_LINE;
    coll->coll.step = 0;
    return next;
}

uint32_t wf_collective_line_last(const struct wf_caller *who, uint32_t group)
{
    const struct wf_collective_line *line = wf_cell_read(who->ctx, find_line(who, group));

    return line->last;
}

void wf_collective_lines_end(const struct wf_caller *who)
{
    uint32_t line;

    for (uint32_t key = WF_RANK_LINES;
         (line = wf_cellmap_next(who->ctx, &wf_rank_cold(who)->colls, &key)) != 0; key++) {
        const struct wf_collective_line *read = wf_cell_read(who->ctx, line);
        if (read->last == 0) {
            free_line(who, key);
        }
    }
}
