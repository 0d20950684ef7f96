/* SPDX-License-Identifier: Apache-2.0 */
/* LogGP to the picosecond. The arithmetic is written out: L 1000, o 500, g 100, and 1 byte per
 * picosecond (G = 1), so that every term can be distinguished. */
#include "model/net/loggp.h"

#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "model/net/alphabeta.h"

static const int64_t L = 1000, O = 500, GAP = 100;

enum { BIG = 4001 };

static const struct wf_net_loggp_params params = {.latency = 1000,
                                                  .overhead = 500,
                                                  .gap = 100,
                                                  .eager_max = WF_PARAM_WORD,
                                                  .bandwidth = 1000000000000 * WF_RATE_BYTE};

static struct outcome run(const struct wf_op *const *ranks, uint32_t n_ranks)
{
    return replay_script((struct setup){.net = &wf_net_loggp_ops, .net_params = &params}, ranks,
                         n_ranks);
}

/* When the last rank is done. */
static int64_t end_of(const struct wf_op *const *ranks, uint32_t n_ranks)
{
    struct outcome out = run(ranks, n_ranks);

    return out.status == WF_OK && out.tally.unfinished == 0 ? out.tally.all.finish.max : -1;
}

static void one_message_takes_o_kG_L_o(void)
{
    static const uint64_t sizes[] = {0, 1, 2, 1000, 131072};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct wf_op zero[] = {SEND(1, 0, sizes[i]), END};
        const struct wf_op one[] = {RECV(0, 0), END};
        const struct wf_op *const ranks[] = {zero, one};
        int64_t k = sizes[i] > 0 ? (int64_t)sizes[i] : 1;
        struct outcome out = run(ranks, 2);

        CHECK(out.tally.all.finish.max == O + (k - 1) + L + O);
        CHECK(out.tally.all.finish.min == O); /* the sender's CPU is free again */
        CHECK_U64(out.tally.all.messages, 1);
        CHECK_U64(out.tally.all.bytes, sizes[i]);
        CHECK(out.tally.all.wait[WF_IN_RECV].max == O + (k - 1) + L);
        CHECK(out.tally.all.overhead.max == O);
    }
}

static void ping_pong_is_twice_that(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, BIG), RECV(1, 0), END};
    static const struct wf_op one[] = {RECV(0, 0), SEND(0, 0, BIG), END};
    static const struct wf_op *const ranks[] = {zero, one};

    CHECK(end_of(ranks, 2) == 2 * (O + (BIG - 1) + L + O));
}

/* 11 bytes take 70, 1011 bytes 2070; in between 2 a byte, below 7 a byte, above 1 a byte. */
static void bytes_take_what_the_points_say(void)
{
    static char points[] = "11:70ps,1011:2070ps";
    static const struct {
        uint64_t bytes;
        int64_t tail;
    } cases[] = {{0, 0}, {1, 0}, {2, 7}, {11, 70}, {12, 72}, {1011, 2070}, {1111, 2170}};
    struct wf_net_loggp_params own = params;

    own.sizes = points;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct wf_op zero[] = {SEND(1, 0, cases[i].bytes), END};
        const struct wf_op one[] = {RECV(0, 0), END};
        const struct wf_op *const ranks[] = {zero, one};
        struct outcome out = replay_script(
            (struct setup){.net = &wf_net_loggp_ops, .net_params = &own}, ranks, 2);

        CHECK(out.tally.all.finish.max == O + cases[i].tail + L + O);
    }
}

/* Two messages that meet: with full duplex as long as one. Sending keeps an interface from
 * receiving for a share of the time, 3000 of 4000, which is later than L. */
static void a_shared_interface_receives_later(void)
{
    static const struct wf_op zero[] = {SENDRECV(1, 0, BIG, 1, 0), END};
    static const struct wf_op one[] = {SENDRECV(0, 0, BIG, 0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct wf_net_loggp_params own = params;

    CHECK(end_of(ranks, 2) == O + L + (BIG - 1) + O);
    own.shared = 0.75;
    struct outcome out =
        replay_script((struct setup){.net = &wf_net_loggp_ops, .net_params = &own}, ranks, 2);
    CHECK(out.tally.all.finish.max == O + 3000 + (BIG - 1) + O);
}

/* By points: 2500 for one byte, 3500 for the long one, in between on a line and behind it by
 * the share of what the bytes take. What was taken in does not delay an answer. */
static void an_interface_is_held_as_the_points_say(void)
{
    static char points[] = "1:2500ps,4001:3500ps";
    static const struct {
        uint64_t bytes;
        int64_t held;
    } cases[] = {{0, 2500}, {1, 2500}, {2001, 3000}, {BIG, 3500}, {BIG + 1000, 3750}};
    struct wf_net_loggp_params own = params;
    struct setup setup = {.net = &wf_net_loggp_ops, .net_params = &own};

    own.held = points;
    own.shared = 0.25;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t bytes = cases[i].bytes;
        const struct wf_op zero[] = {SENDRECV(1, 0, bytes, 1, 0), END};
        const struct wf_op one[] = {SENDRECV(0, 0, bytes, 0, 0), END};
        const struct wf_op *const both[] = {zero, one};
        const struct wf_op ping[] = {SEND(1, 0, bytes), RECV(1, 0), END};
        const struct wf_op pong[] = {RECV(0, 0), SEND(0, 0, bytes), END};
        const struct wf_op *const turns[] = {ping, pong};
        int64_t tail = bytes > 1 ? (int64_t)bytes - 1 : 0;
        struct outcome out = replay_script(setup, both, 2);

        CHECK(out.tally.all.finish.max == O + cases[i].held + tail + O);
        out = replay_script(setup, turns, 2);
        CHECK(out.tally.all.finish.max == 2 * (O + tail + L + O));
    }
}

static void the_defaults_are_what_the_document_says(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, 131072), END};
    static const struct wf_op one[] = {RECV(0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct outcome out = replay_script((struct setup){.net = &wf_net_loggp_ops}, ranks, 2);

    /* 0.5 us + 131071 B / 10 GB/s + 1 us + 0.5 us. */
    CHECK(out.tally.all.finish.max == 500000 + 13107100 + 1000000 + 500000);
}

/* Short messages: the CPU is the limit (o > g); each is received o after the one before. */
static void a_burst_of_short_messages_is_limited_by_o(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, 1), SEND(1, 1, 1), SEND(1, 2, 1), END};
    static const struct wf_op one[] = {IRECV(0, 0, 0), IRECV(0, 1, 1), IRECV(0, 2, 2),
                                       WAITALL(0, 3), END};
    static const struct wf_op *const ranks[] = {zero, one};

    CHECK(end_of(ranks, 2) == 3 * O + L + O);
}

/* Long messages: the interface is the limit; the next leaves g + (k-1)G after the one before.
 */
static void a_burst_of_long_messages_is_limited_by_g_and_G(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, BIG), SEND(1, 1, BIG), SEND(1, 2, BIG), END};
    static const struct wf_op one[] = {IRECV(0, 0, 0), IRECV(0, 1, 1), IRECV(0, 2, 2),
                                       WAITALL(0, 3), END};
    static const struct wf_op *const ranks[] = {zero, one};
    int64_t last_leaves = O + 2 * (GAP + BIG - 1);

    CHECK(end_of(ranks, 2) == last_leaves + L + (BIG - 1) + O);
}

/* The same to different receivers, so that it is the sender that spaces them. */
static void a_sender_spaces_what_it_sends_to_different_nodes(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, BIG), SEND(2, 0, BIG), END};
    static const struct wf_op receiver[] = {RECV(0, 0), END};
    static const struct wf_op *const ranks[] = {zero, receiver, receiver};

    CHECK(end_of(ranks, 3) == O + (GAP + BIG - 1) + L + (BIG - 1) + O);
}

/* A gap larger than o shows between messages of a byte. */
static void a_burst_of_short_messages_is_limited_by_a_large_g(void)
{
    static const struct wf_net_loggp_params slow = {.latency = 1000,
                                                    .overhead = 500,
                                                    .gap = 9000,
                                                    .eager_max = WF_PARAM_WORD,
                                                    .bandwidth = 1000000000000 * WF_RATE_BYTE};
    static const struct wf_op zero[] = {SEND(1, 0, 1), SEND(1, 1, 1), END};
    static const struct wf_op one[] = {RECV(0, 0), RECV(0, 1), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct outcome out =
        replay_script((struct setup){.net = &wf_net_loggp_ops, .net_params = &slow}, ranks, 2);

    CHECK(out.tally.all.finish.max == O + 9000 + L + O);
    CHECK(out.tally.all.finish.min == 2 * O); /* the CPU does not wait for the interface */
}

/* Three senders, one receiver: heads arrive together, the interface takes them in turn. */
static void a_receiver_takes_in_one_message_at_a_time(void)
{
    static const struct wf_op zero[] = {IRECV(1, 0, 0), IRECV(2, 0, 1), IRECV(3, 0, 2),
                                        WAITALL(0, 3), END};
    static const struct wf_op sender[] = {SEND(0, 0, BIG), END};
    static const struct wf_op *const ranks[] = {zero, sender, sender, sender};
    struct outcome out = run(ranks, 4);
    int64_t last_begins = O + L + 2 * (GAP + BIG - 1);

    CHECK(out.tally.all.finish.max == last_begins + (BIG - 1) + O);
    CHECK(out.tally.all.wait[WF_IN_RECV].max == last_begins + (BIG - 1) - 2 * O);
    CHECK_U64(out.tally.all.messages, 3);
}

/* A receiver that is late does not hold up the sender, and finds the message waiting. */
static void a_late_receiver_pays_only_its_overhead(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, BIG), END};
    static const struct wf_op one[] = {COMPUTE(1000000), RECV(0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct outcome out = run(ranks, 2);

    CHECK(out.tally.all.finish.max == 1000000 + O);
    CHECK(out.tally.all.finish.min == O);
    CHECK(out.tally.all.wait[WF_IN_RECV].max == 0);
    CHECK(out.tally.all.compute.max == 1000000);
}

static void alpha_beta_is_exact_and_knows_no_contention(void)
{
    static const struct wf_net_alphabeta_params ab = {
        .alpha = 7000, .bandwidth = 1000000000000 * WF_RATE_BYTE};
    static const uint64_t sizes[] = {0, 1, 1000, 131072};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct wf_op zero[] = {IRECV(1, 0, 0), IRECV(2, 0, 1), WAITALL(0, 2), END};
        const struct wf_op sender[] = {SEND(0, 0, sizes[i]), END};
        const struct wf_op *const ranks[] = {zero, sender, sender};
        struct outcome out = replay_script(
            (struct setup){.net = &wf_net_alphabeta_ops, .net_params = &ab}, ranks, 3);
        CHECK_U64((uint64_t)out.tally.all.finish.max, 7000 + sizes[i]);
        CHECK(out.tally.all.overhead.max == 0);
    }
}

/* A short message overtakes a long one in the network, but must not in matching. */
static void overtaking_bytes_do_not_change_the_matching(void)
{
    static const struct wf_net_alphabeta_params ab = {
        .alpha = 7000, .bandwidth = 1000000000000 * WF_RATE_BYTE};
    static const struct wf_op zero[] = {SEND(1, 0, 50000), SEND(1, 0, 1), END};
    static const struct wf_op one[] = {RECV(0, 0), SEND(2, 0, 0), RECV(0, 0), END};
    static const struct wf_op two[] = {RECV(1, 0), END};
    static const struct wf_op *const ranks[] = {zero, one, two};
    struct outcome out = replay_script(
        (struct setup){.net = &wf_net_alphabeta_ops, .net_params = &ab}, ranks, 3);

    /* Rank 1 goes on when the long one is in, rank 2 a start-up time later. */
    CHECK(out.tally.all.finish.max == 7000 + 50000 + 7000);
}

/* Posted the other way round. The second arrives g after the first, while the CPU is still busy
 * with that: o > g. */
static void a_waitall_takes_messages_in_the_order_of_arrival(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, BIG), SEND(1, 1, 1), END};
    static const struct wf_op one[] = {IRECV(0, 1, 7), IRECV(0, 0, 8), WAITALL(7, 2), END};
    static const struct wf_op *const ranks[] = {zero, one};
    int64_t second_leaves = O + GAP + BIG - 1;

    CHECK(end_of(ranks, 2) == second_leaves - GAP + L + O + O);
}

int main(void)
{
    RUN(one_message_takes_o_kG_L_o);
    RUN(ping_pong_is_twice_that);
    RUN(bytes_take_what_the_points_say);
    RUN(a_shared_interface_receives_later);
    RUN(an_interface_is_held_as_the_points_say);
    RUN(the_defaults_are_what_the_document_says);
    RUN(a_burst_of_short_messages_is_limited_by_o);
    RUN(a_burst_of_long_messages_is_limited_by_g_and_G);
    RUN(a_sender_spaces_what_it_sends_to_different_nodes);
    RUN(a_burst_of_short_messages_is_limited_by_a_large_g);
    RUN(a_receiver_takes_in_one_message_at_a_time);
    RUN(a_late_receiver_pays_only_its_overhead);
    RUN(alpha_beta_is_exact_and_knows_no_contention);
    RUN(overtaking_bytes_do_not_change_the_matching);
    RUN(a_waitall_takes_messages_in_the_order_of_arrival);
    return wf_test_done();
}
