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

int main(void)
{
    RUN(elements_are_kept_while_the_array_grows);
    RUN(any_element_can_be_asked_for);
    return wf_test_done();
}
