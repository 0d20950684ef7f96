/* SPDX-License-Identifier: Apache-2.0 */
/* Series: what repeats goes on beyond what was seen, a list does not. */
#include "program/extrapolate/series.h"

#include "harness/wf_test.h"

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* Microbatches of a pipeline of two stages with two chunks: 0 1 0 1 2 3 2 3, each with its
 * chunk. */
static void a_series_that_repeats_goes_on(void)
{
    static const int64_t tags[] = {10, 14, 12, 16, 18, 22, 20, 24, 26};
    struct wf_ext_series series;

    CHECK(wf_ext_series_fit(tags, LENGTH(tags), &series));
    CHECK(series.repeats && series.n == 4 && series.shift == 8);
    for (uint32_t i = 0; i < LENGTH(tags); i++) {
        CHECK(wf_ext_series_at(&series, i) == tags[i] - tags[0]);
    }
    CHECK(wf_ext_series_has(&series, 1000) && wf_ext_series_at(&series, 401) == 804);
    wf_ext_series_fini(&series);
    CHECK(series.n == 0 && wf_ext_series_at(&series, 3) == 0);
}

/* Once and a half is no repetition. */
static void a_list_ends(void)
{
    static const int64_t values[] = {5, 3, 9, 5, 3};
    struct wf_ext_series series;

    CHECK(wf_ext_series_fit(values, LENGTH(values), &series));
    CHECK(!series.repeats && series.n == LENGTH(values));
    CHECK(wf_ext_series_at(&series, 2) == 4 && wf_ext_series_at(&series, 4) == -2);
    CHECK(wf_ext_series_has(&series, 4) && !wf_ext_series_has(&series, 5));
    wf_ext_series_fini(&series);
}

static void a_long_list_is_no_rule(void)
{
    int64_t squares[600];
    struct wf_ext_series series;

    for (int64_t i = 0; i < (int64_t)LENGTH(squares); i++) {
        squares[i] = i * i;
    }
    CHECK(!wf_ext_series_fit(squares, LENGTH(squares), &series));
    CHECK(!wf_ext_series_fit(squares, 0, &series));
    CHECK(wf_ext_series_fit(squares, 256, &series));
    wf_ext_series_fini(&series);
}

int main(void)
{
    RUN(a_series_that_repeats_goes_on);
    RUN(a_list_ends);
    RUN(a_long_list_is_no_rule);
    return wf_test_done();
}
