/* SPDX-License-Identifier: Apache-2.0 */
/* Sources that play others with other times and sizes (changed), and with loops (looped). */
#include "program/ops/changed.h"
#include "program/ops/looped.h"

#include "base/mem.h"
#include "harness/script.h"

#include "harness/wf_test.h"

#include <stdlib.h>
#include <string.h>

#define REGION(at, n)                         \
    {                                         \
        .kind = WF_OP_REGION_##at, .tag = (n) \
    }

/* Two loops, the second with another one inside; region 0 is none. */
static const struct wf_op program[] = {
    COMPUTE(1),       REGION(BEGIN, 0), COMPUTE(2),       REGION(END, 0),
    REGION(BEGIN, 1), COMPUTE(3),       REGION(END, 1),   COMPUTE(4),
    REGION(BEGIN, 2), COMPUTE(5),       REGION(BEGIN, 1), COMPUTE(6),
    REGION(END, 1),   REGION(END, 2),   COMPUTE(7),       END,
};

static const struct wf_op *const ranks[] = {program};

static const char *name_of(const struct wf_source *source, enum wf_source_name kind,
                           uint32_t number)
{
    static const char *const names[] = {"solve", "TRACER_Loop", "TRACER_Loop_outer"};

    return kind == WF_NAME_REGION && number < 3 ? names[number] : NULL;
}

static struct wf_source *new_source(void)
{
    static const struct wf_source_ops ops = {
        .name = "script", .next = script_next, .name_of = name_of};
    struct script *script = wf_xmalloc(sizeof(*script));

    *script = make_script(ranks, 1);
    script->source.ops = &ops;
    return &script->source;
}

enum { TEXT_MAX = 256, OPS_MAX = 64 };

/* The compute times from a position on. */
static void play(const struct wf_source *source, struct wf_cursor cursor, char *text)
{
    struct wf_op op;

    text[0] = '\0';
    while (wf_source_next(source, 0, &cursor, &op)) {
        if (op.kind == WF_OP_COMPUTE) {
            size_t used = strlen(text);
            (void)snprintf(text + used, TEXT_MAX - used, "%d ", (int)op.duration);
        }
    }
}

/* Every position can be returned to, also after later loops were played: what follows it is the
 * same. */
static void loops_repeat_and_can_be_rolled_back(void)
{
    struct wf_source *source = wf_looped_new(new_source(), 3);
    struct wf_cursor cursors[OPS_MAX] = {{.word = {0}}};
    char texts[OPS_MAX][TEXT_MAX], again[TEXT_MAX];
    struct wf_op op;
    int n = 0;

    play(source, cursors[0], texts[0]);
    CHECK(strcmp(texts[0], "1 2 3 3 3 4 5 6 5 6 5 6 7 ") == 0);
    for (struct wf_cursor at = cursors[0]; wf_source_next(source, 0, &at, &op); n++) {
        CHECK(n + 1 < OPS_MAX);
        if (n + 1 >= OPS_MAX) {
            break;
        }
        cursors[n + 1] = at;
        play(source, at, texts[n + 1]);
    }
    for (int i = n; i >= 0; i--) {
        play(source, cursors[i], again);
        CHECK(strcmp(again, texts[i]) == 0);
    }
    wf_source_free(source);
}

static uint64_t changed_bytes(const struct wf_changes *changes, enum wf_op_kind kind,
                              uint64_t bytes)
{
    const struct wf_op ops[] = {{.kind = kind, .bytes = bytes}, END};
    const struct wf_op *const one[] = {ops};
    struct script *script = wf_xmalloc(sizeof(*script));
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op = {.bytes = 0};

    *script = make_script(one, 1);
    script->source.ops = &script_ops;
    struct wf_source *source = wf_changed_new(&script->source, changes);
    bool played = wf_source_next(source, 0, &cursor, &op);
    wf_source_free(source);
    return played ? op.bytes : UINT64_MAX;
}

static void sizes_change_in_the_order_of_the_rules(void)
{
    struct wf_changes changes;

    CHECK(wf_changes_parse("bytes>=1000:10,bytes=10:20,bytes=500:2KiB", &changes, NULL) ==
          WF_OK);
    CHECK(changes.n == 3);
    CHECK(changed_bytes(&changes, WF_OP_SEND, 999) == 999);
    CHECK(changed_bytes(&changes, WF_OP_SEND, 5000) == 20);
    CHECK(changed_bytes(&changes, WF_OP_ISEND, 500) == 2048);
    CHECK(changed_bytes(&changes, WF_OP_ALLREDUCE, 500) == 2048);
    /* A receive takes every message that it took before. */
    CHECK(changed_bytes(&changes, WF_OP_RECV, 499) == 499);
    CHECK(changed_bytes(&changes, WF_OP_RECV, 5) == 5);
    CHECK(changed_bytes(&changes, WF_OP_RECV, 600) == 2048);
    /* Sizes that other ranks know too stay. */
    CHECK(changed_bytes(&changes, WF_OP_ALLTOALLV, 5000) == 5000);
    CHECK(changed_bytes(&changes, WF_OP_PUT, 5000) == 5000);
}

static void rules_are_checked(void)
{
    static const char *const bad[] = {"bytes>5:1", "bytes>=x:1",      "bytes=1",
                                      "time>=1:2", "compute>=1ms:-1", "bytes=1:2,,"};
    struct wf_changes changes;
    struct wf_err err;

    CHECK(wf_changes_parse("", &changes, NULL) == WF_OK);
    CHECK(changes.n == 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(wf_changes_parse(bad[i], &changes, &err) == WF_EUSAGE);
    }
}

int main(void)
{
    RUN(loops_repeat_and_can_be_rolled_back);
    RUN(sizes_change_in_the_order_of_the_rules);
    RUN(rules_are_checked);
    return wf_test_done();
}
