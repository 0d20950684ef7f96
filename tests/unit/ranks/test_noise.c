/* SPDX-License-Identifier: Apache-2.0 */
/* Interruptions by the operating system, and computations that share memory bandwidth, to the
 * picosecond. The equations are in docs/models/node.md. */
#include "model/ranks/noise.h"

#include "base/rng.h"
#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "model/net/alphabeta.h"
#include "model/ranks/cpu/contention.h"

enum { PERIOD = 1000000, MEAN = 40000, SEED = 7 };

static struct wf_noise noise_of(int kind, int64_t duration, uint64_t seed)
{
    const struct wf_node_params params = {
        .noise = kind, .noise_period = PERIOD, .noise_duration = duration};

    return wf_noise_init(&params, seed);
}

/* ---- interruptions ---- */

/* Every interruption lies within its period, and their mean duration is the parameter. */
static void interruptions_are_as_distributed(void)
{
    static const struct {
        int kind;
        int64_t least, most; /* bounds of the durations */
        int64_t tolerance;   /* of the mean */
    } cases[] = {{WF_NODE_NOISE_FIXED, MEAN, MEAN, 0},
                 {WF_NODE_NOISE_UNIFORM, 0, 2 * MEAN, MEAN / 50},
                 {WF_NODE_NOISE_EXPONENTIAL, 0, PERIOD, MEAN / 50}};
    enum { N = 20000 };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct wf_noise noise = noise_of(cases[i].kind, MEAN, SEED);
        int64_t sum = 0, longest = 0;

        for (uint64_t k = 0; k < N; k++) {
            struct wf_noise_span span = wf_noise_span(&noise, (struct wf_noise_core){3, 1}, k);
            int64_t duration = span.end - span.begin;

            CHECK(span.begin >= (int64_t)k * PERIOD && span.end <= (int64_t)(k + 1) * PERIOD);
            CHECK(duration >= cases[i].least && duration <= cases[i].most);
            sum += duration;
            longest = duration > longest ? duration : longest;
        }
        CHECK(llabs(sum / N - MEAN) <= cases[i].tolerance);
        CHECK(cases[i].kind != WF_NODE_NOISE_EXPONENTIAL || longest > 6 * MEAN);
    }
}

/* Of 100 cores, none begins its interruptions at the same time as another one. */
static void cores_are_interrupted_at_different_times(void)
{
    const struct wf_noise noise = noise_of(WF_NODE_NOISE_FIXED, MEAN, SEED);
    const struct wf_noise other = noise_of(WF_NODE_NOISE_FIXED, MEAN, SEED + 1);
    int64_t begins[100];

    for (uint32_t i = 0; i < 100; i++) {
        const struct wf_noise_core core = {i / 10, i % 10};

        begins[i] = wf_noise_span(&noise, core, 0).begin;
        CHECK(wf_noise_span(&noise, core, 5).begin == 5 * PERIOD + begins[i]);
        CHECK(wf_noise_span(&other, core, 0).begin != begins[i]);
        for (uint32_t j = 0; j < i; j++) {
            CHECK(begins[j] != begins[i]);
        }
    }
}

/* The time between `from` and `until` in which the core is not interrupted. */
static int64_t work_between(const struct wf_noise *noise, struct wf_noise_core core,
                            int64_t from, int64_t until)
{
    int64_t work = until - from;

    for (uint64_t k = (uint64_t)(from / PERIOD); k <= (uint64_t)(until / PERIOD); k++) {
        struct wf_noise_span span = wf_noise_span(noise, core, k);
        int64_t begin = span.begin > from ? span.begin : from;
        int64_t end = span.end < until ? span.end : until;

        work -= end > begin ? end - begin : 0;
    }
    return work;
}

/* A computation ends as soon as the core has been free for its duration: all of it and its last
 * picosecond lie in free time. */
static void computations_end_when_they_have_been_computed(void)
{
    for (uint64_t i = 0; i < 30000; i++) {
        int kind = WF_NODE_NOISE_FIXED + (int)(i % 3);
        int64_t mean = i % 5 == 0 ? PERIOD / 2 : 1 + (int64_t)(wf_test_rand(1, 0, i) % MEAN);
        const struct wf_noise noise = noise_of(kind, mean, i);
        const struct wf_noise_core core = {(uint32_t)i, (uint32_t)(i % 7)};
        int64_t from = (int64_t)(wf_test_rand(2, 0, i) % (3 * PERIOD));
        int64_t work = 1 + (int64_t)(wf_test_rand(3, 0, i) % (i % 2 == 0 ? 9 * PERIOD : 500));

        if (i % 11 == 0) {
            from = wf_noise_span(&noise, core, 2).begin; /* exactly at an interruption */
        }
        int64_t end = wf_noise_end(&noise, core, from, work);

        CHECK_U64((uint64_t)work_between(&noise, core, from, end), (uint64_t)work);
        CHECK_U64((uint64_t)work_between(&noise, core, from, end - 1), (uint64_t)work - 1);
        /* In two parts it takes as long. */
        int64_t part = work / 3;
        int64_t middle = wf_noise_end(&noise, core, from, part);
        CHECK_U64((uint64_t)wf_noise_end(&noise, core, middle, work - part), (uint64_t)end);
    }
}

static void computing_for_no_time_is_not_interrupted(void)
{
    const struct wf_noise noise = noise_of(WF_NODE_NOISE_FIXED, MEAN, SEED);
    const struct wf_noise_core core = {0, 0};
    int64_t inside = wf_noise_span(&noise, core, 1).begin + 1;

    CHECK(wf_noise_end(&noise, core, inside, 0) == inside);
    CHECK(wf_noise_end(&noise, core, inside, 1) == wf_noise_span(&noise, core, 1).end + 1);
}

/* 2^24 periods are more than are drawn; the last ones have the mean duration. */
static void long_computations_take_no_time_to_predict(void)
{
    const int64_t work = ((int64_t)1 << 24) * (PERIOD - MEAN);

    for (int kind = WF_NODE_NOISE_FIXED; kind <= WF_NODE_NOISE_EXPONENTIAL; kind++) {
        const struct wf_noise noise = noise_of(kind, MEAN, SEED);
        int64_t end = wf_noise_end(&noise, (struct wf_noise_core){0, 0}, 0, work);
        int64_t expected = ((int64_t)1 << 24) * PERIOD;

        CHECK(llabs(end - expected) < expected / 10000);
        CHECK(wf_noise_end(&noise, (struct wf_noise_core){0, 0}, 0, WF_TIME_MAX) ==
              WF_TIME_MAX);
        CHECK(wf_noise_end(&noise, (struct wf_noise_core){0, 0}, WF_TIME_MAX, 5) ==
              WF_TIME_MAX);
    }
}

/* ---- programs ---- */

static const enum wf_scheduler schedulers[] = {WF_SEQUENTIAL, WF_CHECK_UNDO, WF_CONSERVATIVE,
                                               WF_OPTIMISTIC, WF_PERTURB};
enum { SCHEDULERS = sizeof(schedulers) / sizeof(schedulers[0]) };

static const char *const noisy[][9] = {
    {"noise", "fixed", "noise_period", "1us", "noise_duration", "40ns", NULL},
    {"noise", "uniform", "noise_period", "1us", "noise_duration", "40ns", NULL},
    {"noise", "exponential", "noise_period", "1us", "noise_duration", "40ns", NULL},
};

/* Two nodes with two ranks each compute, exchange messages and compute again. */
static void ranks_compute_on_noisy_cores(void)
{
    enum { FIRST = 12345678, SECOND = 3456789 };
    static const struct wf_op ops[4][4] = {
        {COMPUTE(FIRST), SENDRECV(2, 0, 0, 2, 0), COMPUTE(SECOND), END},
        {COMPUTE(FIRST), SENDRECV(3, 0, 0, 3, 0), COMPUTE(SECOND), END},
        {COMPUTE(FIRST), SENDRECV(0, 0, 0, 0, 0), COMPUTE(SECOND), END},
        {COMPUTE(FIRST), SENDRECV(1, 0, 0, 1, 0), COMPUTE(SECOND), END}};
    static const struct wf_op *const ranks[] = {ops[0], ops[1], ops[2], ops[3]};
    const int64_t alpha = 2000000;

    for (uint32_t i = 0; i < 3 * SCHEDULERS; i++) {
        const struct wf_noise noise =
            noise_of(WF_NODE_NOISE_FIXED + (int)(i / SCHEDULERS), 40000, SEED);
        struct setup setup = {.net = &wf_net_alphabeta_ops,
                              .ranks_per_node = 2,
                              .node = noisy[i / SCHEDULERS],
                              .seed = SEED,
                              .scheduler = schedulers[i % SCHEDULERS]};
        struct outcome out = replay_script(setup, ranks, 4);
        int64_t last = 0, computed = 0;

        for (uint32_t slot = 0; slot < 2; slot++) {
            int64_t a = wf_noise_end(&noise, (struct wf_noise_core){0, slot}, 0, FIRST);
            int64_t b = wf_noise_end(&noise, (struct wf_noise_core){1, slot}, 0, FIRST);

            for (uint32_t node = 0; node < 2; node++) {
                int64_t own = node == 0 ? a : b, arrival = (node == 0 ? b : a) + alpha;
                int64_t since = own > arrival ? own : arrival;
                int64_t end =
                    wf_noise_end(&noise, (struct wf_noise_core){node, slot}, since, SECOND);
                last = end > last ? end : last;
                computed += own + end - since;
            }
        }
        CHECK(out.status == WF_OK);
        CHECK_U64((uint64_t)out.tally.all.finish.max, (uint64_t)last);
        CHECK_U64(out.tally.all.compute.sum_low, (uint64_t)computed);
    }
}

static void without_noise_nothing_changes(void)
{
    static const char *const off[] = {"noise_period", "1us", "noise_duration", "40ns", NULL};
    static const char *const zero[] = {"noise", "fixed", "noise_duration", "0", NULL};
    static const struct wf_op ops[] = {COMPUTE(12345678), END};
    static const struct wf_op *const ranks[] = {ops};
    struct setup setup = {.net = &wf_net_alphabeta_ops, .node = off};

    CHECK(replay_script(setup, ranks, 1).tally.all.finish.max == 12345678);
    setup.node = zero;
    CHECK(replay_script(setup, ranks, 1).tally.all.finish.max == 12345678);
}

/* ---- memory bandwidth ---- */

/* Four cores of 30 GB/s draw 120 GB/s from a domain of 100 GB/s: 1.2 times the time for the
 * part of a computation that waits for memory. */
static void computations_share_memory_bandwidth(void)
{
    static const char *const node[] = {"memory_bound",
                                       "0.5",
                                       "core_bandwidth",
                                       "30GB/s",
                                       "memory_bandwidth",
                                       "100GB/s",
                                       "domains",
                                       "2",
                                       NULL};
    static const struct wf_op ops[] = {COMPUTE(1000000), END};
    static const struct wf_op *const ranks[] = {ops, ops, ops, ops, ops, ops, ops, ops};

    for (size_t i = 0; i < SCHEDULERS; i++) {
        struct setup setup = {.net = &wf_net_alphabeta_ops,
                              .node = node,
                              .ranks_per_node = 8,
                              .scheduler = schedulers[i]};
        struct outcome out = replay_script(setup, ranks, 8);

        CHECK(out.tally.all.finish.max == 1100000 && out.tally.all.finish.min == 1100000);
        CHECK(out.tally.all.compute.max == 1100000);
        /* The second node of two has one rank: nothing is shared. */
        setup.ranks_per_node = 7;
        out = replay_script(setup, ranks, 8);
        CHECK(out.tally.all.finish.max == 1100000 && out.tally.all.finish.min == 1000000);
        /* Seven ranks: four and three; three do not need more than there is. */
        out = replay_script(setup, ranks, 7);
        CHECK(out.tally.all.finish.max == 1100000 && out.tally.all.finish.min == 1000000);
    }
}

/* 1 + 0.3 * (5 * 7 / 11 - 1), rounded once to 2^-32 and once to a picosecond. */
static void the_time_is_rounded_to_the_picosecond(void)
{
    const struct wf_cpu_contention contention = {.on = true,
                                                 .memory = true,
                                                 .crowd = WF_CPU_SCALE_ONE,
                                                 .core_bandwidth = 7 * WF_RATE_BYTE,
                                                 .memory_bandwidth = 11 * WF_RATE_BYTE};
    const uint64_t share = wf_cpu_scale(0.3);

    CHECK(wf_cpu_contention_time(&contention, share, 5, 1100000) == 1820000);
    CHECK(wf_cpu_contention_time(&contention, share, 1, 1100000) == 1100000);
    CHECK(wf_cpu_contention_time(&contention, WF_CPU_SCALE_ONE, 5, 1100) == 3500);
    CHECK(wf_cpu_contention_time(&contention, WF_CPU_SCALE_ONE, 5, WF_TIME_MAX) == WF_TIME_MAX);
    CHECK(wf_cpu_contention_time(&contention, 0, 5, 1100) == 1100);
}

/* Memory first, then noise. */
static void both_together(void)
{
    static const char *const node[] = {"memory_bound",
                                       "1",
                                       "core_bandwidth",
                                       "60GB/s",
                                       "memory_bandwidth",
                                       "100GB/s",
                                       "noise",
                                       "exponential",
                                       "noise_period",
                                       "1us",
                                       "noise_duration",
                                       "40ns",
                                       NULL};
    static const struct wf_op ops[] = {COMPUTE(9000000), END};
    static const struct wf_op *const ranks[] = {ops, ops};
    const struct wf_noise noise = noise_of(WF_NODE_NOISE_EXPONENTIAL, 40000, SEED);
    int64_t zero = wf_noise_end(&noise, (struct wf_noise_core){0, 0}, 0, 10800000);
    int64_t one = wf_noise_end(&noise, (struct wf_noise_core){0, 1}, 0, 10800000);

    for (size_t i = 0; i < SCHEDULERS; i++) {
        struct setup setup = {.net = &wf_net_alphabeta_ops,
                              .node = node,
                              .seed = SEED,
                              .ranks_per_node = 2,
                              .scheduler = schedulers[i]};
        struct outcome out = replay_script(setup, ranks, 2);

        CHECK(out.tally.all.finish.min == (zero < one ? zero : one));
        CHECK(out.tally.all.finish.max == (zero < one ? one : zero));
    }
}

/* ---- errors ---- */

static void impossible_noise_is_refused(void)
{
    static const char *const longer[] = {
        "noise", "exponential", "noise_period", "1ms", "noise_duration", "1ms", NULL};
    static const char *const uniform[] = {
        "noise", "uniform", "noise_period", "1ms", "noise_duration", "501us", NULL};
    static const char *const none[] = {"noise_period", "1ms", "noise_duration", "1s", NULL};
    static const char *const memory[] = {"memory_bound", "0.1", "memory_bandwidth", "1GB/s",
                                         NULL};

    CHECK_STR(node_refusal(longer),
              "node.noise_duration: interruptions of 1ms do not fit into a "
              "period of 1ms; set node.noise_duration to less than "
              "node.noise_period");
    CHECK_STR(node_refusal(uniform),
              "node.noise_duration: interruptions of 501us do not fit into a "
              "period of 1ms; uniform ones last up to twice the mean, which "
              "must be within the period");
    CHECK_STR(node_refusal(none), "");
    CHECK_STR(node_refusal(memory),
              "node.memory_bound: node.core_bandwidth or "
              "node.memory_bandwidth is unlimited; set both to the bandwidth "
              "of a core and of a domain");
}

int main(void)
{
    RUN(interruptions_are_as_distributed);
    RUN(cores_are_interrupted_at_different_times);
    RUN(computations_end_when_they_have_been_computed);
    RUN(computing_for_no_time_is_not_interrupted);
    RUN(long_computations_take_no_time_to_predict);
    RUN(ranks_compute_on_noisy_cores);
    RUN(without_noise_nothing_changes);
    RUN(computations_share_memory_bandwidth);
    RUN(the_time_is_rounded_to_the_picosecond);
    RUN(both_together);
    RUN(impossible_noise_is_refused);
    return wf_test_done();
}
