/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Compute spans drawn from those that were recorded at the same place (program/ops/places.h): what the
 * program might have taken in another run. The spans of one rank at one place are a segment.
 * What a span is drawn from depends on the length of its segment:
 *
 *   5 or more  the segment, or that of another rank as far as ranks differ by chance only; from
 *              12 spans before to 12 after it, so that work that changes in the course of the run
 *              stays where it is
 *   2 to 4     the level of the rank (likewise between its mean and that of all ranks), times the deviation of a span from the mean of its
 *              segment, of all such segments of the place
 *   1          the single spans of all ranks at the place, smoothed; except for those that
 *              differ from most others by far, which are kept
 *
 * Draws have two levels: a replica first draws what might have been recorded, then the run from
 * that. So they have the variance of a new run and that of the recorded one.
 * docs/models/uncertainty.md has the equations.
 */

#include "program/ops/places.h"

struct wf_resample_segment {
    uint64_t begin; /* in places->members; it ends where the next one begins */
    uint64_t
        factor; /* 2 to 4 spans: from their mean to the level of the rank, in 1/2^32. 1 span:
                        0 if it is kept */
    uint32_t rank;
};

/* What the spans of a place have in common. */
struct wf_resample_place {
    uint64_t segments, ratios, singles; /* the first of each; the next place ends them */
    uint64_t
        keep; /* the share of the differences between ranks that is not chance, in 1/2^32 */
    /* 2 to 4 spans: relative standard deviation of the level that ranks have in common. */
    double common;
    /* Single spans: mean, width of smoothing, and the factor that keeps their variance. */
    double mean, width, shrink;
};

struct wf_resample {
    const struct wf_places *places;       /* borrowed */
    struct wf_resample_place *by_place;   /* [n_places + 1] */
    struct wf_resample_segment *segments; /* by place, then by rank; one more at the end */
    uint64_t *ratios;                     /* deviations of short segments, in 1/2^32 */
    int64_t *singles;                     /* durations of single spans */
    uint64_t n_varied;                    /* spans that are drawn from different values... */
    uint64_t varied_percent;              /* ...and their share of the compute time */
};

/* Takes time n log n and at most 50 bytes for each span. wf_resample_fini() frees the result;
 * `places` must outlive it. */
void wf_resample_init(struct wf_resample *resample, const struct wf_places *places);
void wf_resample_fini(struct wf_resample *resample); /* zeroed is allowed */

/* One replica of a program: the argument of wf_resample_duration(). */
struct wf_resample_draw {
    const struct wf_resample *resample; /* null: spans are kept as they are */
    uint64_t seed;                      /* of the replica */
};

/* The time of a span in a replica; `draw` is a struct wf_resample_draw. A span that is kept has
 * the time that `places` have, not `ps`. For struct wf_retimed_config; takes logarithmic
 * time. */
int64_t wf_resample_duration(const void *draw, uint32_t rank, uint32_t span, int64_t ps);
