/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/fit.h"

#include <math.h>

enum { SAMPLES_MAX = 256 };

#define GOOD_ENOUGH 0.02 /* acceptable error of a line between points */

/* The measured values of t(k) or h(k), one per sample. */
struct curve {
    uint64_t bytes[SAMPLES_MAX];
    double ns[SAMPLES_MAX], whole[SAMPLES_MAX]; /* value; total time that contains it */
    bool chosen[SAMPLES_MAX];
    size_t n;
};

static bool has_protocol(const struct wf_fit *fit, uint64_t bytes)
{
    return fit->has_limit && bytes > fit->eager_max;
}

static double constant(const struct wf_fit *fit, uint64_t bytes)
{
    return (has_protocol(fit, bytes) ? 3 : 1) * fit->L + 2 * fit->o;
}

static double line(uint64_t from, double from_ns, uint64_t to, double to_ns, uint64_t at)
{
    return to == from ? to_ns
                      : from_ns + (to_ns - from_ns) * (double)(at - from) / (double)(to - from);
}

static double value(const struct wf_fit_points *points, double slope, uint64_t bytes)
{
    uint64_t before = 1;
    double before_ns = 0;

    for (size_t i = 0; i < points->n; i++) {
        if (bytes <= points->at[i].bytes) {
            return line(before, before_ns, points->at[i].bytes, points->at[i].ns, bytes);
        }
        before = points->at[i].bytes;
        before_ns = points->at[i].ns;
    }
    return before_ns + slope * (double)(bytes - before);
}

static double tail(const struct wf_fit *fit, uint64_t bytes)
{
    return value(&fit->tail, fit->G, bytes);
}

/* Latency of a message while another one travels in the opposite direction. */
static double meeting(const struct wf_fit *fit, uint64_t bytes)
{
    double held = value(&fit->held, fit->G * fit->shared, bytes);

    return held > fit->L ? held : fit->L;
}

double wf_fit_time(const struct wf_fit *fit, uint64_t bytes)
{
    return constant(fit, bytes) + tail(fit, bytes);
}

double wf_fit_both(const struct wf_fit *fit, uint64_t bytes)
{
    return (has_protocol(fit, bytes) ? 2 * meeting(fit, 1) : 0) + meeting(fit, bytes) +
           2 * fit->o + tail(fit, bytes);
}

/* ---- constants ---- */

static void set_limit(const struct wf_fit_input *measured, struct wf_fit *fit)
{
    uint64_t longest = measured->samples[measured->n - 1].bytes;

    fit->has_limit = measured->eager_max > 0 && measured->eager_max < longest;
    fit->eager_max = fit->has_limit ? measured->eager_max : 0;
}

/* Successive calls may take longer than one message, because the parts of a message overlap. L
 * is then small, and the rest of the time of one byte belongs to the calls. */
static void set_constants(const struct wf_fit_input *measured, double one, struct wf_fit *fit)
{
    double calls = measured->send + measured->take;

    calls = calls > 0.9 * one ? 0.9 * one : calls;
    fit->o = calls / 2;
    fit->L = one - calls;
    /* A message in a stream is not slower than a single message. */
    fit->g = measured->stream < one ? measured->stream : fit->o;
}

/* ---- points ---- */

static void set_tails(const struct wf_fit_input *measured, const struct wf_fit *fit,
                      struct curve *tails)
{
    double least = (double)INFINITY;

    tails->n = measured->n < SAMPLES_MAX ? measured->n : SAMPLES_MAX;
    for (size_t i = tails->n; i-- > 0;) {
        const struct wf_fit_sample *sample = &measured->samples[i];

        least = sample->ns < least ? sample->ns : least;
        double ns = least - constant(fit, sample->bytes);
        tails->bytes[i] = sample->bytes;
        tails->whole[i] = least;
        tails->ns[i] = ns > 0 ? ns : 0;
        tails->chosen[i] = false;
    }
}

static void collect(const struct curve *curve, struct wf_fit_points *points)
{
    points->n = 0;
    for (size_t i = 0; i < curve->n; i++) {
        if (curve->chosen[i]) {
            points->at[points->n].bytes = curve->bytes[i];
            points->at[points->n++].ns = curve->ns[i];
        }
    }
}

/* The sample with the largest error; returns the error. */
static double find_worst(const struct curve *curve, const struct wf_fit_points *points,
                         size_t *worst)
{
    double most = 0;

    for (size_t i = 1; i < curve->n; i++) {
        double off = fabs(value(points, 0, curve->bytes[i]) - curve->ns[i]) / curve->whole[i];
        if (!curve->chosen[i] && off > most) {
            most = off;
            *worst = i;
        }
    }
    return most;
}

/* The protocol limit gets a point on both sides, because the time jumps there. */
static void choose_points(struct curve *curve, const struct wf_fit *fit,
                          struct wf_fit_points *points)
{
    size_t worst = 0;

    curve->chosen[curve->n - 1] = true;
    for (size_t i = 1; i + 1 < curve->n && fit->has_limit; i++) {
        if (curve->bytes[i] <= fit->eager_max && curve->bytes[i + 1] > fit->eager_max) {
            curve->chosen[i] = curve->chosen[i + 1] = true;
        }
    }
    collect(curve, points);
    while (points->n < WF_FIT_POINTS_MAX && find_worst(curve, points, &worst) > GOOD_ENOUGH) {
        curve->chosen[worst] = true;
        collect(curve, points);
    }
}

static void set_rate(const struct curve *tails, struct wf_fit *fit)
{
    size_t last = tails->n - 1, other = last > 6 ? last - 6 : 0;

    fit->G = (tails->ns[last] - tails->ns[other]) /
             (double)(tails->bytes[last] - tails->bytes[other]);
}

/* ---- both directions ---- */

static bool has_both(const struct wf_fit_input *measured)
{
    for (size_t i = 0; i < measured->n; i++) {
        if (!(measured->samples[i].both > 0)) {
            return false;
        }
    }
    return true;
}

/* Computes h(1) first, because the other values depend on it. */
static void set_held(const struct wf_fit_input *measured, struct wf_fit *fit,
                     struct curve *held)
{
    double least = (double)INFINITY;

    for (size_t i = held->n; i-- > 0;) {
        least = measured->samples[i].both < least ? measured->samples[i].both : least;
        held->whole[i] = least;
        held->chosen[i] = false;
    }
    for (size_t i = 0; i < held->n; i++) {
        double first = held->ns[0] > fit->L ? held->ns[0] : fit->L;
        double rest = has_protocol(fit, held->bytes[i]) ? 2 * first : 0;
        double ns = held->whole[i] - rest - 2 * fit->o - tail(fit, held->bytes[i]);
        held->ns[i] = ns > 0 ? ns : 0;
    }
    held->chosen[0] = true;
    choose_points(held, fit, &fit->held);
    size_t last = held->n - 1;
    double share = held->ns[last] / tail(fit, held->bytes[last]);
    fit->shared = share > 1 ? 1 : share;
}

static void judge(const struct wf_fit_input *measured, struct wf_fit *fit)
{
    for (size_t i = 0; i < measured->n; i++) {
        const struct wf_fit_sample *sample = &measured->samples[i];
        double error = fabs(wf_fit_time(fit, sample->bytes) / sample->ns - 1);

        fit->mean_error += error / (double)measured->n;
        fit->max_error = error > fit->max_error ? error : fit->max_error;
    }
}

bool wf_fit(const struct wf_fit_input *measured, struct wf_fit *out)
{
    struct curve curve = {.n = 0};

    *out = (struct wf_fit){.L = 0};
    for (size_t i = 0; i < measured->n; i++) {
        if (!(measured->samples[i].ns > 0) || !isfinite(measured->samples[i].ns)) {
            return false;
        }
    }
    if (measured->n < 4 || !(measured->send >= 0) || !(measured->take >= 0)) {
        return false;
    }
    set_limit(measured, out);
    /* Constants come from undisturbed samples, so the smoothed minima are used. */
    set_tails(measured, out, &curve);
    set_constants(measured, curve.whole[0], out);
    set_tails(measured, out, &curve);
    choose_points(&curve, out, &out->tail);
    set_rate(&curve, out);
    if (has_both(measured)) {
        set_held(measured, out, &curve);
    }
    judge(measured, out);
    return true;
}
