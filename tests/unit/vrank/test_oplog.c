/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/oplog.h"

#include "base/rng.h"
#include "harness/wf_test.h"

#include <string.h>

enum { MANY = 3000, SET = 5 };

static struct wf_op numbered(uint64_t i)
{
    return (struct wf_op){.kind = WF_OP_COMPUTE, .duration = (int64_t)i};
}

static void ops_are_found_by_their_numbers_until_they_are_dropped(void)
{
    struct wf_vrank_oplog log = {0};
    uint64_t added = 0, dropped = 0, random = 7;

    while (added < MANY) {
        struct wf_op op = numbered(added);
        wf_vrank_oplog_add(&log, &op);
        added++;
        random = wf_rng_mix(random);
        if (random % 4 == 0) {
            dropped += wf_rng_below(random, added - dropped + 1);
            wf_vrank_oplog_drop(&log, dropped);
        }
        CHECK_U64(wf_vrank_oplog_end(&log), added);
        CHECK(dropped == 0 || wf_vrank_oplog_get(&log, dropped - 1) == NULL);
        CHECK(wf_vrank_oplog_get(&log, added) == NULL);
        for (uint64_t i = dropped; i < added; i++) {
            const struct wf_op *found = wf_vrank_oplog_get(&log, i);
            if (found == NULL || found->duration != (int64_t)i) {
                CHECK(false);
            }
        }
    }
    wf_vrank_oplog_fini(&log);
}

static void arrays_are_copied(void)
{
    struct wf_vrank_oplog log = {0};
    uint32_t requests[SET] = {9, 8, 7, 6, 5};
    struct wf_op op = {.kind = WF_OP_WAITALL, .requests = requests, .count = SET};

    wf_vrank_oplog_add(&log, &op);
    memset(requests, 0, sizeof(requests));
    const struct wf_op *found = wf_vrank_oplog_get(&log, 0);
    CHECK(found != NULL && found->requests != requests);
    for (uint32_t i = 0; found != NULL && i < SET; i++) {
        CHECK_U64(found->requests[i], 9 - i);
    }
    wf_vrank_oplog_fini(&log);
}

static void nonblocking_collectives_stay_until_they_are_complete(void)
{
    struct wf_vrank_oplog log = {0};
    struct wf_op started = {.kind = WF_OP_IALLREDUCE, .request = 3, .bytes = 64};
    struct wf_op other = {.kind = WF_OP_IBARRIER, .request = 4};
    struct wf_op blocking = {.kind = WF_OP_ALLREDUCE, .bytes = 8};

    wf_vrank_oplog_add(&log, &started);
    wf_vrank_oplog_add(&log, &blocking);
    wf_vrank_oplog_add(&log, &other);
    wf_vrank_oplog_drop(&log, 3);
    CHECK(wf_vrank_oplog_get(&log, 0) != NULL && wf_vrank_oplog_get(&log, 0)->bytes == 64);
    CHECK(wf_vrank_oplog_get(&log, 1) == NULL);
    CHECK(wf_vrank_oplog_get(&log, 2) != NULL);
    wf_vrank_oplog_complete(&log, 3);
    CHECK(wf_vrank_oplog_get(&log, 0) == NULL);
    CHECK(wf_vrank_oplog_get(&log, 2) != NULL);
    wf_vrank_oplog_complete(&log, 77); /* of nothing that is kept */
    wf_vrank_oplog_complete(&log, 4);
    CHECK(wf_vrank_oplog_get(&log, 2) == NULL);
    wf_vrank_oplog_fini(&log);
}

int main(void)
{
    RUN(ops_are_found_by_their_numbers_until_they_are_dropped);
    RUN(arrays_are_copied);
    RUN(nonblocking_collectives_stay_until_they_are_complete);
    return wf_test_done();
}
