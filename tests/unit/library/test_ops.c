/* SPDX-License-Identifier: Apache-2.0 */
/* Traces op by op, as an external program writes and reads them. */
#include <weft/trace.h>

#include "harness/wf_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 3, ROUNDS = 5 };

static struct weft_op op_of(const char *kind)
{
    return (struct weft_op){.size = sizeof(struct weft_op), .kind = weft_op_kind(kind)};
}

/* A ring of messages around a wait, in a region, with an allreduce of a part of the ranks. */
static enum weft_code write_rank(void *arg, struct weft_trace_writer *writer, uint32_t rank,
                                 struct weft_error *error)
{
    static const uint32_t members[] = {2, 0};
    const struct weft_group group = {
        .size = sizeof(group), .id = 7, .n = 2, .members = members};
    struct weft_op begin = op_of("region_begin"), compute = op_of("compute");
    struct weft_op send = op_of("isend"), recv = op_of("recv"), wait = op_of("wait");
    struct weft_op sum = op_of("allreduce");

    begin.tag = 1;
    compute.duration_ps = 1000000;
    send.peer = (rank + 1) % RANKS;
    send.bytes = recv.bytes = 4096;
    recv.peer = (rank + RANKS - 1) % RANKS;
    sum.comm = 4;
    sum.bytes = 8;
    sum.reduction = (uint32_t)weft_op_reduction("sum");
    enum weft_code code = weft_trace_name(writer, WEFT_NAME_REGION, 1, "around", error);
    const struct weft_op *const ops[] = {&begin, &compute, &send, &recv, &wait};
    for (int i = 0; i < ROUNDS * 5 && code == WEFT_OK; i++) {
        code = weft_trace_add(writer, rank, ops[i % 5], error);
    }
    if (code == WEFT_OK && rank != 1) {
        code = weft_trace_group(writer, rank, 4, &group, error);
    }
    return code == WEFT_OK && rank != 1 ? weft_trace_add(writer, rank, &sum, error) : code;
}

static int64_t predict(struct weft_scenario *scenario)
{
    struct weft_result *result = NULL;
    struct weft_error error = {.code = WEFT_OK};

    enum weft_code code = weft_run(scenario, &result, &error);
    if (code != WEFT_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
    }
    int64_t time = result != NULL ? weft_result_predicted_time_ps(result) : -1;
    weft_result_free(result);
    return time;
}

static void a_trace_is_written_and_read(void)
{
    struct weft_trace_writer *writer = NULL;
    struct weft_trace *trace = NULL;
    struct weft_error error;

    CHECK(weft_trace_create("mine.weft", RANKS, true, &writer, &error) == WEFT_OK);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        CHECK(write_rank(NULL, writer, rank, &error) == WEFT_OK);
    }
    CHECK(weft_trace_finish(writer, &error) == WEFT_OK);

    CHECK(weft_trace_open("mine.weft", NULL, &trace, &error) == WEFT_OK);
    CHECK(weft_trace_ranks(trace) == RANKS);
    struct weft_op op = {.size = sizeof(op)};
    uint64_t bytes = 0, n = 0;
    while (weft_trace_next(trace, 1, &op)) {
        bytes += strcmp(weft_op_name(op.kind), "isend") == 0 ? op.bytes : 0;
        n++;
    }
    CHECK(bytes == ROUNDS * 4096 && n == ROUNDS * 5);
    CHECK(!weft_trace_next(trace, RANKS, &op));
    CHECK(weft_trace_check(trace, &error) == WEFT_OK);
    CHECK(strcmp(weft_trace_name_of(trace, WEFT_NAME_REGION, 1), "around") == 0);
    weft_trace_close(trace);
}

static void callbacks_are_a_program(void)
{
    struct weft_scenario *scenario = weft_scenario_new();
    const struct weft_program program = {
        .size = sizeof(program), .ranks = RANKS, .write = write_rank};

    CHECK(weft_scenario_program(scenario, &program, NULL) == WEFT_OK);
    CHECK(weft_scenario_program(scenario, &program, NULL) == WEFT_OK); /* replaces the first */
    int64_t time = predict(scenario);
    CHECK(weft_scenario_set(scenario, "source", "mine.weft", NULL) == WEFT_OK);
    CHECK(time > ROUNDS * INT64_C(1000000) && predict(scenario) == time);
    weft_scenario_free(scenario);
}

static enum weft_code fail_at_one(void *arg, struct weft_trace_writer *writer, uint32_t rank,
                                  struct weft_error *error)
{
    const enum weft_code *code = arg;

    if (rank == 1) {
        (void)snprintf(error->text, sizeof(error->text), "the disk is on fire");
        return *code;
    }
    return WEFT_OK;
}

static void callbacks_may_fail(void)
{
    struct weft_scenario *scenario = weft_scenario_new();
    struct weft_error error;
    enum weft_code code = WEFT_BUG;
    struct weft_program program = {
        .size = sizeof(program), .ranks = RANKS, .write = fail_at_one, .arg = &code};

    CHECK(weft_scenario_program(scenario, &program, &error) == WEFT_INPUT);
    CHECK(strcmp(error.text, "rank 1 of the program: the disk is on fire") == 0);
    code = WEFT_INTERRUPTED;
    CHECK(weft_scenario_program(scenario, &program, &error) == WEFT_INTERRUPTED);
    program.ranks = 0;
    CHECK(weft_scenario_program(scenario, &program, &error) == WEFT_USAGE);
    program.size = 0;
    CHECK(weft_scenario_program(scenario, &program, &error) == WEFT_USAGE);
    weft_scenario_free(scenario);
}

/* Callbacks that do what they must not: tell nobody of a refused op, or end the trace. */
static enum weft_code misbehave(void *arg, struct weft_trace_writer *writer, uint32_t rank,
                                struct weft_error *error)
{
    const struct weft_op odd = {.size = sizeof(odd), .kind = -7};
    const int *how = arg;

    if (*how == 0) {
        (void)weft_trace_add(writer, rank, &odd, error);
    } else if (*how == 1) {
        weft_trace_discard(writer);
    } else {
        (void)weft_trace_finish(writer, error);
    }
    return WEFT_OK;
}

static void callbacks_may_misbehave(void)
{
    static const char *const says[] = {
        "rank 0 of the program: an op has kind -7, which weft_op_kind() never returns",
        "rank 0 of the program: its callback failed",
        "rank 0 of the program: the callback of a program does not end its trace"};
    struct weft_scenario *scenario = weft_scenario_new();
    struct weft_error error;

    for (int how = 0; how < 3; how++) {
        const struct weft_program program = {
            .size = sizeof(program), .ranks = 2, .write = misbehave, .arg = &how};
        CHECK(weft_scenario_program(scenario, &program, &error) == WEFT_INPUT);
        CHECK(strcmp(error.text, says[how]) == 0);
    }
    weft_scenario_free(scenario);
}

/* A new trace refuses the op by this code, and everything after it. */
static void refuses(uint32_t rank, const struct weft_op *op, enum weft_code code)
{
    const struct weft_op fine = {
        .size = sizeof(fine), .kind = weft_op_kind("compute"), .duration_ps = 1};
    struct weft_trace_writer *writer = NULL;
    struct weft_error error;

    CHECK(weft_trace_create("x.weft", 2, false, &writer, &error) == WEFT_OK);
    CHECK(weft_trace_add(writer, rank, op, &error) == code);
    CHECK(weft_trace_add(writer, 0, &fine, &error) == WEFT_INPUT);
    CHECK(weft_trace_finish(writer, &error) == WEFT_INPUT);
    CHECK(access("x.weft", F_OK) != 0);
}

static void what_makes_no_sense_is_refused(void)
{
    struct weft_trace_writer *writer = NULL;
    struct weft_trace *trace = NULL;
    const struct weft_convert four = {.size = sizeof(four), .ranks = 4};
    struct weft_error error;
    struct weft_op far = op_of("send"), odd = op_of("send"), lost = op_of("wait");
    static const uint32_t members[] = {1, 2};
    const struct weft_group group = {
        .size = sizeof(group), .id = 1, .n = 2, .members = members};

    far.peer = 9;
    odd.kind = weft_op_kind("teleport");
    lost.request = 3;
    CHECK(weft_trace_create("x.pdf", 2, false, &writer, &error) == WEFT_USAGE &&
          writer == NULL);
    CHECK(weft_trace_create("x.weft", 0, false, &writer, &error) == WEFT_USAGE);
    refuses(2, &far, WEFT_USAGE);
    refuses(0, &far, WEFT_INPUT);
    refuses(0, &odd, WEFT_INPUT);
    refuses(0, &lost, WEFT_INPUT);
    CHECK(weft_trace_create("x.weft", 2, false, &writer, &error) == WEFT_OK);
    CHECK(weft_trace_group(writer, 0, 1, &group, &error) == WEFT_USAGE); /* rank 2 of 2 */
    weft_trace_discard(writer);
    CHECK(weft_trace_create("x.weft", 2, false, &writer, &error) == WEFT_OK);
    CHECK(weft_trace_name(writer, (enum weft_name)9, 1, "?", &error) == WEFT_USAGE);
    weft_trace_discard(writer);
    CHECK(access("x.weft", F_OK) != 0);
    CHECK(weft_trace_open("gen:ring", &four, &trace, &error) == WEFT_OK);
    far.size = 0;
    CHECK(!weft_trace_next(trace, 0, &far) && weft_trace_check(trace, &error) == WEFT_USAGE);
    weft_trace_close(trace);
    CHECK(weft_trace_open("nothing.weft", NULL, &trace, &error) == WEFT_INPUT && trace == NULL);
    weft_trace_discard(NULL);
    weft_trace_close(NULL);
}

int main(void)
{
    char directory[] = "/tmp/weft-test-XXXXXX";

    if (mkdtemp(directory) == NULL || chdir(directory) != 0) {
        return 1;
    }
    RUN(a_trace_is_written_and_read);
    RUN(callbacks_are_a_program);
    RUN(callbacks_may_fail);
    RUN(callbacks_may_misbehave);
    RUN(what_makes_no_sense_is_refused);
    (void)unlink("mine.weft");
    return chdir("/") == 0 && rmdir(directory) == 0 ? wf_test_done() : 1;
}
