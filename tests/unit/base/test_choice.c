/* SPDX-License-Identifier: Apache-2.0 */
#include "base/choice.h"

#include "harness/wf_test.h"

#include <stdio.h>
#include <string.h>

enum { SEED = 5, CASES = 300, RANKS = 60 };

/* Compares ranges in any order, some of which touch or overlap, with an array of marks. */
static void ranges_are_what_they_say(void)
{
    for (uint64_t c = 0; c < CASES; c++) {
        struct wf_choice choice = {.n_ranges = 0}, again = {.n_ranges = 0};
        bool marked[RANKS] = {false};
        char text[512] = "", words[WF_CHOICE_TEXT_MAX];
        size_t used = 0;
        uint64_t n = wf_test_rand(SEED, c, 0) % 12 + 1;

        for (uint64_t i = 1; i <= n; i++) {
            uint32_t first = (uint32_t)(wf_test_rand(SEED, c, 2 * i) % RANKS);
            uint32_t last = first + (uint32_t)(wf_test_rand(SEED, c, 2 * i + 1) % 9);
            last = last < RANKS ? last : RANKS - 1;
            memset(marked + first, true, last - first + 1);
            used += (size_t)snprintf(text + used, sizeof(text) - used,
                                     first == last ? "%s%u" : "%s%u%c%u", i == 1 ? "" : ",",
                                     first, i % 2 == 0 ? ':' : '-', last);
        }
        CHECK(wf_choice_ranks("--ranks", text, &choice, NULL) == WF_OK);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            bool any = false;
            for (uint32_t k = rank; k < rank + 5 && k < RANKS; k++) {
                any |= marked[k];
            }
            CHECK(wf_choice_has_rank(&choice, rank) == marked[rank]);
            CHECK(wf_choice_has_any(&choice, rank, 5) == any);
        }
        for (uint32_t i = 1; i < choice.n_ranges; i++) {
            CHECK(choice.ranges[i].first > choice.ranges[i - 1].last + 1);
        }
        CHECK(wf_choice_ranks("", wf_choice_words(&choice, words), &again, NULL) == WF_OK);
        CHECK(again.n_ranges == choice.n_ranges &&
              memcmp(choice.ranges, again.ranges, choice.n_ranges * sizeof(choice.ranges[0])) ==
                  0);
    }
}

static void other_texts_are_refused(void)
{
    static const char *const ranks[] = {"",   "x",     "3:", "5:3", "1,",
                                        ",1", "1:2:3", "-1", "1 2", "99999999999"};
    static const char *const times[] = {"", "1ms", "2ms:1ms", "1ms:1ms", "1:2", "1ms:2ms:3ms"};
    struct wf_choice choice;
    struct wf_err err;

    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        CHECK(wf_choice_ranks("--ranks", ranks[i], &choice, &err) == WF_EUSAGE);
        CHECK(strstr(err.text, "--ranks") != NULL);
    }
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        CHECK(wf_choice_time("--time", times[i], &choice, &err) == WF_EUSAGE);
    }
}

static void times_touch(void)
{
    struct wf_choice choice = {.n_ranges = 0};

    CHECK(wf_choice_touches(&choice, 5, 6));
    CHECK(wf_choice_time("--time", "1ns:2ns", &choice, NULL) == WF_OK);
    CHECK(!wf_choice_touches(&choice, 0, 1000) && wf_choice_touches(&choice, 0, 1001));
    CHECK(wf_choice_touches(&choice, 1999, 5000) && !wf_choice_touches(&choice, 2000, 5000));
    CHECK(wf_choice_time("--time", "3ns:", &choice, NULL) == WF_OK);
    CHECK(wf_choice_touches(&choice, INT64_MAX - 2, INT64_MAX) &&
          !wf_choice_touches(&choice, 0, 3000));
    CHECK(wf_choice_time("--time", ":3ns", &choice, NULL) == WF_OK);
    CHECK(wf_choice_touches(&choice, 0, 1) && !wf_choice_touches(&choice, 3000, 3001));
}

int main(void)
{
    RUN(ranges_are_what_they_say);
    RUN(other_texts_are_refused);
    RUN(times_touch);
    return wf_test_done();
}
