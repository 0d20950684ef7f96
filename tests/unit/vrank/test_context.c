/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/context.h"

#include "base/mem.h"
#include "harness/wf_test.h"
#include "mpi/vrank/stacks.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 300, ROUNDS = 50, STACK = 65536 };

struct fiber {
    struct wf_vrank_context context;
    struct wf_vrank_context *home;
    uint32_t number, rounds;
    uint64_t sum; /* by locals that must survive every switch */
    double product;
};

/* Keeps values in registers and on the stack across switches. */
static void work(void *arg)
{
    struct fiber *fiber = arg;
    uint64_t a = fiber->number, b = 2 * a + 1, c = a ^ 0x5555;
    double x = 1.0 + fiber->number;
    unsigned char own[256];

    memset(own, (int)(fiber->number & 0xff), sizeof(own));
    for (;;) {
        for (size_t i = 0; i < sizeof(own); i++) {
            a += own[i];
        }
        fiber->sum = a + b + c;
        fiber->product = x;
        fiber->rounds++;
        wf_vrank_context_switch(&fiber->context, fiber->home);
        b += 3;
        c ^= b;
        x *= 1.0625;
    }
}

/* What work() has after so many rounds, without ever leaving. */
static void expected(uint32_t number, uint32_t rounds, uint64_t *sum, double *product)
{
    uint64_t a = number, b = 2 * a + 1, c = a ^ 0x5555;
    double x = 1.0 + number;

    for (uint32_t round = 0; round < rounds; round++) {
        if (round > 0) {
            b += 3;
            c ^= b;
            x *= 1.0625;
        }
        a += 256 * (uint64_t)(number & 0xff);
        *sum = a + b + c;
    }
    *product = x;
}

static void many_contexts_keep_what_they_had(void)
{
    struct wf_vrank_stacks stacks;
    struct wf_err err;
    struct wf_vrank_context home;
    struct fiber *fibers = wf_xcalloc(RANKS, sizeof(*fibers));

    CHECK(wf_vrank_stacks_init(&stacks, RANKS, STACK, NULL, &err) == WF_OK);
    for (uint32_t i = 0; i < RANKS; i++) {
        fibers[i].home = &home;
        fibers[i].number = i;
        wf_vrank_context_make(&fibers[i].context, wf_vrank_stacks_top(&stacks, i),
                              wf_vrank_stacks_size(&stacks, i), work, &fibers[i]);
    }
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        for (uint32_t k = 0; k < RANKS; k++) {
            struct fiber *fiber =
                &fibers[(k * 7 + round) % RANKS]; /* 7 and RANKS share nothing */
            uint64_t sum = 0;
            double product = 0;
            wf_vrank_context_switch(&home, &fiber->context);
            expected(fiber->number, round, &sum, &product);
            if (fiber->rounds != round || fiber->sum != sum || fiber->product != product) {
                CHECK(false);
            }
        }
    }
    for (uint32_t i = 0; i < RANKS; i++) {
        CHECK(!wf_vrank_stacks_overflowed(&stacks, i, fibers[i].context.stack));
        wf_vrank_context_free(&fibers[i].context);
    }
    free(fibers);
    wf_vrank_stacks_fini(&stacks);
}

static void stacks_are_used_again_and_read_as_zero(void)
{
    enum { MANY = 40, DEEP = 8 };
    struct wf_vrank_stacks stacks;
    struct wf_err err;
    uint32_t taken[MANY], wrong = 0;

    CHECK(wf_vrank_stacks_init(&stacks, MANY, STACK, NULL, &err) == WF_OK);
    for (int round = 0; round < 3; round++) {
        for (uint32_t k = 0; k < MANY; k++) {
            taken[k] = wf_vrank_stacks_take(&stacks);
            unsigned char *top = wf_vrank_stacks_top(&stacks, taken[k]);
            size_t room = wf_vrank_stacks_size(&stacks, taken[k]);
            for (size_t at = 1; at <= room; at++) {
                wrong += top[-(ptrdiff_t)at] != 0;
            }
            memset(top - room, 1, k % DEEP == 0 ? room : 100); /* near or far from the top */
            memset(top - 100, 2, 100);
        }
        for (uint32_t k = 0; k < MANY; k++) {
            wf_vrank_stacks_give(&stacks, taken[k]);
        }
    }
    CHECK_U64(wrong, 0);
    wf_vrank_stacks_give(&stacks, wf_vrank_stacks_take(&stacks));
    wf_vrank_stacks_fini(&stacks);
}

static void stacks_lie_apart(void)
{
    struct wf_vrank_stacks stacks;
    struct wf_err err;

    CHECK(wf_vrank_stacks_init(&stacks, RANKS, STACK, NULL, &err) == WF_OK);
    for (uint32_t i = 0; i < RANKS; i++) {
        unsigned char *top = wf_vrank_stacks_top(&stacks, i);
        size_t room = wf_vrank_stacks_size(&stacks, i);
        bool in_guard = true;
        CHECK((uintptr_t)top % 16 == 0);
        CHECK(room >= STACK / 2);
        memset(top - room, 1, room); /* all of it can be used */
        CHECK_U64(wf_vrank_stacks_find(&stacks, top - 1, &in_guard), i);
        CHECK(!in_guard);
        CHECK_U64(wf_vrank_stacks_find(&stacks, top - room, &in_guard), i);
        CHECK(!in_guard);
        if (stacks.guarded) {
            CHECK_U64(wf_vrank_stacks_find(&stacks, top - room - 1, &in_guard), i);
            CHECK(in_guard);
        }
    }
    bool in_guard;
    CHECK_U64(wf_vrank_stacks_find(&stacks, &stacks, &in_guard), RANKS);
    wf_vrank_stacks_fini(&stacks);
}

int main(void)
{
    RUN(many_contexts_keep_what_they_had);
    RUN(stacks_lie_apart);
    RUN(stacks_are_used_again_and_read_as_zero);
    return wf_test_done();
}
