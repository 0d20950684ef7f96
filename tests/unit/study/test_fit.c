/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/fit.h"

#include "harness/wf_test.h"

#include <math.h>
#include <stdbool.h>

enum { N = 40 };

/* A synthetic machine that defines the time of its messages. The fit has to find its
 * parameters. */
struct truth {
    double L, o, G, jump, shared; /* above `limit` there are 2L and a jump more */
    uint64_t limit;
};

static double tail_of(const struct truth *truth, uint64_t bytes)
{
    return truth->G * (double)(bytes - 1) + (bytes > truth->limit ? truth->jump : 0);
}

static double time_of(const struct truth *truth, uint64_t bytes)
{
    return truth->L + 2 * truth->o + tail_of(truth, bytes) +
           (bytes > truth->limit ? 2 * truth->L : 0);
}

static struct wf_fit_input measure(const struct truth *truth, struct wf_fit_sample *samples,
                                   double noise)
{
    struct wf_fit_input all = {
        .samples = samples, .n = N, .send = truth->o, .take = truth->o, .stream = truth->o / 2};
    uint64_t bytes = 1;

    for (int i = 0; i < N; i++) {
        double held = truth->shared * tail_of(truth, bytes);
        double both = time_of(truth, bytes) + (held > truth->L ? held - truth->L : 0);

        samples[i] = (struct wf_fit_sample){
            bytes, time_of(truth, bytes) * (1 + (i % 3 == 1 ? noise : 0)), both};
        all.eager_max = bytes <= truth->limit ? bytes : all.eager_max;
        bytes += bytes / 2 + 1;
    }
    return all;
}

static bool is_near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fabs(b);
}

static void two_protocols(void)
{
    static const struct truth truth = {900, 150, 0.08, 2000, 0.5, 20000};
    struct wf_fit_sample samples[N];
    struct wf_fit_input all = measure(&truth, samples, 0);
    struct wf_fit fit;

    CHECK(wf_fit(&all, &fit));
    CHECK(is_near(fit.L, 900, 1e-6) && is_near(fit.o, 150, 1e-6) && is_near(fit.g, 75, 1e-6));
    CHECK(is_near(fit.G, 0.08, 1e-3) && is_near(fit.shared, 0.5, 1e-2));
    CHECK(fit.has_limit && fit.eager_max <= 20000 && fit.eager_max > 10000);
    CHECK(fit.max_error < 0.021);
    /* Two lines and a jump need few points, and fit between samples too. */
    CHECK(fit.tail.n >= 3 && fit.tail.n <= 6);
    CHECK(is_near(wf_fit_time(&fit, 5000), time_of(&truth, 5000), 0.02));
    CHECK(is_near(wf_fit_time(&fit, 1234567), time_of(&truth, 1234567), 0.02));
    for (int i = 0; i < N; i++) {
        CHECK(is_near(wf_fit_both(&fit, samples[i].bytes), samples[i].both, 0.05));
    }
}

/* Exchanges that take longer than a message by more or less, whatever their size: no share of
 * anything would say so. */
static void exchanges_by_size(void)
{
    static const struct truth truth = {900, 150, 0.08, 2000, 0, 20000};
    struct wf_fit_sample samples[N];
    struct wf_fit_input all = measure(&truth, samples, 0);
    struct wf_fit fit;

    for (int i = 0; i < N; i++) {
        samples[i].both = samples[i].ns * (samples[i].bytes < 300 ? 1.2 : 1.5);
    }
    CHECK(wf_fit(&all, &fit));
    for (int i = 0; i < N; i++) {
        CHECK(is_near(wf_fit_both(&fit, samples[i].bytes), samples[i].both, 0.05));
    }
    samples[5].both = 0;
    CHECK(wf_fit(&all, &fit) && fit.held.n == 0);
}

static void one_protocol(void)
{
    static const struct truth truth = {1000, 250, 0.5, 0, 0, UINT64_MAX};
    struct wf_fit_sample samples[N];
    struct wf_fit_input all = measure(&truth, samples, 0);
    struct wf_fit fit;

    CHECK(wf_fit(&all, &fit));
    CHECK(!fit.has_limit && fit.tail.n == 1 && fit.shared < 1e-3);
    CHECK(is_near(fit.L + 2 * fit.o, 1500, 1e-6) && is_near(fit.G, 0.5, 1e-6));
    CHECK(fit.max_error < 1e-6);
    CHECK(is_near(wf_fit_time(&fit, UINT64_C(1) << 40), time_of(&truth, UINT64_C(1) << 40),
                  1e-3));
}

/* Each third sample was disturbed. Where messages get longer little, longer ones say so. */
static void with_noise(void)
{
    static const struct truth truth = {2000, 300, 0.01, 0, 0, UINT64_MAX};
    struct wf_fit_sample samples[N];
    struct wf_fit_input all = measure(&truth, samples, 4);
    struct wf_fit fit;

    all.stream = 1e9;
    CHECK(wf_fit(&all, &fit));
    for (int i = 0; samples[i].bytes < 10000; i++) {
        CHECK(is_near(wf_fit_time(&fit, samples[i].bytes), time_of(&truth, samples[i].bytes),
                      0.05));
    }
    /* The raw samples are what it is judged by; a stream that was disturbed says nothing. */
    CHECK(fit.max_error > 0.7 && fit.g < fit.L + 2 * fit.o);
}

static void calls_that_take_longer_than_messages(void)
{
    static const struct truth truth = {100, 50, 0.1, 0, 0, UINT64_MAX};
    struct wf_fit_sample samples[N];
    struct wf_fit_input all = measure(&truth, samples, 0);
    struct wf_fit fit;

    all.send = 180;
    all.take = 90;
    CHECK(wf_fit(&all, &fit));
    CHECK(fit.L > 0 && is_near(fit.L + 2 * fit.o, 200, 1e-6));
    samples[3].ns = 0;
    CHECK(!wf_fit(&all, &fit));
}

int main(void)
{
    RUN(two_protocols);
    RUN(exchanges_by_size);
    RUN(one_protocol);
    RUN(with_noise);
    RUN(calls_that_take_longer_than_messages);
    return wf_test_done();
}
