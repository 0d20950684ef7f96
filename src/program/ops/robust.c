/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/robust.h"

#include "base/array.h"
#include "base/int128.h"
#include "base/mem.h"
#include "base/rng.h"
#include "program/ops/disturbance.h"

#include <stdlib.h>
#include <string.h>

/* Ratios are in 1/ONE. */
#define ONE UINT64_C(1024)

enum {
    OWN_MIN = 5,      /* spans of a rank that have a median of their own */
    WITNESSES_MIN = 8 /* spans of a place that is judged at all */
};

/* An outlier is longer than the median by six standard deviations of the undisturbed spans and
 * by half, and by at least 10 us. */
static const uint64_t SIGMAS = 6;
static const uint64_t RATIO_MIN = ONE / 2;
static const int64_t EXCESS_MIN = 10 * INT64_C(1000000);
/* 1.4826, which makes the median absolute deviation of a normal distribution its standard
 * deviation, in 1/ONE. */
static const uint64_t MAD_TO_SIGMA = 1518;
/* If more than one of so many spans were outliers, the place does different things at different
 * times, and the median means nothing. */
enum { ONE_IN = 8 };

/* One span of the place that is judged. */
struct witness {
    uint64_t span;
    uint32_t rank;      /* position of its rank among those of the place */
    uint32_t iteration; /* of the rank, at this place */
    int64_t duration, base;
    uint64_t ratio; /* duration / base, then duration / expected */
};

/* Arrays that grow to the largest place. */
struct judge {
    struct wf_robust *out;
    uint64_t out_capacity;
    struct witness *witnesses;
    uint64_t n, capacity;
    uint64_t *values; /* for medians; `values_capacity` elements, as the next two */
    uint64_t *by_iteration, *begins;
    uint64_t values_capacity;
    uint32_t n_iterations;
};

static uint64_t scaled(uint64_t a, uint64_t b, uint64_t c)
{
    wf_u128 product = (wf_u128)a * b / (c > 0 ? c : 1);

    return product > INT64_MAX ? INT64_MAX : (uint64_t)product;
}

/* The median of values[0..n-1], n > 0; the lower one of two. Changes their order: Hoare's selection, around
 * elements at random places. */
static uint64_t median(uint64_t *values, uint64_t n)
{
    uint64_t first = 0, last = n - 1, middle = last / 2;

    while (first < last) {
        uint64_t pivot = values[first + wf_rng_mix(first ^ last) % (last - first + 1)];
        uint64_t i = first, k = last;
        while (i <= k) {
            while (values[i] < pivot) {
                i++;
            }
            while (values[k] > pivot) {
                k--;
            }
            if (i <= k) {
                uint64_t swapped = values[i];
                values[i++] = values[k];
                values[k] = swapped;
                if (k == 0) {
                    break;
                }
                k--;
            }
        }
        first = middle >= i ? i : first;
        last = middle <= k && middle < i ? k : last;
        if (middle > k && middle < i) {
            break;
        }
    }
    return values[middle];
}

static void collect(struct judge *judge, uint32_t place)
{
    const struct wf_places *places = judge->out->places;
    uint64_t n;
    const uint64_t *spans = wf_places_members(places, place, &n);
    uint32_t rank = 0, iteration = 0, n_ranks = 0;

    judge->n = n;
    judge->n_iterations = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t of = i > 0 && spans[i] < places->first[rank + 1]
                          ? rank
                          : wf_places_rank(places, spans[i]);
        iteration = i > 0 && of == rank ? iteration + 1 : 0;
        n_ranks += iteration == 0;
        rank = of;
        WF_GROW(judge->witnesses, i, judge->capacity);
        judge->witnesses[i] = (struct witness){.span = spans[i],
                                               .rank = n_ranks - 1,
                                               .iteration = iteration,
                                               .duration = places->durations[spans[i]]};
        if (iteration >= judge->n_iterations) {
            judge->n_iterations = iteration + 1;
        }
    }
    if (n > judge->values_capacity) {
        judge->values_capacity = n;
        judge->values = wf_xrealloc(judge->values, n, sizeof(*judge->values));
        judge->by_iteration = wf_xrealloc(judge->by_iteration, n, sizeof(*judge->values));
        judge->begins = wf_xrealloc(judge->begins, n + 2, sizeof(*judge->values));
    }
}

/* Each span is compared with the median of its rank, or of all ranks if the rank has few. */
static void set_bases(struct judge *judge)
{
    struct witness *w = judge->witnesses;

    for (uint64_t i = 0; i < judge->n; i++) {
        judge->values[i] = (uint64_t)w[i].duration;
    }
    uint64_t all = median(judge->values, judge->n);
    for (uint64_t begin = 0, end; begin < judge->n; begin = end) {
        for (end = begin; end < judge->n && w[end].rank == w[begin].rank; end++) {
            judge->values[end - begin] = (uint64_t)w[end].duration;
        }
        uint64_t base = end - begin >= OWN_MIN ? median(judge->values, end - begin) : all;
        for (uint64_t i = begin; i < end; i++) {
            w[i].base = (int64_t)(base > 0 ? base : 1);
            w[i].ratio = scaled((uint64_t)w[i].duration, ONE, (uint64_t)w[i].base);
        }
    }
}

/* An iteration that takes longer in most ranks does more work: its spans are expected to take
 * longer by the median of the ratios. */
static void allow_for_iterations(struct judge *judge)
{
    struct witness *w = judge->witnesses;
    uint64_t *begins = judge->begins, *sorted = judge->by_iteration;

    memset(begins, 0, ((size_t)judge->n_iterations + 2) * sizeof(*begins));
    for (uint64_t i = 0; i < judge->n; i++) {
        begins[w[i].iteration + 2]++;
    }
    for (uint32_t k = 0; k < judge->n_iterations; k++) {
        begins[k + 2] += begins[k + 1];
    }
    for (uint64_t i = 0; i < judge->n; i++) {
        sorted[begins[w[i].iteration + 1]++] = i;
    }
    for (uint32_t k = 0; k < judge->n_iterations; k++) {
        uint64_t n = begins[k + 1] - begins[k];
        for (uint64_t i = 0; i < n; i++) {
            judge->values[i] = w[sorted[begins[k] + i]].ratio;
        }
        uint64_t factor = n > 1 ? median(judge->values, n) : ONE;
        for (uint64_t i = begins[k]; i < begins[k + 1] && factor > ONE; i++) {
            struct witness *one = &w[sorted[i]];
            one->base = (int64_t)scaled((uint64_t)one->base, factor, ONE);
            one->ratio = scaled((uint64_t)one->duration, ONE, (uint64_t)one->base);
        }
    }
}

/* The ratio beyond which a span is an outlier. */
static uint64_t bound_of(struct judge *judge)
{
    uint64_t *values = judge->values;

    for (uint64_t i = 0; i < judge->n; i++) {
        values[i] = judge->witnesses[i].ratio;
    }
    uint64_t middle = median(values, judge->n);
    for (uint64_t i = 0; i < judge->n; i++) {
        uint64_t ratio = judge->witnesses[i].ratio;
        values[i] = ratio > middle ? ratio - middle : middle - ratio;
    }
    uint64_t sigma = scaled(median(values, judge->n), MAD_TO_SIGMA, ONE);
    uint64_t above = sigma > INT64_MAX / SIGMAS ? INT64_MAX : SIGMAS * sigma;
    return middle + (above > RATIO_MIN ? above : RATIO_MIN);
}

/* What the system usually does during a span of the place. */
static struct wf_disturbance usual_disturbance(struct judge *judge)
{
    const uint32_t *packed = judge->out->places->disturbances;
    struct wf_disturbance usual;

    for (uint64_t i = 0; i < judge->n; i++) {
        judge->values[i] = wf_disturbance_unpack(packed[judge->witnesses[i].span]).switches;
    }
    usual.switches = (uint32_t)median(judge->values, judge->n);
    for (uint64_t i = 0; i < judge->n; i++) {
        judge->values[i] = wf_disturbance_unpack(packed[judge->witnesses[i].span]).faults;
    }
    usual.faults = (uint32_t)median(judge->values, judge->n);
    for (uint64_t i = 0; i < judge->n; i++) {
        judge->values[i] = wf_disturbance_unpack(packed[judge->witnesses[i].span]).lost;
    }
    usual.lost = (uint32_t)median(judge->values, judge->n);
    return usual;
}

static uint64_t beyond(uint32_t count, uint32_t usual)
{
    return count > usual ? count - usual : 0;
}

/* Whether what the system did beyond the usual can explain half of the excess. A page fault
 * takes up to 10 us if a signal handler serves it, and a switch costs up to 100 us of empty
 * caches. If more were allowed for a switch, real work on a busy host would be disturbed. */
static bool is_disturbed(const struct witness *one, const struct wf_disturbance *d,
                         const struct wf_disturbance *usual)
{
    static const uint64_t FAULT_PS = 10 * UINT64_C(1000000),
                          SWITCH_PS = 100 * UINT64_C(1000000);
    uint64_t explained =
        beyond(d->switches, usual->switches) * SWITCH_PS +
        beyond(d->faults, usual->faults) * FAULT_PS +
        scaled((uint64_t)one->duration, beyond(d->lost, usual->lost), WF_DISTURBANCE_LOST_ALL);

    return explained >= (uint64_t)(one->duration - one->base) / 2;
}

static bool is_outlier(const struct witness *one, uint64_t bound)
{
    return one->ratio > bound && one->duration - one->base >= EXCESS_MIN;
}

/* Places of short spans, which are most, need no medians. */
static bool can_have_outliers(const struct wf_places *places, uint32_t place)
{
    uint64_t n;
    const uint64_t *spans = wf_places_members(places, place, &n);

    for (uint64_t i = 0; i < n; i++) {
        if (places->durations[spans[i]] >= EXCESS_MIN) {
            return true;
        }
    }
    return false;
}

static void judge_place(struct judge *judge, uint32_t place)
{
    struct wf_robust *out = judge->out;
    uint64_t n = 0,
             all = out->places->members_first[place + 1] - out->places->members_first[place];

    if (all < WITNESSES_MIN) {
        return;
    }
    out->n_witnessed += all;
    if (!can_have_outliers(out->places, place)) {
        return;
    }
    collect(judge, place);
    set_bases(judge);
    allow_for_iterations(judge);
    uint64_t bound = bound_of(judge);
    for (uint64_t i = 0; i < judge->n; i++) {
        n += is_outlier(&judge->witnesses[i], bound);
    }
    if (n == 0 || n > judge->n / ONE_IN) {
        return;
    }
    const struct wf_disturbance usual = usual_disturbance(judge);
    for (uint64_t i = 0; i < judge->n; i++) {
        const struct witness *one = &judge->witnesses[i];
        if (is_outlier(one, bound)) {
            const struct wf_disturbance d =
                wf_disturbance_unpack(out->places->disturbances[one->span]);
            WF_PUSH(out->outliers, out->n_outliers, judge->out_capacity,
                    (struct wf_robust_outlier){one->span, one->duration, one->base,
                                               is_disturbed(one, &d, &usual)});
        }
    }
}

static int order_of_spans(const void *a, const void *b)
{
    return WF_ORDER(((const struct wf_robust_outlier *)a)->span,
                    ((const struct wf_robust_outlier *)b)->span);
}

void wf_robust_init(struct wf_robust *robust, const struct wf_places *places)
{
    struct judge judge = {.out = robust};

    *robust = (struct wf_robust){.places = places};
    for (uint32_t place = 0; place < places->n_places; place++) {
        judge_place(&judge, place);
    }
    free(judge.witnesses);
    free(judge.values);
    free(judge.by_iteration);
    free(judge.begins);
    WF_SORT(robust->outliers, robust->n_outliers, order_of_spans);
    for (uint64_t i = 0; i < robust->n_outliers; i++) {
        const struct wf_robust_outlier *one = &robust->outliers[i];
        if (one->disturbed) {
            robust->n_disturbed++;
            *wf_map_put(&robust->expected, one->span) = (uint64_t)one->expected;
        }
    }
}

void wf_robust_fini(struct wf_robust *robust)
{
    free(robust->outliers);
    wf_map_fini(&robust->expected);
    *robust = (struct wf_robust){.places = NULL};
}

int64_t wf_robust_duration(const void *robust, uint32_t rank, uint32_t span, int64_t ps)
{
    const struct wf_robust *own = robust;
    const uint64_t *expected = wf_map_get(&own->expected, own->places->first[rank] + span);

    return expected != NULL ? (int64_t)*expected : ps;
}

int64_t wf_robust_excess(const struct wf_robust *robust, enum wf_robust_which which,
                         uint32_t *rank, const struct wf_robust_outlier **longest)
{
    const struct wf_robust_outlier *largest = NULL;
    int64_t most = 0, sum = 0;
    uint32_t of = UINT32_MAX;

    for (uint64_t i = 0; i < robust->n_outliers; i++) {
        const struct wf_robust_outlier *one = &robust->outliers[i];
        if (which != WF_ROBUST_ALL && one->disturbed != (which == WF_ROBUST_DISTURBED)) {
            continue;
        }
        uint32_t now = wf_places_rank(robust->places, one->span);
        int64_t excess = one->duration - one->expected;
        if (now != of) {
            of = now;
            sum = 0;
            largest = NULL;
        }
        sum = sum > INT64_MAX - excess ? INT64_MAX : sum + excess;
        if (largest == NULL || excess > largest->duration - largest->expected) {
            largest = one;
        }
        if (sum > most) {
            most = sum;
            *rank = of;
            *longest = largest;
        }
    }
    return most;
}
