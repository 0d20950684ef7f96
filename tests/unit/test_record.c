/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/record.h"

#include "replay/tally.h"
#include "result/result.h"

#include "wf_test.h"

#include <string.h>

static struct wf_replay_tally finished_tally(void)
{
    struct wf_replay_tally tally = {.messages = 6, .bytes = 600};

    wf_stat_add(&tally.finish, 1000);
    wf_stat_add(&tally.finish, 2001);
    wf_stat_add(&tally.compute, 500);
    wf_stat_add(&tally.wait, 0);
    wf_stat_add(&tally.latency, 70);
    wf_stat_add(&tally.latency, 30);
    return tally;
}

static void a_finished_replay_is_a_prediction(void)
{
    const struct wf_run run = {.time = 1900, .digest = UINT64_C(0xabc)};
    const struct wf_replay_tally tally = finished_tally();
    struct wf_value *result = wf_doc_new();
    struct wf_err err;

    CHECK(wf_record_replay(result, &run, &tally, false, &err) == WF_OK);
    CHECK(strcmp(wf_doc_get_text(result, "status", ""), WF_RESULT_COMPLETED) == 0);
    CHECK_U64(wf_doc_get_count(result, "predicted_time_ps", 0), 2001);
    CHECK_U64(wf_doc_get_count(result, "ranks.finish_ps.min", 0), 1000);
    CHECK_U64(wf_doc_get_count(result, "ranks.finish_ps.mean", 0), 1500);
    CHECK_U64(wf_doc_get_count(result, "messages", 0), 6);
    CHECK_U64(wf_doc_get_count(result, "message_latency_ps.min", 0), 30);
    CHECK_U64(wf_doc_get_count(result, "message_latency_ps.mean", 0), 50);
    CHECK_U64(wf_doc_get_count(result, "message_latency_ps.max", 0), 70);
    CHECK(strcmp(wf_doc_get_text(result, "digest", ""), "0000000000000abc") == 0);
    CHECK(wf_doc_find(result, "waiting") == NULL);
    wf_doc_free(result);
}

static void a_deadlock_is_a_failure_that_names_who_waits_for_what(void)
{
    const struct wf_run run = {.time = 1500000};
    struct wf_replay_tally tally = finished_tally();
    struct wf_value *result = wf_doc_new();
    struct wf_err err;

    tally.unfinished = 2;
    wf_tally_block(&tally, &(struct wf_blocked){.rank = 3, .waits = 1, .source = 5, .tag = 7});
    wf_tally_block(&tally,
                   &(struct wf_blocked){.rank = 1, .waits = 1, .source = 2, .collective = 1});
    CHECK(wf_record_replay(result, &run, &tally, false, &err) == WF_ESIM);
    CHECK(strstr(err.text, "deadlocked at 1.500 us") != NULL);
    CHECK(strstr(err.text, "rank 1 waits in a collective for rank 2, 1 more waits") != NULL);
    CHECK(strcmp(wf_doc_get_text(result, "status", ""), WF_RESULT_DEADLOCK) == 0);
    CHECK(wf_doc_find(result, "predicted_time_ps") == NULL);
    CHECK_U64(wf_doc_get_count(result, "time_reached_ps", 0), 1500000);
    CHECK_U64(wf_doc_get_count(result, "waiting.count", 0), 2);

    const struct wf_value *second = wf_doc_find(result, "waiting.ranks")->first->next;
    CHECK_U64(wf_doc_get_count(second, "rank", 0), 3);
    CHECK_U64(wf_doc_get_count(second, "source", 0), 5);
    CHECK_U64(wf_doc_get_count(second, "tag", 0), 7);
    CHECK(strcmp(wf_doc_get_text(second, "waits", ""),
                 "waits for a message from rank 5 with tag 7") == 0);
    wf_doc_free(result);
}

static void an_interrupted_replay_is_no_deadlock(void)
{
    const struct wf_run run = {.time = 10};
    struct wf_replay_tally tally = finished_tally();
    struct wf_value *result = wf_doc_new();
    struct wf_err err;

    tally.unfinished = 2;
    CHECK(wf_record_replay(result, &run, &tally, true, &err) == WF_OK);
    CHECK(strcmp(wf_doc_get_text(result, "status", ""), WF_RESULT_INTERRUPTED) == 0);
    CHECK(wf_doc_find(result, "waiting") == NULL);
    wf_doc_free(result);
}

int main(void)
{
    RUN(a_finished_replay_is_a_prediction);
    RUN(a_deadlock_is_a_failure_that_names_who_waits_for_what);
    RUN(an_interrupted_replay_is_no_deadlock);
    return wf_test_done();
}
