/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/robust.h"

#include "base/mem.h"
#include "program/ops/disturbance.h"

#include "harness/wf_test.h"

#include <stdlib.h>

#define MS INT64_C(1000000000)

/* Spans of one place, `iterations` of each rank. The caller changes them. */
static struct wf_places make(uint32_t n_ranks, uint32_t iterations, int64_t duration)
{
    uint64_t n = (uint64_t)n_ranks * iterations;
    struct wf_places places = {.n_ranks = n_ranks, .n_places = 1, .n_spans = n};

    places.first = wf_xcalloc((size_t)n_ranks + 1, sizeof(*places.first));
    places.place_of = wf_xcalloc(n, sizeof(*places.place_of));
    places.durations = wf_xcalloc(n, sizeof(*places.durations));
    places.disturbances = wf_xcalloc(n, sizeof(*places.disturbances));
    places.members_first = wf_xcalloc(2, sizeof(*places.members_first));
    places.members = wf_xcalloc(n, sizeof(*places.members));
    places.members_first[1] = n;
    for (uint32_t rank = 0; rank <= n_ranks; rank++) {
        places.first[rank] = (uint64_t)rank * iterations;
    }
    for (uint64_t span = 0; span < n; span++) {
        places.members[span] = span;
        /* a little scatter, as on a quiet machine */
        places.durations[span] = duration + (int64_t)(span * 7 % 11) * duration / 1000;
    }
    return places;
}

static uint32_t disturbed(uint32_t switches, uint32_t faults, uint32_t lost)
{
    return wf_disturbance_pack(&(struct wf_disturbance){switches, faults, lost});
}

static void one_slow_rank_of_many_is_found(void)
{
    struct wf_places places = make(4096, 1, MS);
    struct wf_robust robust;
    const struct wf_robust_outlier *longest = NULL;
    uint32_t rank = 0;

    places.durations[1234] = 20 * MS;
    wf_robust_init(&robust, &places);
    CHECK_U64(robust.n_outliers, 1);
    CHECK_U64(robust.n_disturbed, 0);
    CHECK_U64(robust.n_witnessed, 4096);
    CHECK(robust.outliers[0].duration == 20 * MS);
    CHECK(robust.outliers[0].expected > MS && robust.outliers[0].expected < MS + MS / 50);
    CHECK(wf_robust_duration(&robust, 1234, 0, 20 * MS) == 20 * MS); /* not explained */
    CHECK(wf_robust_excess(&robust, WF_ROBUST_DISTURBED, &rank, &longest) == 0);
    CHECK(wf_robust_excess(&robust, WF_ROBUST_UNDISTURBED, &rank, &longest) > 18 * MS);
    CHECK_U64(rank, 1234);
    CHECK(longest == &robust.outliers[0]);
    wf_robust_fini(&robust);
    wf_places_fini(&places);
}

/* The span of rank 1, iteration 3, of 2 ranks and 10 iterations, with what the system did. */
static bool corrects(int64_t duration, uint32_t disturbances)
{
    struct wf_places places = make(2, 10, MS);
    struct wf_robust robust;

    places.durations[13] = duration;
    places.disturbances[13] = disturbances;
    wf_robust_init(&robust, &places);
    bool corrected = wf_robust_duration(&robust, 1, 3, duration) != duration;
    corrected = corrected && wf_robust_duration(&robust, 1, 3, duration) < MS + MS / 50 &&
                wf_robust_duration(&robust, 0, 3, duration) == duration;
    wf_robust_fini(&robust);
    wf_places_fini(&places);
    return corrected;
}

static void what_the_system_did_must_explain_the_excess(void)
{
    CHECK(!corrects(3 * MS, 0));
    CHECK(corrects(MS + MS / 2 + MS / 10, disturbed(3, 0, 0)));
    CHECK(!corrects(3 * MS, disturbed(3, 0, 0)));
    /* Real work on a busy host: a switch each millisecond. */
    CHECK(!corrects(20 * MS, disturbed(20, 0, 0)));
    CHECK(corrects(3 * MS, disturbed(0, 100, 0)));
    CHECK(!corrects(3 * MS, disturbed(0, 10, 0)));
    CHECK(corrects(300 * MS, disturbed(0, 0, 200)));
    CHECK(!corrects(300 * MS, disturbed(0, 0, 20)));
    /* Within the usual scatter nothing is corrected, disturbed or not. */
    CHECK(!corrects(MS + MS / 4, disturbed(1, 0, 0)));
}

/* Heavy ranks and heavy iterations do more work. */
static void real_work_is_no_outlier(void)
{
    struct wf_places places = make(8, 40, MS);
    struct wf_robust robust;

    for (uint32_t i = 0; i < 40; i++) {
        places.durations[3 * 40 + i] *= 10; /* rank 3 */
    }
    for (uint32_t rank = 0; rank < 8; rank++) {
        places.durations[rank * 40 + 17] *= 5; /* iteration 17 */
    }
    for (uint64_t span = 0; span < places.n_spans; span++) {
        places.disturbances[span] = disturbed(span % 3 == 0, 0, 0);
    }
    wf_robust_init(&robust, &places);
    CHECK_U64(robust.n_outliers, 0);
    wf_robust_fini(&robust);

    /* But a disturbed span in the heavy rank is found. */
    places.durations[3 * 40 + 20] = 100 * MS;
    places.disturbances[3 * 40 + 20] = disturbed(60, 0, 200);
    wf_robust_init(&robust, &places);
    CHECK_U64(robust.n_outliers, 1);
    CHECK_U64(robust.n_disturbed, 1);
    CHECK(robust.outliers[0].expected > 9 * MS && robust.outliers[0].expected < 11 * MS);
    wf_robust_fini(&robust);
    wf_places_fini(&places);
}

/* A place that does two different things, and one with few spans. */
static void places_without_a_usual_time_are_left_alone(void)
{
    struct wf_places places = make(1, 100, MS);
    struct wf_robust robust;

    for (uint32_t i = 0; i < 100; i += 4) {
        places.durations[i] *= 20;
        places.disturbances[i] = disturbed(200, 0, 255);
    }
    wf_robust_init(&robust, &places);
    CHECK_U64(robust.n_outliers, 0);
    wf_robust_fini(&robust);
    wf_places_fini(&places);

    places = make(1, 7, MS);
    places.durations[3] *= 20;
    wf_robust_init(&robust, &places);
    CHECK_U64(robust.n_outliers, 0);
    CHECK_U64(robust.n_witnessed, 0);
    wf_robust_fini(&robust);
    wf_places_fini(&places);
}

static void sums_are_of_one_rank(void)
{
    struct wf_places places = make(4, 100, MS);
    struct wf_robust robust;
    const struct wf_robust_outlier *longest = NULL;
    uint32_t rank = 0;

    places.durations[110] = 5 * MS;
    places.durations[120] = 6 * MS;
    places.durations[330] = 7 * MS;
    places.durations[340] = 90 * MS;
    places.disturbances[340] = disturbed(0, 0, 250);
    wf_robust_init(&robust, &places);
    CHECK_U64(robust.n_outliers, 4);
    int64_t excess = wf_robust_excess(&robust, WF_ROBUST_UNDISTURBED, &rank, &longest);
    CHECK(excess > 8 * MS && excess < 10 * MS);
    CHECK_U64(rank, 1);
    CHECK_U64(longest->span, 120);
    CHECK(wf_robust_excess(&robust, WF_ROBUST_DISTURBED, &rank, &longest) > 80 * MS);
    CHECK_U64(rank, 3);
    wf_robust_fini(&robust);
    wf_places_fini(&places);
}

static void extreme_times_do_not_overflow(void)
{
    struct wf_places places = make(4, 10, 0);
    struct wf_robust robust;

    places.durations[5] = INT64_MAX;
    places.durations[15] = INT64_MAX;
    places.disturbances[5] = disturbed(255, 65535, 255);
    wf_robust_init(&robust, &places);
    CHECK_U64(robust.n_outliers, 2);
    CHECK_U64(robust.n_disturbed, 1);
    wf_robust_fini(&robust);
    wf_places_fini(&places);
}

int main(void)
{
    RUN(one_slow_rank_of_many_is_found);
    RUN(what_the_system_did_must_explain_the_excess);
    RUN(real_work_is_no_outlier);
    RUN(places_without_a_usual_time_are_left_alone);
    RUN(sums_are_of_one_rank);
    RUN(extreme_times_do_not_overflow);
    return wf_test_done();
}
