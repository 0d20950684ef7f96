/* SPDX-License-Identifier: Apache-2.0 */
/* Waits have the same name whatever else is open, and the name finds the requests again. */
#include "program/extrapolate/requests.h"

#include "harness/wf_test.h"

#include <stdlib.h>
#include <string.h>

enum { OPS_MAX = 16, CHOSEN_MAX = 8 };

/* One rank of one trace, whose ops are waits. */
struct waits {
    struct wf_ext_input input;
    struct wf_ext_count count;
    struct wf_ext_rank rank;
    struct wf_ext_op ops[OPS_MAX];
};

static void begin(struct waits *waits)
{
    memset(waits, 0, sizeof(*waits));
    waits->rank.ops = waits->ops;
    waits->count.ranks = &waits->rank;
    waits->count.n = 1;
    waits->input.counts = &waits->count;
    waits->input.n_counts = 1;
}

static void end(struct waits *waits)
{
    free(waits->input.shapes);
    wf_strings_fini(&waits->input.shape_table);
    wf_strings_fini(&waits->input.positions);
}

static uint32_t sort_of(enum wf_op_kind kind, uint32_t comm)
{
    const struct wf_ext_shape shape = {.kind = kind, .comm = comm};

    return wf_ext_sort(&shape);
}

static struct wf_ext_requests open_requests(struct wf_ext_request *items, uint32_t n)
{
    return (struct wf_ext_requests){.items = items, .n = n};
}

/* Adds a wait for the requests at these places. */
static void wait_for(struct waits *waits, enum wf_op_kind kind,
                     const struct wf_ext_requests *list, const uint32_t *places, uint32_t n)
{
    struct wf_ext_shape shape;

    memset(&shape, 0, sizeof(shape));
    shape.kind = kind;
    wf_ext_requests_name(list, places, n, kind == WF_OP_WAIT, &waits->input.positions, &shape);
    waits->ops[waits->rank.n++].shape = wf_ext_shape_put(&waits->input, &shape);
}

struct chosen {
    uint32_t places[CHOSEN_MAX], n;
};

static void choose(void *arg, uint32_t place)
{
    struct chosen *chosen = arg;

    chosen->places[chosen->n++] = place;
}

static bool finds(const struct waits *waits, uint32_t op, const struct wf_ext_requests *list,
                  struct chosen *chosen)
{
    chosen->n = 0;
    return wf_ext_requests_choose(list, &waits->input.shapes[waits->ops[op].shape],
                                  &waits->input.positions, choose, chosen);
}

/* The oldest allgather: alone, after gradients that stay open, before another allgather. */
static void other_requests_do_not_change_a_name(void)
{
    uint32_t gather = sort_of(WF_OP_IALLGATHER, 1), reduce = sort_of(WF_OP_IALLREDUCE, 1);
    struct wf_ext_request items[] = {
        {7, gather}, {3, reduce}, {4, reduce}, {5, gather}, {6, gather}};
    const struct wf_ext_requests alone = open_requests(items, 1);
    const struct wf_ext_requests after = open_requests(items + 1, 3);
    const struct wf_ext_requests two = open_requests(items + 1, 4);
    const uint32_t first = 0, third = 2;
    struct waits waits;
    struct chosen chosen;

    begin(&waits);
    wait_for(&waits, WF_OP_WAITALL, &alone, &first, 1);
    wait_for(&waits, WF_OP_WAITALL, &after, &third, 1);
    wait_for(&waits, WF_OP_WAITALL, &two, &third, 1);
    wf_ext_requests_decide(&waits.input);
    CHECK(waits.ops[0].shape == waits.ops[1].shape && waits.ops[1].shape == waits.ops[2].shape);
    CHECK(finds(&waits, 0, &two, &chosen) && chosen.n == 1 && chosen.places[0] == 2);
    CHECK(finds(&waits, 0, &alone, &chosen) && chosen.n == 1 && chosen.places[0] == 0);
    const struct wf_ext_requests none = open_requests(items + 1, 2);
    CHECK(!finds(&waits, 0, &none, &chosen));
    end(&waits);
}

/* Ranks at the border of a grid have fewer requests. */
static void waits_for_all_have_one_name(void)
{
    uint32_t recv = sort_of(WF_OP_IRECV, 0), send = sort_of(WF_OP_ISEND, 0);
    struct wf_ext_request items[] = {{0, recv}, {1, recv}, {2, send}, {3, send}};
    const struct wf_ext_requests inner = open_requests(items, 4);
    const struct wf_ext_requests border = open_requests(items + 1, 2);
    const struct wf_ext_requests corner = open_requests(items + 2, 1);
    const uint32_t places[] = {0, 1, 2, 3};
    struct waits waits;
    struct chosen chosen;

    begin(&waits);
    wait_for(&waits, WF_OP_WAITALL, &inner, places, 4);
    wait_for(&waits, WF_OP_WAITALL, &border, places, 2);
    wait_for(&waits, WF_OP_WAITALL, &corner, places, 1);
    wf_ext_requests_decide(&waits.input);
    CHECK(waits.ops[0].shape == waits.ops[1].shape && waits.ops[1].shape == waits.ops[2].shape);
    CHECK(finds(&waits, 2, &inner, &chosen) && chosen.n == 4);
    end(&waits);
}

/* All requests of one communicator, with others open. */
static void a_wait_for_all_of_a_sort_follows_their_number(void)
{
    uint32_t ours = sort_of(WF_OP_IALLREDUCE, 2), others = sort_of(WF_OP_IALLREDUCE, 1);
    struct wf_ext_request items[] = {{0, others}, {1, ours}, {2, ours}, {3, ours}};
    const struct wf_ext_requests two = open_requests(items, 3);
    const struct wf_ext_requests three = open_requests(items, 4);
    const uint32_t places[] = {1, 2, 3};
    struct waits waits;
    struct chosen chosen;

    CHECK(ours != others);
    begin(&waits);
    wait_for(&waits, WF_OP_WAITALL, &two, places, 2);
    wait_for(&waits, WF_OP_WAITALL, &three, places, 3);
    wf_ext_requests_decide(&waits.input);
    CHECK(waits.ops[0].shape == waits.ops[1].shape);
    CHECK(finds(&waits, 0, &three, &chosen) && chosen.n == 3 && chosen.places[0] == 1);
    end(&waits);
}

/* First in, first out, and last in, first out: the last request is both. */
static void the_newest_and_the_oldest_are_told_apart(void)
{
    uint32_t send = sort_of(WF_OP_ISEND, 0);
    struct wf_ext_request items[] = {{0, send}, {1, send}, {2, send}};
    struct waits waits;
    struct chosen chosen;

    for (uint32_t newest = 0; newest < 2; newest++) {
        begin(&waits);
        for (uint32_t n = 3; n > 0; n--) {
            const struct wf_ext_requests list = open_requests(items, n);
            const uint32_t place = newest != 0 ? n - 1 : 0;
            wait_for(&waits, WF_OP_WAIT, &list, &place, 1);
        }
        wf_ext_requests_decide(&waits.input);
        const struct wf_ext_requests all = open_requests(items, 3);
        CHECK(waits.ops[0].shape == waits.ops[1].shape &&
              waits.ops[1].shape == waits.ops[2].shape);
        CHECK(finds(&waits, 2, &all, &chosen) && chosen.places[0] == 2 * newest);
        end(&waits);
    }
}

int main(void)
{
    RUN(other_requests_do_not_change_a_name);
    RUN(waits_for_all_have_one_name);
    RUN(a_wait_for_all_of_a_sort_follows_their_number);
    RUN(the_newest_and_the_oldest_are_told_apart);
    return wf_test_done();
}
