/* SPDX-License-Identifier: Apache-2.0 */
#include "run/document/document.h"

#include "base/result/result.h"
#include "model/ranks/ranks.h"
#include "program/ops/op.h"
#include "run/document/efficiency.h"

#include "harness/wf_test.h"

#include <stdlib.h>
#include <string.h>

static const struct wf_document_job described[] = {{.first = 0}, {.first = 4, .start = 500}};
static const struct wf_document_jobs one_job = {.n = 1, .of = described};
static const struct wf_document_jobs two_jobs = {.n = 2, .of = described};

/* The tally of two jobs. */
struct both {
    struct wf_ranks_tally tally;
    struct wf_job_tally jobs[2];
};

static void finish(struct wf_ranks_tally *tally, uint32_t job, int64_t time, int64_t compute)
{
    wf_stat_add(&tally->all.finish, time);
    wf_stat_add(&tally->all.compute, compute);
    if (tally->at.jobs != 0) {
        wf_stat_add(&wf_tally_edit_job(tally, job)->finish, time);
        wf_stat_add(&wf_tally_edit_job(tally, job)->compute, compute);
    }
}

static struct wf_ranks_tally finished_tally(void)
{
    struct wf_ranks_tally tally = {.unfinished = 0};

    tally.all.messages = 6;
    tally.all.bytes = 600;
    finish(&tally, 0, 1000, 500);
    finish(&tally, 0, 2001, 700);
    wf_stat_add(&tally.all.wait[WF_IN_RECV], 40);
    wf_stat_add(&tally.all.wait[WF_IN_COLLECTIVE], 2);
    wf_stat_add(&tally.all.waits, 42);
    wf_stat_add(&tally.latency, 70);
    wf_stat_add(&tally.latency, 30);
    return tally;
}

/* The same of two jobs; the second has done nothing. */
static struct both both_tallies(void)
{
    struct both both = {.tally = finished_tally()};

    both.jobs[0] = both.tally.all;
    both.tally.at =
        (struct wf_tally_sections){.jobs = offsetof(struct both, jobs), .n_jobs = 2};
    return both;
}

static const struct wf_value *item(const struct wf_value *result, const char *path, int i)
{
    const struct wf_value *v = wf_doc_find(result, path);

    v = v != NULL ? v->first : NULL;
    while (v != NULL && i-- > 0) {
        v = v->next;
    }
    return v;
}

static void a_finished_replay_is_a_prediction(void)
{
    const struct wf_run run = {.time = 1900, .digest = UINT64_C(0xabc)};
    const struct wf_ranks_tally tally = finished_tally();
    struct wf_value *result = wf_doc_new();
    struct wf_err err;

    CHECK(wf_document_replay(result, &run, &one_job, &tally, false, &err) == WF_OK);
    CHECK(strcmp(wf_doc_get_text(result, "status", ""), WF_RESULT_COMPLETED) == 0);
    CHECK_U64(wf_doc_get_count(result, "predicted_time_ps", 0), 2001);
    CHECK_U64(wf_doc_get_count(result, "ranks.finish_ps.min", 0), 1000);
    CHECK_U64(wf_doc_get_count(result, "ranks.finish_ps.mean", 0), 1500);
    CHECK_U64(wf_doc_get_count(result, "ranks.receive_wait_ps.max", 0), 40);
    CHECK_U64(wf_doc_get_count(result, "ranks.collective_wait_ps.max", 0), 2);
    CHECK_U64(wf_doc_get_count(result, "ranks.wait_ps.max", 0), 42);
    /* One rank was idle for 1001, the other for 0. */
    CHECK_U64(wf_doc_get_count(result, "ranks.idle_ps.min", 9), 0);
    CHECK_U64(wf_doc_get_count(result, "ranks.idle_ps.mean", 0), 500);
    CHECK_U64(wf_doc_get_count(result, "ranks.idle_ps.max", 0), 1001);
    CHECK_U64(wf_doc_get_count(result, "messages", 0), 6);
    CHECK_U64(wf_doc_get_count(result, "message_latency_ps.min", 0), 30);
    CHECK_U64(wf_doc_get_count(result, "message_latency_ps.mean", 0), 50);
    CHECK_U64(wf_doc_get_count(result, "message_latency_ps.max", 0), 70);
    CHECK(strcmp(wf_doc_get_text(result, "digest", ""), "0000000000000abc") == 0);
    CHECK(wf_doc_find(result, "waiting") == NULL);
    CHECK(wf_doc_find(result, "jobs") == NULL);
    CHECK(wf_doc_find(result, "efficiency") == NULL);
    wf_doc_free(result);
}

static struct wf_blocked waits_for(uint32_t rank, uint32_t peer, int32_t tag)
{
    return (struct wf_blocked){.rank = rank,
                               .on = {.in = WF_BLOCKED_RECV, .peer = peer, .tag = tag}};
}

static void a_deadlock_is_a_failure_that_names_who_waits_for_what(void)
{
    const struct wf_run run = {.time = 1500000};
    struct wf_ranks_tally tally = finished_tally();
    struct wf_value *result = wf_doc_new();
    struct wf_blocked late = waits_for(3, 5, 7), early = waits_for(1, 2, 0);
    struct wf_err err;

    early.on.coll = WF_COLL_BCAST + 1;
    early.on.other = WF_COLL_BARRIER + 1;
    tally.unfinished = 2;
    wf_tally_block(&tally, &late);
    wf_tally_block(&tally, &early);
    CHECK(wf_document_replay(result, &run, &one_job, &tally, false, &err) == WF_ESIM);
    CHECK(strstr(err.text, "deadlocked at 1.500 us") != NULL);
    CHECK(strstr(err.text, "rank 1 waits in bcast for rank 2, which called barrier, 1 more "
                           "waits") != NULL);
    CHECK(strcmp(wf_doc_get_text(result, "status", ""), WF_RESULT_DEADLOCK) == 0);
    CHECK(wf_doc_find(result, "predicted_time_ps") == NULL);
    CHECK_U64(wf_doc_get_count(result, "time_reached_ps", 0), 1500000);
    CHECK_U64(wf_doc_get_count(result, "waiting.count", 0), 2);

    const struct wf_value *second = item(result, "waiting.ranks", 1);
    CHECK_U64(wf_doc_get_count(second, "rank", 0), 3);
    CHECK_U64(wf_doc_get_count(second, "source", 0), 5);
    CHECK_U64(wf_doc_get_count(second, "tag", 0), 7);
    CHECK(strcmp(wf_doc_get_text(second, "waits", ""),
                 "waits for a message from rank 5 with tag 7") == 0);
    wf_doc_free(result);
}

static void failures_are_worded(void)
{
    static const struct {
        struct wf_blocked blocked;
        const char *words;
    } cases[] = {
        {{.rank = 1, .failure = WF_FAILURE_TRUNCATED, .fail_peer = 3},
         "fails at 9 ps: rank 1 got a message from rank 3 that is longer"},
        {{.rank = 1, .failure = WF_FAILURE_UNEXPECTED, .fail_peer = 3},
         "than mpi.unexpected_limit, the last from rank 3"},
        {{.rank = 1, .failure = WF_FAILURE_REQUEST, .fail_peer = 8}, "uses request 8"},
        {{.rank = 1, .failure = WF_FAILURE_OP, .fail_peer = WF_OP_ISEND}, "calls isend with"},
    };
    const struct wf_run run = {.time = 9};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_ranks_tally tally = finished_tally();
        struct wf_value *result = wf_doc_new();
        struct wf_err err;

        tally.unfinished = 1;
        tally.failed = 1;
        wf_tally_block(&tally, &cases[i].blocked);
        CHECK(wf_document_replay(result, &run, &one_job, &tally, false, &err) == WF_ESIM);
        if (strstr(err.text, cases[i].words) == NULL) {
            printf("# %s\n", err.text);
        }
        CHECK(strstr(err.text, cases[i].words) != NULL);
        CHECK(strcmp(wf_doc_get_text(result, "status", ""), WF_RESULT_FAILED) == 0);
        CHECK(wf_doc_find(item(result, "waiting.ranks", 0), "source") == NULL);
        wf_doc_free(result);
    }
}

/* Who fails does not wait. */
static void others_are_counted_by_what_they_do(void)
{
    static const struct {
        uint64_t unfinished, failed;
        const char *words;
    } cases[] = {{2, 0, ", 1 more waits"},
                 {4, 1, ", 3 more wait"},
                 {4, 2, ", 1 more fails, 2 more wait"},
                 {4, 4, ", 3 more fail"}};
    const struct wf_run run = {.time = 9};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_ranks_tally tally = finished_tally();
        struct wf_value *result = wf_doc_new();
        struct wf_err err;

        tally.unfinished = cases[i].unfinished;
        tally.failed = cases[i].failed;
        wf_tally_block(&tally,
                       &(struct wf_blocked){.rank = 1, .on = {.in = WF_BLOCKED_ONE_SIDED}});
        CHECK(wf_document_replay(result, &run, &one_job, &tally, false, &err) == WF_ESIM);
        const char *comma = strchr(err.text, ',');
        CHECK(comma != NULL && strcmp(comma, cases[i].words) == 0);
        wf_doc_free(result);
    }
}

static void messages_that_nobody_received_are_a_failure(void)
{
    const struct wf_run run = {.time = 9};
    struct wf_ranks_tally tally = finished_tally();
    struct wf_value *result = wf_doc_new();
    struct wf_err err;

    tally.unreceived = 2;
    CHECK(wf_document_replay(result, &run, &one_job, &tally, false, &err) == WF_ESIM);
    CHECK(strstr(err.text, "ends with 2 messages that no rank received") != NULL);
    CHECK_U64(wf_doc_get_count(result, "predicted_time_ps", 0), 2001);
    wf_doc_free(result);
}

static void what_is_left_over_is_named(void)
{
    static const struct {
        struct wf_rank_leftover leftover;
        const char *words;
    } cases[] = {
        {{.rank = 5, .what = {.messages = 2, .peer = 4, .tag = 7}},
         "2 messages that no rank received: rank 1 of job 1 did not receive one from rank 0 of "
         "job 1 with tag 7"},
        {{.rank = 3,
          .what = {.messages = 2,
                   .peer = 0,
                   .coll = WF_COLL_BCAST + 1,
                   .root = WF_BLOCKED_NO_ROOT}},
         "rank 3 of job 0 did not receive one of bcast from rank 0 of job 0"},
        {{.rank = 3, .what = {.messages = 2, .peer = 0, .coll = WF_COLL_BCAST + 1, .root = 2}},
         "rank 3 of job 0 did not receive one of bcast with root 2 from rank 0 of job 0"},
        {{.rank = 3,
          .what = {.calls = 1, .peer = WF_MATCH_ANY_SOURCE, .coll = WF_COLL_BCAST + 1}},
         "ends with a collective that not all ranks called: rank 3 of job 0 did not call "
         "bcast"},
    };
    const struct wf_run run = {.time = 9};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_ranks_tally tally = finished_tally(), none = {.unreceived = 0};
        struct wf_value *result = wf_doc_new();
        struct wf_err err;

        wf_tally_leftover(&tally, &cases[i].leftover);
        wf_tally_merge(&none, &tally);
        CHECK(wf_document_replay(result, &run, &two_jobs, &none, false, &err) == WF_ESIM);
        if (strstr(err.text, cases[i].words) == NULL) {
            printf("# %s\n", err.text);
        }
        CHECK(strstr(err.text, cases[i].words) != NULL);
        CHECK(strcmp(wf_doc_get_text(result, "status", ""), WF_RESULT_FAILED) == 0);
        CHECK(wf_doc_find(result, "left_over.what") != NULL);
        wf_doc_free(result);
    }
}

static void an_interrupted_replay_is_no_deadlock(void)
{
    const struct wf_run run = {.time = 10};
    struct wf_ranks_tally tally = finished_tally();
    struct wf_value *result = wf_doc_new();
    struct wf_err err;

    tally.unfinished = 2;
    CHECK(wf_document_replay(result, &run, &one_job, &tally, true, &err) == WF_OK);
    CHECK(strcmp(wf_doc_get_text(result, "status", ""), WF_RESULT_INTERRUPTED) == 0);
    CHECK(wf_doc_find(result, "waiting") == NULL);
    wf_doc_free(result);
}

static void each_job_is_told_by_its_own_numbers(void)
{
    const struct wf_run run = {.time = 9};
    struct both both = both_tallies();
    struct wf_value *result = wf_doc_new();
    struct wf_err err;

    both.tally.all.messages += 10;
    both.jobs[1].messages = 10;
    finish(&both.tally, 1, 1700, 100);
    wf_tally_wait(&both.tally, &(struct wf_waited){60, 5, WF_IN_SEND});
    wf_tally_wait(&both.tally, &(struct wf_waited){80, 3, WF_IN_COLLECTIVE});
    CHECK(wf_document_replay(result, &run, &two_jobs, &both.tally, false, &err) == WF_OK);
    CHECK_U64(wf_doc_get_count(result, "messages", 0), 16);
    CHECK_U64(wf_doc_get_count(result, "ranks.finished", 0), 3);
    CHECK_U64(wf_doc_get_count(item(result, "jobs", 1), "messages", 0), 10);
    CHECK_U64(wf_doc_get_count(item(result, "jobs", 1), "time_ps", 0), 1200);
    CHECK_U64(wf_doc_get_count(item(result, "jobs", 0), "time_ps", 0), 2001);
    CHECK_U64(wf_doc_get_count(item(result, "top_waits", 0), "rank", 9), 3);
    CHECK_U64(wf_doc_get_count(item(result, "top_waits", 0), "job", 9), 0);
    CHECK_U64(wf_doc_get_count(item(result, "top_waits", 1), "rank", 9), 1);
    CHECK_U64(wf_doc_get_count(item(result, "top_waits", 1), "job", 9), 1);
    CHECK(strcmp(wf_doc_get_text(item(result, "top_waits", 1), "in", ""), "send") == 0);
    wf_doc_free(result);

    char name[WF_DOCUMENT_NAME_MAX];
    CHECK(strcmp(wf_document_rank_name(&two_jobs, 3, name), "rank 3 of job 0") == 0);
    CHECK(strcmp(wf_document_rank_name(&two_jobs, 4, name), "rank 0 of job 1") == 0);
}

static void efficiencies_multiply(void)
{
    /* Three quarters of the ranks' time is balanced, of the longest rank's time a fifth is lost
     * to waiting, and on a real network another half. */
    const struct wf_efficiency_times times = {
        .mean_compute = 300, .max_compute = 400, .ideal_time = 500, .time = 1000};
    const struct wf_efficiency_times nothing = {.time = 0};
    const struct wf_efficiency e = wf_efficiency(&times), none = wf_efficiency(&nothing);

    CHECK(e.load_balance == 0.75);
    CHECK(e.serialisation == 0.8);
    CHECK(e.transfer == 0.5);
    CHECK(e.parallel == 0.3);
    CHECK(none.load_balance == 1 && none.transfer == 1 && none.parallel == 1);
}

static void efficiency_is_told_of_all_and_of_each_job(void)
{
    const struct wf_run run = {.time = 9};
    struct both both = both_tallies(), kept = {.tally = {.at = both.tally.at}};
    struct wf_document_jobs jobs = two_jobs;
    struct wf_value *result = wf_doc_new();
    struct wf_err err;

    finish(&both.tally, 1, 1700, 600);
    finish(&kept.tally, 0, 1000, 700);
    finish(&kept.tally, 1, 1100, 600);
    struct wf_ranks_tally *ideal = wf_tally_copy(&kept.tally);
    jobs.ideal = ideal;
    CHECK(wf_document_replay(result, &run, &jobs, &both.tally, false, &err) == WF_OK);
    free(ideal);
    CHECK_U64(wf_doc_get_count(result, "efficiency.ideal_time_ps", 0), 1100);
    CHECK(wf_doc_find(result, "efficiency.load_balance_percent")->real == 85.714);
    const struct wf_value *second = item(result, "jobs", 1);
    CHECK_U64(wf_doc_get_count(second, "efficiency.ideal_time_ps", 0), 600);
    CHECK(wf_doc_find(second, "efficiency.transfer_percent")->real == 50);
    CHECK(wf_doc_find(second, "efficiency.serialisation_percent")->real == 100);
    wf_doc_free(result);
}

int main(void)
{
    RUN(a_finished_replay_is_a_prediction);
    RUN(a_deadlock_is_a_failure_that_names_who_waits_for_what);
    RUN(failures_are_worded);
    RUN(others_are_counted_by_what_they_do);
    RUN(messages_that_nobody_received_are_a_failure);
    RUN(what_is_left_over_is_named);
    RUN(an_interrupted_replay_is_no_deadlock);
    RUN(each_job_is_told_by_its_own_numbers);
    RUN(efficiencies_multiply);
    RUN(efficiency_is_told_of_all_and_of_each_job);
    return wf_test_done();
}
