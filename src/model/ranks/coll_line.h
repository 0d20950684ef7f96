/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The collectives of a communicator, one after another (mpi.coll_order). A rank has a line for
 * each communicator: the first collective in it runs, the others wait for the end of the one
 * before them. A line is a cell that lives from the first collective to the end of the rank.
 * Private to ranks/.
 */

#include "model/ranks/collective.h"

struct wf_collective_line {
    int64_t end;    /* when the last collective that has left the line ended */
    uint32_t track; /* its track (model/ranks/cause.h) */
    uint32_t last;  /* cell of the last collective in the line, or 0 */
};

/* A collective joins the line of its communicator. Returns the line if the collective may begin,
 * at line->end at the earliest; null if it has to wait for another one. */
WF_NODISCARD const struct wf_collective_line *
wf_collective_line_join(const struct wf_caller *who, uint32_t group, uint32_t cell);

/* The collective that runs leaves the line; it ends at the time `end`. Returns the cell of the
 * one that runs next, or 0. */
uint32_t wf_collective_line_leave(const struct wf_caller *who, uint32_t group, uint32_t cell,
                                  int64_t end, uint32_t track);

/* The cell of the last collective in the line of a communicator that has one. */
uint32_t wf_collective_line_last(const struct wf_caller *who, uint32_t group);

/* The rank begins no more collectives: frees its lines without collectives. */
void wf_collective_lines_end(const struct wf_caller *who);
