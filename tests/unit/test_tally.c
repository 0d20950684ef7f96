/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/tally.h"

#include "wf_test.h"

enum { SEED = 3, CASES = 300, VALUES = 20 };

/* However the values are dealt to parts and the parts merged, the sum is the same. */
static void merging_does_not_depend_on_the_parts(void)
{
    for (uint64_t c = 0; c < CASES; c++) {
        struct wf_replay_tally whole, part[3];
        memset(&whole, 0, sizeof(whole));
        memset(part, 0, sizeof(part));
        for (uint64_t i = 0; i < VALUES; i++) {
            int64_t value = (int64_t)(wf_test_rand(SEED, c, 2 * i) >> 1);
            uint32_t rank = (uint32_t)(wf_test_rand(SEED, c, 99) % 7 + i * 7);
            const struct wf_blocked blocked = {
                .rank = rank, .failure = i % 3 == 0, .stuck = {.tag = (int32_t)i}};
            struct wf_replay_tally *to = &part[wf_test_rand(SEED, c, 2 * i + 1) % 3];
            wf_stat_add(&whole.jobs[c % 5].finish, value);
            wf_stat_add(&to->jobs[c % 5].finish, value);
            wf_stat_add(&whole.latency, value / 2);
            wf_stat_add(&to->latency, value / 2);
            wf_tally_block(&whole, &blocked);
            wf_tally_block(to, &blocked);
            const struct wf_waited waited = {value % 8, rank, (uint32_t)(i % WF_IN_KINDS)};
            wf_tally_wait(&whole, &waited);
            wf_tally_wait(to, &waited);
            wf_tally_mark(&whole, (uint32_t)(value % 300), i % 2 == 0, value);
            wf_tally_mark(to, (uint32_t)(value % 300), i % 2 == 0, value);
            wf_stat_add(&whole.regions[i % 4], value);
            wf_stat_add(&to->regions[i % 4], value);
            whole.jobs[1].messages += i;
            to->jobs[1].messages += i;
        }
        uint64_t first = c % 3;
        wf_tally_merge(&part[first], &part[(first + 1) % 3]);
        wf_tally_merge(&part[first], &part[(first + 2) % 3]);
        CHECK(memcmp(&whole, &part[first], sizeof(whole)) == 0);
    }
}

static void the_mean_survives_sums_of_more_than_64_bits(void)
{
    struct wf_stat stat = {0};

    CHECK(wf_stat_mean(&stat) == 0);
    for (int i = 0; i < 1000; i++) {
        wf_stat_add(&stat, i % 2 == 0 ? INT64_MAX : INT64_MAX - 2);
    }
    CHECK(wf_stat_mean(&stat) == INT64_MAX - 1);
    CHECK(stat.min == INT64_MAX - 2 && stat.max == INT64_MAX);
}

static void the_lowest_blocked_ranks_are_kept_in_order(void)
{
    struct wf_replay_tally tally;

    memset(&tally, 0, sizeof(tally));
    for (uint32_t i = 0; i < 100; i++) {
        const struct wf_blocked blocked = {.rank = i * 37 % 100};
        wf_tally_block(&tally, &blocked);
    }
    CHECK_U64(tally.n_blocked, WF_TALLY_BLOCKED);
    for (uint32_t i = 0; i < WF_TALLY_BLOCKED; i++) {
        CHECK_U64(tally.blocked[i].rank, i);
    }
}

static void failures_come_before_what_waits(void)
{
    struct wf_replay_tally tally;

    memset(&tally, 0, sizeof(tally));
    for (uint32_t i = 0; i < 20; i++) {
        const struct wf_blocked blocked = {
            .rank = i, .failure = i >= 15 ? WF_FAILURE_TRUNCATED : WF_FAILURE_NONE};
        wf_tally_block(&tally, &blocked);
    }
    CHECK_U64(tally.n_blocked, WF_TALLY_BLOCKED);
    CHECK_U64(tally.blocked[0].rank, 15);
    CHECK_U64(tally.blocked[4].rank, 19);
    CHECK_U64(tally.blocked[5].rank, 0);
}

static void the_longest_waits_are_kept(void)
{
    struct wf_replay_tally tally;

    memset(&tally, 0, sizeof(tally));
    for (uint32_t i = 0; i < 100; i++) {
        const struct wf_waited waited = {i * 37 % 100 / 2, i, 0};
        wf_tally_wait(&tally, &waited);
    }
    CHECK_U64(tally.n_waits, WF_TALLY_WAITS);
    for (uint32_t i = 0; i < WF_TALLY_WAITS; i++) {
        CHECK(tally.waits[i].time == 49 - i / 2);
        CHECK(i % 2 == 0 || tally.waits[i - 1].rank < tally.waits[i].rank);
    }
}

int main(void)
{
    RUN(merging_does_not_depend_on_the_parts);
    RUN(the_mean_survives_sums_of_more_than_64_bits);
    RUN(the_lowest_blocked_ranks_are_kept_in_order);
    RUN(failures_come_before_what_waits);
    RUN(the_longest_waits_are_kept);
    return wf_test_done();
}
