/* SPDX-License-Identifier: Apache-2.0 */
/* Models with one bug each, which the check-undo scheduler must find and name. */
#include "harness/engine_harness.h"

enum { PROCESSES = 8, BAD = 5 };

enum kind { FIRST = 3, AT_ONCE = 4 };

struct state {
    unsigned char bytes[24];
};

/* The bug of the bad process, in its events of one kind. */
enum bug {
    NONE,
    FORGETS_A_BYTE,     /* the undo handler leaves byte 9 */
    CHANGES_SILENTLY,   /* byte 5 changes without an announcement */
    ANNOUNCES_TOO_LATE, /* byte 20 is announced when it has changed */
    ENDS_ELSEWHERE,     /* byte 17 comes out different each time */
    SENDS_ELSEWHERE,    /* what it schedules is different each time */
    SENDS_NOW_AND_THEN, /* how much it schedules is, too */
};

struct model {
    enum bug bug;
    enum kind where;
    unsigned executions; /* of the bad event; a handler must not know this */
};

static bool goes_wrong(const struct model *model, const struct wf_event *ev, enum bug bug)
{
    return model->bug == bug && ev->dst == BAD && ev->kind == model->where;
}

static void start(void *state, struct wf_ctx *ctx)
{
    wf_schedule(ctx, wf_self(ctx), INT64_C(100) * (wf_self(ctx) + 1), FIRST, NULL, 0);
}

static void send_on(const struct model *model, const struct wf_event *ev, struct wf_ctx *ctx)
{
    uint64_t payload = goes_wrong(model, ev, SENDS_ELSEWHERE) ? model->executions : 7;

    if (ev->kind == FIRST) {
        wf_schedule(ctx, wf_self(ctx), 0, AT_ONCE, &payload, sizeof(payload));
    } else if (goes_wrong(model, ev, SENDS_NOW_AND_THEN) && model->executions % 2 == 0) {
        wf_schedule(ctx, 0, 50, AT_ONCE, &payload, sizeof(payload));
    }
}

/* Adds 1 to every third byte. */
static void change(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    struct model *model = wf_model(ctx);
    struct state *own = state;

    model->executions += ev->dst == BAD && ev->kind == model->where;
    for (size_t i = 2; i < sizeof(own->bytes); i += 3) {
        bool late = i == 20 && goes_wrong(model, ev, ANNOUNCES_TOO_LATE);
        if (!late && !(i == 5 && goes_wrong(model, ev, CHANGES_SILENTLY))) {
            wf_touch(ctx, &own->bytes[i], 1);
        }
        own->bytes[i]++;
        if (late) {
            wf_touch(ctx, &own->bytes[i], 1);
        }
    }
    send_on(model, ev, ctx);
}

static const struct wf_process_ops announcing = {.name = "announcing",
                                                 .payload_max = 8,
                                                 .announces_changes = true,
                                                 .init = start,
                                                 .event = change};

/* Adds 1 to all bytes, without announcements. */
static void change_quietly(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    struct model *model = wf_model(ctx);
    struct state *own = state;

    model->executions += ev->dst == BAD && ev->kind == model->where;
    for (size_t i = 0; i < sizeof(own->bytes); i++) {
        own->bytes[i]++;
    }
    if (goes_wrong(model, ev, ENDS_ELSEWHERE)) {
        own->bytes[17] = (unsigned char)model->executions;
    }
    send_on(model, ev, ctx);
}

static void change_back(void *state, const struct wf_event *ev, const void *note,
                        struct wf_ctx *ctx)
{
    const struct model *model = wf_model(ctx);
    struct state *own = state;

    for (size_t i = 0; i < sizeof(own->bytes); i++) {
        if (!(i == 9 && goes_wrong(model, ev, FORGETS_A_BYTE))) {
            own->bytes[i]--;
        }
    }
    if (goes_wrong(model, ev, ENDS_ELSEWHERE)) {
        own->bytes[17] = own->bytes[16]; /* all bytes are alike */
    }
}

static const struct wf_process_ops reversing = {.name = "reversing",
                                                .payload_max = 8,
                                                .init = start,
                                                .event = change_quietly,
                                                .undo = change_back};

static const struct wf_process_ops copied = {
    .name = "copied", .payload_max = 8, .init = start, .event = change_quietly};

static const struct wf_process_ops *const kinds[] = {&announcing, &reversing, &copied};

struct scenario {
    struct model model;
    const struct wf_process_ops *ops;
};

static void build(struct wf_engine *engine, void *arg)
{
    struct scenario *scenario = arg;

    (void)wf_engine_add(engine, scenario->ops, PROCESSES, sizeof(struct state),
                        &scenario->model);
}

static struct outcome check(const struct wf_process_ops *ops, enum bug bug, enum kind where)
{
    struct wf_engine_config config = engine_defaults(WF_CHECK_UNDO, 1);
    struct scenario scenario = {.model = {.bug = bug, .where = where}, .ops = ops};

    return run_model(&config, build, &scenario, NULL, 0);
}

static void a_right_model_passes(void)
{
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
        struct scenario scenario = {.ops = kinds[k]};
        struct outcome expected = run_model(&config, build, &scenario, NULL, 0);
        struct outcome out = check(kinds[k], NONE, FIRST);
        CHECK(expected.status == WF_OK && out.status == WF_OK);
        CHECK_U64(out.run.events_committed, UINT64_C(2) * PROCESSES);
        CHECK_U64(out.run.digest, expected.run.digest);
    }
}

/* Each bug with the words that name the process, the key of the event and the byte. */
static const struct {
    const struct wf_process_ops *ops;
    enum bug bug;
    enum kind where;
    const char *words;
} bugs[] = {
    {&reversing, FORGETS_A_BYTE, FIRST,
     "process 5 (reversing), event kind 3, key (time 600 ps, delta 0, source 5, sequence 0): "
     "after undo, byte 9 of its state differs"},
    {&reversing, FORGETS_A_BYTE, AT_ONCE,
     "process 5 (reversing), event kind 4, key (time 600 ps, delta 1, source 5, sequence 1): "
     "after undo, byte 9 of its state differs"},
    {&announcing, CHANGES_SILENTLY, FIRST,
     "process 5 (announcing), event kind 3, key (time 600 ps, delta 0, source 5, sequence 0): "
     "after undo, byte 5 of its state differs"},
    {&announcing, ANNOUNCES_TOO_LATE, AT_ONCE,
     "process 5 (announcing), event kind 4, key (time 600 ps, delta 1, source 5, sequence 1): "
     "after undo, byte 20 of its state differs"},
    {&reversing, ENDS_ELSEWHERE, FIRST,
     "process 5 (reversing), event kind 3, key (time 600 ps, delta 0, source 5, sequence 0): "
     "after the second execution, byte 17 of its state differs"},
    {&copied, ENDS_ELSEWHERE, FIRST,
     "after the second execution, byte 17 of its state differs"},
    {&announcing, SENDS_ELSEWHERE, FIRST,
     "process 5 (announcing), event kind 3, key (time 600 ps, delta 0, source 5, sequence 0): "
     "the second execution scheduled something else, from byte 32 on"},
    {&copied, SENDS_ELSEWHERE, FIRST, "the second execution scheduled something else"},
    {&copied, SENDS_NOW_AND_THEN, AT_ONCE,
     "key (time 600 ps, delta 1, source 5, sequence 1): after the second execution, byte 8 of "
     "its engine data differs"},
};

static void every_bug_is_found_and_named(void)
{
    CHECK(wf_status_exit_code(WF_EINTERNAL) == 70);
    for (size_t i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++) {
        struct outcome out = check(bugs[i].ops, bugs[i].bug, bugs[i].where);
        if (strstr(out.err.text, bugs[i].words) == NULL) {
            printf("# case %zu says \"%s\"\n", i, out.err.text);
        }
        CHECK(out.status == WF_EINTERNAL && out.err.status == WF_EINTERNAL);
        CHECK(strstr(out.err.text, bugs[i].words) != NULL);
        CHECK(strstr(out.err.text, "600 ps") != NULL);
        /* Up to the bad event, all was right. */
        CHECK_U64(out.run.events_committed, 2 * BAD + (bugs[i].where == AT_ONCE));
    }
}

/* Everything is copied, so no undo can go wrong. */
static void a_copied_state_needs_no_care(void)
{
    CHECK(check(&copied, FORGETS_A_BYTE, FIRST).status == WF_OK);
    CHECK(check(&copied, CHANGES_SILENTLY, FIRST).status == WF_OK);
}

int main(void)
{
    RUN(a_right_model_passes);
    RUN(every_bug_is_found_and_named);
    RUN(a_copied_state_needs_no_care);
    return wf_test_done();
}
