/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/resample.h"

#include "base/array.h"
#include "base/int128.h"
#include "base/mem.h"
#include "base/quantile.h"
#include "base/rng.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

enum { OWN_MIN = 5, WINDOW = 12 };

#define ONE (UINT64_C(1) << 32)

/* Distinguish the draws of what might have been recorded, of a rank and of all ranks, from those
 * of the run. */
#define RECORDED UINT64_C(0x5bf03635d2c5a3e1)
#define COMMON   UINT64_C(0x9e6c63d0a3b1f2d7)

/* Single spans beyond the quartiles by so many interquartile ranges do other work (Tukey,
 * "Exploratory data analysis", 1977: "far out"). */
static const double FAR_OUT = 3;

/* Silverman's rule for the width of a kernel: 0.9 min(s, IQR / 1.34) n^(-1/5). */
static const double SILVERMAN = 0.9, IQR_TO_SIGMA = 1.34;

/* While a struct wf_resample is made. */
struct builder {
    struct wf_resample *out;
    uint64_t n_segments, segments_capacity, n_ratios, ratios_capacity, n_singles,
        singles_capacity;
};

static int64_t duration_of(const struct wf_places *places, uint64_t member)
{
    return places->durations[places->members[member]];
}

static uint64_t length(const struct wf_resample_segment *segment)
{
    return segment[1].begin - segment->begin;
}

static double mean_of(const struct wf_places *places, const struct wf_resample_segment *segment)
{
    wf_u128 sum = 0;

    for (uint64_t i = segment->begin; i < segment[1].begin; i++) {
        sum += (uint64_t)duration_of(places, i);
    }
    return (double)sum / (double)length(segment);
}

/* ---- segments ---- */

static void add_segment(struct builder *builder, uint64_t begin, uint32_t rank)
{
    struct wf_resample *out = builder->out;

    WF_PUSH(out->segments, builder->n_segments, builder->segments_capacity,
            (struct wf_resample_segment){.begin = begin, .factor = ONE, .rank = rank});
}

static void find_segments(struct builder *builder)
{
    const struct wf_places *places = builder->out->places;

    for (uint32_t place = 0; place < places->n_places; place++) {
        uint64_t end = places->members_first[place + UINT64_C(1)], next_rank = 0;

        builder->out->by_place[place].segments = builder->n_segments;
        for (uint64_t i = places->members_first[place]; i < end; i++) {
            if (i == places->members_first[place] || places->members[i] >= next_rank) {
                uint32_t rank = wf_places_rank(places, places->members[i]);
                next_rank = places->first[rank + UINT64_C(1)];
                add_segment(builder, i, rank);
            }
        }
    }
    builder->out->by_place[places->n_places].segments = builder->n_segments;
    add_segment(builder, places->n_spans, 0);
}

/* ---- levels of the ranks ---- */

/* Sums over the segments of a place with at least two spans. */
struct variation {
    double n, means, squares; /* of the means */
    double inverse;           /* of the lengths */
    double freedom;           /* degrees of freedom within segments */
    double within, steps;     /* squares of deviations and of steps, relative to the means */
};

static void add_variation(const struct wf_places *places,
                          const struct wf_resample_segment *segment, struct variation *sum)
{
    double mean = mean_of(places, segment), before = 0, n = (double)length(segment);

    if (n < 2 || mean <= 0) {
        return;
    }
    for (uint64_t i = segment->begin; i < segment[1].begin; i++) {
        double x = (double)duration_of(places, i) / mean;
        sum->within += (x - 1) * (x - 1);
        sum->steps += i > segment->begin ? (x - before) * (x - before) / 2 : 0;
        before = x;
    }
    sum->freedom += n - 1;
    sum->n += 1;
    sum->means += mean;
    sum->squares += mean * mean;
    sum->inverse += 1 / n;
}

/*
 * Analysis of variance with ranks as groups: the means of ranks differ by chance with the
 * variance s^2 / n. What is left of their variance is imbalance; its share is `keep`, and ranks
 * get the level that is best on average (James and Stein, "Estimation with quadratic loss",
 * 1961): long segments by drawing from each other, short ones by a factor. Steps from span to span
 * give the noise without slow changes, if that is less.
 */
static void find_levels(struct wf_resample *out, uint32_t place)
{
    struct wf_resample_place *own = &out->by_place[place];
    struct variation sum = {.n = 0};

    own->keep = ONE;
    for (uint64_t i = own->segments; i < own[1].segments; i++) {
        add_variation(out->places, &out->segments[i], &sum);
    }
    if (sum.n < 2) {
        return;
    }
    double grand = sum.means / sum.n;
    double between = (sum.squares / sum.n / (grand * grand) - 1) * sum.n / (sum.n - 1);
    double noise = (sum.within < sum.steps ? sum.within : sum.steps) / sum.freedom;
    double chance = noise * sum.inverse / sum.n;
    double keep = between > chance ? 1 - chance / between : 0;

    own->keep = (uint64_t)(keep * (double)ONE);
    own->common = sqrt((1 - keep) * noise / (sum.freedom + sum.n));
    for (uint64_t i = own->segments; i < own[1].segments; i++) {
        double mean = mean_of(out->places, &out->segments[i]);
        if (length(&out->segments[i]) >= 2 && length(&out->segments[i]) < OWN_MIN && mean > 0) {
            double level = grand + keep * (mean - grand);
            out->segments[i].factor = (uint64_t)(level / mean * (double)ONE + 0.5);
        }
    }
}

/* ---- short segments and single spans ---- */

/* The mean of n spans follows them: their deviations from it are too small by a factor. */
static void add_ratios(struct builder *builder, const struct wf_resample_segment *segment)
{
    struct wf_resample *out = builder->out;
    double n = (double)length(segment), wider = sqrt(n / (n - 1));
    double mean = mean_of(out->places, segment);

    for (uint64_t i = segment->begin; i < segment[1].begin; i++) {
        double ratio = mean > 0 ? (double)duration_of(out->places, i) / mean : 1;
        double wide = 1 + (ratio - 1) * wider;

        WF_PUSH(out->ratios, builder->n_ratios, builder->ratios_capacity,
                wide > 0 ? (uint64_t)(wide * (double)ONE + 0.5) : 0);
    }
}

/* Removes single spans that are far out from the end of the list, which begins at `first`.
 * Their segments are kept. */
static void keep_far_out(struct builder *builder, uint32_t place, uint64_t first)
{
    struct wf_resample *out = builder->out;
    int64_t *singles = out->singles + first;
    size_t n = builder->n_singles - first, kept = 0;

    wf_quantile_sort(singles, n);
    double low = (double)wf_quantile(singles, n, 25),
           high = (double)wf_quantile(singles, n, 75);
    double reach = FAR_OUT * (high - low);

    for (uint64_t i = out->by_place[place].segments; i < builder->n_segments - 1; i++) {
        struct wf_resample_segment *segment = &out->segments[i];
        double x = (double)duration_of(out->places, segment->begin);
        if (i >= out->by_place[place + UINT64_C(1)].segments) {
            break;
        }
        if (length(segment) == 1 && (x < low - reach || x > high + reach)) {
            segment->factor = 0;
        }
    }
    for (size_t i = 0; i < n; i++) {
        double x = (double)singles[i];
        if (x >= low - reach && x <= high + reach) {
            singles[kept++] = singles[i];
        }
    }
    builder->n_singles = first + kept;
}

/* The fifth root of n >= 1, by Newton's method. */
static double fifth_root(double n)
{
    double x = 1 + n / 5;

    for (int i = 0; i < 60; i++) {
        x -= (x - n / (x * x * x * x)) / 5;
    }
    return x;
}

static void smooth_singles(struct builder *builder, uint32_t place, uint64_t first)
{
    struct wf_resample_place *own = &builder->out->by_place[place];
    const int64_t *singles = builder->out->singles + first;
    size_t n = builder->n_singles - first;
    double sum = 0, squares = 0, count = (double)n;

    own->shrink = 1;
    if (n < 2) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        sum += (double)singles[i] / count;
    }
    for (size_t i = 0; i < n; i++) {
        squares += ((double)singles[i] - sum) * ((double)singles[i] - sum) / (count - 1);
    }
    double s = sqrt(squares);
    double iqr = (double)(wf_quantile(singles, n, 75) - wf_quantile(singles, n, 25));
    double narrow = iqr / IQR_TO_SIGMA < s ? iqr / IQR_TO_SIGMA : s;

    own->mean = sum;
    own->width = SILVERMAN * narrow / fifth_root(count);
    if (s > 0) {
        /* A draw has the variance (n - 1) / n s^2 and that of the kernel. */
        own->shrink = sqrt(count / (count - 1)) / sqrt(1 + own->width * own->width / squares);
    }
}

static void read_place(struct builder *builder, uint32_t place)
{
    struct wf_resample *out = builder->out;
    struct wf_resample_place *own = &out->by_place[place];

    own->ratios = builder->n_ratios;
    own->singles = builder->n_singles;
    find_levels(out, place);
    for (uint64_t i = own->segments; i < own[1].segments; i++) {
        const struct wf_resample_segment *segment = &out->segments[i];

        if (length(segment) == 1) {
            WF_PUSH(out->singles, builder->n_singles, builder->singles_capacity,
                    duration_of(out->places, segment->begin));
        } else if (length(segment) < OWN_MIN) {
            add_ratios(builder, segment);
        }
    }
    if (builder->n_singles > own->singles) {
        keep_far_out(builder, place, own->singles);
        smooth_singles(builder, place, own->singles);
    }
}

/* ---- how much of the program varies ---- */

static bool any_ratio(const struct wf_resample *resample, const struct wf_resample_place *place)
{
    bool any = false;

    for (uint64_t i = place->ratios; i < place[1].ratios; i++) {
        any = any || resample->ratios[i] != ONE;
    }
    return any;
}

static bool any_single(const struct wf_resample *resample,
                       const struct wf_resample_place *place)
{
    /* They are sorted. */
    return place[1].singles > place->singles &&
           resample->singles[place->singles] != resample->singles[place[1].singles - 1];
}

static bool any_own(const struct wf_places *places, const struct wf_resample_segment *segment)
{
    for (uint64_t i = segment->begin; i < segment[1].begin; i++) {
        if (duration_of(places, i) != duration_of(places, segment->begin)) {
            return true;
        }
    }
    return false;
}

static void count_varied(struct wf_resample *resample)
{
    const struct wf_places *places = resample->places;
    double all = 0, varied = 0;

    for (uint32_t number = 0; number < places->n_places; number++) {
        const struct wf_resample_place *place = &resample->by_place[number];
        bool single = any_single(resample, place), few = any_ratio(resample, place);

        for (uint64_t i = place->segments; i < place[1].segments; i++) {
            const struct wf_resample_segment *segment = &resample->segments[i];
            uint64_t n = length(segment);
            double time = mean_of(places, segment) * (double)n;
            all += time;
            if (segment->factor != 0 && (n == 1        ? single
                                         : n < OWN_MIN ? few
                                                       : any_own(places, segment))) {
                resample->n_varied += n;
                varied += time;
            }
        }
    }
    resample->varied_percent = all > 0 ? (uint64_t)(100 * varied / all) : 0;
}

void wf_resample_init(struct wf_resample *resample, const struct wf_places *places)
{
    struct builder builder = {.out = resample};

    *resample = (struct wf_resample){.places = places};
    resample->by_place = wf_xcalloc((size_t)places->n_places + 1, sizeof(*resample->by_place));
    find_segments(&builder);
    for (uint32_t place = 0; place < places->n_places; place++) {
        read_place(&builder, place);
    }
    resample->by_place[places->n_places].ratios = builder.n_ratios;
    resample->by_place[places->n_places].singles = builder.n_singles;
    count_varied(resample);
}

void wf_resample_fini(struct wf_resample *resample)
{
    free(resample->by_place);
    free(resample->segments);
    free(resample->ratios);
    free(resample->singles);
    *resample = (struct wf_resample){.places = NULL};
}

/* ---- drawing ---- */

/* A draw of one replica, and the random numbers of one rank in it. */
struct draw {
    const struct wf_resample *resample;
    const struct wf_resample_place *place;
    const struct wf_resample_segment *segment;
    uint64_t seed;
};

static const struct wf_resample_segment *find_segment(const struct wf_resample *resample,
                                                      uint32_t place, uint32_t rank)
{
    uint64_t low = resample->by_place[place].segments;
    uint64_t high = resample->by_place[place + UINT64_C(1)].segments;

    WF_BISECT_LAST(low, high, middle, resample->segments[middle].rank <= rank);
    return &resample->segments[low];
}

/* The member of the segment that is this span. */
static uint64_t find_member(const struct wf_places *places,
                            const struct wf_resample_segment *segment, uint64_t span)
{
    uint64_t low = segment->begin, high = segment[1].begin;

    WF_BISECT_LAST(low, high, middle, places->members[middle] <= span);
    return low;
}

/* A random number of what might have been recorded as this member or single span. */
static uint64_t recorded(const struct draw *draw, uint64_t number)
{
    return wf_rng_draw(draw->seed ^ RECORDED, draw->segment->rank, number);
}

/* Whether a rank draws from its own: true with the probability `keep`. */
static bool is_own(const struct draw *draw, uint64_t random)
{
    return (random & (ONE - 1)) < draw->place->keep;
}

static int64_t times(uint64_t value, uint64_t factor)
{
    wf_u128 product = (wf_u128)value * factor >> 32;

    return product < WF_TIME_MAX ? (int64_t)product : WF_TIME_MAX;
}

/* A member of a place, and its segment. */
struct member {
    const struct wf_resample_segment *segment;
    uint64_t at; /* in places->members */
};

/* One of the members of the segment at most WINDOW away. */
static struct member neighbour(struct member member, uint64_t random)
{
    uint64_t first = member.segment->begin, last = member.segment[1].begin;
    uint64_t begin = member.at - first > WINDOW ? member.at - WINDOW : first;
    uint64_t end = last - member.at > WINDOW ? member.at + WINDOW + 1 : last;

    member.at = begin + wf_rng_below(random, end - begin);
    return member;
}

/* A member of the same or another rank that might stand in the place of this one: of the same
 * rank as far as ranks differ by more than chance, else of any rank, at about the same time. */
static struct member draw_member(const struct draw *draw, struct member member, uint64_t random)
{
    uint64_t n = draw->place[1].segments - draw->place->segments, more = wf_rng_mix(random);
    const struct wf_resample_segment *other =
        &draw->resample->segments[draw->place->segments + wf_rng_below(more, n)];

    if (!is_own(draw, random) && length(other) >= OWN_MIN) {
        uint64_t before = member.at - member.segment->begin;
        wf_u128 same = (wf_u128)before * length(other) / length(member.segment);
        member = (struct member){other, other->begin + (uint64_t)same};
    }
    return neighbour(member, wf_rng_mix(more));
}

/* The level of the rank in this replica, relative to its mean. */
static uint64_t draw_level(const struct draw *draw)
{
    uint64_t place = (uint64_t)(draw->place - draw->resample->by_place);
    double z = 0, least = 1.0 / 8;

    if (draw->place->common > 0) {
        z = wf_rng_normal(wf_rng_draw(draw->seed ^ COMMON, place, 0));
    }
    double common = 1 + draw->place->common * z;
    return (uint64_t)((double)draw->segment->factor * (common > least ? common : least));
}

/* First what might have been recorded in the place of a member, which is the same for all that
 * draw this member, then the run. */
static int64_t draw_own(const struct draw *draw, uint64_t at, uint64_t random)
{
    uint64_t place = (uint64_t)(draw->place - draw->resample->by_place);
    struct member member = draw_member(draw, (struct member){draw->segment, at}, random);

    member = draw_member(draw, member, wf_rng_draw(draw->seed ^ RECORDED, place, member.at));
    return duration_of(draw->resample->places, member.at);
}

static uint64_t draw_ratio(const struct draw *draw, uint64_t random)
{
    uint64_t n = draw->place[1].ratios - draw->place->ratios;

    return draw->resample->ratios[draw->place->ratios + wf_rng_below(random, n)];
}

static int64_t draw_few(const struct draw *draw, uint64_t random)
{
    uint64_t sum = 0, n = length(draw->segment);

    for (uint64_t i = 0; i < n; i++) {
        uint64_t other = recorded(draw, draw->segment->begin + i);
        sum += is_own(draw, other) ? draw_ratio(draw, wf_rng_mix(other)) : ONE;
    }
    uint64_t mean = (uint64_t)mean_of(draw->resample->places, draw->segment);
    int64_t level = times((uint64_t)times(mean, draw_level(draw)), n > 0 ? sum / n : ONE);
    return times((uint64_t)level, draw_ratio(draw, random));
}

static int64_t draw_single(const struct draw *draw, uint64_t random)
{
    uint64_t first = draw->place->singles, n = draw->place[1].singles - first;

    if (n < 2) {
        return duration_of(draw->resample->places, draw->segment->begin);
    }
    const int64_t *singles = draw->resample->singles + first;
    /* The standard deviation of n values is known up to 1 / sqrt(2 (n - 1)) of itself. */
    double scale = wf_rng_exp(wf_rng_normal(wf_rng_draw(draw->seed ^ COMMON, first, 1)) /
                              sqrt(2 * ((double)n - 1)));
    /* What might have been recorded is the same for all ranks. */
    uint64_t other = wf_rng_draw(draw->seed ^ RECORDED, first, wf_rng_below(random, n));
    double x = (double)singles[wf_rng_below(other, n)];
    double noise = draw->place->width * wf_rng_normal(wf_rng_mix(random));
    double wide = draw->place->shrink * scale;
    double y = draw->place->mean + wide * (x + noise - draw->place->mean);
    double least = (double)singles[0] / 2;

    y = y > least ? y : least;
    return y < (double)WF_TIME_MAX / 2 ? (int64_t)(y + 0.5) : WF_TIME_MAX;
}

int64_t wf_resample_duration(const void *draw, uint32_t rank, uint32_t span, int64_t ps)
{
    const struct wf_resample_draw *asked = draw;
    const struct wf_resample *resample = asked->resample;
    const struct wf_places *places = resample != NULL ? resample->places : NULL;

    if (places == NULL || rank >= places->n_ranks ||
        span >= places->first[rank + UINT64_C(1)] - places->first[rank]) {
        return ps;
    }
    uint64_t number = places->first[rank] + span;
    uint32_t place = places->place_of[number];
    const struct draw own = {resample, &resample->by_place[place],
                             find_segment(resample, place, rank), asked->seed};
    uint64_t random = wf_rng_draw(own.seed, rank, span);

    if (own.segment->factor == 0) {
        return places->durations[number];
    }
    if (length(own.segment) >= OWN_MIN) {
        return draw_own(&own, find_member(places, own.segment, number), random);
    }
    return length(own.segment) > 1 ? draw_few(&own, random) : draw_single(&own, random);
}
