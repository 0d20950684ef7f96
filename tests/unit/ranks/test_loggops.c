/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules by the rules of LogGOPSim. The arithmetic is written out; docs/models/loggp.md has
 * the rules. Then the results of LogGOPSim itself: those of tests/data/reference/loggopsim, or of
 * the directory that WEFT_LOGGOPSIM names. */
#include "harness/goal_run.h"

#include <inttypes.h>

static const struct loggops plain = {
    .L = 1000, .o = 300, .g = 200, .G = 1, .S = UINT64_C(1000000000)};
static const int64_t L = 1000, o = 300, g = 200, NS = 1000;

#define CHECK_NS(time, ns) CHECK_U64((uint64_t)(time), (uint64_t)((ns)*NS))

/* Messages have 101 bytes, of which TAIL follow the first. */
enum { TAIL = 100 };

/* The tally of the only job of a schedule. Values are in picoseconds. */
static struct wf_job_tally run(const char *text, const struct loggops *given)
{
    struct wf_graph *graph = read_goal(text);
    struct wf_pe_tally tally = run_loggops(graph, given);

    if (tally.replay.unfinished > 0 || tally.replay.unreceived > 0 || tally.surplus > 0) {
        memset(&tally, 0xff, sizeof(tally));
    }
    wf_graph_free(graph);
    return tally.replay.all;
}

static void a_message_there_and_back(void)
{
    struct wf_job_tally job = run("num_ranks 2\n"
                                  "rank 0 {\nl1: send 101b to 1\nl2: recv 101b from 1\n}\n"
                                  "rank 1 {\nl1: recv 101b from 0\nl2: send 101b to 0\n"
                                  "l2 requires l1\n}\n",
                                  &plain);

    CHECK_NS(job.finish.max, 2 * (o + L + o + TAIL));
    CHECK_NS(job.finish.min, (o + L + o + TAIL) + o);
    CHECK_NS(job.overhead.max, o + o + TAIL);
    CHECK_U64(job.messages, 2);
}

/* The interface of the sender is busy for g + (k-1)G, the CPU of the receiver for o + (k-1)G.
 */
static void a_burst(void)
{
    static const char text[] = "num_ranks 2\n"
                               "rank 0 {\nsend 101b to 1\nsend 101b to 1\nsend 101b to 1\n}\n"
                               "rank 1 {\nrecv 101b from 0\nrecv 101b from 0\n"
                               "recv 101b from 0\n}\n";
    struct loggops slow = plain;
    struct wf_job_tally job = run(text, &plain);

    CHECK_NS(job.finish.min, 2 * (g + TAIL) + o);
    CHECK_NS(job.finish.max, o + L + 3 * (o + TAIL));
    slow.g = 500; /* now the interface of the receiver is the slower one */
    job = run(text, &slow);
    CHECK_NS(job.finish.min, 2 * (500 + TAIL) + o);
    CHECK_NS(job.finish.max, o + L + 2 * (500 + TAIL) + o + TAIL);
}

/* A message waits until the computation is over, and holds the CPU after it. */
static void a_busy_receiver(void)
{
    struct wf_job_tally job = run("num_ranks 2\nrank 0 {\nsend 101b to 1\n}\n"
                                  "rank 1 {\nrecv 101b from 0\ncalc 5000\n}\n",
                                  &plain);

    CHECK_NS(job.finish.max, 5000 + o + TAIL);
}

/* An unexpected message costs its receiver the same when it arrives, and nothing when the
 * receive is posted. */
static void an_unexpected_message(void)
{
    struct wf_job_tally job = run("num_ranks 3\n"
                                  "rank 0 {\nsend 101b to 1\n}\n"
                                  "rank 1 {\nl1: recv 1b from 2\nl2: calc 5000\n"
                                  "l3: recv 101b from 0\nl2 requires l1\nl3 requires l2\n}\n"
                                  "rank 2 {\nl1: calc 3000\nl2: send 1b to 1\n"
                                  "l2 requires l1\n}\n",
                                  &plain);

    CHECK_NS(job.finish.max, 3000 + o + L + o + 5000);
    CHECK_NS(job.overhead.max, o + TAIL + o);
}

/* The sender of a long message goes on when message and receive have met; that takes no time to
 * be known. At the limit a message is eager. */
static void a_long_message(void)
{
    static const char text[] = "num_ranks 2\n"
                               "rank 0 {\nl1: send 101b to 1\nl2: calc 10\nl2 requires l1\n}\n"
                               "rank 1 {\nl1: calc 5000\nl2: recv 101b from 0\n"
                               "l2 requires l1\n}\n";
    struct loggops given = plain;

    given.S = 100;
    struct wf_job_tally job = run(text, &given);
    CHECK_NS(job.finish.min, 5000 + 10);
    CHECK_NS(job.finish.max, 5000 + o + TAIL);
    given.S = 101;
    job = run(text, &given);
    CHECK_NS(job.finish.min, o + 10);
    CHECK_NS(job.finish.max, 5000 + o + TAIL);
}

/* Likewise if the receive was there first: when the CPU begins to receive. */
static void a_long_message_that_is_expected(void)
{
    struct loggops given = plain;

    given.S = 0;
    struct wf_job_tally job =
        run("num_ranks 2\n"
            "rank 0 {\nl1: send 101b to 1\nl2: calc 10\nl2 requires l1\n}\n"
            "rank 1 {\nrecv 101b from 0\n}\n",
            &given);
    CHECK_NS(job.finish.min, o + L + 10);
    CHECK_NS(job.finish.max, o + L + o + TAIL);
}

/* O: at the receiver, the larger of O and G. */
static void a_time_per_byte(void)
{
    static const char text[] =
        "num_ranks 2\nrank 0 {\nsend 101b to 1\n}\nrank 1 {\nrecv 101b from 0\n}\n";
    struct loggops given = plain;

    given.O = 3;
    struct wf_job_tally job = run(text, &given);
    CHECK_NS(job.finish.min, o + 3 * TAIL);
    CHECK_NS(job.finish.max, o + L + o + 3 * TAIL);
    given.G = 5;
    CHECK_NS(run(text, &given).finish.max, o + L + o + 5 * TAIL);
    given.G = 3; /* a rate cannot say it exactly */
    CHECK_NS(run(text, &given).finish.max, o + L + o + 3 * TAIL);
}

/* A time per byte that is no whole number of picoseconds, 33.3: the time of a message is
 * rounded up, as everywhere. */
static void a_fraction_per_byte(void)
{
    struct wf_net_loggp_params params = params_of(&plain);
    struct wf_graph *graph = read_goal("num_ranks 2\nrank 0 {\nsend 32b to 1\n}\n"
                                       "rank 1 {\nrecv 32b from 0\n}\n");
    struct pe_setup setup = {
        .graph = graph, .net_ops = &wf_net_loggp_ops, .net_params = &params};
    struct wf_pe_tally tally;

    params.bandwidth = UINT64_C(30000000000) * WF_RATE_BYTE;
    CHECK(run_in_order(&setup, &tally).status == WF_OK);
    CHECK_U64((uint64_t)tally.replay.all.finish.max, (uint64_t)((o + L + o) * NS + 1034));
    wf_graph_free(graph);
}

/* A computation that waits for the start of a receive begins when it is posted. */
static void after_the_start(void)
{
    static const char format[] = "num_ranks 2\n"
                                 "rank 0 {\nl1: recv 1b from 1\nl2: calc 700\nl2 %s l1\n}\n"
                                 "rank 1 {\nl1: calc 2000\nl2: send 1b to 0\n"
                                 "l2 requires l1\n}\n";
    char text[256];

    (void)snprintf(text, sizeof(text), format, "irequires");
    CHECK_NS(run(text, &plain).finish.max, 2000 + o + L + o);
    (void)snprintf(text, sizeof(text), format, "requires");
    CHECK_NS(run(text, &plain).finish.max, 2000 + o + L + o + 700);
}

/* Each CPU has its own time. A step that waits for a step on another CPU begins when its own
 * CPU is free, even if the other step is not over. */
static void several_cpus(void)
{
    CHECK_NS(run("num_ranks 1\nrank 0 {\ncalc 1000\ncalc 700\n}\n", &plain).finish.max, 1700);
    CHECK_NS(run("num_ranks 1\nrank 0 {\ncalc 1000\ncalc 700 cpu 1\n}\n", &plain).finish.max,
             1000);
    CHECK_NS(
        run("num_ranks 1\nrank 0 {\nl1: calc 1000\nl2: calc 700 cpu 1\nl2 requires l1\n}\n",
            &plain)
            .finish.max,
        1000);
}

static void several_interfaces(void)
{
    static const char format[] = "num_ranks 3\n"
                                 "rank 0 {\nsend 1001b to 1\nsend 1001b to 2 nic %d\n}\n"
                                 "rank 1 {\nrecv 1001b from 0\n}\n"
                                 "rank 2 {\nrecv 1001b from 0\n}\n";
    char text[256];

    (void)snprintf(text, sizeof(text), format, 0);
    CHECK_NS(run(text, &plain).finish.max, g + 1000 + o + L + o + 1000);
    (void)snprintf(text, sizeof(text), format, 1);
    CHECK_NS(run(text, &plain).finish.max, o + o + L + o + 1000);
}

/* A wildcard takes the message that arrives first, here that of rank 2. */
static void any_source(void)
{
    struct wf_job_tally job = run("num_ranks 3\n"
                                  "rank 0 {\nl1: recv 1b from -1 tag -1\n"
                                  "l2: recv 1b from -1 tag 4\nl3: calc 9000\n"
                                  "l3 requires l1\n}\n"
                                  "rank 1 {\nl1: calc 100\nl2: send 1b to 0 tag 4\n"
                                  "l2 requires l1\n}\n"
                                  "rank 2 {\nsend 1b to 0 tag 3\n}\n",
                                  &plain);

    /* The computation keeps the CPU from the second message. */
    CHECK_NS(job.finish.max, o + L + o + 9000 + o);
}

/* The example of docs/models/loggp.md: a long message and an eager one for a busy rank. */
static void the_example_of_the_manual(void)
{
    struct loggops given = plain;

    given.S = 100;
    struct wf_job_tally job =
        run("num_ranks 3\n"
            "rank 0 {\nl1: send 101b to 2\nl2: calc 50\nl2 requires l1\n}\n"
            "rank 1 {\nl1: send 11b to 2\nl2: calc 50\nl2 requires l1\n}\n"
            "rank 2 {\nl1: calc 2000\nl2: recv 101b from 0\n"
            "l3: recv 11b from 1\nl2 requires l1\n}\n",
            &given);
    CHECK_NS(job.finish.max, 2710);
    CHECK_NS(job.finish.min, 350);
    CHECK_NS(job.finish.sum_low, 2710 + 350 + 2050);
}

/* ---- order ---- */

/* The sends of a rank that become ready together leave in the order of the file, unless they
 * are more than 16. `last` is the one that computes. */
static int64_t end_of_fan(uint32_t n_sends, uint32_t last)
{
    char text[4096];
    int at = snprintf(text, sizeof(text), "num_ranks %u\nrank 0 {\n", n_sends + 1);

    for (uint32_t i = 1; i <= n_sends; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at, "send 1b to %u\n", i);
    }
    at += snprintf(text + at, sizeof(text) - (size_t)at, "}\n");
    for (uint32_t i = 1; i <= n_sends; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at,
                       "rank %u {\nl1: recv 1b from 0\nl2: calc %d\nl2 requires l1\n}\n", i,
                       i == last ? 100000 : 0);
    }
    return run(text, &plain).finish.max;
}

static void the_order_of_many_steps(void)
{
    int64_t alone = o + L + o + 100000;

    CHECK_NS(end_of_fan(16, 1), alone);
    CHECK_NS(end_of_fan(16, 16), alone + 15 * o);
    /* The library that sorts them puts number 9 of 17 first, and turns both halves round. */
    CHECK_NS(end_of_fan(17, 9), alone);
    CHECK_NS(end_of_fan(17, 17), alone + o);
    CHECK_NS(end_of_fan(17, 1), alone + 9 * o);
    CHECK_NS(end_of_fan(17, 2), alone + 16 * o);
}

/* Of what becomes ready together, sends come before receives and computations. */
static void sends_come_first(void)
{
    struct wf_job_tally job = run("num_ranks 2\nrank 0 {\ncalc 1000\nsend 1b to 1\n}\n"
                                  "rank 1 {\nrecv 1b from 0\n}\n",
                                  &plain);

    CHECK_NS(job.finish.min, o + 1000);
    CHECK_NS(job.finish.max, o + L + o);
}

/* Those that wait for one step begin in the order of the lines that say so. */
static void the_order_of_the_file(void)
{
    static const char format[] = "num_ranks 3\n"
                                 "rank 0 {\nl1: calc 0\nl2: send 1b to 1\nl3: send 1b to 2\n"
                                 "%s requires l1\n%s requires l1\n}\n"
                                 "rank 1 {\nl1: recv 1b from 0\nl2: calc 9000\n"
                                 "l2 requires l1\n}\n"
                                 "rank 2 {\nrecv 1b from 0\n}\n";
    char text[256];

    (void)snprintf(text, sizeof(text), format, "l2", "l3");
    CHECK_NS(run(text, &plain).finish.max, o + L + o + 9000);
    (void)snprintf(text, sizeof(text), format, "l3", "l2");
    CHECK_NS(run(text, &plain).finish.max, o + o + L + o + 9000);
}

/* A long message from rank 0 to rank 1 makes steps of both ready at 1000. Both send to rank 2,
 * at once since o = 0, and the rank with the lower number comes first: its message takes the
 * receive that is posted, and it can compute while the other one waits for the second. */
static void the_order_of_ranks(void)
{
    struct loggops given = plain;

    given.o = 0;
    given.S = 0;
    struct wf_job_tally job =
        run("num_ranks 3\n"
            "rank 0 {\nl1: send 1b to 1\nl2: send 1b to 2\nl3: calc 7000\n"
            "l2 requires l1\nl3 requires l2\n}\n"
            "rank 1 {\nl1: recv 1b from 0\nl2: send 1b to 2\nl2 requires l1\n}\n"
            "rank 2 {\nl1: recv 1b from -1\nl2: calc 20000\nl3: recv 1b from -1\n"
            "l2 requires l1\nl3 requires l2\n}\n",
            &given);
    CHECK_NS(job.finish.max, 2 * L + 20000);
    CHECK_NS(job.finish.min, 2 * L + 7000);
}

/* ---- graphs that are no schedules ---- */

/* A task computes, sends and computes; the other one receives and computes. */
static void tasks_of_several_steps(void)
{
    struct drawing d = {.graph = {.ops = &drawing_ops, .n_pes = 2}};
    uint32_t a = draw_task(&d, 0, 1000 * NS), b = draw_task(&d, 1, 500 * NS);
    struct loggops given = plain;

    draw_send(&d, 0, a,
              (struct wf_task_send){.offset = 400 * NS, .bytes = TAIL + 1, .pe = 1, .id = b});
    struct wf_job_tally job = run_loggops(&d.graph, &given).replay.all;
    CHECK_NS(job.finish.min, 1000 + o);
    CHECK_NS(job.finish.max, 400 + o + L + o + TAIL + 500);
    given.S = 0; /* now the second half of the first task waits for the receive */
    job = run_loggops(&d.graph, &given).replay.all;
    CHECK_NS(job.finish.min, 400 + o + L + 600);
    CHECK_NS(job.finish.max, 400 + o + L + o + TAIL + 500);
}

/* Three messages for one task, and a message that nobody wants. */
static void tasks_with_several_messages(void)
{
    struct drawing d = {.graph = {.ops = &drawing_ops, .n_pes = 4}};
    uint32_t last = draw_task(&d, 0, 100 * NS);

    for (uint32_t pe = 1; pe < 4; pe++) {
        uint32_t task = draw_task(&d, pe, 0);
        draw_send(&d, pe, task, (struct wf_task_send){.bytes = 1, .pe = 0, .id = last});
    }
    struct wf_pe_tally tally = run_loggops(&d.graph, &plain);
    CHECK_NS(tally.replay.all.finish.max, o + L + 3 * o + 100);
    CHECK_U64(tally.tasks, 4);

    uint32_t more = draw_task(&d, 1, 0);
    struct drawn_task *sender = &d.tasks[1][more];
    sender->sends[sender->n_sends++] =
        (struct wf_task_send){.bytes = 1, .pe = 2, .id = WF_NO_TASK};
    tally = run_loggops(&d.graph, &plain);
    CHECK_U64(tally.replay.unreceived, 1);
    CHECK_U64(tally.replay.unfinished, 0);
}

/* ---- what cannot end ---- */

static void a_deadlock(void)
{
    struct wf_graph *graph =
        read_goal("num_ranks 3\n"
                  "rank 0 {\nl1: calc 5\nl2: recv 1b from 1 tag 7\nl2 requires l1\n}\n"
                  "rank 1 {\nl1: send 1b to 0 tag 8\nl2: calc 5\nl2 requires l1\n}\n"
                  "rank 2 {\nl1: calc 5\nl2: calc 5\nl1 requires l2\nl2 requires l1\n}\n");
    struct loggops given = plain;
    struct wf_pe_tally tally = run_loggops(graph, &given);

    CHECK_U64(tally.replay.unfinished, 2);
    CHECK_U64(tally.replay.unreceived, 1);
    CHECK_U64(tally.n_blocked, 2);
    CHECK_U64(tally.blocked[0].pe, 0);
    CHECK_U64(tally.blocked[0].task, 1);
    CHECK_U64(tally.blocked[0].missing_messages, 1);
    CHECK_U64(tally.blocked[0].started, 1);
    CHECK_U64(tally.blocked[1].pe, 2);
    given.S = 0; /* now rank 1 waits too, for a receive */
    tally = run_loggops(graph, &given);
    CHECK_U64(tally.replay.unfinished, 3);
    CHECK_U64(tally.blocked[1].pe, 1);
    CHECK_U64(tally.blocked[1].task, 0);
    wf_graph_free(graph);
}

static void a_later_start(void)
{
    const struct wf_net_loggp_params params = params_of(&plain);
    struct wf_graph *graph = read_goal("num_ranks 2\nrank 0 {\nsend 101b to 1\n}\n"
                                       "rank 1 {\nrecv 101b from 0\n}\n");
    struct pe_setup setup = {.graph = graph,
                             .net_ops = &wf_net_loggp_ops,
                             .net_params = &params,
                             .start = 5000 * NS};
    struct wf_pe_tally tally;

    CHECK(run_in_order(&setup, &tally).status == WF_OK);
    CHECK_NS(tally.replay.all.finish.max, 5000 + o + L + o + TAIL);
    CHECK_NS(tally.replay.all.wait[WF_IN_RECV].max, o + L);
    CHECK_U64(tally.replay.all.wait[WF_IN_CORE].n, 0);
    wf_graph_free(graph);
}

/* ---- LogGOPSim itself ---- */

static FILE *open_reference(char *directory, size_t size)
{
    const char *given = getenv("WEFT_LOGGOPSIM");
    char path[1024];

    (void)snprintf(directory, size, "%s", given != NULL ? given : WF_TEST_LOGGOPSIM);
    (void)snprintf(path, sizeof(path), "%.900s/expected.csv", directory);
    return fopen(path, "r");
}

/* A line: file, L, o, g, G, O, S, and when the last host finishes. False for the heading. */
static bool read_row(const char *line, char *name, size_t size, struct loggops *given,
                     int64_t *finish)
{
    const char *at = strchr(line, ',');
    int64_t values[7];

    for (size_t i = 0; i < 7; i++) {
        char *end = NULL;

        if (at == NULL || *at != ',') {
            return false;
        }
        values[i] = strtoll(at + 1, &end, 10);
        if (end == at + 1) {
            return false;
        }
        at = end;
    }
    (void)snprintf(name, size, "%.*s", (int)strcspn(line, ","), line);
    *given = (struct loggops){values[0], values[1], values[2],
                              values[3], values[4], (uint64_t)values[5]};
    *finish = values[6];
    return true;
}

static void results_of_loggopsim(void)
{
    char directory[512], line[256], name[128], path[1024], last[128] = "";
    FILE *in = open_reference(directory, sizeof(directory));
    struct wf_graph *graph = NULL;
    uint32_t n = 0, n_equal = 0;

    if (in == NULL) {
        printf("# no reference results in %s\n", directory);
        CHECK(in != NULL);
        return;
    }
    while (fgets(line, sizeof(line), in) != NULL) {
        struct loggops given;
        int64_t finish;
        if (!read_row(line, name, sizeof(name), &given, &finish)) {
            continue; /* the heading */
        }
        if (strcmp(name, last) != 0) {
            wf_graph_free(graph);
            (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
            graph = open_goal(path);
            memcpy(last, name, sizeof(last));
        }
        int64_t found = run_loggops(graph, &given).replay.all.finish.max;
        n++;
        n_equal += found == finish * NS ? 1 : 0;
        if (found != finish * NS) {
            printf("# %" PRId64 " ps instead of %s", found, line);
        }
    }
    wf_graph_free(graph);
    (void)fclose(in);
    printf("# %u of %u results are equal\n", n_equal, n);
    CHECK(n > 0);
    CHECK_U64(n_equal, n);
}

int main(void)
{
    RUN(a_message_there_and_back);
    RUN(a_burst);
    RUN(a_busy_receiver);
    RUN(an_unexpected_message);
    RUN(a_long_message);
    RUN(a_long_message_that_is_expected);
    RUN(a_time_per_byte);
    RUN(a_fraction_per_byte);
    RUN(after_the_start);
    RUN(several_cpus);
    RUN(several_interfaces);
    RUN(any_source);
    RUN(the_example_of_the_manual);
    RUN(the_order_of_many_steps);
    RUN(sends_come_first);
    RUN(the_order_of_the_file);
    RUN(the_order_of_ranks);
    RUN(tasks_of_several_steps);
    RUN(tasks_with_several_messages);
    RUN(a_deadlock);
    RUN(a_later_start);
    RUN(results_of_loggopsim);
    return wf_test_done();
}
