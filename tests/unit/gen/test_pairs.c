/* SPDX-License-Identifier: Apache-2.0 */
/* The programs that measure a network: ping-pong and exchange. */

#include "harness/gen_make.h"
#include "harness/wf_test.h"

#include <stdlib.h>

/* The ops of a rank as text: "r3 s3 w2" is a receive from 3, a send to 3, a wait for two. */
static void write_ops(const struct wf_source *source, uint32_t rank, char *buf, size_t size)
{
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;
    size_t used = 0;

    buf[0] = '\0';
    while (wf_source_next(source, rank, &cursor, &op) && used < size) {
        bool waits = op.kind == WF_OP_WAITALL;
        char kind = 's';
        if (op.kind != WF_OP_ISEND) {
            kind = waits ? 'w' : 'r';
        }
        used += (size_t)snprintf(buf + used, size - used, "%s%c%u", used > 0 ? " " : "", kind,
                                 waits ? op.count : op.peer);
        if (!waits) {
            CHECK_U64(op.bytes, 100);
        }
    }
    CHECK(!wf_source_next(source, rank, &cursor, &op));
}

static void expect(const struct wf_source_ops *ops, const char *params, uint32_t n_ranks,
                   uint32_t rank, const char *expected)
{
    struct wf_source *source = gen_make(ops, n_ranks, "bytes=100 %s", params);
    char buf[512];

    write_ops(source, rank, buf, sizeof(buf));
    CHECK_STR(buf, expected);
    wf_source_free(source);
}

static void messages_go_to_and_fro_between_the_halves(void)
{
    const struct wf_source_ops *ops = &wf_gen_pingpong_ops;

    expect(ops, "rounds=2", 2, 0, "s1 w1 r1 w1 s1 w1 r1 w1");
    expect(ops, "rounds=2", 2, 1, "r0 w1 s0 w1 r0 w1 s0 w1");
    expect(ops, "rounds=1 window=3", 6, 2, "s5 s5 s5 w3 r5 r5 r5 w3");
    expect(ops, "rounds=1 window=3", 6, 3, "r0 r0 r0 w3 s0 s0 s0 w3");
    expect(ops, "rounds=1 window=2 both=yes", 6, 3, "r0 r0 s0 s0 w4");
    expect(ops, "rounds=1 pairs=1", 6, 3, "r0 w1 s0 w1");
    expect(ops, "rounds=1 pairs=1", 6, 4, "");
    expect(ops, "rounds=1 pairs=1", 6, 1, "");
    expect(ops, "rounds=1", 7, 6, "");
    expect(ops, "rounds=1", 1, 0, "");
    expect(ops, "rounds=0", 2, 0, "");
}

static void an_exchange_is_an_all_to_all_or_a_sample(void)
{
    const struct wf_source_ops *ops = &wf_gen_exchange_ops;

    expect(ops, "", 4, 1, "r2 r3 r0 s0 s3 s2 w6");
    expect(ops, "window=2", 4, 0, "r1 r2 s3 s2 w4 r3 s1 w2");
    expect(ops, "peers=2", 9, 0, "r3 r6 s6 s3 w4");
    expect(ops, "peers=1 rounds=2", 9, 8, "r2 s5 w2 r2 s5 w2");
    expect(ops, "peers=99", 3, 2, "r0 r1 s1 s0 w4");
    expect(ops, "", 1, 0, "");
}

static void patterns_are_those_that_calibrate_measures(void)
{
    const struct wf_source_ops *ops = &wf_gen_pattern_ops;

    expect(ops, "kind=pingpong rounds=2 first=2 second=0", 3, 2, "s0 w1 r0 w1 s0 w1 r0 w1");
    expect(ops, "kind=pingpong rounds=1 first=2 second=0", 3, 0, "r2 w1 s2 w1");
    expect(ops, "kind=pingpong rounds=1 first=2 second=0", 3, 1, "");
    expect(ops, "kind=oneway rounds=2", 3, 0, "s1 w1 s1 w1");
    expect(ops, "kind=oneway rounds=2", 3, 1, "r0 w1 r0 w1");
    expect(ops, "kind=exchange rounds=2", 3, 1, "r0 s0 w2 r0 s0 w2");
    expect(ops, "kind=incast", 4, 0, "r1 r2 r3 w3");
    expect(ops, "kind=incast first=3", 4, 1, "s3 w1");
    expect(ops, "kind=outcast first=3", 4, 3, "s0 s1 s2 w3");
    expect(ops, "kind=outcast", 4, 2, "r0 w1");
    expect(ops, "kind=bisection", 5, 1, "r3 s3 w2");
    expect(ops, "kind=bisection", 5, 3, "r1 s1 w2");
    expect(ops, "kind=bisection", 5, 4, "");
    expect(ops, "kind=allpairs", 4, 1, "r0 r3 r2 s2 s3 s0 w6");
    expect(ops, "", 1, 0, "");
}

/* Every other rank is a peer exactly once, whatever the number of ranks. */
static void an_all_to_all_reaches_all(void)
{
    for (uint32_t n = 2; n <= 130; n++) {
        struct wf_source *source = gen_make(&wf_gen_exchange_ops, n, "bytes=100 window=1024");
        struct wf_cursor cursor = {.word = {0}};
        uint32_t sent[130] = {0};
        struct wf_op op;

        while (wf_source_next(source, 1, &cursor, &op)) {
            sent[op.kind == WF_OP_ISEND ? op.peer : 1]++;
        }
        for (uint32_t i = 0; i < n; i++) {
            CHECK_U64(sent[i], i == 1 ? n : 1);
        }
        wf_source_free(source);
    }
}

static void messages_are_counted_beforehand(void)
{
    struct wf_source *source = gen_make(&wf_gen_pingpong_ops, 7, "rounds=5 window=3 pairs=2");
    CHECK_U64(source->messages_expected, 2 * 5 * 3 * 2);
    wf_source_free(source);

    source = gen_make(&wf_gen_exchange_ops, 7, "peers=4 rounds=3");
    CHECK_U64(source->messages_expected, 7 * 4 * 3);
    wf_source_free(source);
}

int main(void)
{
    RUN(messages_go_to_and_fro_between_the_halves);
    RUN(an_exchange_is_an_all_to_all_or_a_sample);
    RUN(patterns_are_those_that_calibrate_measures);
    RUN(an_all_to_all_reaches_all);
    RUN(messages_are_counted_beforehand);
    return wf_test_done();
}
