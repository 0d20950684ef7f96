/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of GOAL schedules that are matched by channel meet the receives that they meet if all
 * ops are matched in their order. */
#include "base/rng.h"
#include "harness/wf_test.h"
#include "program/trace/goal/channels.h"
#include "program/trace/goal/goal.h"
#include "program/trace/goal/progress.h"

enum { RANKS_MAX = 6, OPS_MAX = 64, EDGES_MAX = 256, SCHEDULES = 5000 };

/* A schedule that is being made. */
struct draft {
    struct wf_goal goal; /* of struct wf_goal_rank below */
    struct wf_goal_rank ranks[RANKS_MAX];
    struct wf_goal_op ops[RANKS_MAX][OPS_MAX];
    struct wf_goal_edge edges[RANKS_MAX][EDGES_MAX];
    uint32_t step[RANKS_MAX]; /* the first op of the step of a rank */
    uint32_t matches[RANKS_MAX][OPS_MAX];
};

static struct draft draft;
static uint64_t random_state;

static uint32_t below(uint32_t n)
{
    random_state = wf_rng_mix(random_state + 1);
    return (uint32_t)(random_state % n);
}

static void begin(uint32_t n_ranks)
{
    draft = (struct draft){.goal.n_ranks = n_ranks, .goal.ranks = draft.ranks};
    for (uint32_t r = 0; r < n_ranks; r++) {
        draft.ranks[r].ops = draft.ops[r];
        draft.ranks[r].edges = draft.edges[r];
    }
}

static void add_edge(uint32_t r, uint32_t before, uint32_t after)
{
    struct wf_goal_rank *rank = &draft.ranks[r];

    if (rank->n_edges < EDGES_MAX) {
        draft.edges[r][rank->n_edges] =
            (struct wf_goal_edge){before, after, below(8) != 0, (uint32_t)rank->n_edges & 1023};
        rank->n_edges++;
    }
}

static uint32_t add_op(uint32_t r, enum wf_goal_kind kind, uint32_t peer, uint32_t tag)
{
    struct wf_goal_rank *rank = &draft.ranks[r];
    uint32_t number = (uint32_t)rank->n++;

    draft.ops[r][number] = (struct wf_goal_op){
        .kind = (uint8_t)kind, .peer = peer, .tag = tag, .match = WF_NO_TASK};
    if (draft.step[r] > 0) {
        add_edge(r, draft.step[r] - 1, number);
    }
    return number;
}

/* All that a rank has begun joins in one op, mostly. */
static void join(uint32_t r)
{
    uint32_t n = (uint32_t)draft.ranks[r].n;

    if (n == 0 || n + 1 >= OPS_MAX) {
        return;
    }
    uint32_t first = draft.step[r] > 0 ? draft.step[r] - 1 : 0;
    uint32_t number = (uint32_t)draft.ranks[r].n++;
    draft.ops[r][number] = (struct wf_goal_op){.kind = WF_GOAL_CALC, .match = WF_NO_TASK};
    for (uint32_t i = first; i < number; i++) {
        if (below(100) != 0) {
            add_edge(r, i, number);
        }
    }
    draft.step[r] = number + 1;
}

/* Some ops of two ranks: mostly a message. */
static void add_message(uint32_t n_ranks)
{
    uint32_t from = below(n_ranks), to = below(n_ranks), tag = below(2);
    bool has_room = draft.ranks[from].n + 2 < OPS_MAX && draft.ranks[to].n + 2 < OPS_MAX;

    if (!has_room) {
        return;
    }
    if (below(60) != 0) {
        uint32_t send = add_op(from, WF_GOAL_SEND, to, tag);
        if (below(3) == 0 && send > draft.step[from]) {
            add_edge(from, send - 1, send);
        }
    }
    if (below(60) != 0) {
        uint32_t recv = add_op(to, WF_GOAL_RECV, from, tag);
        if (below(3) == 0 && recv > draft.step[to]) {
            add_edge(to, recv - 1, recv);
        }
    }
    if (below(3) != 0) {
        join(from);
        join(to);
    }
}

static void number_ops(void)
{
    for (uint32_t r = 0; r < draft.goal.n_ranks; r++) {
        draft.ranks[r].first = draft.goal.n_ops;
        draft.ranks[r].first_edge = draft.goal.n_edges;
        draft.goal.n_ops += draft.ranks[r].n;
        draft.goal.n_edges += draft.ranks[r].n_edges;
    }
    wf_goal_sort(&draft.goal);
}

static void end(void)
{
    free(draft.goal.after_in_file);
    free(draft.goal.links);
}

static void keep_matches(void)
{
    for (uint32_t r = 0; r < draft.goal.n_ranks; r++) {
        for (uint32_t i = 0; i < draft.ranks[r].n; i++) {
            draft.matches[r][i] = draft.ops[r][i].match;
            draft.ops[r][i].match = WF_NO_TASK;
        }
    }
}

static bool are_as_kept(void)
{
    bool same = true;

    for (uint32_t r = 0; r < draft.goal.n_ranks; r++) {
        for (uint32_t i = 0; i < draft.ranks[r].n; i++) {
            same = same && draft.matches[r][i] == draft.ops[r][i].match;
        }
    }
    return same;
}

static bool has_matches(void)
{
    bool has = false;

    for (uint32_t r = 0; r < draft.goal.n_ranks; r++) {
        for (uint32_t i = 0; i < draft.ranks[r].n; i++) {
            has = has || draft.ops[r][i].match != WF_NO_TASK;
        }
    }
    return has;
}

/* Random schedules: steps of several messages, chains, dependencies on starts, messages without
 * partner, ranks that wait for each other. */
static void both_ways_agree(void)
{
    uint32_t n_by_channel = 0, n_others = 0, n_with_match = 0;

    for (uint32_t i = 0; i < SCHEDULES; i++) {
        uint32_t n_ranks = 1 + below(RANKS_MAX), n_messages = 1 + below(24);
        begin(n_ranks);
        for (uint32_t k = 0; k < n_messages; k++) {
            add_message(n_ranks);
        }
        number_ops();
        wf_goal_match_in_order(&draft.goal);
        keep_matches();
        if (wf_goal_match_channels(&draft.goal)) {
            CHECK(are_as_kept());
            n_by_channel++;
            n_with_match += has_matches() ? 1 : 0;
        } else {
            CHECK(!has_matches());
            n_others++;
        }
        end();
    }
    printf("# %u by channel, %u with matches; %u otherwise\n", n_by_channel, n_with_match,
           n_others);
    CHECK(n_with_match > SCHEDULES / 20 && n_others > SCHEDULES / 20);
}

/* Two sends of a channel that may start in any order. */
static void an_order_that_is_not_known(void)
{
    begin(2);
    (void)add_op(0, WF_GOAL_SEND, 1, 0);
    (void)add_op(0, WF_GOAL_SEND, 1, 0);
    (void)add_op(1, WF_GOAL_RECV, 0, 0);
    number_ops();
    CHECK(!wf_goal_match_channels(&draft.goal));
    wf_goal_match(&draft.goal);
    CHECK_U64(draft.ops[0][0].match, 0);
    CHECK_U64(draft.ops[0][1].match, WF_NO_TASK);
    end();
}

/* Both receive first: no send ever starts. */
static void ranks_that_wait_for_each_other(void)
{
    begin(2);
    for (uint32_t r = 0; r < 2; r++) {
        add_edge(r, add_op(r, WF_GOAL_RECV, 1 - r, 0), 1);
        (void)add_op(r, WF_GOAL_SEND, 1 - r, 0);
        draft.edges[r][0].for_end = 1;
    }
    number_ops();
    CHECK(!wf_goal_match_channels(&draft.goal));
    wf_goal_match(&draft.goal);
    CHECK_U64(draft.ops[0][1].match, WF_NO_TASK);
    end();
}

/* A chain of ranks, each of which sends after it has received: later segments meet earlier ones. */
static void ranks_out_of_step(void)
{
    begin(RANKS_MAX);
    for (uint32_t r = 0; r < RANKS_MAX; r++) {
        uint32_t latest = add_op(r, WF_GOAL_CALC, 0, 0);
        for (uint32_t i = 0; i < 3 && r > 0; i++) {
            uint32_t recv = add_op(r, WF_GOAL_RECV, r - 1, 0);
            add_edge(r, latest, recv);
            latest = recv;
        }
        for (uint32_t i = 0; i < 3 && r + 1 < RANKS_MAX; i++) {
            uint32_t send = add_op(r, WF_GOAL_SEND, r + 1, 0);
            add_edge(r, latest, send);
            latest = send;
        }
    }
    number_ops();
    CHECK(wf_goal_match_channels(&draft.goal));
    CHECK_U64(draft.ops[0][1].match, 1);
    CHECK_U64(draft.ops[0][3].match, 3);
    CHECK_U64(draft.ops[3][6].match, 3);
    end();
}

static void progress(void)
{
    const struct wf_goal_need first = {0, 1, 2}, second = {0, 0, 1}, never = {0, 0, 3};
    struct wf_goal_needs ranks[2] = {{&first, 1}, {&second, 1}};

    CHECK(wf_goal_can_end(ranks, 2)); /* rank 1 needs what rank 0 sends at once */
    ranks[1].items = &never;
    CHECK(!wf_goal_can_end(ranks, 2));
    ranks[1].n = 0;
    CHECK(wf_goal_can_end(ranks, 2));
    ranks[0] = (struct wf_goal_needs){&never, 1}; /* its own message, from a later segment */
    CHECK(!wf_goal_can_end(ranks, 2));
}

/* Many ranks wait for the last segment of a rank that exchanges messages with another: they would
 * be looked at after each of them. */
static void many_that_wait_for_long_are_left_to_the_other_way(void)
{
    enum { WAITERS = 200, ROUNDS = 200 };
    static struct wf_goal_need here[ROUNDS], there[ROUNDS], last[WAITERS];
    struct wf_goal_needs ranks[WAITERS + 2];

    for (uint32_t i = 0; i < WAITERS; i++) {
        last[i] = (struct wf_goal_need){0, WAITERS, ROUNDS};
        ranks[i] = (struct wf_goal_needs){&last[i], 1};
    }
    for (uint32_t i = 0; i < ROUNDS; i++) {
        here[i] = (struct wf_goal_need){i, WAITERS + 1, i + 2};
        there[i] = (struct wf_goal_need){i, WAITERS, i + 1};
    }
    ranks[WAITERS] = (struct wf_goal_needs){here, ROUNDS};
    ranks[WAITERS + 1] = (struct wf_goal_needs){there, ROUNDS};
    CHECK(!wf_goal_can_end(ranks, WAITERS + 2));
    for (uint32_t i = 1; i < WAITERS; i++) { /* with one of them it is worth it */
        ranks[i].n = 0;
    }
    CHECK(wf_goal_can_end(ranks, WAITERS + 2));
}

int main(void)
{
    random_state = 19;
    RUN(both_ways_agree);
    RUN(an_order_that_is_not_known);
    RUN(ranks_that_wait_for_each_other);
    RUN(ranks_out_of_step);
    RUN(progress);
    RUN(many_that_wait_for_long_are_left_to_the_other_way);
    return wf_test_done();
}
