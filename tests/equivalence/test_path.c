/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of random correct programs: it comes to the start without a gap, each
 * message of it is one that was recorded, and each computation too. */
#include "harness/node_costs.h"
#include "harness/random_program.h"
#include "harness/replay_harness.h"
#include "model/net/alphabeta.h"
#include "model/net/latency.h"
#include "model/net/loggp.h"
#include "model/net/packet/packet.h"
#include "model/ranks/record/path.h"
#include "model/ranks/record/recorder.h"

enum { PROGRAMS = 20 / WF_TEST_ONE_IN, ROUNDS = 12 };

static const char *const eager[] = {NULL};
static const char *const rendezvous[] = {"eager_max", "4000", "control_bytes", "32", NULL};
static const char *const read_data[] = {"eager_max", "4000", "rendezvous", "read", NULL};
static const char *const in_calls[] = {"eager_max", "4000", "progress", "calls", NULL};
static const char *const read_in_calls[] = {"eager_max",  "4000", "progress", "calls",
                                            "rendezvous", "read", NULL};
static const char *const hardware[] = {"allreduce", "hardware", "bcast", "hardware", "reduce",
                                       "hardware",  "barrier",  "ideal", "gather",   "ideal",
                                       "eager_max", "9000",     "scan",  "hardware", NULL};
static const char *const serial[] = {"coll_order", "serial",   "eager_max", "4000",
                                     "allreduce",  "hardware", NULL};
static const char *const *const protocols[] = {eager,     rendezvous,    in_calls, hardware,
                                               read_data, read_in_calls, serial};
enum { PROTOCOLS = sizeof(protocols) / sizeof(protocols[0]) };

/* Four ranks share two cores. */
static const char *const cores[] = {"cores", "2", "switch_cost", "20ns", NULL};

static const char *const disks[] = {"model",   "striped", "servers", "2",       "disks",
                                    "2",       "stripe",  "1KiB",    "request", "4KiB",
                                    "latency", "1us",     NULL};

static const struct setup networks[] = {
    {.net = &wf_net_none_ops},
    {.net = &wf_net_loggp_ops, .storage = disks},
    {.net = &wf_net_alphabeta_ops},
    {.net = &wf_net_latency_ops, .topo = "torus:3", .ranks_per_node = 4},
    {.net = &wf_net_loggp_ops},
    {.net = &wf_net_loggp_ops, .ranks_per_node = 2},
    {.net = &wf_net_packet_ops, .topo = "torus:3x3"},
    {.net = &wf_net_loggp_ops, .ranks_per_node = 2, .node = stripes},
    {.net = &wf_net_packet_ops, .topo = "torus:3x4", .ranks_per_node = 2, .node = turns},
    {.net = &wf_net_loggp_ops, .ranks_per_node = 4, .node = cores},
};
enum { NETWORKS = sizeof(networks) / sizeof(networks[0]) };

static const struct wf_recording_options wish = {
    .limits = {.spans = 20000, .messages = 20000, .path_bytes = 1 << 18}};

/* What a look at a path finds. */
struct found {
    struct wf_recording *recording;
    bool has_overhead; /* sending and receiving cost CPU time */
    bool arrived;
    int64_t end, next; /* of the run; where the next segment has to end */
    uint64_t n_gaps, n_unknown, n_segments;
    uint64_t by_kind[WF_PATH_KINDS];
    uint64_t fingerprint;
};

static bool was_sent(struct found *found, const struct wf_path_segment *segment)
{
    const struct wf_sent *sent = wf_recording_messages(found->recording);

    for (uint64_t i = 0; i < found->recording->n_messages; i++) {
        if (sent[i].from == segment->other && sent[i].to == segment->rank &&
            sent[i].departure == segment->from && sent[i].arrival == segment->until &&
            sent[i].bytes == segment->bytes) {
            return true;
        }
    }
    return false;
}

static bool was_computed(struct found *found, const struct wf_path_segment *segment)
{
    const struct wf_span *spans = wf_recording_spans(found->recording);

    for (uint64_t i = 0; i < found->recording->n_spans; i++) {
        if (spans[i].rank == segment->rank && spans[i].what == WF_SPENT_COMPUTING &&
            spans[i].from <= segment->from && segment->until <= spans[i].until) {
            return true;
        }
    }
    return false;
}

static void look_at_segment(void *arg, const struct wf_path_segment *segment)
{
    struct found *found = arg;
    bool known = true;

    found->n_gaps += segment->until != found->next || segment->from >= segment->until;
    found->next = segment->from;
    found->n_segments++;
    found->by_kind[segment->kind]++;
    if (segment->kind == WF_PATH_MESSAGE && !segment->sends) {
        known = was_sent(found, segment);
    } else if (segment->kind == WF_PATH_COMPUTE) {
        known = was_computed(found, segment);
    } else if (segment->kind == WF_PATH_SEND_OVERHEAD ||
               segment->kind == WF_PATH_RECEIVE_OVERHEAD) {
        known = found->has_overhead;
    }
    found->n_unknown += !known;
    found->fingerprint = found->fingerprint * 31 + (uint64_t)segment->from + segment->rank * 7 +
                         segment->other * 5 + segment->kind + segment->bytes;
}

static int64_t start_at_once(const void *arg, uint32_t rank)
{
    return 0;
}

static void look(void *arg, struct wf_ranks_tally *tally, const struct wf_node_costs *costs)
{
    struct found *found = arg;
    const struct wf_path *path = wf_tally_path(tally);
    const struct wf_path_rules rules = {.taken_ps = costs->recv_unit, .start = start_at_once};

    found->recording = wf_tally_recording(tally);
    found->has_overhead = costs->recv_unit > 0;
    found->end = tally->all.finish.max;
    found->next = path->end;
    found->arrived =
        path->end == found->end && wf_path_walk(path, &rules, look_at_segment, found);
}

static bool is_right(const struct found *found)
{
    return found->arrived && found->next == 0 && found->n_gaps == 0 && found->n_unknown == 0;
}

static void the_path_is_made_of_what_happened(void)
{
    uint64_t by_kind[WF_PATH_KINDS] = {0};

    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct program *program = program_of(7000 + seed, ROUNDS, PROGRAM_FILES);

        for (size_t i = 0; i < (size_t)NETWORKS * PROTOCOLS; i++) {
            struct found found = {.arrived = false};
            struct setup setup = networks[i % NETWORKS];
            setup.source = &program->script.source;
            setup.mpi = long_enough(&setup, protocols[i / NETWORKS], rendezvous);
            setup.costs = costs_of(seed);
            setup.recording = &wish;
            setup.look = look;
            setup.look_arg = &found;
            struct outcome out = replay(&setup);
            CHECK(out.status == WF_OK && out.tally.unfinished == 0);
            if (!is_right(&found)) {
                printf("# seed %d, network %d, protocol %d: arrived %d at %lld, gaps %d, "
                       "unknown %d\n",
                       (int)seed, (int)(i % NETWORKS), (int)(i / NETWORKS), found.arrived,
                       (long long)found.next, (int)found.n_gaps, (int)found.n_unknown);
            }
            CHECK(is_right(&found));
            for (int kind = 0; kind < WF_PATH_KINDS; kind++) {
                by_kind[kind] += found.by_kind[kind];
            }
        }
        program_free(program);
    }
    /* Every kind of segment must occur, else the checks above check nothing. */
    for (int kind = WF_PATH_COMPUTE; kind < WF_PATH_KINDS; kind++) {
        CHECK(by_kind[kind] > 0);
    }
}

static void all_schedulers_find_it(void)
{
    static const enum wf_scheduler schedulers[] = {WF_CHECK_UNDO, WF_CONSERVATIVE,
                                                   WF_OPTIMISTIC, WF_PERTURB};

    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct program *program = program_new(8000 + seed, ROUNDS, true);
        struct found expected = {.arrived = false};
        struct setup setup = networks[seed % NETWORKS];

        setup.source = &program->script.source;
        setup.mpi =
            long_enough(&setup, protocols[(seed + seed / NETWORKS) % PROTOCOLS], rendezvous);
        setup.costs = costs_of(seed / 2);
        setup.recording = &wish;
        setup.look = look;
        setup.look_arg = &expected;
        setup.batch = 4;
        setup.gvt_interval = 4;
        (void)replay(&setup);
        for (size_t i = 0; i < sizeof(schedulers) / sizeof(schedulers[0]); i++) {
            struct found found = {.arrived = false};
            setup.scheduler = schedulers[i];
            setup.threads = schedulers[i] == WF_CHECK_UNDO ? 1 : 2;
            setup.perturb_seed = seed;
            setup.look_arg = &found;
            (void)replay(&setup);
            CHECK(is_right(&found));
            CHECK_U64(found.n_segments, expected.n_segments);
            CHECK_U64(found.fingerprint, expected.fingerprint);
        }
        program_free(program);
    }
}

static void what_has_no_room_is_not_kept(void)
{
    static const struct wf_recording_options few = {.limits = {.path_bytes = 512}};
    struct program *program = program_new(1, ROUNDS, true);
    struct found found = {.arrived = true};
    struct setup setup = {.net = &wf_net_loggp_ops,
                          .source = &program->script.source,
                          .recording = &few,
                          .look = look,
                          .look_arg = &found};

    (void)replay(&setup);
    CHECK(!found.arrived);
    CHECK_U64(found.n_segments, 0);
    program_free(program);
}

int main(void)
{
    RUN(the_path_is_made_of_what_happened);
    RUN(all_schedulers_find_it);
    RUN(what_has_no_room_is_not_kept);
    return wf_test_done();
}
