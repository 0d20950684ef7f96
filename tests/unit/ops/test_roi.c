/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/roi.h"

#include "base/mem.h"
#include "harness/script.h"

#include "harness/wf_test.h"

#include <stdlib.h>
#include <string.h>

#define REGION(at, n)                         \
    {                                         \
        .kind = WF_OP_REGION_##at, .tag = (n) \
    }
#define ITERATION(at)                \
    {                                \
        .kind = WF_OP_ITERATION_##at \
    }

/* Every compute op has a different time, which identifies it in the output. */
static const struct wf_op program[] = {
    COMPUTE(1),       {.kind = WF_OP_RECV_INIT, .request = 9},
    REGION(BEGIN, 0), COMPUTE(2),
    REGION(END, 0),   ITERATION(BEGIN), /* 0 */
    REGION(BEGIN, 1), COMPUTE(10),
    REGION(BEGIN, 1), COMPUTE(11),
    REGION(END, 1),   COMPUTE(12),
    REGION(END, 1),   COMPUTE(13),
    ITERATION(END),   COMPUTE(14),
    ITERATION(BEGIN), /* 1 */
    REGION(BEGIN, 1), COMPUTE(20),
    REGION(END, 1),   COMPUTE(21),
    ITERATION(BEGIN), /* 2; the one before has no end */
    COMPUTE(30),      ITERATION(END),
    COMPUTE(40),      END,
};

static const struct wf_op *const ranks[] = {program, program};

static const char *name_of(const struct wf_source *source, enum wf_source_name kind,
                           uint32_t number)
{
    static const char *const names[] = {"setup", "solve"};

    return kind == WF_NAME_REGION && number < 2 ? names[number] : NULL;
}

static void destroy(struct wf_source *source)
{
    free(source);
}

static struct wf_source *new_source(void)
{
    static const struct wf_source_ops ops = {
        .name = "script", .next = script_next, .name_of = name_of, .destroy = destroy};
    struct script *script = wf_xmalloc(sizeof(*script));

    *script = make_script(ranks, 2);
    script->source.ops = &ops;
    return &script->source;
}

enum { TEXT_MAX = 256 };

/* Appends an op to what is played: times, and brackets for regions and iterations. */
static void tell(const struct wf_op *op, char *text)
{
    static const char *const marks[] = {"(", ")", "[", "]"};
    const struct wf_op_info *info = wf_op_info(op->kind);
    size_t used = strlen(text);

    if (op->kind == WF_OP_COMPUTE) {
        (void)snprintf(text + used, TEXT_MAX - used, "%d ", (int)op->duration);
    } else if (info->family == WF_FAMILY_MARKER) {
        (void)snprintf(text + used, TEXT_MAX - used, "%s", marks[info->detail]);
    } else {
        (void)snprintf(text + used, TEXT_MAX - used, "%s ", info->name);
    }
}

static bool same_cursor(const struct wf_cursor *a, const struct wf_cursor *b)
{
    return memcmp(a->word, b->word, sizeof(a->word)) == 0 &&
           memcmp(a->outer, b->outer, sizeof(a->outer)) == 0;
}

/* Plays one rank into `text` of TEXT_MAX bytes. */
static void play(const struct wf_source *source, uint32_t rank, char *text)
{
    struct wf_cursor cursor = {.word = {0}}, before = cursor;
    struct wf_op op, same;

    text[0] = '\0';
    while (wf_source_next(source, rank, &cursor, &op)) {
        /* Whoever goes back gets the same. */
        struct wf_cursor again = before;
        CHECK(wf_source_next(source, rank, &again, &same));
        CHECK(same.kind == op.kind && same.duration == op.duration);
        CHECK(same_cursor(&again, &cursor));

        if (op.kind != WF_OP_COMPUTE || op.duration != 0) {
            tell(&op, text);
            /* The words alone say which op it was. */
            again = (struct wf_cursor){.outer = {WF_CURSOR_AGAIN, 9, 9, 9}};
            memcpy(again.word, before.word, sizeof(again.word));
            CHECK(wf_source_next(source, rank, &again, &same));
            CHECK(same.kind == op.kind && same.duration == op.duration);
        }
        before = cursor;
    }
    CHECK(same_cursor(&before, &cursor));
}

static void only_what_is_of_interest_is_played(void)
{
    static const struct {
        struct wf_roi roi;
        const char *played;
    } cases[] = {
        {{.region = "solve"}, "recv_init (10 (11 )12 )(20 )"},
        {{.region = "setup"}, "recv_init (2 )"},
        {{.has_iterations = true, .repeat = 1}, "recv_init [(10 (11 )12 )13 ]"},
        {{.has_iterations = true, .first = 0, .last = 1, .repeat = 1},
         "recv_init [(10 (11 )12 )13 ]14 [(20 )21 "},
        {{.has_iterations = true, .first = 1, .last = 2, .repeat = 1},
         "recv_init [(20 )21 [30 ]"},
        {{.has_iterations = true, .first = 2, .last = 2, .repeat = 3},
         "recv_init [30 ][30 ][30 ]"},
        {{.has_iterations = true, .first = 1, .last = 1, .repeat = 2},
         "recv_init [(20 )21 [(20 )21 "},
        {{.has_iterations = true, .first = 0, .last = 1, .repeat = 2, .region = "solve"},
         "recv_init (10 (11 )12 )(20 )(10 (11 )12 )(20 )"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_source *source = NULL;
        struct wf_err err;

        CHECK(wf_roi_new(new_source(), &cases[i].roi, &source, &err) == WF_OK);
        for (uint32_t rank = 0; rank < 2; rank++) {
            char played[TEXT_MAX];
            play(source, rank, played);
            if (strcmp(played, cases[i].played) != 0) {
                printf("# %zu: %s\n", i, played);
            }
            CHECK(strcmp(played, cases[i].played) == 0);
        }
        CHECK(strcmp(wf_source_name_of(source, WF_NAME_REGION, 1), "solve") == 0);
        wf_source_free(source);
    }
}

static void what_is_not_there_is_refused(void)
{
    static const struct {
        struct wf_roi roi;
        const char *text;
    } cases[] = {
        {{.region = "slove"}, "no region 'slove'; did you mean 'solve'?"},
        {{.has_iterations = true, .first = 1, .last = 3, .repeat = 1},
         "no iteration 3: rank 0 has 3 iterations"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_source *inner = new_source(), *source = NULL;
        struct wf_err err;

        CHECK(wf_roi_new(inner, &cases[i].roi, &source, &err) == WF_EINVAL);
        CHECK(strstr(err.text, cases[i].text) != NULL);
        CHECK(source == NULL);
        wf_source_free(inner);
    }
}

static bool none(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                 struct wf_op *op)
{
    return false;
}

static void a_program_without_marks_has_no_iterations(void)
{
    static const struct wf_source_ops ops = {.name = "bare", .next = none};
    struct wf_source inner = {.ops = &ops, .n_ranks = 1}, *source = NULL;
    const struct wf_roi roi = {.has_iterations = true, .repeat = 1};
    struct wf_err err;

    CHECK(wf_roi_new(&inner, &roi, &source, &err) == WF_EINVAL);
    CHECK_STR(err.text, "there is no iteration 0: the program marks none");
}

static void iterations_are_read(void)
{
    static const char *const bad[] = {"",  ":",     "1:", ":1",        "2:1",
                                      "a", "1:2:3", "-1", "4294967295"};
    struct wf_roi roi = {.repeat = 1};
    struct wf_err err;

    CHECK(wf_roi_parse_iterations("3:7", &roi, &err) == WF_OK);
    CHECK(roi.has_iterations && roi.first == 3 && roi.last == 7);
    CHECK(wf_roi_parse_iterations("5", &roi, &err) == WF_OK);
    CHECK(roi.first == 5 && roi.last == 5);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(wf_roi_parse_iterations(bad[i], &roi, &err) == WF_EUSAGE);
    }
}

int main(void)
{
    RUN(only_what_is_of_interest_is_played);
    RUN(what_is_not_there_is_refused);
    RUN(a_program_without_marks_has_no_iterations);
    RUN(iterations_are_read);
    return wf_test_done();
}
