/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Compute spans that took much longer than their witnesses: the spans of the same place in
 * other iterations of the rank and in other ranks (program/ops/places.h). A span that the operating
 * system disturbed can be corrected; one that it did not disturb can only be reported.
 * docs/models/cpu.md explains the statistics. All arithmetic is on integers, so that equal
 * spans give equal verdicts everywhere.
 */

#include "base/map.h"
#include "program/ops/places.h"

/* A span that took much longer than its witnesses. */
struct wf_robust_outlier {
    uint64_t span;    /* number in struct wf_places */
    int64_t duration; /* picoseconds */
    int64_t expected; /* by its witnesses; below `duration` */
    bool disturbed;   /* what the operating system did explains the difference */
};

struct wf_robust {
    struct wf_robust_outlier *outliers; /* in the order of spans */
    uint64_t n_outliers;
    uint64_t n_disturbed;   /* outliers among them that are disturbed: those to correct */
    uint64_t n_witnessed;   /* spans that have enough witnesses for a verdict */
    struct wf_map expected; /* number of a disturbed span -> `expected` */
    const struct wf_places *places; /* borrowed */
};

/* Judges all spans; takes time n log n. `places` must outlive the result, which
 * wf_robust_fini() frees. */
void wf_robust_init(struct wf_robust *robust, const struct wf_places *places);
void wf_robust_fini(struct wf_robust *robust);

/* The corrected time of a span: what its witnesses say if it is a disturbed outlier, else `ps`.
 * `robust` is a struct wf_robust: for struct wf_retimed_config. */
int64_t wf_robust_duration(const void *robust, uint32_t rank, uint32_t span, int64_t ps);

/* Which outliers a sum is about. */
enum wf_robust_which { WF_ROBUST_ALL, WF_ROBUST_DISTURBED, WF_ROBUST_UNDISTURBED };

/* The most that outliers of this kind add to the time of one rank: the largest sum over ranks
 * of what the outliers took beyond the expected time. The run can become shorter by more than
 * this only if outliers of several ranks delay each other in turn. Sets *rank to that rank and
 * *longest to its outlier with the largest excess. 0 if there is none. */
int64_t wf_robust_excess(const struct wf_robust *robust, enum wf_robust_which which,
                         uint32_t *rank, const struct wf_robust_outlier **longest);
