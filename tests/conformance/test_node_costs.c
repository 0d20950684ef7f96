/* SPDX-License-Identifier: Apache-2.0 */
/* What messages cost their nodes is the same on every registered network model: a program takes
 * longer by exactly these costs, and every scheduler says so. */
#include "harness/node_costs.h"
#include "harness/random_program.h"
#include "harness/replay_harness.h"

/* Whole microseconds: some models count in cycles. */
#define US INT64_C(1000000)
enum { K = 4000 };

/* Times for a message of K bytes. */
enum {
    O_SEND = 3,
    O_RECV = 5,
    COPY_SEND = 8,
    COPY_RECV = 16,
    UNEXPECTED = 32,
    DELAY = 64 + 128,
    REGISTER = 256 + 500
};
static const char *const bare[] = {"o_send", "0", "o_recv", "0", NULL};
static const char *const costs[] = {"o_send",
                                    "3us",
                                    "o_recv",
                                    "5us",
                                    "copy_send",
                                    "500MB/s",
                                    "copy_recv",
                                    "250MB/s",
                                    "copy_unexpected",
                                    "125MB/s",
                                    "injection_delay",
                                    "64us",
                                    "ejection_delay",
                                    "128us",
                                    "registration",
                                    "256us",
                                    "registration_rate",
                                    "8MB/s",
                                    NULL};

static const char *const eager[] = {NULL};
static const char *const write_data[] = {"eager_max", "3999", NULL};
static const char *const read_data[] = {"eager_max", "3999", "rendezvous", "read", NULL};

static struct setup on_model(const struct wf_net_ops *ops)
{
    return (struct setup){.net = ops, .topo = ops->uses_topology ? "torus:4" : NULL};
}

/* By how many picoseconds all costs delay the last rank; -1 if the schedulers disagree. */
static int64_t longer_by(const struct wf_net_ops *ops, const char *const *mpi,
                         const struct wf_op *zero, const struct wf_op *one)
{
    static const enum wf_scheduler others[] = {WF_CHECK_UNDO, WF_CONSERVATIVE, WF_OPTIMISTIC,
                                               WF_PERTURB};
    const struct wf_op *const ranks[] = {zero, one};
    struct setup setup = on_model(ops);

    setup.mpi = mpi;
    setup.node = bare;
    struct outcome without = replay_script(setup, ranks, 2);
    setup.node = costs;
    struct outcome with = replay_script(setup, ranks, 2);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        setup.scheduler = others[i];
        struct outcome same = replay_script(setup, ranks, 2);
        if (same.run.digest != with.run.digest || same.tally.unfinished > 0 ||
            memcmp(&same.tally, &with.tally, sizeof(with.tally)) != 0) {
            return -1;
        }
    }
    return with.tally.all.finish.max - without.tally.all.finish.max;
}

static bool is_asked_for(const struct wf_net_ops *ops)
{
    const char *only = getenv("WEFT_TEST_ONLY");

    return only == NULL || strcmp(only, ops->name) == 0;
}

static void messages_cost_the_same_on_every_model(void)
{
    static const struct wf_op sender[] = {SEND(1, 0, K), END}, receiver[] = {RECV(0, 0), END};
    static const struct wf_op late[] = {COMPUTE(9000 * US), RECV(0, 0), END};
    static const struct wf_op put[] = {
        PEER_OP(PUT, 1, 0, K, 0), {.kind = WF_OP_WIN_FLUSH}, END};
    static const struct wf_op none[] = {END};

    for (const struct wf_net_ops *const *ops = wf_net_table(); *ops != NULL; ops++) {
        if (!is_asked_for(*ops)) {
            continue;
        }
        printf("# %s\n", (*ops)->name);
        int64_t both = O_SEND + COPY_SEND + O_RECV + COPY_RECV;
        CHECK(longer_by(*ops, eager, sender, receiver) == (both + DELAY) * US);
        CHECK(longer_by(*ops, eager, sender, late) == (O_RECV + COPY_RECV + UNEXPECTED) * US);
        CHECK(longer_by(*ops, write_data, sender, receiver) ==
              (both + 2 * REGISTER + 3 * DELAY) * US);
        /* The confirmation arrives after the receiver is done. */
        CHECK(longer_by(*ops, read_data, sender, receiver) ==
              (O_SEND + COPY_SEND + 2 * REGISTER + 4 * DELAY) * US);
        CHECK(longer_by(*ops, eager, put, none) == (O_SEND + 2 * DELAY) * US);
    }
}

/* With costs that are no multiple of anything, and a gap. */
static void random_programs_agree_on_every_model(void)
{
    static const enum wf_scheduler others[] = {WF_CHECK_UNDO, WF_OPTIMISTIC, WF_PERTURB};
    static const char *const *const protocols[] = {eager, write_data, read_data};
    enum { ROUNDS = 5 };
    uint64_t seed = 1;

    for (const struct wf_net_ops *const *ops = wf_net_table(); *ops != NULL; ops++, seed++) {
        struct program *program = program_new(9000 + seed, ROUNDS, true);
        struct setup setup = on_model(*ops);

        setup.topo = setup.topo != NULL ? "torus:3x3" : NULL;
        setup.source = &program->script.source;
        setup.costs = node_costs;
        for (size_t i = 0; i < 3 && is_asked_for(*ops); i++) {
            setup.scheduler = WF_SEQUENTIAL;
            setup.mpi = protocols[i];
            setup.ranks_per_node = i + 1 < 3 ? 1 : 2;
            struct outcome expected = replay(&setup);
            CHECK(expected.status == WF_OK && expected.tally.unfinished == 0);
            setup.scheduler = others[i];
            setup.perturb_seed = seed;
            struct outcome out = replay(&setup);
            CHECK_U64(out.run.digest, expected.run.digest);
            CHECK(memcmp(&out.tally, &expected.tally, sizeof(out.tally)) == 0);
        }
        program_free(program);
    }
}

int main(void)
{
    RUN(messages_cost_the_same_on_every_model);
    RUN(random_programs_agree_on_every_model);
    return wf_test_done();
}
