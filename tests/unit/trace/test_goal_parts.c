/* SPDX-License-Identifier: Apache-2.0 */
/* A GOAL schedule that several workers read is what one would read, and so are its errors. */
#include "harness/wf_test.h"
#include "program/trace/facts.h"
#include "program/trace/goal/divide.h"
#include "program/trace/kit/records.h"
#include "program/trace/kit/workers.h"
#include "program/trace/reader.h"

#include <inttypes.h>
#include <unistd.h>

enum { RANKS = 3000, STEPS = 20 };

static char path[] = "/tmp/weft-goal-parts-XXXXXX";

/* Rank r sends to the next and receives from the one before, STEPS times. `before` is written
 * before every rank from `from` on. */
static void write_schedule(const char *before, uint32_t from)
{
    FILE *file = fopen(path, "w");

    (void)fprintf(file, "num_ranks %d\n", RANKS);
    for (uint32_t r = 0; r < RANKS; r++) {
        (void)fprintf(file, "%srank %u {\n", r >= from ? before : "", r);
        for (uint32_t i = 0; i < STEPS; i++) {
            (void)fprintf(file, "a%u: calc %u\nb%u: send %ub to %u tag %u\n", i, r + i, i,
                          r * 8 + i, (r + 1) % RANKS, i);
            (void)fprintf(file, "c%u: recv %ub from %u tag %u\n", i,
                          (r + RANKS - 1) % RANKS * 8 + i, (r + RANKS - 1) % RANKS, i);
            (void)fprintf(file, "b%u requires a%u\nc%u irequires a%u\n", i, i, i, i);
        }
        (void)fprintf(file, "}\n");
    }
    (void)fclose(file);
}

/* Every task is where it belongs, with its time, its message and its receiver. */
static void check_graph(const struct wf_graph *graph)
{
    CHECK_U64(graph->n_pes, RANKS);
    CHECK_U64(graph->messages_expected, (uint64_t)RANKS * STEPS);
    for (uint32_t r = 0; r < RANKS; r++) {
        /* The start of a calc is a task of its own. */
        CHECK_U64(graph->ops->n_tasks(graph, r), 4 * STEPS);
        for (uint32_t i = 0; i < STEPS; i++) {
            struct wf_task task;
            struct wf_task_send send;
            graph->ops->task(graph, r, 4 * i + 1, &task);
            CHECK_U64((uint64_t)task.duration, (uint64_t)(r + i) * 1000);
            graph->ops->task(graph, r, 4 * i + 2, &task);
            CHECK_U64(task.n_sends, 1);
            graph->ops->send(graph, &task, 0, &send);
            CHECK_U64(send.bytes, r * 8 + i);
            CHECK_U64(send.pe, (r + 1) % RANKS);
            CHECK_U64(send.id, 4 * i + 3);
            CHECK_U64(graph->ops->needs(graph, r, 4 * i + 3).messages, 1);
        }
    }
}

static void open_schedule(struct wf_trace *trace)
{
    struct wf_err err;

    CHECK(wf_trace_open(path, trace, &err) == WF_OK);
}

static void a_schedule_in_parts(void)
{
    struct wf_goal_part parts[WF_TRACE_WORKERS_MAX];
    struct wf_trace trace = {.graph = NULL};
    struct wf_trace_facts facts;

    write_schedule("", 0);
    CHECK(wf_goal_divide(path, 0, parts) == wf_trace_workers(RANKS));
    open_schedule(&trace);
    CHECK(trace.graph != NULL);
    check_graph(trace.graph);
    struct wf_record_count *totals = wf_records_totals(trace.records);
    CHECK_STR(wf_records_at(trace.records, 0), "calc");
    CHECK_U64(totals[0].n, (uint64_t)RANKS * STEPS);
    CHECK_STR(wf_records_at(trace.records, 4), "irequires");
    CHECK_U64(totals[4].n, (uint64_t)RANKS * STEPS);
    free(totals);
    wf_trace_graph_facts_init(&facts, trace.graph);
    CHECK_U64(facts.all.n_messages, (uint64_t)RANKS * STEPS);
    CHECK_U64(facts.n_message_needs, (uint64_t)RANKS * STEPS);
    CHECK_U64(facts.ranks[7].n_messages, STEPS);
    wf_trace_facts_fini(&facts);
    wf_trace_close(&trace);
}

/* What looks like the first line of a rank is in a comment: wherever the file is divided, it is
 * within one. */
static void comments_that_look_like_ranks(void)
{
    struct wf_trace trace = {.graph = NULL};
    char *comment = malloc(9 << 10);
    size_t n = 0;

    CHECK(comment != NULL);
    n += (size_t)sprintf(comment + n, "/*\n");
    while (n < 8 << 10) {
        n += (size_t)sprintf(comment + n, "rank 3 {\n");
    }
    (void)sprintf(comment + n, "*/ // rank 4 {\n");
    write_schedule(comment, 0);
    free(comment);
    open_schedule(&trace);
    CHECK(trace.graph != NULL);
    check_graph(trace.graph);
    wf_trace_close(&trace);
}

/* Opening fails with this text; of faults in several parts, it is that of the first. */
static void fails(const char *before, uint32_t from, const char *text)
{
    struct wf_trace trace;
    struct wf_err err;

    write_schedule(before, from);
    CHECK(wf_trace_open(path, &trace, &err) == WF_EINVAL);
    if (strstr(err.text, text) == NULL) {
        printf("# expected '%s', found '%s'\n", text, err.text);
    }
    CHECK(strstr(err.text, text) != NULL);
}

static void errors_are_the_same(void)
{
    enum { FROM = 1000, LINES = 5 * STEPS + 2 };
    char text[100];

    (void)snprintf(text, sizeof(text), "line %d (", 1 + FROM * LINES + 1);
    fails("what is this\n", FROM, text);
    fails("what is this\n", FROM, "expected 'rank', found 'what'");
    (void)snprintf(text, sizeof(text), "line %d (", 1 + (RANKS - 1) * LINES + 1);
    fails("rank 2 {}\n", RANKS - 1, text);
    fails("rank 2 {}\n", RANKS - 1, "rank 2 begins for the second time");
    fails("/* without end ", RANKS - 1, "a comment without end");
}

static void missing_ranks(void)
{
    struct wf_trace trace;
    struct wf_err err;
    FILE *file;

    write_schedule("", 0);
    file = fopen(path, "r+");
    (void)fprintf(file, "num_ranks %d", RANKS + 1);
    (void)fclose(file);
    CHECK(wf_trace_open(path, &trace, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "the file ends before rank 3000 of 3001") != NULL);
}

static void short_files_are_not_divided(void)
{
    struct wf_goal_part parts[WF_TRACE_WORKERS_MAX];
    FILE *file = fopen(path, "w");

    (void)fprintf(file, "num_ranks 1\nrank 0 {\n}\n");
    (void)fclose(file);
    CHECK_U64(wf_goal_divide(path, 12, parts), 1);
    CHECK_U64(parts[0].begin, 12);
    CHECK_U64(parts[0].end, 23);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0) {
        return EXIT_FAILURE;
    }
    (void)close(fd);
    RUN(a_schedule_in_parts);
    RUN(comments_that_look_like_ranks);
    RUN(errors_are_the_same);
    RUN(missing_ranks);
    RUN(short_files_are_not_divided);
    (void)unlink(path);
    return wf_test_done();
}
