/* SPDX-License-Identifier: Apache-2.0 */

#include "harness/gen_make.h"
#include "harness/wf_test.h"

#include <stdlib.h>

static struct wf_source *make(uint32_t n_ranks, uint64_t rounds)
{
    return gen_make(&wf_gen_ring_ops, n_ranks, "bytes=100 rounds=%llu",
                    (unsigned long long)rounds);
}

static void check_rank(const struct wf_source *source, uint32_t rank, uint64_t rounds)
{
    uint32_t n = source->n_ranks;
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;

    for (uint64_t i = 0; i < rounds; i++) {
        CHECK(wf_source_next(source, rank, &cursor, &op));
        CHECK(op.kind == WF_OP_IRECV && op.peer == (rank + n - 1) % n && op.request == 0);
        CHECK(wf_source_next(source, rank, &cursor, &op));
        CHECK(op.kind == WF_OP_ISEND && op.peer == (rank + 1) % n && op.request == 1);
        CHECK_U64(op.bytes, 100);
        CHECK(wf_source_next(source, rank, &cursor, &op));
        CHECK(op.kind == WF_OP_WAITALL && op.request == 0 && op.count == 2);
    }
    CHECK(!wf_source_next(source, rank, &cursor, &op));
    CHECK(!wf_source_next(source, rank, &cursor, &op));
}

static void every_message_visits_every_rank(void)
{
    for (uint32_t n = 1; n <= 20; n++) {
        struct wf_source *source = make(n, 0);
        CHECK_U64(source->messages_expected, (uint64_t)n * n);
        for (uint32_t rank = 0; rank < n; rank++) {
            check_rank(source, rank, n);
        }
        wf_source_free(source);
    }
}

static void it_goes_on_for_as_many_rounds_as_asked_for(void)
{
    struct wf_source *source = make(5, 17);

    CHECK_U64(source->messages_expected, UINT64_C(5) * 17);
    check_rank(source, 4, 17);
    wf_source_free(source);
}

int main(void)
{
    RUN(every_message_visits_every_rank);
    RUN(it_goes_on_for_as_many_rounds_as_asked_for);
    return wf_test_done();
}
