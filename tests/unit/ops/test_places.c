/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/places.h"

#include "harness/script.h"
#include "program/ops/disturbance.h"
#include "program/ops/retimed.h"

#include "harness/wf_test.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, TIMES = 10, OPS_MAX = 200 };

/* A program of three ranks that a test fills in. */
struct program {
    struct wf_op ops[RANKS][OPS_MAX];
    uint32_t n[RANKS];
    const struct wf_op *ranks[RANKS];
    struct script script;
};

static void add(struct program *program, uint32_t rank, struct wf_op op)
{
    program->ops[rank][program->n[rank]++] = op;
}

static const struct wf_source *finish(struct program *program)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        add(program, rank, (struct wf_op)END);
        program->ranks[rank] = program->ops[rank];
    }
    program->script = make_script(program->ranks, RANKS);
    return &program->script.source;
}

static struct wf_places find(const struct wf_source *source)
{
    struct wf_places places = {.n_ranks = 0};
    struct wf_err err;

    wf_test_failed |= wf_places_init(&places, source, &err) != WF_OK;
    return places;
}

/* Ranks with different peers, a prologue and two spans an iteration. */
static void spans_of_ranks_and_iterations_have_the_same_place(void)
{
    struct program program = {.n = {0}};

    for (uint32_t rank = 0; rank < RANKS; rank++) {
        add(&program, rank, (struct wf_op)COMPUTE(1000 + rank));
        for (uint32_t i = 0; i < TIMES; i++) {
            add(&program, rank, (struct wf_op)SEND((rank + 1) % RANKS, 5, 100 + rank));
            add(&program, rank, (struct wf_op)COMPUTE(10 * i + rank));
            add(&program, rank, (struct wf_op)RECV((rank + 2) % RANKS, 5));
            add(&program, rank, (struct wf_op)COMPUTE(100));
        }
    }

    struct wf_places places = find(finish(&program));
    uint64_t n;

    CHECK_U64(places.n_spans, RANKS * (2 * TIMES + 1));
    /* The prologue, both spans of an iteration, and the epilogue. */
    CHECK_U64(places.n_places, 4);
    const uint64_t *spans = wf_places_members(&places, 1, &n);
    CHECK_U64(n, RANKS * TIMES);
    for (uint32_t k = 0; k < n; k++) {
        CHECK_U64(wf_places_rank(&places, spans[k]), k / TIMES);
        CHECK(places.durations[spans[k]] == 10 * (k % TIMES) + k / TIMES);
    }
    (void)wf_places_members(&places, 2, &n);
    CHECK_U64(n, RANKS * (TIMES - 1));
    CHECK_U64(wf_places_rank(&places, 0), 0);
    CHECK_U64(wf_places_rank(&places, places.first[1] - 1), 0);
    CHECK_U64(wf_places_rank(&places, places.first[1]), 1);
    CHECK_U64(wf_places_rank(&places, places.n_spans - 1), RANKS - 1);
    wf_places_fini(&places);
}

/* The number of places of spans between two calls that differ in something. */
static uint32_t places_between(struct wf_op (*call)(uint32_t i))
{
    struct program program = {.n = {0}};

    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint32_t i = 0; i < 4 * TIMES; i++) {
            add(&program, rank, (struct wf_op)BARRIER);
            add(&program, rank, (struct wf_op)COMPUTE(1));
            add(&program, rank, call(i));
        }
    }

    struct wf_places places = find(finish(&program));
    uint32_t n = places.n_places;
    wf_places_fini(&places);
    return n;
}

static struct wf_op two_tags(uint32_t i)
{
    return (struct wf_op)SEND(WF_PROC_NULL, (int32_t)(i % 2), 8);
}

static struct wf_op many_tags(uint32_t i)
{
    return (struct wf_op)SEND(WF_PROC_NULL, (int32_t)i, 8);
}

static struct wf_op two_sizes(uint32_t i)
{
    return (struct wf_op)ALLREDUCE(i % 2 == 0 ? 8 : 1 << 20);
}

static struct wf_op two_kinds(uint32_t i)
{
    struct wf_op op = ALLREDUCE(8);

    op.kind = i % 2 == 0 ? WF_OP_ALLREDUCE : WF_OP_SCAN;
    return op;
}

static struct wf_op turning_roots(uint32_t i)
{
    struct wf_op op = COLL(BCAST, 8);

    op.root = i % RANKS;
    return op;
}

/* Variants count if they repeat often enough. */
static void variants_are_places_if_they_repeat(void)
{
    CHECK_U64(places_between(two_tags), 2);
    CHECK_U64(places_between(many_tags), 1);
    CHECK_U64(places_between(two_sizes), 2);
    CHECK_U64(places_between(two_kinds), 2);
    CHECK_U64(places_between(turning_roots), 2); /* as the root, and not */
}

static void sites_and_regions_divide_places(void)
{
    struct program program = {.n = {0}};

    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint32_t i = 0; i < TIMES; i++) {
            struct wf_op span = COMPUTE(1);
            add(&program, rank, (struct wf_op)MARK(REGION_BEGIN, 0));
            add(&program, rank, (struct wf_op)BARRIER);
            add(&program, rank, span);
            add(&program, rank, (struct wf_op)BARRIER);
            add(&program, rank, (struct wf_op)MARK(REGION_END, 0));
            add(&program, rank, (struct wf_op)BARRIER);
            add(&program, rank, span);
            add(&program, rank, (struct wf_op)BARRIER);
            span.site = 7;
            span.disturbances = wf_disturbance_pack(&(struct wf_disturbance){1, 2, 3});
            add(&program, rank, span);
            add(&program, rank, (struct wf_op)BARRIER);
        }
    }

    struct wf_places places = find(finish(&program));

    CHECK_U64(places.n_places, 3);
    CHECK_U64(places.place_of[0], 0);
    CHECK_U64(places.place_of[1], 1);
    CHECK_U64(places.place_of[2], 2);
    CHECK_U64(places.place_of[3], 0);
    CHECK_U64(places.disturbances[1], 0);
    const struct wf_disturbance found = wf_disturbance_unpack(places.disturbances[2]);
    CHECK(found.switches == 1 && found.faults == 2 && found.lost == 3);
    wf_places_fini(&places);
}

static void compute_ops_in_a_row_are_different_places(void)
{
    struct program program = {.n = {0}};

    for (uint32_t i = 0; i < TIMES; i++) {
        add(&program, 1, (struct wf_op)COMPUTE(3));
        add(&program, 1, (struct wf_op)COMPUTE(4));
        add(&program, 1, (struct wf_op)BARRIER);
    }

    struct wf_places places = find(finish(&program));

    CHECK_U64(places.n_spans, 2 * TIMES);
    CHECK_U64(places.n_places, 4); /* two at the beginning, two between barriers */
    CHECK_U64(places.first[1], 0);
    CHECK_U64(places.first[2], 2 * TIMES);
    for (uint64_t span = 2; span < places.n_spans; span++) {
        CHECK_U64(places.place_of[span], 2 + span % 2);
    }
    wf_places_fini(&places);
}

static void a_program_without_spans_has_no_places(void)
{
    struct program program = {.n = {0}};
    struct wf_places places = find(finish(&program));

    CHECK_U64(places.n_spans, 0);
    CHECK_U64(places.n_places, 0);
    wf_places_fini(&places);
}

static void counts_that_do_not_fit_are_the_largest(void)
{
    const struct wf_disturbance many = {1000, 1 << 20, 256};
    const struct wf_disturbance kept = wf_disturbance_unpack(wf_disturbance_pack(&many));

    CHECK(kept.switches == 255 && kept.faults == 65535 && kept.lost == 255);
}

/* ---- other times ---- */

static int64_t by_number(const void *arg, uint32_t rank, uint32_t span, int64_t ps)
{
    return *(const int64_t *)arg + 100 * (int64_t)rank + 10 * (int64_t)span + ps;
}

static void a_retimed_source_changes_compute_ops_only(void)
{
    struct program program = {.n = {0}};
    const int64_t base = 5000;
    const struct wf_retimed_config config = {.duration = by_number, .arg = &base};

    for (uint32_t rank = 0; rank < RANKS; rank++) {
        add(&program, rank, (struct wf_op)COMPUTE(1));
        add(&program, rank, (struct wf_op)BARRIER);
        add(&program, rank, (struct wf_op)COMPUTE(2));
    }
    (void)finish(&program);

    struct wf_source *source = wf_retimed_new(&program.script.source, false, &config);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct wf_cursor cursor = {.word = {0}}, before;
        struct wf_op op;
        CHECK(wf_source_next(source, rank, &cursor, &op));
        CHECK(op.duration == 5001 + 100 * rank);
        CHECK(wf_source_next(source, rank, &cursor, &op));
        CHECK_U64(op.kind, WF_OP_BARRIER);
        before = cursor;
        for (int again = 0; again < 2; again++) { /* as after a rollback */
            cursor = before;
            CHECK(wf_source_next(source, rank, &cursor, &op));
            CHECK(op.duration == 5012 + 100 * rank);
            CHECK(!wf_source_next(source, rank, &cursor, &op));
        }
    }
    wf_source_free(source);
}

int main(void)
{
    RUN(spans_of_ranks_and_iterations_have_the_same_place);
    RUN(variants_are_places_if_they_repeat);
    RUN(sites_and_regions_divide_places);
    RUN(compute_ops_in_a_row_are_different_places);
    RUN(a_program_without_spans_has_no_places);
    RUN(counts_that_do_not_fit_are_the_largest);
    RUN(a_retimed_source_changes_compute_ops_only);
    return wf_test_done();
}
