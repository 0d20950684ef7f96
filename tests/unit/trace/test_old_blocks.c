/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of ops in the format of version 1, byte by byte, compared with those of version 3. */
#include "harness/wf_test.h"
#include "program/ops/created.h"
#include "program/ops/groups.h"
#include "program/trace/weft/decode.h"

#include <string.h>

/* Reads the only op of a block. */
static bool read_one(const unsigned char *raw, uint32_t size, bool is_old, struct wf_op *op,
                     uint64_t *counts)
{
    struct wf_groups *groups = wf_groups_new(2);
    struct wf_created created = {0};
    struct wf_buf arrays = {.data = NULL};
    const char *fault = NULL;
    const struct wf_native_decoder_source from = {.raw = raw,
                                                  .size = size,
                                                  .groups = groups,
                                                  .created = &created,
                                                  .n_ops = 1,
                                                  .is_old = is_old};
    struct wf_native_decoder *block = wf_native_decoder_new(&from, &fault);

    memset(op, 0xff, sizeof(*op)); /* what an op does not have may be anything */
    bool found = block != NULL && wf_native_decoder_next(block, &arrays, op);
    if (found && counts != NULL) {
        memcpy(counts, op->counts, 2 * sizeof(*counts));
    }
    wf_native_decoder_free(block);
    wf_buf_fini(&arrays);
    wf_created_fini(&created);
    wf_groups_free(groups);
    return found;
}

/* Bit 3 of the mask is the array in version 1, and what it reduces with in version 3. */
static void a_reduce_scatter_has_no_reduction_in_version_1(void)
{
    static const unsigned char old[] = {1, WF_OP_REDUCE_SCATTER, 0, 8, 3, 40, 50};
    static const unsigned char now[] = {1, WF_OP_REDUCE_SCATTER, 0, 24, 6, 3, 40, 50};
    uint64_t counts[2] = {0};
    struct wf_op op;

    CHECK(read_one(old, sizeof(old), true, &op, counts));
    CHECK(op.kind == WF_OP_REDUCE_SCATTER && op.reduction == WF_REDUCE_UNKNOWN);
    CHECK_U64(counts[0], 40);
    CHECK_U64(counts[1], 50);
    memset(counts, 0, sizeof(counts));
    CHECK(read_one(now, sizeof(now), false, &op, counts));
    CHECK_U64(op.reduction, WF_REDUCE_SUM);
    CHECK_U64(counts[1], 50);
    CHECK(!read_one(old, sizeof(old), false, &op, counts));
}

/* Where nothing was behind the fields, one more is a bit that old files do not set. */
static void others_are_as_they_were(void)
{
    static const unsigned char old[] = {1, WF_OP_ALLREDUCE, 0, 2, 16};
    static const unsigned char now[] = {1, WF_OP_ALLREDUCE, 0, 10, 16, 2};
    static const unsigned char bad[] = {1, WF_OP_ALLREDUCE, 0, 10, 16, 80};
    struct wf_op op;

    CHECK(read_one(old, sizeof(old), true, &op, NULL) && op.bytes == 8 && op.reduction == 0);
    CHECK(read_one(old, sizeof(old), false, &op, NULL) && op.bytes == 8 && op.reduction == 0);
    CHECK(read_one(now, sizeof(now), false, &op, NULL) && op.reduction == WF_REDUCE_MAX);
    CHECK(!read_one(bad, sizeof(bad), false, &op, NULL));
}

int main(void)
{
    RUN(a_reduce_scatter_has_no_reduction_in_version_1);
    RUN(others_are_as_they_were);
    return wf_test_done();
}
