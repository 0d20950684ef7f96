/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/oplog.h"

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
        CHECK(dropped == 0 || !wf_vrank_oplog_read(&log, dropped - 1, &op));
        CHECK(!wf_vrank_oplog_read(&log, added, &op));
        for (uint64_t i = dropped; i < added; i++) {
            struct wf_op found;
            if (!wf_vrank_oplog_read(&log, i, &found) || found.duration != (int64_t)i) {
                CHECK(false);
            }
        }
    }
    wf_vrank_oplog_fini(&log);
}

static void arrays_are_copied(bool whole)
{
    struct wf_vrank_oplog log = {.whole = whole};
    uint32_t requests[SET] = {9, 8, 7, 6, 5};
    struct wf_op op = {.kind = WF_OP_WAITALL, .requests = requests, .count = SET};

    wf_vrank_oplog_add(&log, &op);
    memset(requests, 0, sizeof(requests));
    if (whole) {
        wf_vrank_oplog_get(&log, 0)->tag = 5;
    }
    struct wf_op found = {.duration = 1};
    CHECK(wf_vrank_oplog_read(&log, 0, &found) && found.requests != requests);
    CHECK(found.duration == 0 && found.tag == (whole ? 5 : 0));
    for (uint32_t i = 0; i < SET; i++) {
        CHECK_U64(found.requests[i], 9 - i);
    }
    wf_vrank_oplog_fini(&log);
}

static void arrays_are_copied_from_ops_and_from_parts_of_them(void)
{
    arrays_are_copied(false);
    arrays_are_copied(true);
}

static void every_member_of_an_op_is_stored(void)
{
    struct wf_vrank_oplog log = {0};
    struct wf_op op = {.kind = WF_OP_COMPUTE}, found;

    for (size_t at = sizeof(op.kind); at < offsetof(struct wf_op, requests); at++) {
        memset(&op, 0, sizeof(op));
        op.kind = WF_OP_COMPUTE;
        ((unsigned char *)&op)[at] = 0x77;
        wf_vrank_oplog_add(&log, &op);
        CHECK(wf_vrank_oplog_read(&log, wf_vrank_oplog_end(&log) - 1, &found));
        CHECK(memcmp(&op, &found, sizeof(op)) == 0);
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
    struct wf_op found;
    CHECK(wf_vrank_oplog_read(&log, 0, &found) && found.bytes == 64);
    CHECK(!wf_vrank_oplog_read(&log, 1, &found));
    CHECK(wf_vrank_oplog_read(&log, 2, &found));
    wf_vrank_oplog_complete(&log, 3);
    CHECK(!wf_vrank_oplog_read(&log, 0, &found));
    CHECK(wf_vrank_oplog_read(&log, 2, &found));
    wf_vrank_oplog_complete(&log, 77); /* of nothing that is kept */
    wf_vrank_oplog_complete(&log, 4);
    CHECK(!wf_vrank_oplog_read(&log, 2, &found));
    wf_vrank_oplog_fini(&log);
}

static void lent_ops_are_read_where_they_are(void)
{
    struct wf_vrank_oplog log = {0};
    struct wf_op found, op = numbered(7);
    struct wf_vrank_lent_op lent;

    wf_vrank_oplog_lend(&log, &op, &lent);
    CHECK(wf_vrank_oplog_read(&log, 0, &found) && found.duration == 7);
    op.duration = 8;
    CHECK(wf_vrank_oplog_read(&log, 0, &found) && found.duration == 8);
    wf_vrank_oplog_drop(&log, 1);
    CHECK(!wf_vrank_oplog_read(&log, 0, &found));

    /* Arrays may be in memory that another rank sees differently. */
    uint32_t requests[SET] = {9, 8, 7, 6, 5};
    struct wf_op several = {.kind = WF_OP_WAITALL, .requests = requests, .count = SET};
    wf_vrank_oplog_lend(&log, &several, &lent);
    CHECK(wf_vrank_oplog_read(&log, 1, &found) && found.requests != requests);

    /* What is kept is copied. */
    struct wf_op started = {.kind = WF_OP_IBARRIER, .request = 3, .bytes = 64};
    wf_vrank_oplog_lend(&log, &started, &lent);
    wf_vrank_oplog_drop(&log, 3);
    started.bytes = 0;
    CHECK(wf_vrank_oplog_read(&log, 2, &found) && found.bytes == 64);
    wf_vrank_oplog_lend(&log, &op, &lent); /* and not freed with the log */
    wf_vrank_oplog_fini(&log);
}

int main(void)
{
    RUN(ops_are_found_by_their_numbers_until_they_are_dropped);
    RUN(arrays_are_copied_from_ops_and_from_parts_of_them);
    RUN(every_member_of_an_op_is_stored);
    RUN(nonblocking_collectives_stay_until_they_are_complete);
    RUN(lent_ops_are_read_where_they_are);
    return wf_test_done();
}
