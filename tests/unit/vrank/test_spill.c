/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/spill.h"

#include "base/rng.h"
#include "harness/wf_test.h"

#include <string.h>

enum { MANY = 40, ROUNDS = 400 };

struct block {
    unsigned char *at;
    size_t bytes;
    unsigned char value;
};

static bool has_value(const struct block *block)
{
    for (size_t i = 0; i < block->bytes; i += i + 64 < block->bytes ? 64 : 1) {
        if (block->at[i] != block->value) {
            return false;
        }
    }
    return true;
}

static void blocks_read_as_zero_and_do_not_overlap(void)
{
    struct wf_vrank_spill *spill;
    struct wf_err err;
    struct block blocks[MANY] = {{NULL, 0, 0}};
    uint64_t random = 3;

    CHECK(wf_vrank_spill_new(".", &spill, &err) == WF_OK);
    const struct wf_port_memory *port = wf_vrank_spill_port(spill);
    for (int round = 0; round < ROUNDS; round++) {
        random = wf_rng_mix(random);
        struct block *block = &blocks[random % MANY];
        if (block->at != NULL) {
            CHECK(has_value(block));
            port->free(block->at);
        }
        size_t alignment = random & 64 ? (size_t)1 << (random >> 8) % 17 : 0;
        *block = (struct block){NULL, 1 + (random >> 20) % 100000, 0};
        block->at = port->alloc(block->bytes, alignment, NULL);
        CHECK(block->at != NULL && port->holds(block->at) && has_value(block));
        CHECK((uintptr_t)block->at % (alignment > 16 ? alignment : 16) == 0);
        CHECK(port->usable(block->at) >= block->bytes);
        block->value = (unsigned char)(round + 1);
        memset(block->at, block->value, block->bytes);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK(blocks[i].at == NULL || has_value(&blocks[i]));
    }
    CHECK(!port->holds(&random) && !port->holds(NULL));
    CHECK(port->alloc(SIZE_MAX - 10, 0, NULL) == NULL);
    CHECK(port->alloc(SIZE_MAX / 4, 0, NULL) == NULL);
    wf_vrank_spill_free(spill);
}

static void a_directory_must_exist(void)
{
    struct wf_vrank_spill *spill;
    struct wf_err err;

    CHECK(wf_vrank_spill_new("./nowhere", &spill, &err) == WF_EIO);
    CHECK(strstr(err.text, "nowhere") != NULL);
}

int main(void)
{
    RUN(blocks_read_as_zero_and_do_not_overlap);
    RUN(a_directory_must_exist);
    return wf_test_done();
}
