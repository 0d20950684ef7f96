/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/otf2/coll.h"

#include "harness/wf_test.h"

#include <string.h>

/* The values that Score-P writes for data or blocks of 12 bytes on 4 ranks with root 1, rank by
 * rank: numbers, not formulas. */
enum { RANKS = 4, ROOT = 1, BYTES = 12 };

struct recorded {
    enum wf_op_kind kind;
    bool reads_only; /* in place: weft does not write it */
    struct wf_otf2_sizes sizes[RANKS];
};

static const struct recorded table[] = {
    {WF_OP_BARRIER, false, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}},
    {WF_OP_BCAST, false, {{0, 12}, {48, 12}, {0, 12}, {0, 12}}},
    {WF_OP_REDUCE, false, {{12, 0}, {12, 48}, {12, 0}, {12, 0}}},
    {WF_OP_REDUCE, true, {{12, 0}, {0, 36}, {12, 0}, {12, 0}}},
    {WF_OP_GATHER, false, {{12, 0}, {12, 48}, {12, 0}, {12, 0}}},
    {WF_OP_GATHER, true, {{12, 0}, {0, 36}, {12, 0}, {12, 0}}},
    {WF_OP_SCATTER, false, {{0, 12}, {48, 12}, {0, 12}, {0, 12}}},
    {WF_OP_SCATTER, true, {{0, 12}, {36, 0}, {0, 12}, {0, 12}}},
    {WF_OP_ALLREDUCE, false, {{48, 48}, {48, 48}, {48, 48}, {48, 48}}},
    {WF_OP_ALLGATHER, false, {{48, 48}, {48, 48}, {48, 48}, {48, 48}}},
    {WF_OP_ALLTOALL, false, {{48, 48}, {48, 48}, {48, 48}, {48, 48}}},
    {WF_OP_REDUCE_SCATTER_BLOCK, false, {{48, 48}, {48, 48}, {48, 48}, {48, 48}}},
    {WF_OP_SCAN, false, {{48, 12}, {36, 24}, {24, 36}, {12, 48}}},
    {WF_OP_SCAN, true, {{36, 0}, {24, 12}, {12, 24}, {0, 36}}},
    {WF_OP_EXSCAN, false, {{36, 0}, {24, 12}, {12, 24}, {0, 36}}},
};

static void check_row(const struct recorded *row, uint32_t rank)
{
    const struct wf_group group = {.size = RANKS, .rank = rank, .stride = 1, .width = RANKS};
    struct wf_op op = {.kind = row->kind, .root = ROOT};
    struct wf_buf counts = {.data = NULL};
    bool equal = true;

    wf_otf2_coll_read(&op, &group, &row->sizes[rank], &counts, &equal);
    CHECK_U64(op.bytes, row->kind == WF_OP_BARRIER ? 0 : BYTES);
    CHECK(!equal);
    if (!row->reads_only) {
        struct wf_otf2_sizes sizes = wf_otf2_coll_sizes(&op, &group);
        CHECK_U64(sizes.sent, row->sizes[rank].sent);
        CHECK_U64(sizes.received, row->sizes[rank].received);
    }
    wf_buf_fini(&counts);
}

static void test_blocks(void)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            check_row(&table[i], rank);
        }
    }
}

/* 3 blocks of 10 bytes cannot be 4 equal ones: they were in place. */
static void test_in_place(void)
{
    const struct wf_group group = {.size = RANKS, .rank = 2, .stride = 1, .width = RANKS};
    const struct wf_otf2_sizes sizes = {30, 30};
    struct wf_op op = {.kind = WF_OP_ALLREDUCE};
    struct wf_buf counts = {.data = NULL};
    bool equal = false;

    wf_otf2_coll_read(&op, &group, &sizes, &counts, &equal);
    CHECK_U64(op.bytes, 10);
    wf_buf_fini(&counts);
}

/* Lengths 1, 2, 3, 4 at rank 2: sums, and n times its own 3. */
static void test_lists(void)
{
    static const uint64_t lengths[RANKS] = {1, 2, 3, 4}, others[RANKS] = {5, 6, 7, 8};
    static const struct {
        enum wf_op_kind kind;
        struct wf_otf2_sizes sizes;
    } lists[] = {
        {WF_OP_ALLGATHERV, {12, 10}}, {WF_OP_REDUCE_SCATTER, {10, 12}},
        {WF_OP_ALLTOALLV, {10, 26}},  {WF_OP_GATHERV, {3, 10}},
        {WF_OP_SCATTERV, {10, 3}},
    };
    const struct wf_group group = {.size = RANKS, .rank = 2, .stride = 1, .width = RANKS};

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        struct wf_op op = {
            .kind = lists[i].kind, .root = 2, .counts = lengths, .recv_counts = others};
        struct wf_otf2_sizes sizes = wf_otf2_coll_sizes(&op, &group);
        CHECK_U64(sizes.sent, lists[i].sizes.sent);
        CHECK_U64(sizes.received, lists[i].sizes.received);

        struct wf_op back = {.kind = lists[i].kind, .root = 2};
        struct wf_buf counts = {.data = NULL};
        bool equal = false;
        wf_otf2_coll_read(&back, &group, &sizes, &counts, &equal);
        CHECK(equal);
        CHECK(back.counts != NULL);
        CHECK_U64(back.counts[0] + back.counts[1] + back.counts[2] + back.counts[3], 10);
        wf_buf_fini(&counts);
    }
}

int main(void)
{
    RUN(test_blocks);
    RUN(test_in_place);
    RUN(test_lists);
    return wf_test_done();
}
