/* SPDX-License-Identifier: Apache-2.0 */
#include "base/host_noise.h"

#include "base/os_watch.h"

#include "harness/wf_test.h"

#include <string.h>

/* Whether there is a warning, for either clock, with these words. */
static bool warns(struct wf_host_noise_spread spread, double waited, const char *words)
{
    const struct wf_host_noise cpu = {.cpu = spread, .waited = waited};
    const struct wf_host_noise wall = {.wall = spread, .waited = waited};
    char text[WF_HOST_NOISE_TEXT_MAX] = "";

    return wf_host_noise_warning(&cpu, true, text) &&
           wf_host_noise_warning(&wall, false, text) && strstr(text, words) != NULL;
}

static void a_spread_is_beyond_the_median(void)
{
    int64_t times[20], median;

    for (int i = 0; i < 20; i++) {
        times[i] = 1000;
    }
    struct wf_host_noise_spread quiet = wf_host_noise_spread(times, 20, &median);
    CHECK(median == 1000 && quiet.percent == 0 && quiet.worst == 0);
    CHECK(!warns(quiet, 0, ""));
    CHECK(warns(quiet, 30, "30 % of the time"));

    times[3] = 9000; /* a single slow piece is no noise... */
    struct wf_host_noise_spread once = wf_host_noise_spread(times, 20, &median);
    CHECK(median == 1000 && once.percent == 0 && once.worst == 800);
    CHECK(!warns(once, 0, ""));

    for (int i = 0; i < 4; i++) { /* ...but a fifth of them is */
        times[i * 5] = 1200;
    }
    struct wf_host_noise_spread noisy = wf_host_noise_spread(times, 20, &median);
    CHECK(median == 1000 && noisy.percent == 20);
    CHECK(warns(noisy, 0, "takes 20 % longer"));
}

static void one_time_has_no_spread(void)
{
    int64_t time = 0, median = 1;
    const struct wf_host_noise_spread spread = wf_host_noise_spread(&time, 1, &median);

    CHECK(median == 0 && spread.percent == 0 && spread.worst == 0);
}

/* Times are not checked: they depend on the host. */
static void this_host_can_be_measured(void)
{
    const struct wf_host_noise noise = wf_host_noise_measure();

    CHECK(noise.median_ns > 0);
    CHECK(noise.cpu.percent >= 0 && noise.cpu.worst >= noise.cpu.percent);
    CHECK(noise.wall.percent >= 0 && noise.wall.worst >= noise.wall.percent);
    CHECK(noise.waited >= 0 && noise.waited <= 100);
}

static void short_spans_are_not_counted(void)
{
    wf_os_watch_begin(1);
    const struct wf_os_watch_counts few = wf_os_watch_end(1000000, 49999);
    CHECK(few.switches == 0 && few.faults == 0 && few.stolen == 0 && few.waited == 0);
}

/* Memory that is touched for the first time faults. */
static void page_faults_are_counted(void)
{
    enum { BYTES = 1 << 24, PAGE = 4096 };
    unsigned char *memory = malloc(BYTES);

    CHECK(memory != NULL);
    wf_os_watch_begin(2000000);
    for (size_t i = 0; i < BYTES; i += PAGE) {
        ((volatile unsigned char *)memory)[i] = 1;
    }
    const struct wf_os_watch_counts found = wf_os_watch_end(2000001, 1000000);
    free(memory);
    CHECK(found.faults > 0);
    CHECK(found.waited == 0); /* by the clock that is passed, it took 1 ns */
}

int main(void)
{
    RUN(a_spread_is_beyond_the_median);
    RUN(one_time_has_no_spread);
    RUN(this_host_can_be_measured);
    RUN(short_spans_are_not_counted);
    RUN(page_faults_are_counted);
    return wf_test_done();
}
