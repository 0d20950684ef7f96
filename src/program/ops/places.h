/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Compute spans by their place in the program. A span is one compute op. Spans that the same
 * lines of the program took, in other ranks and in other iterations, have the same place: they
 * are each other's witnesses when one of them took unusually long, and one of them may stand
 * for another in a repeated replay.
 *
 * What makes a place, as far as the source has it:
 *   - the regions that are open, and the call site of the span (`site` of the op);
 *   - the ops before and after the span: their kinds, names of calls and markers, and whether
 *     the rank is the root;
 *   - its number among compute ops without another op between them;
 *   - tags, sizes (powers of two) and communicators of these ops (the communicators in the
 *     order in which the rank first used them), as long as each such variant of a place has 8
 *     spans on average. Otherwise the variants are one place: a program that counts its
 *     iterations in tags would have no witnesses.
 * Peers are not part of it, since they differ between ranks.
 *
 * Places are numbered from 0 in the order in which they appear, rank by rank. Equal ops give
 * equal places. Finding them reads every op once and takes about 30 bytes for each span.
 */

#include "program/ops/source.h"

struct wf_places {
    uint32_t n_ranks, n_places;
    uint64_t n_spans;
    uint64_t *first;         /* [n_ranks + 1]: number of the first span of each rank */
    uint32_t *place_of;      /* by span: rank by rank, in the order of its compute ops */
    int64_t *durations;      /* by span, in picoseconds */
    uint32_t *disturbances;  /* by span, as in struct wf_op */
    uint64_t *members_first; /* [n_places + 1]: where the spans of each place begin... */
    uint64_t *members;       /* ...in here: spans in ascending order, so rank by rank */
};

/* Fills in *places, which wf_places_fini() frees. The source must not be live and must not
 * follow matches. Fails as wf_source_check() does, if an op cannot be read; then there is
 * nothing to free. */
enum wf_status wf_places_init(struct wf_places *places, const struct wf_source *source,
                              struct wf_err *err);
void wf_places_fini(struct wf_places *places); /* zeroed is allowed */

/* The rank of a span; takes logarithmic time. */
uint32_t wf_places_rank(const struct wf_places *places, uint64_t span);

/* The spans of a place, *n of them. The spans of one rank follow each other, in the order of
 * its iterations. */
static inline const uint64_t *wf_places_members(const struct wf_places *places, uint32_t place,
                                                uint64_t *n)
{
    *n = places->members_first[place + 1] - places->members_first[place];
    return places->members + places->members_first[place];
}
