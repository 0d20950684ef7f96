/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fit.h"

#include <math.h>

enum { UNKNOWNS = 3 };

/* Sums of a system of normal equations. */
struct system {
    double a[UNKNOWNS][UNKNOWNS], b[UNKNOWNS];
    int n;
};

/* Gauss with pivots; false if it has no single answer. */
static bool solve(struct system *s, double *x)
{
    for (int i = 0; i < s->n; i++) {
        int best = i;
        for (int r = i + 1; r < s->n; r++) {
            best = fabs(s->a[r][i]) > fabs(s->a[best][i]) ? r : best;
        }
        if (fabs(s->a[best][i]) < 1e-300) {
            return false;
        }
        for (int c = 0; c < s->n; c++) {
            double t = s->a[i][c];
            s->a[i][c] = s->a[best][c];
            s->a[best][c] = t;
        }
        double t = s->b[i];
        s->b[i] = s->b[best];
        s->b[best] = t;
        for (int r = i + 1; r < s->n; r++) {
            double f = s->a[r][i] / s->a[i][i];
            for (int c = i; c < s->n; c++) {
                s->a[r][c] -= f * s->a[i][c];
            }
            s->b[r] -= f * s->b[i];
        }
    }
    for (int i = s->n - 1; i >= 0; i--) {
        x[i] = s->b[i];
        for (int c = i + 1; c < s->n; c++) {
            x[i] -= s->a[i][c] * x[c];
        }
        x[i] /= s->a[i][i];
    }
    return true;
}

/* T = x0 + x1 (k - 1) + x2 [k > limit], by least squares of relative errors. */
static bool fit_lines(const struct wf_sample *samples, size_t n, uint64_t limit, double *x)
{
    struct system s = {.n = limit == UINT64_MAX ? 2 : 3};

    x[2] = 0;
    for (size_t i = 0; i < n; i++) {
        double weight = 1 / (samples[i].ns * samples[i].ns);
        const double row[UNKNOWNS] = {1, (double)samples[i].bytes - 1,
                                      samples[i].bytes > limit ? 1 : 0};
        for (int r = 0; r < s.n; r++) {
            for (int c = 0; c < s.n; c++) {
                s.a[r][c] += weight * row[r] * row[c];
            }
            s.b[r] += weight * row[r] * samples[i].ns;
        }
    }
    return solve(&s, x) && x[0] > 0 && x[1] >= 0 && x[2] >= 0;
}

double wf_fit_time(const struct wf_fit *fit, uint64_t bytes)
{
    double rounds = fit->has_limit && bytes > fit->eager_max ? 3 : 1;

    return rounds * fit->L + 2 * fit->o + fit->G * ((double)bytes - 1);
}

/* Of a message of no latency: what is the sender's and what is the network's. The two protocols
 * differ by 2L; without a second one, the time of the call is the overhead. */
static void share(struct wf_fit *fit, const double *x, double send)
{
    double most = x[0] * 0.9;

    fit->G = x[1];
    fit->L = fit->has_limit ? x[2] / 2 : x[0] - 2 * send;
    fit->L = fit->L < x[0] * 0.1 ? x[0] * 0.1 : fit->L > most ? most : fit->L;
    fit->o = (x[0] - fit->L) / 2;
    /* Messages one behind the other are not slower than one that is waited for. */
    fit->g = fit->g < x[0] ? fit->g : fit->o;
}

static double judge(struct wf_fit *fit, const struct wf_sample *samples, size_t n)
{
    double sum = 0;

    fit->mean_error = 0;
    fit->max_error = 0;
    for (size_t i = 0; i < n; i++) {
        double error = fabs(wf_fit_time(fit, samples[i].bytes) / samples[i].ns - 1);
        sum += error * error;
        fit->mean_error += error / (double)n;
        fit->max_error = error > fit->max_error ? error : fit->max_error;
    }
    return sum;
}

bool wf_fit(const struct wf_sample *samples, size_t n, double send, double stream,
            struct wf_fit *out)
{
    double least = (double)INFINITY;

    for (size_t i = 3; i <= n; i++) {
        /* The last is no limit at all; a limit leaves some on either side. */
        bool limited = i + 3 < n;
        if (!limited && i < n) {
            continue;
        }
        struct wf_fit fit = {.has_limit = limited, .g = stream};
        double x[UNKNOWNS];
        fit.eager_max = limited ? samples[i].bytes : 0;
        if (!fit_lines(samples, n, limited ? fit.eager_max : UINT64_MAX, x)) {
            continue;
        }
        share(&fit, x, send);
        double sum = judge(&fit, samples, n);
        if (sum < least) {
            least = sum;
            *out = fit;
        }
    }
    return isfinite(least);
}
