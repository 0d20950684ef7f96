/* SPDX-License-Identifier: Apache-2.0 */
#include "program/gen/text.h"

#include "harness/wf_test.h"

enum { N_RANKS = 8, RANK = 5 };

static enum wf_status create(const char *text, const char *set, struct wf_source **out,
                             struct wf_err *err)
{
    const struct wf_gen_text_input input = {
        .name = "t", .text = text, .size = strlen(text), .set = set};

    return wf_gen_text_create(&input, N_RANKS, out, err);
}

static struct wf_source *make_with(const char *text, const char *set)
{
    struct wf_source *source = NULL;
    struct wf_err err = {.status = WF_OK};

    if (create(text, set, &source, &err) != WF_OK) {
        printf("# %s\n", err.text);
        abort();
    }
    return source;
}

static struct wf_source *make(const char *text)
{
    return make_with(text, NULL);
}

/* The durations of what a rank computes, in decimal with blanks between. */
static char *computes(const struct wf_source *source, uint32_t rank, char *buf, size_t room)
{
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;

    buf[0] = '\0';
    while (wf_source_next(source, rank, &cursor, &op) && strlen(buf) + 24 < room) {
        if (op.kind == WF_OP_COMPUTE) {
            (void)snprintf(buf + strlen(buf), room - strlen(buf), "%lld ",
                           (long long)op.duration);
        }
    }
    return buf;
}

static void expressions_have_their_values(void)
{
    static const struct {
        const char *expression;
        int64_t value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 3 - 2", 5},
        {"100 / 7 / 2", 7},
        {"-7 / 2 + 10", 6}, /* rounds down: -4 */
        {"-7 % 4", 1},
        {"7 % -4 + 10", 9}, /* the sign of the divisor: -1 */
        {"-8 / -1", 8},
        {"(rank - 6) % size", 7},
        {"rank * size", 40},
        {"1 << 10 | 1", 1025},
        {"rank ^ 1", 4},
        {"6 & 2 == 2", 1}, /* & binds stronger, other than in C */
        {"(6 & 3) == 2", 1},
        {"1 | 2 ^ 3 & 1", 3},
        {"-1 >> 1 & 15", 15},
        {"1 < 2 && 3 > 2", 1},
        {"0 || 7", 1},
        {"0 && 1 / 0", 0},
        {"1 || 1 / 0", 1},
        {"!0 + !5", 1},
        {"rank == 5 ? 10 : 1 / 0", 10},
        {"0 ? 1 : 0 ? 2 : 3", 3},
        {"min(3, 4) * max(3, 4)", 12},
        {"log2(1) * 100 + log2(1023)", 9},
        {"sqrt(99)", 9},
        {"sqrt(9223372036854775807)", 3037000499},
        {"cbrt(1000) * 100 + cbrt(999)", 1009},
        {"64KiB", 65536},
        {"1.5us", 1500000},
        {"1MB", 1000000},
        {"random(1, 99)", 0},
        {"random(10, rank) < 10", 1},
        {"- - 3", 3},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775807 - 1 == 1 - 9223372036854775807 - 2", 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256], got[256], want[64];
        (void)snprintf(text, sizeof(text), "compute %s", cases[i].expression);
        (void)snprintf(want, sizeof(want), "%lld ", (long long)cases[i].value);
        struct wf_source *source = make(text);
        CHECK_STR(computes(source, RANK, got, sizeof(got)), want);
        CHECK(wf_source_check(source, NULL) == WF_OK);
        wf_source_free(source);
    }
}

static void loops_and_conditions_go_where_they_should(void)
{
    static const struct {
        const char *text, *computes; /* of RANK */
    } cases[] = {
        {"", ""},
        {"# nothing\n;;", ""},
        {"loop i 0..3 { compute i }", "0 1 2 "},
        {"loop i 2..2 { compute i } compute 9", "9 "},
        {"loop i 5..2 { compute i } compute 9", "9 "},
        {"loop i 0..2 { loop j i..3 { compute 10 * i + j } }", "0 1 2 11 12 "},
        {"loop a 0..2 { loop b 0..2 { loop c 0..1 { loop d 0..2 { compute a*100+b*10+d } } } }",
         "0 1 10 11 100 101 110 111 "},
        {"repeat 2 { compute 1 repeat 2 { compute 2 } }", "1 2 2 1 2 2 "},
        {"loop i 0..2 { compute i } loop i 7..8 { compute i }", "0 1 7 "},
        {"if rank == 5 { compute 1 } else { compute 2 } compute 3", "1 3 "},
        {"if rank == 4 { compute 1 } else { compute 2 } compute 3", "2 3 "},
        {"if rank == 4 { compute 1 } else if rank == 5 { compute 4 } else { compute 2 }", "4 "},
        {"if rank == 4 { compute 1 } compute 3", "3 "},
        {"while 0 { compute 1 } compute 2", "2 "},
        {"let x = rank * 2 let y = x + 1 compute y", "11 "},
        {"loop i 0..3 { let s = i * i if s { compute s } }", "1 4 "},
        {"param n = 2 loop i 0..n { compute n }", "2 2 "},
        {"param n = size * 2; compute n", "16 "},
        {"let bad = 1 / 0 compute 3", "3 "},
        {"compute 1;compute 2;", "1 2 "},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char got[512];
        struct wf_source *source = make(cases[i].text);
        CHECK_STR(computes(source, RANK, got, sizeof(got)), cases[i].computes);
        CHECK(wf_source_check(source, NULL) == WF_OK);
        wf_source_free(source);
    }
}

static void messages_are_as_written(void)
{
    struct wf_source *source =
        make("isend rank + 1 100 tag 7 irecv any 200 tag any issend none 3\n"
             "waitall sendrecv 1 from 2 30 tag 4");
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;

    CHECK(source->acts_in_background && source->depends_on_time);
    CHECK(wf_source_next(source, RANK, &cursor, &op));
    CHECK(op.kind == WF_OP_ISEND && op.peer == 6 && op.bytes == 100 && op.tag == 7);
    CHECK(op.request == 0 && op.comm == WF_COMM_WORLD);
    CHECK(wf_source_next(source, RANK, &cursor, &op));
    CHECK(op.kind == WF_OP_IRECV && op.peer == WF_ANY_SOURCE && op.tag == WF_ANY_TAG);
    CHECK(op.request == 1 && op.bytes == 200);
    CHECK(wf_source_next(source, RANK, &cursor, &op));
    CHECK(op.kind == WF_OP_ISSEND && op.peer == WF_PROC_NULL && op.request == 2);
    CHECK(wf_source_next(source, RANK, &cursor, &op));
    CHECK(op.kind == WF_OP_WAITALL && op.request == 0 && op.count == 3);
    CHECK(wf_source_next(source, RANK, &cursor, &op));
    CHECK(op.kind == WF_OP_SENDRECV && op.peer == 1 && op.recv_peer == 2);
    CHECK(op.bytes == 30 && op.recv_bytes == 30 && op.tag == 4 && op.recv_tag == 4);
    CHECK(!wf_source_next(source, RANK, &cursor, &op));
    wf_source_free(source);
}

static void collectives_are_as_written(void)
{
    struct wf_source *source =
        make("group half = rank / 4 * 4, 1, 4; group odd = rank % 2, 2, size / 2\n"
             "ibcast 10 root 2 in half waitall reduce 20 root 3 in odd");
    struct wf_cursor cursor = {.word = {0}};
    struct wf_group group;
    struct wf_op op;

    CHECK(source->acts_in_background && !source->depends_on_time);
    CHECK(wf_source_next(source, RANK, &cursor, &op));
    CHECK(op.kind == WF_OP_IBCAST && op.root == 2 && op.bytes == 10 && op.request == 0);
    CHECK(wf_source_group(source, RANK, op.comm, &group));
    CHECK(group.size == 4 && group.rank == 1 && wf_group_rank(&group, 3) == 7);
    CHECK(wf_source_next(source, RANK, &cursor, &op) && op.count == 1);
    CHECK(wf_source_next(source, RANK, &cursor, &op));
    CHECK(op.kind == WF_OP_REDUCE && op.root == 3 && op.bytes == 20);
    CHECK(wf_source_group(source, RANK, op.comm, &group));
    CHECK(group.size == 4 && group.rank == 2 && wf_group_rank(&group, 3) == 7);
    CHECK(!wf_source_group(source, RANK, 3, &group));
    wf_source_free(source);
}

/* Peers are ranks of the group; `none` is an empty list. */
static void neighbours_are_as_written(void)
{
    struct wf_source *source =
        make("group half = rank / 4 * 4, 1, 4; let me = rank % 4\n"
             "ineighbor_alltoall me < 3 ? me + 1 : none from me - 1 10 in half waitall\n"
             "neighbor_alltoall none from none 20");
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;

    CHECK(source->acts_in_background && !source->depends_on_time);
    CHECK(wf_source_next(source, RANK, &cursor, &op));
    CHECK(op.kind == WF_OP_INEIGHBOR_ALLTOALL && op.bytes == 10 && op.comm == 1);
    CHECK(op.n_destinations == 1 && op.destinations[0] == 2);
    CHECK(op.n_sources == 1 && op.sources[0] == 0);
    CHECK(op.counts == NULL && op.recv_counts == NULL && op.request == 0);
    CHECK(wf_source_next(source, RANK, &cursor, &op) && op.count == 1);
    CHECK(wf_source_next(source, RANK, &cursor, &op));
    CHECK(op.kind == WF_OP_NEIGHBOR_ALLTOALL && op.bytes == 20 && op.comm == WF_COMM_WORLD);
    CHECK(op.n_destinations == 0 && op.n_sources == 0);
    CHECK(!wf_source_next(source, RANK, &cursor, &op));
    wf_source_free(source);
}

static void regions_have_names(void)
{
    struct wf_source *source = make("region work { barrier }");
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;

    CHECK(!source->acts_in_background && !source->depends_on_time);
    CHECK(wf_source_next(source, RANK, &cursor, &op) && op.kind == WF_OP_REGION_BEGIN);
    CHECK_STR(wf_source_name_of(source, WF_NAME_REGION, (uint32_t)op.tag), "work");
    CHECK(wf_source_next(source, RANK, &cursor, &op) && op.kind == WF_OP_BARRIER);
    CHECK(wf_source_next(source, RANK, &cursor, &op) && op.kind == WF_OP_REGION_END);
    CHECK(!wf_source_next(source, RANK, &cursor, &op));
    CHECK(wf_source_name_of(source, WF_NAME_REGION, 1) == NULL);
    wf_source_free(source);
}

static void regions_have_values(void)
{
    struct wf_source *source =
        make("param k = 3 let n = 2 region n n = k * rank { } region m n = n { } region n { }");
    struct wf_cursor cursor = {.word = {0}};
    static const uint64_t values[] = {UINT64_C(3) * RANK, 0, 2, 0, 0, 0};
    struct wf_op op;

    for (int i = 0; i < 6; i++) {
        CHECK(wf_source_next(source, RANK, &cursor, &op));
        CHECK(op.kind == (i % 2 == 0 ? WF_OP_REGION_BEGIN : WF_OP_REGION_END));
        CHECK_U64(op.bytes, values[i]);
        CHECK(op.tag == (i / 2 == 1));
    }
    wf_source_free(source);
}

static void what_was_received_decides(void)
{
    struct wf_source *source = make("recv any 8 tag any send seen_source 8 tag seen_tag + 1");
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;

    CHECK(wf_source_next(source, 0, &cursor, &op) && op.kind == WF_OP_RECV);
    cursor.seen_source = 3;
    cursor.seen_tag = 41;
    CHECK(wf_source_next(source, 0, &cursor, &op));
    CHECK(op.kind == WF_OP_SEND && op.peer == 3 && op.tag == 42);
    wf_source_free(source);
}

static void parameters_are_set_from_outside(void)
{
    static const char text[] = "param n = 2; param bytes = 1KiB; let x = n; compute bytes * x";
    struct wf_source *source = make_with(text, "bytes=1MiB,n=size+1");
    struct wf_err err = {.status = WF_OK};
    char got[64];

    CHECK_STR(computes(source, RANK, got, sizeof(got)), "9437184 ");
    wf_source_free(source);

    static const struct {
        const char *set, *error;
    } cases[] = {
        {"byte=1", "set:1:1: 't' has no parameter 'byte'; did you mean 'bytes'?"},
        {"n=1,x=2", "set:1:5: 't' has no parameter 'x'"},
        {"n=rank", "set:1:3: the value of a parameter must be the same on all ranks; use let"},
        {"n", "set:1:2: expected '=', but the text ends here"},
        {"n=1 bytes=2", "set:1:5: expected ',' instead of 'bytes'"},
        {"n=1/0", "set:1:4: division by zero"},
        {"7=1", "set:1:1: expected the name of a parameter instead of '7'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        source = NULL;
        CHECK(create(text, cases[i].set, &source, &err) == WF_EINVAL);
        CHECK_STR(err.text, cases[i].error);
        CHECK(source == NULL);
    }
}

static void what_is_wrong_is_said_with_its_place(void)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"compute 1\n  comput 1", "t:2:3: 'comput' is no statement; did you mean 'compute'?"},
        {"let neighbor = 1\nsend neigbor 8", "t:2:6: unknown name 'neigbor'; did you mean "
                                             "'neighbor'?"},
        {"compute (1 + 2", "t:1:15: expected ')', but the text ends here"},
        {"loop i 0..3 { compute i", "t:1:24: expected '}', but the text ends here"},
        {"loop i 0 { }", "t:1:10: expected '..' instead of '{'"},
        {"loop i 0..2 {} compute i", "t:1:24: unknown name 'i'"},
        {"if 1 { let x = 1 } compute x", "t:1:28: unknown name 'x'"},
        {"let rank = 3", "t:1:5: 'rank' has a meaning of its own"},
        {"let send = 3", "t:1:5: 'send' has a meaning of its own"},
        {"let a = 1 let a = 2", "t:1:15: 'a' is a name already"},
        {"param p = rank", "t:1:11: the value of a parameter must be the same on all ranks; "
                           "use let"},
        {"param p = 1 / (size - 8)", "t:1:13: division by zero"},
        {"if 1 { param p = 1 }", "t:1:14: a parameter cannot be inside a block"},
        {"compute 12monkeys", "t:1:9: '12monkeys' is no number; write a whole number below "
                              "2^63, a size as in 64KiB or a time as in 1.5us"},
        {"compute 9223372036854775808", "t:1:9: '9223372036854775808' is above 2^63 - 1"},
        {"compute $", "t:1:9: a '$' means nothing here"},
        {"send 1", "t:1:7: expected a value, but the text ends here"},
        {"send 1 tag 3", "t:1:8: expected a value instead of 'tag'"},
        {"bcast 1 in row", "t:1:12: expected the name of a group instead of 'row'"},
        {"loop a 0..1 {loop b 0..1 {loop c 0..1 {loop d 0..1 {loop e 0..1 {}}}}}",
         "t:1:58: at most 4 loops can be one in the other; while is none of them"},
        {"while 1 { repeat 2 { repeat 2 { repeat 2 { repeat 2 { barrier } } } } }",
         "t:1:1: a program with while has at most 3 loops one in the other"},
        {"loop i 0..seen_tag { }", "t:1:11: the bounds of a loop cannot depend on what was "
                                   "received; use while"},
        {"alltoallv 8", "t:1:1: 'alltoallv' is no statement; did you mean 'alltoall'?"},
        {"compute min(1)", "t:1:14: expected ',' instead of ')'"},
        {"} compute 1", "t:1:1: expected a statement instead of '}'"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_source *source = NULL;
        struct wf_err err = {.status = WF_OK};
        CHECK(create(cases[i].text, NULL, &source, &err) == WF_EINVAL);
        CHECK_STR(err.text, cases[i].error);
        CHECK(source == NULL);
    }
}

#define TOO_MANY                                                                               \
    "this makes more rounds than gen.max_rounds allows; if that is meant, give a larger one: " \
    "-p gen.max_rounds=<count>"

static void what_goes_wrong_on_the_way_ends_the_rank(void)
{
    static const struct {
        const char *text, *error; /* of ranks 5 and 3 together */
    } cases[] = {
        {"compute 9 / max(0, 5 - rank)", "t:1:11: on rank 5: division by zero"},
        {"compute 1 % (rank - rank)", "t:1:11: on rank 3: division by zero"},
        {"compute 9223372036854775807 + rank",
         "t:1:29: on rank 3: the result is beyond 64 bits"},
        {"compute 9223372036854775807 * rank",
         "t:1:29: on rank 3: the result is beyond 64 bits"},
        {"compute 1 << (60 + rank)", "t:1:11: on rank 3: a shift must be by 0 to 62 bits"},
        {"send rank + 3 8", "t:1:11: on rank 5: the peer is no rank; they are 0 to size - 1"},
        {"send any 8", "t:1:6: on rank 3: the peer is no rank; they are 0 to size - 1"},
        {"send 0 0 - rank", "t:1:10: on rank 3: the number of bytes is negative"},
        {"send 0 8 tag 1 << 31", "t:1:16: on rank 3: a tag is a number from 0 to 2^31 - 1"},
        {"compute -1", "t:1:9: on rank 3: the time is negative"},
        {"isend 0 8", "t:1:10: on rank 3: the program ends before a waitall for its requests"},
        {"neighbor_alltoall 0 from any 8",
         "t:1:26: on rank 3: the neighbour is no rank of the group"},
        {"group g = rank / 2 * 2, 1, 2 neighbor_alltoall 2 from 0 8 in g",
         "t:1:48: on rank 3: the neighbour is no rank of the group"},
        {"bcast 8 root size", "t:1:14: on rank 3: the root is no rank of the group"},
        {"group g = 4, 1, 4\nbarrier in g", "t:1:7: on rank 3: the rank is not in its group"},
        {"group g = 0, 1, size + 1 barrier in g",
         "t:1:22: on rank 3: a group has 1 to size ranks"},
        {"group g = 0, 2, size barrier in g", "t:1:14: on rank 3: a group has a rank at least, "
                                              "and its last must be below size"},
        {"repeat 4294967294 * rank { barrier }",
         "t:1:8: on rank 3: a loop has below 2^32 - 1 rounds"},
        {"repeat 1000 * rank { repeat 10000 { barrier } }", "t:1:29: on rank 3: " TOO_MANY},
        {"repeat 3000 { loop i 0..3000 { loop j 0..i { barrier } } }",
         "t:1:37: on rank 3: " TOO_MANY},
        {"while 1 { compute 1 repeat 9999999 { barrier } }", "t:1:28: on rank 3: " TOO_MANY},
        {"while 1 { }",
         "t:1:7: on rank 3: a million steps without anything to do; is this loop meant?"},
        {"compute log2(0 * rank)",
         "t:1:9: on rank 3: there is a logarithm of positive numbers only"},
        {"compute sqrt(0 - rank)", "t:1:9: on rank 3: there is no root of a negative number"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_source *source = make(cases[i].text);
        struct wf_err err = {.status = WF_OK};
        char got[64];
        CHECK(wf_source_check(source, &err) == WF_OK);
        (void)computes(source, RANK, got, sizeof(got));
        (void)computes(source, 3, got, sizeof(got));
        CHECK(wf_source_check(source, &err) == WF_EINVAL);
        CHECK_STR(err.text, cases[i].error);
        wf_source_free(source);
    }
}

/* Names of names of names: each twice as large as the one before. */
static void expressions_cannot_explode(void)
{
    char text[4096] = "let a0 = rank";
    struct wf_source *source = NULL;
    struct wf_err err = {.status = WF_OK};

    for (int i = 1; i < 40; i++) {
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
                       "\nlet a%d = a%d + a%d", i, i - 1, i - 1);
    }
    CHECK(create(text, NULL, &source, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "t:13:15: the expression is too large") != NULL);

    (void)snprintf(text, sizeof(text), "compute ");
    memset(text + strlen(text), '(', 200);
    CHECK(create(text, NULL, &source, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "more than 100 blocks or parentheses") != NULL);
    CHECK(source == NULL);
}

int main(void)
{
    RUN(expressions_have_their_values);
    RUN(loops_and_conditions_go_where_they_should);
    RUN(messages_are_as_written);
    RUN(collectives_are_as_written);
    RUN(neighbours_are_as_written);
    RUN(regions_have_names);
    RUN(regions_have_values);
    RUN(what_was_received_decides);
    RUN(parameters_are_set_from_outside);
    RUN(what_is_wrong_is_said_with_its_place);
    RUN(what_goes_wrong_on_the_way_ends_the_rank);
    RUN(expressions_cannot_explode);
    return wf_test_done();
}
