/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic patterns, the results of batches, and which nodes wait for which. */
#include "model/net/deadlock.h"
#include "model/topo/topo.h"
#include "model/traffic/pattern.h"
#include "model/traffic/stats.h"

#include "base/mem.h"
#include "harness/wf_test.h"

#include <math.h>

enum { N = 64 };

/* The destination of a node's message. */
static int64_t next_of(const struct wf_traffic_pattern *pattern, uint32_t node,
                       uint64_t message)
{
    struct wf_traffic_draw draw = {.seed = 7, .node = node, .message = message};

    return wf_traffic_pattern_next(pattern, &draw);
}

static struct wf_traffic_pattern *make(const char *name, const struct wf_topo *topo)
{
    const struct wf_traffic_pattern_params params = {
        .hot = 0.5, .decay = 0.5, .matrix = "", .pattern_seed = 3};
    struct wf_traffic_pattern *pattern = NULL;
    struct wf_err err = {.status = WF_OK};

    if (wf_traffic_pattern_create(name, &params, topo, topo->n_nodes, &pattern, &err) !=
        WF_OK) {
        printf("# %s\n", err.text);
        abort();
    }
    return pattern;
}

static struct wf_topo *make_topo(const char *spec)
{
    struct wf_topo *topo = NULL;

    if (wf_topo_create(spec, &topo, NULL) != WF_OK) {
        abort();
    }
    return topo;
}

static void permutations_are_permutations(void)
{
    static const char *const names[] = {"transpose",   "complement",  "reversal", "shuffle",
                                        "butterfly",   "tornado",     "neighbor", "permutation",
                                        "tornado-all", "neighbor-all"};
    struct wf_topo *topos[] = {make_topo("torus:8x8"), make_topo("hyperx:4x4,p=4")};

    for (size_t k = 0; k < 2 * sizeof(names) / sizeof(names[0]); k++) {
        struct wf_traffic_pattern *pattern = make(names[k / 2], topos[k % 2]);
        uint32_t seen[N] = {0}, sending = 0;
        for (uint32_t node = 0; node < N; node++) {
            int64_t to = next_of(pattern, node, 0);
            CHECK(to >= WF_TRAFFIC_SILENT && to < N && to != node);
            CHECK_U64(next_of(pattern, node, 0) == to, 1);
            seen[to == WF_TRAFFIC_SILENT ? node : to]++;
            sending += to != WF_TRAFFIC_SILENT;
        }
        CHECK(sending >= N / 2);
        for (uint32_t node = 0; node < N; node++) {
            CHECK_U64(seen[node], 1);
        }
        wf_traffic_pattern_free(pattern);
    }
    wf_topo_free(topos[0]);
    wf_topo_free(topos[1]);
}

static void permutations_are_those_of_the_books(void)
{
    static const struct {
        const char *name;
        uint32_t from, to;
    } cases[] = {
        {"transpose", 1 + 8 * 5, 5 + 8 * 1},
        {"complement", 5, 58},
        {"reversal", 1, 32},
        {"reversal", 6, 24},
        {"shuffle", 33, 3},
        {"butterfly", 33, 33 - 33 + 33},
        {"tornado", 0, 3},
        {"tornado", 6, 9},
        {"neighbor", 7, 0},
        {"neighbor", 8, 9},
        {"tornado-all", 6 + 8 * 2, 1 + 8 * 5},
        {"neighbor-all", 7 + 8 * 3, 0 + 8 * 4},
        {"neighbor-all", 7 + 8 * 7, 0},
    };
    struct wf_topo *topo = make_topo("torus:8x8");

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct wf_traffic_pattern *pattern = make(cases[k].name, topo);
        int64_t to = next_of(pattern, cases[k].from, 0);
        CHECK_U64(to == WF_TRAFFIC_SILENT ? cases[k].from : (uint64_t)to, cases[k].to);
        wf_traffic_pattern_free(pattern);
    }
    wf_topo_free(topo);
}

/* Shares of 40000 draws, within five standard deviations. */
static void random_patterns_have_their_shares(void)
{
    enum { DRAWS = 40000 };
    struct wf_topo *topo = make_topo("torus:8x8");
    struct wf_traffic_pattern *spot = make("hotspot", topo), *region = make("hotregion", topo);
    struct wf_traffic_pattern *local = make("local", topo);
    uint32_t at_spot = 0, in_region = 0, near[9] = {0};

    for (uint32_t k = 0; k < DRAWS; k++) {
        at_spot += next_of(spot, 20, k) == 0;
        in_region += next_of(region, 20, k) < 8;
        near[topo->ops->distance(topo, 20, (uint32_t)next_of(local, 20, k))]++;
    }
    double spot_share = 0.5 + 0.5 / 63, region_share = 0.5 + 0.5 * 8 / 63;
    CHECK(fabs(at_spot / (double)DRAWS - spot_share) < 5 * 0.5 / sqrt(DRAWS));
    CHECK(fabs(in_region / (double)DRAWS - region_share) < 5 * 0.5 / sqrt(DRAWS));
    CHECK_U64(near[0], 0);
    CHECK(fabs(near[1] / (double)near[2] - 2) < 0.1);
    CHECK(fabs(near[2] / (double)near[3] - 2) < 0.15);
    wf_traffic_pattern_free(spot);
    wf_traffic_pattern_free(region);
    wf_traffic_pattern_free(local);
    wf_topo_free(topo);
}

/* A tally whose latencies start high and settle at 1000 ps, by batch. */
static struct wf_traffic_tally *make_tally(void)
{
    struct wf_traffic_tally *tally = wf_xcalloc(1, sizeof(*tally));

    for (uint32_t b = 0; b < WF_TRAFFIC_BATCHES; b++) {
        for (uint32_t k = 0; k < 100; k++) {
            int64_t noise = (int64_t)(wf_test_rand(1, b, k) % 201) - 100;
            wf_traffic_latency(&tally->batches[b], (b < 4 ? 5000 : 1000) + noise, 64);
            tally->batches[b].offered++;
            tally->batches[b].offered_bytes += 64;
        }
    }
    return tally;
}

static void warm_up_is_left_out(void)
{
    struct wf_traffic_tally *tally = make_tally();
    struct wf_traffic_summary summary;

    wf_traffic_summarize(tally, 1, 0.05, &summary);
    CHECK_U64(summary.warm_up, 4);
    CHECK_U64(summary.arrived, 2800);
    CHECK(fabs(summary.mean - 1000) < 5 && summary.half_width < 10 && summary.half_width > 0);
    CHECK(summary.converged && !summary.saturated);
    CHECK(summary.p50 >= 950 && summary.p50 <= 1060 && summary.p99 <= 1100);
    CHECK(summary.max <= 1100);
    for (uint32_t b = 0; b < WF_TRAFFIC_BATCHES; b++) {
        tally->batches[b].offered_bytes *= 2;
    }
    wf_traffic_summarize(tally, 1, 0.05, &summary);
    CHECK(summary.saturated);
    free(tally);
}

/* The interval covers the true mean about as often as its level says. */
static void intervals_cover_what_they_should(void)
{
    enum { RUNS = 400 };
    uint32_t covered = 0;

    for (uint64_t r = 0; r < RUNS; r++) {
        struct wf_traffic_tally *tally = wf_xcalloc(1, sizeof(*tally));
        struct wf_traffic_summary summary;
        for (uint32_t b = 0; b < WF_TRAFFIC_BATCHES; b++) {
            for (uint32_t k = 0; k < 20; k++) {
                uint64_t value = wf_test_rand(r, b, k) % 2001;
                wf_traffic_latency(&tally->batches[b], (int64_t)value, 64);
            }
        }
        wf_traffic_summarize(tally, 1, 0.05, &summary);
        covered += fabs(summary.mean - 1000) <= summary.half_width;
        free(tally);
    }
    /* Choosing the warm-up costs a little of the 95 percent. */
    CHECK(covered >= RUNS * 85 / 100 && covered < RUNS);
}

static struct wf_net_wait waits_for(uint32_t from, uint32_t to, bool full)
{
    return (struct wf_net_wait){
        .queue = {from, 0, 0}, .is_full = full, .n = 1, .targets = {{to, 0, 0}}};
}

static void deadlocks_are_found_and_named(void)
{
    struct wf_net_waits *waits = wf_xcalloc(1, sizeof(*waits));
    const struct wf_net_wait all[] = {waits_for(3, 1, true), waits_for(1, 2, true),
                                      waits_for(2, 3, true), waits_for(9, 1, true)};
    char words[400];

    for (size_t i = 0; i < 4; i++) {
        wf_net_waits_add(waits, &all[i]);
    }
    waits->n = wf_net_waits_prune(waits->at, waits->n);
    CHECK_U64(waits->n, 4); /* the fourth waits for them and will wait for ever, too */
    struct wf_net_deadlock deadlock = wf_net_deadlock_find(waits->at, waits->n);
    CHECK_U64(deadlock.n, 3);
    (void)wf_net_deadlock_text(&deadlock, words, sizeof(words));
    CHECK(strstr(words, "router 1 port 0 channel 0 -> router 2 port 0 channel 0 -> router 3") !=
              NULL ||
          strstr(words, "router 3 port 0 channel 0 -> router 1 port 0 channel 0 -> router 2") !=
              NULL ||
          strstr(words, "router 2 port 0 channel 0 -> router 3 port 0 channel 0 -> router 1") !=
              NULL);
    CHECK(strstr(words, "router 9") == NULL);
    free(waits);
}

/* One queue has room, or one has another way out: no deadlock. */
static void who_can_move_is_no_deadlock(void)
{
    struct wf_net_waits *waits = wf_xcalloc(1, sizeof(*waits));
    struct wf_net_wait open = waits_for(2, 3, true);
    const struct wf_net_wait others[] = {waits_for(1, 2, true), waits_for(3, 1, true)};

    open.targets[open.n++] = (struct wf_net_queue){7, 0, 0};
    wf_net_waits_add(waits, &open);
    wf_net_waits_add(waits, &others[0]);
    wf_net_waits_add(waits, &others[1]);
    waits->n = wf_net_waits_prune(waits->at, waits->n);
    CHECK_U64(waits->n, 0);
    CHECK_U64(wf_net_deadlock_find(waits->at, waits->n).n, 0);
    free(waits);
}

int main(void)
{
    RUN(permutations_are_permutations);
    RUN(permutations_are_those_of_the_books);
    RUN(random_patterns_have_their_shares);
    RUN(warm_up_is_left_out);
    RUN(intervals_cover_what_they_should);
    RUN(deadlocks_are_found_and_named);
    RUN(who_can_move_is_no_deadlock);
    return wf_test_done();
}
