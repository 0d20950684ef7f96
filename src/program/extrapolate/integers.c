/* SPDX-License-Identifier: Apache-2.0 */
/* Integers that must be exact, such as rounds and tags, as functions of the number of ranks and of
 * what differs between ranks and rounds: one rule for all ranks, or one for each place. */
#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"
#include "program/extrapolate/model.h"

#include <math.h>
#include <stdlib.h>

enum { PLACES_MAX = 1024 };

/* Equal for ranks that have the same coordinates in dimensions of fixed size, and, if it has the
 * class, are of one class. */
static uint64_t place_of(const struct wf_ext_model *model, const struct wf_ext_at *at,
                         bool has_class)
{
    const struct wf_ext_count *first = &model->input.counts[0];
    const struct wf_ext_count *last = &model->input.counts[model->input.n_counts - 1];
    uint64_t place = has_class ? at->class : 0;

    for (uint32_t d = 0; d < at->grid->n_dims; d++) {
        if (first->grid.size[d] == last->grid.size[d] &&
            model->target.size[d] == last->grid.size[d]) {
            place = wf_rng_mix(place * WF_RNG_GOLDEN + wf_ext_coord(at->grid, d, at->rank) + 1);
        }
    }
    return place;
}

static int64_t factor_at(uint8_t factor, const struct wf_ext_at *at)
{
    if (factor == WF_EXT_FACTOR_NONE) {
        return 0;
    }
    if (factor < WF_EXT_FACTOR_PEER) {
        return wf_ext_coord(at->grid, factor - WF_EXT_FACTOR_COORD, at->rank);
    }
    return factor == WF_EXT_FACTOR_PEER    ? at->peer
           : factor == WF_EXT_FACTOR_ROUND ? at->round
                                           : at->turn;
}

/* What the factors or the series add to the law. */
static int64_t multiples_at(const struct wf_ext_integer *integer, const struct wf_ext_at *at)
{
    /* A sum beyond 64 bits wraps: no value is that large, so the rule does not fit then. */
    uint64_t sum = (uint64_t)wf_ext_series_at(&integer->series, at->turn);

    for (uint32_t i = 0; i < WF_EXT_INTEGER_FACTORS; i++) {
        sum += (uint64_t)integer->times[i] * (uint64_t)factor_at(integer->factor[i], at);
    }
    return (int64_t)sum;
}

/* The rule for a rank; null if there is none. */
static const struct wf_ext_integer *rule_at(const struct wf_ext_model *model,
                                            const struct wf_ext_integer *integer,
                                            const struct wf_ext_at *at)
{
    if (integer->n_parts == 0) {
        return integer;
    }
    const uint64_t *part =
        wf_map_get(&integer->places, place_of(model, at, integer->has_class));
    return part != NULL ? &integer->parts[*part] : NULL;
}

bool wf_ext_integer_at(const struct wf_ext_model *model, const struct wf_ext_integer *integer,
                       const struct wf_ext_at *at, int64_t *out)
{
    const struct wf_ext_integer *rule = rule_at(model, integer, at);

    if (rule == NULL || (rule->series.n > 0 && !wf_ext_series_has(&rule->series, at->turn))) {
        return false;
    }
    double base = wf_ext_law_at(&rule->law, at->grid);
    bool fits = fabs(base) < 0x1p62; /* false if it is no number */
    *out = fits ? (int64_t)((uint64_t)llround(base) + (uint64_t)multiples_at(rule, at)) : 0;
    return fits;
}

void wf_ext_samples_add(struct wf_ext_samples *samples, const struct wf_ext_sample *sample)
{
    WF_PUSH(samples->all, samples->n, samples->capacity, *sample);
}

/* Fits values less the factors or the series by a function of the number of ranks. */
static bool fit_factor(struct wf_ext_model *model, const struct wf_ext_samples *samples,
                       struct wf_ext_integer *out, bool inexact)
{
    struct wf_ext_point points[WF_EXT_COUNTS_MAX];
    bool known[WF_EXT_COUNTS_MAX] = {false};
    double bases[WF_EXT_COUNTS_MAX];
    uint32_t n = 0;

    for (uint32_t i = 0; i < samples->n; i++) {
        const struct wf_ext_sample *s = &samples->all[i];
        double base =
            (double)(int64_t)((uint64_t)s->value - (uint64_t)multiples_at(out, &s->at));
        if (known[s->count] && bases[s->count] != base) {
            return false;
        }
        known[s->count] = true;
        bases[s->count] = base;
    }
    for (uint32_t c = 0; c < model->input.n_counts; c++) {
        if (known[c]) {
            points[n++] = (struct wf_ext_point){&model->input.counts[c].grid, bases[c]};
        }
    }
    const struct wf_ext_hint hint = {.target = &model->target, .across = WF_EXT_WHOLE};
    if (wf_ext_law_exact(points, n, &hint, &out->law)) {
        model->n_doubtful += out->law.doubtful ? 1 : 0;
        return true;
    }
    if (inexact) {
        wf_ext_law_fit(points, n, false, &out->law);
    }
    return inexact;
}

/* How much the value, less what `out` has, changes with a factor, from two samples of the same
 * count that have the same value of the factor `fixed`. */
static bool find_times(const struct wf_ext_samples *samples, const struct wf_ext_integer *out,
                       uint8_t factor, uint8_t fixed, int64_t *times)
{
    const struct wf_ext_sample *a = &samples->all[0];

    for (uint32_t i = 1; i < samples->n; i++) {
        const struct wf_ext_sample *b = &samples->all[i];
        int64_t step = factor_at(factor, &b->at) - factor_at(factor, &a->at);
        if (a->count == b->count && step != 0 &&
            factor_at(fixed, &a->at) == factor_at(fixed, &b->at)) {
            int64_t change =
                (int64_t)((uint64_t)b->value - (uint64_t)multiples_at(out, &b->at) -
                          (uint64_t)a->value + (uint64_t)multiples_at(out, &a->at));
            *times = change / step;
            return *times != 0 && change % step == 0;
        }
    }
    return false;
}

/* Whether a factor can differ between ranks or rounds of the program. */
static bool is_used(const struct wf_ext_model *model, uint32_t factor)
{
    uint32_t n_dims = model->input.counts[0].grid.n_dims, dim = factor - WF_EXT_FACTOR_COORD;

    return factor >= WF_EXT_FACTOR_COORD + WF_EXT_WHOLE || (n_dims > 1 && dim < n_dims);
}

/* Tries a factor, and if `second` is not WF_EXT_FACTOR_NONE that one in addition. */
static bool fit_factors(struct wf_ext_model *model, const struct wf_ext_samples *samples,
                        uint8_t factor, uint8_t second, struct wf_ext_integer *out)
{
    int64_t times = 0;

    *out = (struct wf_ext_integer){.factor = {WF_EXT_FACTOR_NONE, WF_EXT_FACTOR_NONE}};
    if (!find_times(samples, out, factor, second, &times)) {
        return false;
    }
    out->factor[0] = factor;
    out->times[0] = times;
    if (second != WF_EXT_FACTOR_NONE) {
        if (!find_times(samples, out, second, WF_EXT_FACTOR_NONE, &times)) {
            return false;
        }
        out->factor[1] = second;
        out->times[1] = times;
    }
    return fit_factor(model, samples, out, false);
}

/* The longest series of values that a rank has in its turns; null if no rank has a first turn. The
 * caller frees it. */
static int64_t *longest_series(const struct wf_ext_samples *samples, uint32_t *n)
{
    const struct wf_ext_sample *longest = NULL;

    for (uint32_t i = 0; i < samples->n; i++) {
        const struct wf_ext_sample *s = &samples->all[i];
        longest = longest == NULL || s->at.turn > longest->at.turn ? s : longest;
    }
    *n = longest->at.turn + 1;
    int64_t *values = wf_xcalloc(*n, sizeof(*values));
    uint32_t found = 0;
    for (uint32_t i = 0; i < samples->n; i++) {
        const struct wf_ext_sample *s = &samples->all[i];
        if (s->count == longest->count && s->at.rank == longest->at.rank && s->at.turn < *n) {
            values[s->at.turn] = s->value;
            found++;
        }
    }
    if (found != *n) {
        free(values);
        values = NULL;
    }
    return values;
}

/* Whether at least two counts have samples: what one count has is no rule. */
static bool are_several_counts(const struct wf_ext_samples *samples)
{
    for (uint32_t i = 1; i < samples->n; i++) {
        if (samples->all[i].count != samples->all[0].count) {
            return true;
        }
    }
    return false;
}

/* Tries a series over the turns, the same for all ranks and counts but for a function of the
 * number of ranks. */
static bool fit_series(struct wf_ext_model *model, const struct wf_ext_samples *samples,
                       struct wf_ext_integer *out)
{
    uint32_t n = 0;

    *out = (struct wf_ext_integer){.factor = {WF_EXT_FACTOR_NONE, WF_EXT_FACTOR_NONE}};
    if (!are_several_counts(samples)) {
        return false;
    }
    int64_t *values = longest_series(samples, &n);
    bool fits = values != NULL && wf_ext_series_fit(values, n, &out->series) &&
                fit_factor(model, samples, out, false);
    free(values);
    if (!fits) {
        wf_ext_series_fini(&out->series);
    }
    return fits;
}

/* Finds a rule that holds for all samples. */
static bool fit_all(struct wf_ext_model *model, const struct wf_ext_samples *samples,
                    struct wf_ext_integer *out)
{
    *out = (struct wf_ext_integer){.factor = {WF_EXT_FACTOR_NONE, WF_EXT_FACTOR_NONE}};
    if (samples->n == 0 || fit_factor(model, samples, out, false)) {
        return true;
    }
    for (uint32_t factor = WF_EXT_FACTOR_COORD; factor < WF_EXT_FACTORS; factor++) {
        if (is_used(model, factor) &&
            fit_factors(model, samples, (uint8_t)factor, WF_EXT_FACTOR_NONE, out)) {
            return true;
        }
    }
    for (uint32_t factor = WF_EXT_FACTOR_COORD; factor < WF_EXT_FACTORS; factor++) {
        for (uint32_t second = factor + 1; second < WF_EXT_FACTORS; second++) {
            if (is_used(model, factor) && is_used(model, second) &&
                fit_factors(model, samples, (uint8_t)factor, (uint8_t)second, out)) {
                return true;
            }
        }
    }
    return fit_series(model, samples, out);
}

static int by_place(const void *a, const void *b)
{
    const struct wf_ext_sample *x = a, *y = b;

    return x->at.place != y->at.place   ? WF_ORDER(x->at.place, y->at.place)
           : x->count != y->count       ? WF_ORDER(x->count, y->count)
           : x->at.rank != y->at.rank   ? WF_ORDER(x->at.rank, y->at.rank)
           : x->at.round != y->at.round ? WF_ORDER(x->at.round, y->at.round)
                                        : WF_ORDER(x->at.turn, y->at.turn);
}

/* A rule for each place, if there are few. Sorts the samples. */
static bool fit_places(struct wf_ext_model *model, struct wf_ext_samples *samples,
                       bool has_class, struct wf_ext_integer *out)
{
    uint32_t n_doubtful = model->n_doubtful;
    bool fits = true;

    *out = (struct wf_ext_integer){.factor = {WF_EXT_FACTOR_NONE, WF_EXT_FACTOR_NONE},
                                   .has_class = has_class};
    for (uint32_t i = 0; i < samples->n; i++) {
        struct wf_ext_at *at = &samples->all[i].at;
        at->place = place_of(model, at, has_class);
    }
    WF_SORT(samples->all, samples->n, by_place);
    for (uint32_t begin = 0, end = 0; begin < samples->n && fits; begin = end) {
        uint64_t place = samples->all[begin].at.place;
        while (end < samples->n && samples->all[end].at.place == place) {
            end++;
        }
        const struct wf_ext_samples some = {.all = samples->all + begin, .n = end - begin};
        WF_GROW(out->parts, out->n_parts, out->capacity);
        fits = out->n_parts < PLACES_MAX && fit_all(model, &some, &out->parts[out->n_parts]);
        *wf_map_put(&out->places, place) = out->n_parts++;
    }
    fits = fits && out->n_parts > 1;
    if (fits) {
        out->law = out->parts[0].law;
    } else {
        wf_ext_integer_fini(out);
        model->n_doubtful = n_doubtful;
    }
    return fits;
}

bool wf_ext_integer_fit(struct wf_ext_model *model, struct wf_ext_samples *samples,
                        struct wf_ext_integer *out)
{
    if (fit_all(model, samples, out) || fit_places(model, samples, false, out) ||
        fit_places(model, samples, true, out)) {
        return true;
    }
    *out = (struct wf_ext_integer){.factor = {WF_EXT_FACTOR_NONE, WF_EXT_FACTOR_NONE}};
    return fit_factor(model, samples, out, true);
}

void wf_ext_integer_fini(struct wf_ext_integer *integer)
{
    for (uint32_t i = 0; i < integer->n_parts; i++) {
        wf_ext_series_fini(&integer->parts[i].series);
    }
    wf_ext_series_fini(&integer->series);
    wf_map_fini(&integer->places);
    free(integer->parts);
    integer->parts = NULL;
    integer->n_parts = integer->capacity = 0;
}
