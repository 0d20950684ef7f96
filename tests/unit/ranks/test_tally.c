/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/tally.h"

#include "harness/wf_test.h"

enum { SEED = 3, CASES = 300, VALUES = 20, MANY_JOBS = 5 };

struct parted {
    struct wf_ranks_tally sums;
    struct wf_job_tally jobs[MANY_JOBS];
};

/* However the values are divided into parts and the parts are merged, the sum is the same. */
static void merging_does_not_depend_on_the_parts(void)
{
    for (uint64_t c = 0; c < CASES; c++) {
        static struct parted whole, part[3];
        memset(&whole, 0, sizeof(whole));
        memset(part, 0, sizeof(part));
        whole.sums.at = (struct wf_tally_sections){.jobs = offsetof(struct parted, jobs),
                                                   .n_jobs = MANY_JOBS};
        part[0].sums.at = part[1].sums.at = part[2].sums.at = whole.sums.at;
        for (uint64_t i = 0; i < VALUES; i++) {
            int64_t value = (int64_t)(wf_test_rand(SEED, c, 2 * i) >> 1);
            uint32_t rank = (uint32_t)(wf_test_rand(SEED, c, 99) % 7 + i * 7);
            const struct wf_blocked blocked = {
                .rank = rank, .failure = i % 3 == 0, .on = {.tag = (int32_t)i}};
            struct parted *to = &part[wf_test_rand(SEED, c, 2 * i + 1) % 3];
            wf_stat_add(&whole.jobs[c % 5].finish, value);
            wf_stat_add(&to->jobs[c % 5].finish, value);
            wf_stat_add(&whole.sums.latency, value / 2);
            wf_stat_add(&to->sums.latency, value / 2);
            wf_tally_block(&whole.sums, &blocked);
            wf_tally_block(&to->sums, &blocked);
            const struct wf_waited waited = {value % 8, rank, (uint32_t)(i % WF_IN_KINDS)};
            wf_tally_wait(&whole.sums, &waited);
            wf_tally_wait(&to->sums, &waited);
            const struct wf_iteration_mark mark = {.job = (uint32_t)(i % 3),
                                                   .number = (uint32_t)(value % 9),
                                                   .is_end = i % 2 == 0};
            struct wf_job_marks *job = &whole.jobs[mark.job].marks;
            struct wf_job_marks *job_of_part = &to->jobs[mark.job].marks;
            wf_marks_pass(&whole.sums.marks, job, &mark, 5, value);
            wf_marks_pass(&to->sums.marks, job_of_part, &mark, 5, value);
            wf_marks_region(job, mark.number, value, value / 3);
            wf_marks_region(job_of_part, mark.number, value, value / 3);
            wf_stat_add(&whole.sums.all.compute, value);
            wf_stat_add(&to->sums.all.compute, value);
            whole.jobs[1].messages += i;
            to->jobs[1].messages += i;
        }
        uint64_t first = c % 3;
        wf_tally_merge_all(&part[first], &part[(first + 1) % 3]);
        wf_tally_merge_all(&part[first], &part[(first + 2) % 3]);
        CHECK(memcmp(&whole, &part[first], sizeof(whole)) == 0);
    }
}

/* Against a table of all times of all iterations. */
static void iterations_are_the_first_ones_and_the_last(void)
{
    enum { KEPT = 20, JOBS = 3, PASSED = 60 };

    for (uint64_t c = 0; c < CASES; c++) {
        struct wf_marks marks;
        struct wf_job_marks jobs[JOBS];
        struct wf_stat all[JOBS][2][PASSED];
        uint32_t last[JOBS][2] = {{0}};
        uint64_t n = 0, n_listed = 0;

        memset(&marks, 0, sizeof(marks));
        memset(jobs, 0, sizeof(jobs));
        memset(all, 0, sizeof(all));
        for (uint64_t i = 0; i < 200; i++) {
            uint64_t r = wf_test_rand(SEED, c, i);
            struct wf_iteration_mark mark = {.job = (uint32_t)(r % JOBS),
                                             .number = (uint32_t)(r / JOBS % (1 + c % PASSED)),
                                             .is_end = r >> 40 & 1};
            int64_t time = (int64_t)(r >> 44);

            wf_marks_pass(&marks, &jobs[mark.job], &mark, KEPT, time);
            wf_stat_add(&all[mark.job][mark.is_end][mark.number], time);
            last[mark.job][mark.is_end] = mark.number > last[mark.job][mark.is_end]
                                              ? mark.number
                                              : last[mark.job][mark.is_end];
        }
        for (uint32_t job = 0; job < JOBS; job++) {
            for (uint32_t k = 0; k < 2 * KEPT; k++) {
                const struct wf_stat *stat = &all[job][k % 2][k / 2];
                n += stat->n > 0;
                if (stat->n > 0) {
                    const struct wf_iteration_mark *mark = &marks.list[n_listed++];
                    CHECK(mark->job == job && mark->number == k / 2 && mark->is_end == k % 2);
                    CHECK(memcmp(&mark->time, stat, sizeof(*stat)) == 0);
                }
            }
            for (uint32_t e = 0; e < 2; e++) {
                const struct wf_iteration_mark *mark = &jobs[job].last[e];
                CHECK(memcmp(&mark->time, &all[job][e][last[job][e]], sizeof(mark->time)) == 0);
            }
        }
        CHECK_U64(marks.n, n);
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
    struct wf_ranks_tally tally;

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
    struct wf_ranks_tally tally;

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
    struct wf_ranks_tally tally;

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
    RUN(iterations_are_the_first_ones_and_the_last);
    RUN(the_mean_survives_sums_of_more_than_64_bits);
    RUN(the_lowest_blocked_ranks_are_kept_in_order);
    RUN(failures_come_before_what_waits);
    RUN(the_longest_waits_are_kept);
    return wf_test_done();
}
