/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include "harness/wf_test.h"

static void elements_are_kept_while_the_array_grows(void)
{
    uint32_t *items = NULL, n = 0;
    uint16_t capacity = 0;

    for (; n < 30000; n++) {
        WF_GROW(items, n, capacity);
        CHECK(items != NULL);
        items[n] = n * n;
    }
    CHECK(capacity >= n);
    for (uint32_t i = 0; i < n; i++) {
        CHECK_U64(items[i], i * i);
    }
    free(items);
}

static void any_element_can_be_asked_for(void)
{
    char *items = NULL;
    size_t capacity = 0;

    WF_GROW_ZERO(items, 0, capacity);
    items[0] = 'a';
    WF_GROW_ZERO(items, 1000, capacity);
    CHECK(capacity > 1000 && items[0] == 'a');
    for (size_t i = 1; i < capacity; i++) {
        CHECK_U64((unsigned char)items[i], 0);
    }
    const char *before = items;
    WF_GROW(items, capacity - 1, capacity);
    CHECK(items == before);
    free(items);
}

static int by_number(const void *a, const void *b)
{
    return WF_ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

static void elements_are_pushed_sorted_and_found(void)
{
    uint32_t *items = NULL, n = 0;
    uint8_t capacity = 0;

    WF_SORT(items, n, by_number);
    for (uint32_t i = 0; i < 100; i++) {
        WF_PUSH(items, n, capacity, 2 * (i * 37 % 100));
    }
    CHECK_U64(n, 100);
    WF_SORT(items, n, by_number);
    for (uint32_t key = 0; key < 205; key++) {
        uint32_t first = 0, last = 0;
        WF_BISECT(first, n, middle, items[middle] < key);
        CHECK_U64(first, key > 198 ? 100 : (key + 1) / 2);
        WF_BISECT_LAST(last, n, middle, items[middle] <= key);
        CHECK_U64(last, key > 198 ? 99 : key / 2);
    }
    free(items);
}

int main(void)
{
    RUN(elements_are_kept_while_the_array_grows);
    RUN(any_element_can_be_asked_for);
    RUN(elements_are_pushed_sorted_and_found);
    return wf_test_done();
}
