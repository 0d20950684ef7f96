/* SPDX-License-Identifier: Apache-2.0 */
/* One program on one network: every scheduler, with any number of threads, gives one digest and
 * one tally. */
#include "harness/gen_make.h"
#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "model/net/alphabeta.h"
#include "model/net/latency.h"
#include "model/net/loggp.h"
#include "model/net/packet/packet.h"

static struct wf_source *stencil(uint32_t n_ranks)
{
    return gen_make(&wf_gen_stencil3d_ops, n_ranks,
                    "bytes=20000 iterations=4 compute=3us allreduce=1");
}

static bool same(const struct outcome *a, const struct outcome *b)
{
    return a->status == WF_OK && b->status == WF_OK && a->run.digest == b->run.digest &&
           a->run.events_committed == b->run.events_committed &&
           memcmp(&a->tally, &b->tally, sizeof(a->tally)) == 0;
}

/* ThreadSanitizer needs two threads, and learns nothing from more of them. */
#if defined(__SANITIZE_THREAD__)
enum { THREADS_MIN = 2, THREADS_MAX = 2 };
#else
enum { THREADS_MIN = 1, THREADS_MAX = 4 };
#endif

/* Runs `setup` under everything and compares with the sequential run. */
static void compare_all(struct setup setup)
{
    static const enum wf_scheduler schedulers[] = {WF_CHECK_UNDO, WF_CONSERVATIVE,
                                                   WF_OPTIMISTIC, WF_PERTURB};
    setup.scheduler = WF_SEQUENTIAL;
    struct outcome expected = replay(&setup);

    CHECK(expected.status == WF_OK);
    for (size_t i = 0; i < sizeof(schedulers) / sizeof(schedulers[0]); i++) {
        for (uint64_t threads = THREADS_MIN; threads <= THREADS_MAX; threads *= 2) {
            if (schedulers[i] == WF_CHECK_UNDO && threads > 1) { /* it has one thread */
                continue;
            }
            setup.scheduler = schedulers[i];
            setup.threads = threads;
            setup.perturb_seed = 1 + threads;
            struct outcome out = replay(&setup);
            if (!same(&expected, &out)) {
                printf("# %s, %llu threads: digest %016llx, expected %016llx\n",
                       wf_scheduler_names[schedulers[i]], (unsigned long long)threads,
                       (unsigned long long)out.run.digest,
                       (unsigned long long)expected.run.digest);
            }
            CHECK(same(&expected, &out));
        }
    }
}

/* Small batches and frequent GVT rounds, so that small models roll back and commit often. */
static struct setup small_steps(const struct wf_source *source, const struct wf_net_ops *net)
{
    return (struct setup){.source = source, .net = net, .batch = 4, .gvt_interval = 4};
}

/* What a result shows. */
static uint64_t digest_of(const struct setup *setup)
{
    struct outcome out = replay(setup);

    return wf_tally_digest(&out.tally, out.run.digest);
}

static void stencils_on_loggp(void)
{
    static const uint32_t sizes[] = {1, 2, 7, 27, 100};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct wf_source *source = stencil(sizes[i]);
        compare_all(small_steps(source, &wf_net_loggp_ops));
        wf_source_free(source);
    }
}

static void stencils_on_alphabeta_and_latency(void)
{
    struct wf_source *source = stencil(60);
    struct setup setup = small_steps(source, &wf_net_alphabeta_ops);

    compare_all(setup);
    setup.net = &wf_net_latency_ops;
    setup.topo = "torus:5x4x3";
    compare_all(setup);
    wf_source_free(source);
}

/* Packets through routers, with trains and without, of nodes and of switches. */
static void stencils_and_pairs_on_packets(void)
{
    static const char *const topos[] = {"torus:4x4x2", "fattree:4,4,2", "star:8/mesh:2x2"};
    struct wf_packet_params params;
    struct wf_source *sources[2] = {
        stencil(24), gen_make(&wf_gen_random_ops, 30, "bytes=5000 messages=6 seed=7")};

    memset(&params, 0, sizeof(params));
    must(wf_param_defaults(wf_net_packet_ops.params, &params, NULL), NULL);
    for (size_t i = 0; i < 3; i++) {
        struct setup setup = small_steps(sources[i % 2], &wf_net_packet_ops);
        setup.topo = topos[i];
        setup.net_params = &params;
        setup.ranks_per_node = i % 2 == 0 ? 2 : 1;
        params.trains = true;
        compare_all(setup);
        uint64_t with = digest_of(&setup);
        params.trains = false;
        compare_all(setup);
        CHECK_U64(digest_of(&setup), with);
    }
    wf_param_release(wf_net_packet_ops.params, &params);
    wf_source_free(sources[0]);
    wf_source_free(sources[1]);
}

/* Programs in rounds: few messages at a time, and every rank waits for every one. */
static void rounds_of_messages(void)
{
    static const uint32_t sizes[] = {1, 2, 30};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct wf_source *source = gen_make(&wf_gen_ring_ops, sizes[i], "bytes=4 rounds=20");
        compare_all(small_steps(source, &wf_net_loggp_ops));
        wf_source_free(source);
        source = gen_make(&wf_gen_random_ops, sizes[i], "bytes=5000 messages=20 seed=7");
        struct setup setup = small_steps(source, &wf_net_latency_ops);
        setup.topo = "torus:6x5";
        CHECK_U64(replay(&setup).tally.latency.n, UINT64_C(20) * sizes[i]);
        compare_all(setup);
        setup.ranks_per_node = 4;
        setup.net = &wf_net_loggp_ops;
        compare_all(setup);
        wf_source_free(source);
    }
}

/* Ranks that share a node, and therefore do not run ahead. */
static void several_ranks_on_a_node(void)
{
    struct wf_source *source = stencil(50);
    struct setup setup = small_steps(source, &wf_net_loggp_ops);

    setup.ranks_per_node = 4;
    compare_all(setup);
    setup.lps_per_kp = 4;
    compare_all(setup);
    wf_source_free(source);
}

/* No promise to go by: windows as narrow as they get. */
static void a_network_without_latency(void)
{
    static const struct wf_net_loggp_params params = {.eager_max = WF_PARAM_WORD,
                                                      .bandwidth = 1000000000 * WF_RATE_BYTE};
    struct wf_source *source = stencil(27);
    struct setup setup = small_steps(source, &wf_net_loggp_ops);

    setup.net_params = &params;
    compare_all(setup);
    wf_source_free(source);
}

/* Ranks that compute for random times and talk to random partners; receives in another order
 * than sends, so that both queues fill. */
enum { RANDOM_RANKS = 16, ROUNDS = 30 / WF_TEST_ONE_IN, SEED = 6 };

static bool random_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                        struct wf_op *op)
{
    uint64_t round = cursor->word[0] / 8, step = cursor->word[0] % 8;
    /* In each round everybody sends to the one `shift` above, twice. */
    uint32_t shift = (uint32_t)(wf_test_rand(SEED, 0, round) % RANDOM_RANKS);
    uint64_t own = wf_test_rand(SEED, rank + 1, round);
    uint32_t up = (rank + shift) % RANDOM_RANKS;
    uint32_t down = (rank + RANDOM_RANKS - shift) % RANDOM_RANKS;
    int32_t tag = (int32_t)(own % 2); /* which of the two receives is posted first */

    if (round == ROUNDS) {
        return false;
    }
    cursor->word[0]++;
    switch (step) {
    case 0:
        *op = (struct wf_op)COMPUTE((int64_t)(own % 20000000));
        break;
    case 1:
        *op = (struct wf_op)ISEND(up, 0, wf_test_rand(SEED, 99, round) % 100000, 0);
        break;
    case 2:
        *op = (struct wf_op)ISEND(up, 1, 8, 1);
        break;
    case 3:
        *op = (struct wf_op)IRECV(down, tag, 2);
        break;
    case 4:
        *op = (struct wf_op)COMPUTE((int64_t)(own / 7 % 2000000));
        break;
    case 5:
        *op = (struct wf_op)IRECV(down, 1 - tag, 3);
        break;
    case 6:
        *op = own % 3 == 0 ? (struct wf_op)WAIT(3) : (struct wf_op)WAITALL(0, 4);
        break;
    default:
        *op = (struct wf_op)WAITALL(0, 4);
        break;
    }
    return true;
}

static void random_partners(void)
{
    static const struct wf_source_ops ops = {.name = "random", .next = random_next};
    static const struct wf_source source = {.ops = &ops, .n_ranks = RANDOM_RANKS};
    struct setup setup = small_steps(&source, &wf_net_loggp_ops);

    CHECK_U64(replay(&setup).tally.unfinished, 0);
    compare_all(setup);
    setup.net = &wf_net_alphabeta_ops;
    compare_all(setup);
    setup.ranks_per_node = 3;
    compare_all(setup);
}

/* A run that ends in a deadlock ends in the same one everywhere. */
static void a_deadlock(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, 10), RECV(2, 5), END};
    static const struct wf_op one[] = {RECV(0, 0), RECV(0, 1), END};
    static const struct wf_op two[] = {BARRIER, END};
    static const struct wf_op *const ranks[] = {zero, one, two};
    struct script script = make_script(ranks, 3);

    compare_all(small_steps(&script.source, &wf_net_loggp_ops));
}

int main(void)
{
    RUN(stencils_on_loggp);
    RUN(stencils_on_alphabeta_and_latency);
    RUN(stencils_and_pairs_on_packets);
    RUN(rounds_of_messages);
    RUN(several_ranks_on_a_node);
    RUN(a_network_without_latency);
    RUN(random_partners);
    RUN(a_deadlock);
    return wf_test_done();
}
