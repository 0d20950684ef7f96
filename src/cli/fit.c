/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fit.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLES_MAX = 256 };

#define GOOD_ENOUGH 0.02 /* error of a line between points */

/* What t(k) is to be, by sample. */
struct tails {
    uint64_t bytes[SAMPLES_MAX];
    double ns[SAMPLES_MAX], whole[SAMPLES_MAX]; /* of t(k); of the message */
    bool chosen[SAMPLES_MAX];
    size_t n;
};

static double constant(const struct wf_fit *fit, uint64_t bytes)
{
    return (fit->has_limit && bytes > fit->eager_max ? 3 : 1) * fit->L + 2 * fit->o;
}

static double line(uint64_t from, double from_ns, uint64_t to, double to_ns, uint64_t at)
{
    return from_ns + (to_ns - from_ns) * (double)(at - from) / (double)(to - from);
}

static double tail(const struct wf_fit *fit, uint64_t bytes)
{
    uint64_t before = 1;
    double before_ns = 0;

    for (size_t i = 0; i < fit->n_points; i++) {
        if (bytes <= fit->points[i].bytes) {
            return line(before, before_ns, fit->points[i].bytes, fit->points[i].ns, bytes);
        }
        before = fit->points[i].bytes;
        before_ns = fit->points[i].ns;
    }
    return before_ns + fit->G * (double)(bytes - before);
}

double wf_fit_time(const struct wf_fit *fit, uint64_t bytes)
{
    return constant(fit, bytes) + tail(fit, bytes);
}

/* ---- what is measured by itself ---- */

static void set_limit(const struct wf_measured *measured, struct wf_fit *fit)
{
    uint64_t longest = measured->samples[measured->n - 1].bytes;

    fit->has_limit = measured->eager_max > 0 && measured->eager_max < longest;
    fit->eager_max = fit->has_limit ? measured->eager_max : 0;
}

/* Calls in a row may take longer than one message does, whose parts overlap: then L is little,
 * and the rest of a byte's time is the calls'. */
static void set_constants(const struct wf_measured *measured, double one, struct wf_fit *fit)
{
    double calls = measured->send + measured->take;

    calls = calls > 0.9 * one ? 0.9 * one : calls;
    fit->o = calls / 2;
    fit->L = one - calls;
    /* Messages one behind the other are not slower than one that is waited for. */
    fit->g = measured->stream < one ? measured->stream : fit->o;
}

/* ---- points ---- */

static void set_tails(const struct wf_measured *measured, const struct wf_fit *fit,
                      struct tails *tails)
{
    double least = (double)INFINITY;

    tails->n = measured->n < SAMPLES_MAX ? measured->n : SAMPLES_MAX;
    for (size_t i = tails->n; i-- > 0;) {
        const struct wf_sample *sample = &measured->samples[i];

        least = sample->ns < least ? sample->ns : least;
        double ns = least - constant(fit, sample->bytes);
        tails->bytes[i] = sample->bytes;
        tails->whole[i] = least;
        tails->ns[i] = ns > 0 ? ns : 0;
        tails->chosen[i] = false;
    }
}

static void collect(const struct tails *tails, struct wf_fit *fit)
{
    fit->n_points = 0;
    for (size_t i = 1; i < tails->n; i++) {
        if (tails->chosen[i]) {
            fit->points[fit->n_points].bytes = tails->bytes[i];
            fit->points[fit->n_points++].ns = tails->ns[i];
        }
    }
}

/* The sample that the lines are worst for; its error. */
static double find_worst(const struct tails *tails, const struct wf_fit *fit, size_t *worst)
{
    double most = 0;

    for (size_t i = 1; i < tails->n; i++) {
        double off = fabs(tail(fit, tails->bytes[i]) - tails->ns[i]) / tails->whole[i];
        if (!tails->chosen[i] && off > most) {
            most = off;
            *worst = i;
        }
    }
    return most;
}

/* Both sides of the limit are points: the time jumps there. */
static void choose_points(struct tails *tails, struct wf_fit *fit)
{
    size_t worst = 0;

    tails->chosen[tails->n - 1] = true;
    for (size_t i = 1; i + 1 < tails->n && fit->has_limit; i++) {
        if (tails->bytes[i] <= fit->eager_max && tails->bytes[i + 1] > fit->eager_max) {
            tails->chosen[i] = tails->chosen[i + 1] = true;
        }
    }
    collect(tails, fit);
    while (fit->n_points < WF_FIT_POINTS_MAX && find_worst(tails, fit, &worst) > GOOD_ENOUGH) {
        tails->chosen[worst] = true;
        collect(tails, fit);
    }
    size_t last = tails->n - 1, other = last > 6 ? last - 6 : 0;
    fit->G = (tails->ns[last] - tails->ns[other]) /
             (double)(tails->bytes[last] - tails->bytes[other]);
}

/* ---- both directions ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y ? 1 : 0;
}

/* An exchange takes (1 + shared) t(k), or L + t(k) if that is more: the middle of all. */
static void set_shared(const struct wf_measured *measured, const struct tails *tails,
                       struct wf_fit *fit)
{
    double shares[SAMPLES_MAX] = {0};
    size_t n = 0;

    for (size_t i = 0; i < tails->n; i++) {
        double excess = measured->samples[i].both - tails->whole[i] + fit->L;
        if (measured->samples[i].both > 0 && tails->ns[i] > 4 * fit->L) {
            shares[n++] = excess / tails->ns[i];
        }
    }
    qsort(shares, n, sizeof(*shares), compare);
    double middle = n > 0 ? shares[n / 2] : 0;
    fit->shared = middle < 0.05 ? 0 : middle > 1 ? 1 : middle;
}

static void judge(const struct wf_measured *measured, struct wf_fit *fit)
{
    for (size_t i = 0; i < measured->n; i++) {
        const struct wf_sample *sample = &measured->samples[i];
        double error = fabs(wf_fit_time(fit, sample->bytes) / sample->ns - 1);

        fit->mean_error += error / (double)measured->n;
        fit->max_error = error > fit->max_error ? error : fit->max_error;
    }
}

bool wf_fit(const struct wf_measured *measured, struct wf_fit *out)
{
    struct tails tails;

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
    /* The least of all, as below: constants are those of what is not disturbed. */
    set_tails(measured, out, &tails);
    set_constants(measured, tails.whole[0], out);
    set_tails(measured, out, &tails);
    choose_points(&tails, out);
    set_shared(measured, &tails, out);
    judge(measured, out);
    return true;
}
