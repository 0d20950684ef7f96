/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What all ranks of a collective sent and received, for those whose lengths differ from rank to
 * rank: gatherv, scatterv, alltoallv, alltoallw. An event has the sums of its own rank, and the
 * two sides of a message must agree on its length. So all events are read once before the
 * program is, if there are such calls at all: the k-th on a communicator are one collective.
 */

#include "program/trace/otf2/coll.h"
#include "program/trace/otf2/events.h"

struct wf_otf2_sums;

/* Null if no region is such a call. */
struct wf_otf2_sums *wf_otf2_sums_new(const struct wf_otf2_defs *defs);
/* Reads all events of a rank, from the beginning. */
void wf_otf2_sums_read(struct wf_otf2_sums *sums, struct wf_otf2_events *events, uint32_t rank,
                       struct wf_err *err);
/* Adds what was read of other ranks. */
void wf_otf2_sums_join(struct wf_otf2_sums *sums, const struct wf_otf2_sums *more);
/* All ranks are read, and wf_otf2_sums_set() may be called, by several threads at once. */
void wf_otf2_sums_finish(struct wf_otf2_sums *sums);
void wf_otf2_sums_free(struct wf_otf2_sums *sums); /* null is allowed */

/* Sets the lists of an op, whose kind, root and group are set, by an event of a rank. Lists are
 * kept in `counts`. False, and nothing changes, if not all ranks of the communicator have the
 * call. The lists of gatherv and scatterv are exact. In alltoallv, what one rank sends another
 * is in proportion to what the one sends and the other receives. */
bool wf_otf2_sums_set(const struct wf_otf2_sums *sums, uint32_t rank, uint64_t number,
                      const struct wf_group *group, struct wf_op *op, struct wf_buf *counts);
