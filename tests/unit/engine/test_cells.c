/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/core/cells.h"

#include "base/mem.h"
#include "harness/wf_test.h"

#include <stdbool.h>

enum { SEED = 8, MOST = 4000, STEPS = 40000, MANY = 100000 };

static bool is_filled(const struct wf_cells *cells, uint32_t cell, size_t size, int byte)
{
    const unsigned char *at = wf_cells_at(cells, cell);

    for (size_t i = 0; i < size; i++) {
        if (at[i] != byte) {
            return false;
        }
    }
    return true;
}

static int mark(uint32_t cell)
{
    return (int)(1 + cell % 255);
}

/* Gets and puts at random; every cell in use keeps its mark. */
static void cells_keep_what_is_written_until_they_are_put_back(void)
{
    static const uint32_t sizes[] = {1, 8, 24, 100};

    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        struct wf_cells cells;
        uint32_t *used = wf_xcalloc(MOST, sizeof(*used));
        uint32_t n = 0;
        wf_cells_init(&cells, &sizes[s], 1);
        for (uint64_t i = 0; i < STEPS; i++) {
            uint64_t random = wf_test_rand(SEED, s, i);
            if (random % 8 < (i / 8000 % 2 == 0 ? 6U : 2U) && n < MOST) {
                uint32_t cell = wf_cells_get(&cells, 1);
                CHECK(cell != 0);
                CHECK((uintptr_t)wf_cells_at(&cells, cell) % 8 == 0);
                CHECK(is_filled(&cells, cell, sizes[s], 0));
                memset(wf_cells_at(&cells, cell), mark(cell), sizes[s]);
                used[n++] = cell;
            } else if (n > 0) {
                uint32_t which = (uint32_t)(random >> 32) % n;
                CHECK(is_filled(&cells, used[which], sizes[s], mark(used[which])));
                wf_cells_put(&cells, used[which]);
                used[which] = used[--n];
            }
        }
        for (uint32_t i = 0; i < n; i++) {
            CHECK(is_filled(&cells, used[i], sizes[s], mark(used[i])));
        }
        free(used);
        wf_cells_fini(&cells);
    }
}

static void cells_in_use_have_different_numbers(void)
{
    static bool used[MOST + 1];
    struct wf_cells cells;

    wf_cells_init(&cells, &(uint32_t){16}, 1);
    for (uint32_t i = 0; i < MOST; i++) {
        uint32_t cell = wf_cells_get(&cells, 1);
        CHECK(cell >= 1 && cell <= MOST && !used[cell]);
        used[cell] = true;
    }
    wf_cells_fini(&cells);
}

/* Cells that were put back are reused before more memory is allocated. */
static void freed_cells_are_used_again(void)
{
    struct wf_cells cells;
    uint32_t some[100];

    wf_cells_init(&cells, &(uint32_t){16}, 1);
    for (int turn = 0; turn < 100; turn++) {
        for (uint32_t i = 0; i < 100; i++) {
            some[i] = wf_cells_get(&cells, 1);
            CHECK(some[i] <= 100);
        }
        for (uint32_t i = 0; i < 100; i++) {
            wf_cells_put(&cells, some[i * 7 % 100]);
        }
    }
    CHECK_U64(cells.n_slabs, 1);
    wf_cells_fini(&cells);
}

/* After an undo in reverse order, gets repeat: a second execution sees the same numbers. */
static void gets_repeat_after_puts_in_reverse(void)
{
    struct wf_cells cells;
    uint32_t first[3000], before[10];

    wf_cells_init(&cells, &(uint32_t){8}, 1);
    for (uint32_t i = 0; i < 10; i++) {
        before[i] = wf_cells_get(&cells, 1);
    }
    for (uint32_t i = 0; i < 10; i++) {
        wf_cells_put(&cells, before[i * 3 % 10]);
    }
    for (uint32_t i = 0; i < 3000; i++) {
        first[i] = wf_cells_get(&cells, 1);
    }
    for (uint32_t i = 3000; i-- > 0;) {
        wf_cells_put(&cells, first[i]);
    }
    for (uint32_t i = 0; i < 3000; i++) {
        CHECK_U64(wf_cells_get(&cells, 1), first[i]);
    }
    wf_cells_fini(&cells);
}

/* Cells of several sizes have numbers of one kind, and each has the bytes that were asked
 * for. Each size has several areas of slabs. */
static void cells_of_several_sizes_do_not_overlap(void)
{
    static const uint32_t sizes[] = {8, 48, 96};
    enum { ENOUGH = 400000 };
    struct wf_cells cells;
    uint32_t *got = wf_xcalloc(ENOUGH, sizeof(*got));

    wf_cells_init(&cells, sizes, 3);
    for (uint32_t i = 0; i < ENOUGH; i++) {
        size_t bytes = sizes[i % 3] - i % 5;
        got[i] = wf_cells_get(&cells, bytes);
        CHECK_U64(wf_cells_slab(&cells, got[i])->size, sizes[i % 3]);
        memset(wf_cells_at(&cells, got[i]), mark(got[i]), sizes[i % 3]);
    }
    CHECK_U64(wf_cells_slab(&cells, wf_cells_get(&cells, SIZE_MAX))->size, 96);
    CHECK_U64(cells.in_use, ENOUGH + 1);
    for (uint32_t i = 0; i < ENOUGH; i++) {
        CHECK(is_filled(&cells, got[i], sizes[i % 3], mark(got[i])));
    }
    free(got);
    wf_cells_fini(&cells);
}

/* However many cells are free, they are found again, the last one freed first. */
static void many_free_cells_need_no_more_memory(void)
{
    static const uint32_t sizes[] = {8, 64};

    for (uint32_t s = 0; s < 2; s++) {
        struct wf_cells cells;
        uint32_t *got = wf_xcalloc(MANY, sizeof(*got));
        wf_cells_init(&cells, &sizes[s], 1);
        for (uint32_t i = 0; i < MANY; i++) {
            got[i] = wf_cells_get(&cells, 1);
        }
        uint32_t n_slabs = cells.n_slabs;
        for (uint32_t i = 0; i < MANY; i++) {
            wf_cells_put(&cells, got[i]);
        }
        CHECK_U64(cells.in_use, 0);
        for (uint32_t i = MANY; i-- > 0;) {
            CHECK_U64(wf_cells_get(&cells, 1), got[i]);
        }
        CHECK_U64(cells.n_slabs, n_slabs);
        free(got);
        wf_cells_fini(&cells);
    }
}

int main(void)
{
    RUN(cells_keep_what_is_written_until_they_are_put_back);
    RUN(cells_in_use_have_different_numbers);
    RUN(freed_cells_are_used_again);
    RUN(gets_repeat_after_puts_in_reverse);
    RUN(cells_of_several_sizes_do_not_overlap);
    RUN(many_free_cells_need_no_more_memory);
    return wf_test_done();
}
