/* SPDX-License-Identifier: Apache-2.0 */
/* Compares random task graphs with a simulation that uses no engine: it searches a list of all
 * future events for the first one, and keeps the ready tasks in a list. */
#include "harness/pe_random.h"
#include "model/net/alphabeta.h"

enum { SEEDS = 1500 / WF_TEST_ONE_IN, THINGS_MAX = 8192 };

#define UNIT INT64_C(1000)

/* One byte takes a unit, as alpha does: much falls together. */
static const struct wf_net_alphabeta_params params = {.alpha = UNIT,
                                                      .bandwidth = 1000000000 * WF_RATE_BYTE};

/* At one time, in this order: what tasks make ready runs before what messages do. */
enum what { END_OF_TASK, DISPATCH, ARRIVAL, DISPATCH_ARRIVED };

struct thing {
    int64_t time;
    enum what what;
    uint32_t pe, task;
};

struct oracle {
    const struct drawing *drawing;
    const struct pe_setup *setup;
    struct thing things[THINGS_MAX];
    uint32_t n_things;
    struct wf_task_needs missing[PES_MAX][TASKS_MAX];
    uint32_t ready[PES_MAX][TASKS_MAX]; /* in order */
    uint32_t n_ready[PES_MAX];
    bool busy[PES_MAX][WF_STREAMS_MAX];
    int64_t finish[PES_MAX];
    uint32_t ran;
};

static void expect_thing(struct oracle *oracle, struct thing thing)
{
    if (oracle->n_things == THINGS_MAX) {
        abort();
    }
    oracle->things[oracle->n_things++] = thing;
}

static bool comes_before(const struct thing *a, const struct thing *b)
{
    if (a->time != b->time) {
        return a->time < b->time;
    }
    if (a->what != b->what) {
        return a->what < b->what;
    }
    return a->pe != b->pe ? a->pe < b->pe : a->task < b->task;
}

static struct thing take_first(struct oracle *oracle)
{
    uint32_t first = 0;

    for (uint32_t i = 1; i < oracle->n_things; i++) {
        if (comes_before(&oracle->things[i], &oracle->things[first])) {
            first = i;
        }
    }
    struct thing thing = oracle->things[first];
    oracle->things[first] = oracle->things[--oracle->n_things];
    return thing;
}

static void make_ready(struct oracle *oracle, uint32_t pe, uint32_t task)
{
    struct wf_task_needs missing = oracle->missing[pe][task];

    if (missing.tasks == 0 && missing.messages == 0) {
        oracle->ready[pe][oracle->n_ready[pe]++] = task;
    }
}

static int64_t time_on_the_way(const struct oracle *oracle, uint32_t from,
                               const struct wf_task_send *send)
{
    uint32_t per_node = oracle->setup->pes_per_node;

    if (from == send->pe) {
        return 0;
    }
    if (oracle->setup->mpi.local && from / per_node == send->pe / per_node) {
        return oracle->setup->mpi.local_latency + (int64_t)send->bytes * UNIT / 2;
    }
    return UNIT + (int64_t)send->bytes * UNIT;
}

/* Starts the first ready task whose stream is free; returns false if there is none. */
static bool start_task(struct oracle *oracle, uint32_t pe, int64_t now)
{
    uint32_t at = 0, *ready = oracle->ready[pe];

    while (at < oracle->n_ready[pe] &&
           oracle->busy[pe][oracle->drawing->tasks[pe][ready[at]].stream]) {
        at++;
    }
    if (at == oracle->n_ready[pe]) {
        return false;
    }
    uint32_t task = ready[at];
    const struct drawn_task *drawn = &oracle->drawing->tasks[pe][task];

    memmove(ready + at, ready + at + 1, (--oracle->n_ready[pe] - at) * sizeof(ready[0]));
    oracle->busy[pe][drawn->stream] = true;
    oracle->ran++;
    expect_thing(oracle, (struct thing){now + drawn->duration, END_OF_TASK, pe, task});
    for (uint32_t i = 0; i < drawn->n_sends; i++) {
        const struct wf_task_send *send = &drawn->sends[i];
        int64_t arrival = now + send->offset + time_on_the_way(oracle, pe, send);
        expect_thing(oracle, (struct thing){arrival, ARRIVAL, send->pe, send->id});
    }
    return true;
}

static void happen(struct oracle *oracle, const struct thing *thing)
{
    uint32_t pe = thing->pe, task = thing->task;

    if (thing->what == DISPATCH || thing->what == DISPATCH_ARRIVED) {
        while (start_task(oracle, pe, thing->time)) {
        }
        return;
    }
    if (thing->what == ARRIVAL) {
        oracle->missing[pe][task].messages--;
        make_ready(oracle, pe, task);
    } else {
        const struct drawn_task *drawn = &oracle->drawing->tasks[pe][task];
        oracle->busy[pe][drawn->stream] = false;
        oracle->finish[pe] = thing->time;
        for (uint32_t i = 0; i < drawn->n_next; i++) {
            oracle->missing[pe][drawn->next[i]].tasks--;
            make_ready(oracle, pe, drawn->next[i]);
        }
    }
    enum what next = thing->what == ARRIVAL ? DISPATCH_ARRIVED : DISPATCH;
    expect_thing(oracle, (struct thing){thing->time, next, pe, 0});
}

static void consult(struct oracle *oracle, const struct drawing *drawing,
                    const struct pe_setup *setup)
{
    memset(oracle, 0, sizeof(*oracle));
    oracle->drawing = drawing;
    oracle->setup = setup;
    for (uint32_t pe = 0; pe < drawing->graph.n_pes; pe++) {
        for (uint32_t task = 0; task < drawing->n_tasks[pe]; task++) {
            oracle->missing[pe][task] = drawing->tasks[pe][task].needs;
            make_ready(oracle, pe, task);
        }
        expect_thing(oracle, (struct thing){0, DISPATCH, pe, 0});
    }
    while (oracle->n_things > 0) {
        struct thing thing = take_first(oracle);
        happen(oracle, &thing);
    }
}

static void compare(const struct oracle *oracle, const struct wf_pe_tally *tally)
{
    const struct wf_job_tally *job = &tally->replay.all;
    uint64_t sum = 0, last = 0;

    for (uint32_t pe = 0; pe < oracle->drawing->graph.n_pes; pe++) {
        sum += (uint64_t)oracle->finish[pe];
        last = (uint64_t)oracle->finish[pe] > last ? (uint64_t)oracle->finish[pe] : last;
    }
    CHECK_U64(tally->tasks, oracle->ran);
    CHECK_U64(tally->replay.unfinished, 0);
    CHECK_U64(tally->replay.unreceived, 0);
    CHECK_U64((uint64_t)job->finish.max, last);
    CHECK_U64(job->finish.sum_low, sum);
}

static void random_graphs(bool in_step, uint32_t pes_per_node, bool local, int64_t unit,
                          uint32_t n_streams)
{
    struct drawing *drawing = wf_xmalloc(sizeof(*drawing));
    struct oracle *oracle = wf_xmalloc(sizeof(*oracle));
    struct pe_setup setup = {
        .graph = &drawing->graph,
        .net_ops = &wf_net_alphabeta_ops,
        .net_params = &params,
        .pes_per_node = pes_per_node,
        .in_step = in_step,
        .mpi = {.local = local,
                .local_latency = UNIT,
                .local_bandwidth = 2000000000 * WF_RATE_BYTE},
    };

    for (uint64_t seed = 0; seed < SEEDS && wf_test_failed == 0; seed++) {
        struct wf_pe_tally tally;

        draw_random(drawing, seed, unit);
        draw_streams(drawing, seed, unit, n_streams);
        consult(oracle, drawing, &setup);
        for (int i = 0; i < 2 && wf_test_failed == 0; i++) {
            setup.granularity = i == 0 ? WF_PE_SINGLE : WF_PE_MULTI;
            if (run_in_order(&setup, &tally).status != WF_OK) {
                abort();
            }
            compare(oracle, &tally);
            if (wf_test_failed) {
                printf("# seed %u, %s\n", (unsigned)seed, wf_pe_granularity_names[i]);
            }
        }
    }
    free(oracle);
    free(drawing);
}

static void one_on_a_node(void)
{
    random_graphs(false, 1, false, UNIT, 1);
}

static void sent_in_step(void)
{
    random_graphs(true, 1, false, UNIT, 1);
}

static void several_on_a_node(void)
{
    random_graphs(false, 3, false, UNIT, 1);
}

static void several_on_a_node_with_a_shortcut(void)
{
    random_graphs(true, 2, true, UNIT, 1);
}

static void several_streams(void)
{
    random_graphs(false, 1, false, UNIT, 2);
    random_graphs(true, 1, false, UNIT, 3);
    random_graphs(false, 3, false, 1237, 5);
}

/* Hardly anything at the same time. */
static void uneven_times(void)
{
    random_graphs(false, 1, false, 1237, 1);
}

int main(void)
{
    RUN(one_on_a_node);
    RUN(sent_in_step);
    RUN(several_on_a_node);
    RUN(several_on_a_node_with_a_shortcut);
    RUN(several_streams);
    RUN(uneven_times);
    return wf_test_done();
}
