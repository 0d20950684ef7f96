/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fit.h"

#include "wf_test.h"

#include <math.h>
#include <stdbool.h>

enum { N = 40 };

/* Times as docs/models/mpi.md has them, each off by up to `noise`. */
static void make(struct wf_sample *samples, double L, double o, double G, uint64_t limit,
                 double noise)
{
    uint64_t bytes = 1;

    for (int i = 0; i < N; i++) {
        double time = L + 2 * o + G * (double)(bytes - 1) + (bytes > limit ? 2 * L : 0);
        samples[i] = (struct wf_sample){bytes, time * (1 + (i % 3 - 1) * noise)};
        bytes += bytes / 2 + 1;
    }
}

static bool is_near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fabs(b);
}

static void two_protocols(void)
{
    struct wf_sample samples[N];
    struct wf_fit fit;

    make(samples, 900, 150, 0.08, 20000, 0);
    CHECK(wf_fit(samples, N, 100, 200, &fit));
    CHECK(fit.has_limit);
    CHECK(is_near(fit.L, 900, 1e-3) && is_near(fit.o, 150, 1e-3));
    CHECK(is_near(fit.G, 0.08, 1e-3));
    CHECK(fit.eager_max <= 20000 && fit.eager_max > 10000);
    CHECK(fit.max_error < 1e-6);
    for (int i = 0; i < N; i++) {
        CHECK(is_near(wf_fit_time(&fit, samples[i].bytes), samples[i].ns, 1e-6));
    }
}

static void one_protocol(void)
{
    struct wf_sample samples[N];
    struct wf_fit fit;

    make(samples, 1000, 250, 0.5, UINT64_MAX, 0);
    CHECK(wf_fit(samples, N, 250, 100, &fit));
    CHECK(is_near(fit.L + 2 * fit.o, 1500, 1e-3));
    CHECK(is_near(fit.G, 0.5, 1e-3) && fit.g > 99 && fit.g < 101);
    CHECK(fit.max_error < 1e-3);
}

static void with_noise(void)
{
    struct wf_sample samples[N];
    struct wf_fit fit;

    make(samples, 2000, 300, 0.1, 8192, 0.05);
    CHECK(wf_fit(samples, N, 100, 1e9, &fit));
    CHECK(is_near(fit.L, 2000, 0.1) && is_near(fit.G, 0.1, 0.1));
    CHECK(fit.max_error < 0.12 && fit.mean_error < 0.06);
    /* A stream that was disturbed says nothing. */
    CHECK(fit.g < fit.L + 2 * fit.o);
}

int main(void)
{
    RUN(two_protocols);
    RUN(one_protocol);
    RUN(with_noise);
    return wf_test_done();
}
