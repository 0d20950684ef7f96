/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that share the cores of their node, to the picosecond and under every scheduler. The
 * rules are in docs/models/node.md. */
#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "model/net/alphabeta.h"
#include "model/ranks/noise.h"
#include "model/ranks/record/recorder.h"

enum { RANKS_MAX = 8 };

static const enum wf_scheduler schedulers[] = {WF_SEQUENTIAL, WF_CHECK_UNDO, WF_CONSERVATIVE,
                                               WF_OPTIMISTIC, WF_PERTURB};
enum { SCHEDULERS = sizeof(schedulers) / sizeof(schedulers[0]) };

/* Keeps the times at which single ranks end. */
struct ends {
    int64_t at[RANKS_MAX];
};

static void find_ends(void *arg, struct wf_ranks_tally *tally,
                      const struct wf_node_costs *costs)
{
    struct ends *ends = arg;
    struct wf_recording *recording = wf_tally_recording(tally);
    const struct wf_span *spans = wf_recording_spans(recording);

    memset(ends, 0, sizeof(*ends));
    for (uint64_t i = 0; i < recording->n_spans; i++) {
        int64_t *end = &ends->at[spans[i].rank];
        *end = spans[i].until > *end ? spans[i].until : *end;
    }
}

static const struct wf_recording_options recorded = {
    .limits = {.spans = 10000, .messages = 1000, .path_bytes = 1 << 16}};

/* Runs a program under every scheduler; all must give the same. The time of a rank is
 * computing, CPU time of messages and waiting. */
static struct outcome run(struct setup setup, const struct wf_op *const *ranks, uint32_t n,
                          struct ends *ends)
{
    struct outcome expected = {.status = WF_OK};

    setup.recording = &recorded;
    setup.look = find_ends;
    setup.look_arg = ends;
    for (size_t i = 0; i < SCHEDULERS; i++) {
        setup.scheduler = schedulers[i];
        struct outcome out = replay_script(setup, ranks, n);
        const struct wf_job_tally *job = &out.tally.all;

        expected = i == 0 ? out : expected;
        out.tally.at = expected.tally.at;
        if (out.status != WF_OK || out.tally.unfinished > 0 ||
            out.run.digest != expected.run.digest ||
            memcmp(job, &expected.tally.all, sizeof(*job)) != 0 ||
            job->finish.sum_low !=
                job->compute.sum_low + job->overhead.sum_low + job->waits.sum_low) {
            printf("# %s\n", wf_scheduler_names[schedulers[i]]);
            expected.status = WF_EINTERNAL;
            break;
        }
    }
    return expected;
}

static struct setup on_node(const char *const *node, uint32_t ranks_per_node)
{
    return (struct setup){
        .net = &wf_net_alphabeta_ops, .ranks_per_node = ranks_per_node, .node = node};
}

/* ---- one after another ---- */

static const struct wf_op nothing[] = {END};
static const struct wf_op computes_5[] = {COMPUTE(5000), END};
static const struct wf_op computes_3[] = {COMPUTE(3000), END};
static const struct wf_op computes_7[] = {COMPUTE(7000), END};

static void ranks_of_a_core_compute_one_after_another(void)
{
    static const char *const node[] = {"cores", "1", NULL};
    static const struct wf_op *const ranks[] = {computes_5, computes_3, computes_7};
    struct ends ends;
    struct outcome out = run(on_node(node, 3), ranks, 3, &ends);

    CHECK(out.status == WF_OK);
    CHECK(ends.at[0] == 5000 && ends.at[1] == 8000 && ends.at[2] == 15000);
    CHECK_U64((uint64_t)out.tally.all.wait[WF_IN_CORE].max, 8000);
    CHECK_U64(out.tally.all.wait[WF_IN_CORE].sum_low, 5000 + 8000);
    CHECK_U64(out.tally.all.compute.sum_low, 15000);
    CHECK(out.tally.n_waits == 2 && out.tally.waits[0].rank == 2);
    CHECK(out.tally.waits[0].in == WF_IN_CORE);
}

/* Slots 0 and 2 share core 0. */
static void only_ranks_of_a_core_share_it(void)
{
    static const char *const node[] = {"cores", "2", NULL};
    static const struct wf_op *const ranks[] = {computes_5, computes_3, computes_7};
    struct ends ends;

    CHECK(run(on_node(node, 3), ranks, 3, &ends).status == WF_OK);
    CHECK(ends.at[0] == 5000 && ends.at[1] == 3000 && ends.at[2] == 12000);
}

static void going_to_another_rank_costs_time(void)
{
    static const char *const node[] = {"cores", "1", "switch_cost", "100ps", NULL};
    static const struct wf_op twice[] = {COMPUTE(1000), COMPUTE(2000), END};
    static const struct wf_op *const ranks[] = {twice, computes_3};
    static const struct wf_op *const one[] = {twice, nothing};
    struct ends ends;

    /* The second computation of rank 0 has to wait for rank 1. */
    CHECK(run(on_node(node, 2), ranks, 2, &ends).status == WF_OK);
    CHECK(ends.at[1] == 1000 + 100 + 3000 && ends.at[0] == 4100 + 100 + 2000);
    /* Nobody else wants the core. */
    CHECK(run(on_node(node, 2), one, 2, &ends).status == WF_OK);
    CHECK(ends.at[0] == 3000);
}

/* Rank 0 waits for a message of rank 2 on the other node and leaves its core to rank 1. */
static void a_rank_that_waits_does_not_hold_its_core(void)
{
    static const char *const node[] = {"cores", "1", NULL};
    static const struct wf_op zero[] = {RECV(2, 0), COMPUTE(1000), END};
    static const struct wf_op one[] = {COMPUTE(2500000), END};
    static const struct wf_op two[] = {SEND(0, 0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one, two, nothing};
    struct ends ends;
    struct outcome out = run(on_node(node, 2), ranks, 4, &ends);

    CHECK(out.status == WF_OK);
    CHECK(ends.at[1] == 2500000);
    CHECK(ends.at[0] == 2500000 + 1000); /* the message came at 2 us */
    CHECK_U64((uint64_t)out.tally.all.wait[WF_IN_RECV].max, 2000000);
    CHECK_U64((uint64_t)out.tally.all.wait[WF_IN_CORE].max, 500000);
}

/* ---- messages ---- */

/* The CPU time of messages needs the core too: sends depart one after another, and a message is
 * received when the core has time. */
static void messages_need_the_core(void)
{
    static const char *const node[] = {"cores",  "1",     "o_send", "300ps",
                                       "o_recv", "500ps", NULL};
    static const struct wf_op zero[] = {SEND(2, 0, 0), END};
    static const struct wf_op one[] = {SEND(3, 0, 0), END};
    static const struct wf_op two[] = {RECV(0, 0), END};
    static const struct wf_op three[] = {RECV(1, 0), END};
    static const struct wf_op *const ranks[] = {zero, one, two, three};
    struct ends ends;
    struct outcome out = run(on_node(node, 2), ranks, 4, &ends);

    CHECK(out.status == WF_OK);
    CHECK(ends.at[0] == 300 && ends.at[1] == 600);
    CHECK(ends.at[2] == 300 + 2000000 + 500);
    CHECK(ends.at[3] == 300 + 2000000 + 500 + 500); /* arrived at 600, the core is busy */
    CHECK_U64((uint64_t)out.tally.all.overhead.max, 500);
}

/* Rank 0 waits for two messages, which arrive at 2,000,000 and 2,000,120 ps: the first is
 * handled while the second is under way, so that rank 0 wants its core at 2,000,120 for one
 * message. Rank 1 receives a message at 2,000,020 and computes from 2,000,100 on. */
static void early_messages_are_handled_while_the_rank_waits(void)
{
    static const char *const node[] = {"cores", "1", "o_recv", "80ps", NULL};
    static const struct wf_op zero[] = {IRECV(2, 0, 0), IRECV(3, 0, 1), WAITALL(0, 2), END};
    static const struct wf_op one[] = {RECV(2, 1), COMPUTE(1000), END};
    static const struct wf_op two[] = {SEND(0, 0, 0), COMPUTE(20), SEND(1, 1, 0), END};
    static const struct wf_op three[] = {COMPUTE(100), SEND(0, 0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one, two, three};
    struct ends ends;
    struct outcome out = run(on_node(node, 2), ranks, 4, &ends);

    CHECK(out.status == WF_OK);
    CHECK(ends.at[2] == 20 && ends.at[3] == 120);
    CHECK_U64((uint64_t)ends.at[1], 2000020 + 80 + 1000);
    CHECK_U64((uint64_t)ends.at[0], 2001100 + 80);
    CHECK_U64((uint64_t)out.tally.all.overhead.max, 160);
}

/* Both ranks of a core enter a barrier: on each node o for the send and o for the receive of
 * each rank, one after the other. */
static void collectives_need_the_core(void)
{
    static const char *const node[] = {"cores", "1", "o_send", "1us", "o_recv", "1us", NULL};
    static const struct wf_op ops[] = {BARRIER, END};
    static const struct wf_op *const ranks[] = {ops, ops};
    struct ends ends;
    struct setup setup = on_node(node, 2);
    struct outcome out = run(setup, ranks, 2, &ends);

    CHECK(out.status == WF_OK);
    /* Sends end at 1 us and 2 us, messages arrive 300 ns later: rank 1's at 1.3 us, when the
     * core is busy with its send until 2 us; rank 0's at 2.3 us. */
    CHECK_U64((uint64_t)ends.at[1], 3000000);
    CHECK_U64((uint64_t)ends.at[0], 4000000);
    CHECK_U64((uint64_t)out.tally.all.overhead.max, 2000000);
}

/* ---- slices ---- */

/* Steps from one picosecond to the next. All ranks of the core want it at the start; each has
 * some computations, one after the other. */
struct oracle {
    int64_t slice, switch_cost;
    uint32_t n;
    int64_t work[RANKS_MAX][4]; /* ends with 0 */
    int64_t end[RANKS_MAX];
};

static void simulate(struct oracle *o)
{
    uint32_t queue[RANKS_MAX], length = 0, part[RANKS_MAX] = {0}, last = RANKS_MAX;
    int64_t left[RANKS_MAX], now = 0;

    for (uint32_t i = 0; i < o->n; i++) {
        queue[length++] = i;
        left[i] = o->work[i][0];
    }
    while (length > 0) {
        uint32_t rank = queue[0];
        memmove(queue, queue + 1, --length * sizeof(queue[0]));
        now += last != RANKS_MAX && last != rank ? o->switch_cost : 0;
        last = rank;
        for (int64_t used = 0; left[rank] > 0 && (o->slice == 0 || used < o->slice); used++) {
            left[rank]--;
            now++;
        }
        if (left[rank] > 0) {
            queue[length++] = rank;
        } else if (o->work[rank][++part[rank]] > 0) {
            left[rank] = o->work[rank][part[rank]];
            queue[length++] = rank;
        } else {
            o->end[rank] = now;
        }
    }
}

static void slices_go_round(void)
{
    for (uint64_t i = 0; i < 300; i++) {
        struct oracle oracle = {.slice = (int64_t)(wf_test_rand(1, 0, i) % 40),
                                .switch_cost = (int64_t)(wf_test_rand(2, 0, i) % 4),
                                .n = 2 + (uint32_t)(i % (RANKS_MAX - 1))};
        struct wf_op ops[RANKS_MAX][4];
        const struct wf_op *ranks[RANKS_MAX];
        char slice[24], cost[24];
        const char *const node[] = {"cores",       "1",  "time_slice", slice,
                                    "switch_cost", cost, NULL};
        struct ends ends;

        (void)snprintf(slice, sizeof(slice), "%dps", (int)oracle.slice);
        (void)snprintf(cost, sizeof(cost), "%dps", (int)oracle.switch_cost);
        for (uint32_t rank = 0; rank < oracle.n; rank++) {
            uint32_t n = 1 + (uint32_t)(wf_test_rand(3, rank, i) % 3);
            for (uint32_t k = 0; k < n; k++) {
                oracle.work[rank][k] = 1 + (int64_t)(wf_test_rand(4 + k, rank, i) % 99);
                ops[rank][k] = (struct wf_op)COMPUTE(oracle.work[rank][k]);
            }
            ops[rank][n] = (struct wf_op)END;
            ranks[rank] = ops[rank];
        }
        simulate(&oracle);
        CHECK(run(on_node(node, oracle.n), ranks, oracle.n, &ends).status == WF_OK);
        for (uint32_t rank = 0; rank < oracle.n; rank++) {
            CHECK_U64((uint64_t)ends.at[rank], (uint64_t)oracle.end[rank]);
        }
    }
}

/* Rank 0 computes alone until rank 1 wants the core in the middle of its third slice. */
static void a_rank_that_comes_later_waits_for_the_end_of_the_slice(void)
{
    static const char *const node[] = {"cores", "1", "time_slice", "1us", NULL};
    static const struct wf_op zero[] = {COMPUTE(5500000), END};
    static const struct wf_op one[] = {RECV(2, 0), COMPUTE(1200000), END};
    static const struct wf_op two[] = {COMPUTE(400000), SEND(1, 0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one, two, nothing};
    struct ends ends;
    struct outcome out = run(on_node(node, 2), ranks, 4, &ends);

    CHECK(out.status == WF_OK);
    /* 0 to 3 us: rank 0; to 4 us: rank 1; to 5 us: rank 0; to 5.2 us: rank 1; the rest. */
    CHECK_U64((uint64_t)ends.at[1], 5200000);
    CHECK_U64((uint64_t)ends.at[0], 6700000);
    CHECK_U64((uint64_t)out.tally.all.wait[WF_IN_CORE].max, 1600000);
}

/* Slices are CPU time: an interruption makes them last longer. The interruptions of a core are
 * the same, whoever uses it. */
static void noise_interrupts_slices(void)
{
    static const char *const node[] = {
        "cores",        "1",   "time_slice",     "1us",  "noise", "fixed",
        "noise_period", "1us", "noise_duration", "90ns", NULL};
    static const struct wf_op zero[] = {COMPUTE(5500000), END};
    static const struct wf_op one[] = {RECV(2, 0), COMPUTE(1200000), END};
    static const struct wf_op two[] = {COMPUTE(400000), SEND(1, 0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one, two, nothing};
    const struct wf_node_params params = {
        .noise = WF_NODE_NOISE_FIXED, .noise_period = 1000000, .noise_duration = 90000};
    const struct wf_noise noise = wf_noise_init(&params, 3);
    const struct wf_noise_core core = {0, 0}, other = {1, 0};
    int64_t arrival = wf_noise_end(&noise, other, 0, 400000) + 2000000;
    int64_t slices = 1, mine = 0, yours = 0;
    struct ends ends;
    struct setup setup = on_node(node, 2);

    setup.seed = 3;
    CHECK(run(setup, ranks, 4, &ends).status == WF_OK);
    while (wf_noise_end(&noise, core, 0, slices * 1000000) <= arrival) {
        slices++;
    }
    int64_t now = wf_noise_end(&noise, core, 0, slices * 1000000);
    int64_t left = 5500000 - slices * 1000000, wants = 1200000;
    CHECK(left > 0);
    while (left > 0 || wants > 0) {
        int64_t part = wants < 1000000 ? wants : 1000000;
        now = wf_noise_end(&noise, core, now, part);
        wants -= part;
        yours = part > 0 ? now : yours;
        part = left < 1000000 && wants > 0 ? left : wants > 0 ? 1000000 : left;
        now = wf_noise_end(&noise, core, now, part);
        left -= part;
        mine = part > 0 ? now : mine;
    }
    CHECK_U64((uint64_t)ends.at[1], (uint64_t)yours);
    CHECK_U64((uint64_t)ends.at[0], (uint64_t)mine);
}

int main(void)
{
    RUN(ranks_of_a_core_compute_one_after_another);
    RUN(only_ranks_of_a_core_share_it);
    RUN(going_to_another_rank_costs_time);
    RUN(a_rank_that_waits_does_not_hold_its_core);
    RUN(messages_need_the_core);
    RUN(early_messages_are_handled_while_the_rank_waits);
    RUN(collectives_need_the_core);
    RUN(slices_go_round);
    RUN(a_rank_that_comes_later_waits_for_the_end_of_the_slice);
    RUN(noise_interrupts_slices);
    return wf_test_done();
}
