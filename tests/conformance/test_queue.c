/* SPDX-License-Identifier: Apache-2.0 */
/* What every scheduling policy must do, whatever the jobs. That jobs which do not fit or do not wait
 * are started, and that some never start, ends the simulation with words. */
#include "model/queue/policy.h"

#include "model/queue/nodes.h"

#include "harness/wf_test.h"

enum { JOBS = 60, ROUNDS = 40, MINUTE = 60 * 1000000, MOST_NODES = 64 };

/* The policy behind watch(), and what it changed that it must not. */
static struct {
    const struct wf_queue_policy *policy;
    int changes;
} watched;

/* Lets the policy schedule, and compares what it may not change. */
static void watch(struct wf_queue_sim *sim)
{
    static struct wf_queue_job before[JOBS];
    const int64_t now = sim->now;
    const size_t n_waiting = sim->n_waiting;

    memcpy(before, sim->jobs, sizeof(before));
    watched.policy->schedule(sim);
    watched.changes += memcmp(before, sim->jobs, sizeof(before)) != 0 || sim->now != now ||
                       sim->n_waiting != n_waiting;
}

/* Jobs of all sizes in bursts, some longer than they say, some equal. */
static void make_jobs(uint64_t round, uint32_t n_nodes, struct wf_queue_job *jobs)
{
    int64_t at = 0;

    for (uint64_t i = 0; i < JOBS; i++) {
        const uint64_t *draw = (const uint64_t[]){
            wf_test_rand(round, 1, i), wf_test_rand(round, 2, i), wf_test_rand(round, 3, i)};
        at += draw[0] % 3 == 0 ? (int64_t)(draw[0] % 40) * MINUTE : 0;
        jobs[i] = (struct wf_queue_job){.submit = i > 0 ? at : 0,
                                        .run = (int64_t)(draw[1] % 50) * MINUTE,
                                        .requested = (int64_t)(1 + draw[2] % 60) * MINUTE,
                                        .nodes = 1 + (uint32_t)(draw[1] / 64 % n_nodes),
                                        .priority = (int32_t)(draw[2] / 64 % 5)};
    }
}

/* That no node has two jobs at once. */
static bool is_apart(const struct wf_queue_result *result)
{
    static int64_t until[MOST_NODES];

    memset(until, 0, sizeof(until));
    for (size_t i = 0; i < result->n_spans; i++) { /* by start */
        const struct wf_queue_span *span = &result->spans[i];
        for (size_t r = span->first_range; r < span->first_range + span->n_ranges; r++) {
            for (uint32_t node = result->ranges[r].first; node <= result->ranges[r].last;
                 node++) {
                if (until[node] > span->start) {
                    return false;
                }
                until[node] = span->end;
            }
        }
    }
    return true;
}

static void run_round(const struct wf_queue_policy *policy, uint64_t round)
{
    static struct wf_queue_job items[JOBS];
    const struct wf_queue_policy watching = {
        .name = policy->name, .summary = "", .before = policy->before, .schedule = watch};
    const struct wf_queue_jobs jobs = {.items = items, .n = JOBS};
    struct wf_failure_class failures = {.law = NULL};
    struct wf_queue_config config = {
        .jobs = &jobs,
        .n_nodes = round % 4 == 0 ? 1 : (uint32_t)(round % MOST_NODES + 1),
        .policy = &watching,
        .place = wf_queue_places()[round % 2],
        .seed = round,
        .nics = 1,
        .nic_group = 1,
        .keep_nodes = true};
    struct wf_queue_result first, again;
    struct wf_err err;

    if (round % 3 == 0) { /* nodes fail */
        CHECK(wf_failure_parse("mtbf=2d,repair=1h", &failures, &err) == WF_OK);
        failures.count = config.n_nodes;
        config.failures = &failures;
        config.retries = 3;
    }
    watched.policy = policy;
    watched.changes = 0;
    make_jobs(round, config.n_nodes, items);
    wf_queue_run(&config, &first);
    config.policy = policy;
    wf_queue_run(&config, &again);
    CHECK(watched.changes == 0);
    CHECK(is_apart(&first));
    for (size_t i = 0; i < JOBS; i++) {
        const struct wf_queue_outcome *job = &first.outcomes[i];
        const int64_t run =
            items[i].run < items[i].requested ? items[i].run : items[i].requested;
        CHECK(job->start >= items[i].submit && job->end >= job->start);
        CHECK(job->failures > 0 || job->ran == run);
        CHECK(job->start == again.outcomes[i].start && job->end == again.outcomes[i].end);
    }
    wf_queue_result_fini(&first);
    wf_queue_result_fini(&again);
    wf_failure_fini(&failures);
}

static void every_job_runs_once_on_free_nodes(void)
{
    for (const struct wf_queue_policy *const *p = wf_queue_policies(); *p != NULL; p++) {
        for (uint64_t round = 0; wf_test_wants((*p)->name) && round < ROUNDS; round++) {
            run_round(*p, round);
        }
    }
}

/* An order that contradicts itself would leave the queue in any order. */
static void the_order_of_the_queue_is_one(void)
{
    struct wf_queue_job jobs[JOBS];

    make_jobs(1, MOST_NODES, jobs);
    for (const struct wf_queue_policy *const *p = wf_queue_policies(); *p != NULL; p++) {
        for (size_t i = 0; wf_test_wants((*p)->name) && (*p)->before != NULL && i < JOBS; i++) {
            CHECK(!(*p)->before(&jobs[i], &jobs[i]));
            for (size_t k = 0; k < i; k++) {
                bool up = (*p)->before(&jobs[i], &jobs[k]);
                CHECK(!up || !(*p)->before(&jobs[k], &jobs[i]));
                for (size_t m = 0; up && m < JOBS; m++) {
                    CHECK(!(*p)->before(&jobs[k], &jobs[m]) ||
                          (*p)->before(&jobs[i], &jobs[m]));
                }
            }
        }
    }
}

/* EASY as its definition has it: every job that waits is looked at. */
static void plain_easy(struct wf_queue_sim *sim)
{
    size_t head = wf_queue_start_first(sim), i = 0;

    if (head == sim->n_waiting) {
        return;
    }
    uint32_t free = sim->free;
    while (free < wf_queue_waiting(sim, head)->nodes) {
        free += sim->uses[i++].nodes;
    }
    int64_t time = i > 0 ? sim->uses[i - 1].expected : sim->now;
    for (; i < sim->n_uses && sim->uses[i].expected == time; i++) {
        free += sim->uses[i].nodes;
    }
    uint32_t extra = free - wf_queue_waiting(sim, head)->nodes;
    for (size_t place = head + 1; place < sim->n_waiting; place++) {
        const struct wf_queue_job *job = wf_queue_waiting(sim, place);
        bool ends = sim->now + job->requested <= time;
        if (job->nodes <= sim->free && (ends || job->nodes <= extra)) {
            extra -= ends ? 0 : job->nodes;
            wf_queue_start(sim, place);
        }
    }
}

/* Many jobs at once, and some that come later or fail: the same starts as by a plain scan. */
static void many_jobs_start_as_by_a_plain_scan(void)
{
    enum { MANY = 3000 };
    static struct wf_queue_job items[MANY];
    const struct wf_queue_jobs jobs = {.items = items, .n = MANY};
    struct wf_failure_class failures = {.law = NULL};
    struct wf_err err;

    CHECK(wf_failure_parse("mtbf=200d,repair=1h", &failures, &err) == WF_OK);
    failures.count = MOST_NODES;
    for (uint64_t i = 0; i < MANY; i++) {
        uint64_t draw = wf_test_rand(7, 1, i), size = wf_test_rand(7, 2, i) % MOST_NODES;
        items[i] =
            (struct wf_queue_job){.submit = i < MANY / 2 ? 0 : (int64_t)(i - MANY / 2) * MINUTE,
                                  .run = (int64_t)(draw % 50) * MINUTE,
                                  .requested = (int64_t)(1 + draw / 64 % 60) * MINUTE,
                                  .nodes = 1 + (uint32_t)(i % 7 == 0 ? size / 8 : size),
                                  .priority = (int32_t)(draw / 4096 % 5)};
    }
    for (const struct wf_queue_policy *const *p = wf_queue_policies(); *p != NULL; p++) {
        const struct wf_queue_policy plain = {
            .name = "plain", .summary = "", .before = (*p)->before, .schedule = plain_easy};
        for (int fail = 0; fail < 2 && (*p)->schedule == wf_queue_easy; fail++) {
            struct wf_queue_config config = {.jobs = &jobs,
                                             .n_nodes = MOST_NODES,
                                             .policy = *p,
                                             .place = wf_queue_places()[fail],
                                             .failures = fail == 1 ? &failures : NULL,
                                             .retries = 3,
                                             .nics = 1,
                                             .nic_group = 1};
            struct wf_queue_result quick, slow;
            wf_queue_run(&config, &quick);
            config.policy = &plain;
            wf_queue_run(&config, &slow);
            for (size_t i = 0; i < MANY; i++) {
                CHECK(quick.outcomes[i].start == slow.outcomes[i].start &&
                      quick.outcomes[i].end == slow.outcomes[i].end);
            }
            wf_queue_result_fini(&quick);
            wf_queue_result_fini(&slow);
        }
    }
    wf_failure_fini(&failures);
}

int main(void)
{
    RUN(many_jobs_start_as_by_a_plain_scan);
    RUN(every_job_runs_once_on_free_nodes);
    RUN(the_order_of_the_queue_is_one);
    return wf_test_done();
}
