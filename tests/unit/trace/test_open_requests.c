/* SPDX-License-Identifier: Apache-2.0 */
/* The open requests of a rank: names that come again, several requests of one name, numbers, and
 * the memory that goes from one table to another. */
#include "harness/wf_test.h"
#include "program/trace/kit/open_requests.h"

enum { N_NAMES = WF_TEST_ONE_IN > 1 ? 200 : 2000 };

static uint32_t number_of(struct wf_open_requests *all, int64_t name)
{
    const struct wf_open_request *request = wf_open_requests_find(all, name);

    return request != NULL ? request->number : 0;
}

static void the_oldest_of_a_name(void)
{
    struct wf_open_requests all = {.n = 0};

    CHECK(wf_open_requests_find(&all, 7) == NULL);
    for (uint32_t i = 1; i <= 3; i++) {
        CHECK(wf_open_requests_add(&all, 7)->number == i);
    }
    CHECK(wf_open_requests_add(&all, 0)->number == 4);
    wf_open_requests_call(&all);
    CHECK(number_of(&all, 7) == 1);
    struct wf_open_request *second = wf_open_requests_find(&all, 7);
    CHECK(second->number == 2);
    wf_open_requests_remove(&all, second);
    CHECK(number_of(&all, 7) == 3); /* a call finds each request once */
    CHECK(number_of(&all, 7) == 0);
    CHECK(number_of(&all, 0) == 4);
    wf_open_requests_call(&all);
    CHECK(number_of(&all, 7) == 1);
    CHECK(number_of(&all, 7) == 3);
    CHECK(wf_open_requests_add(&all, -1)->number == 2); /* the lowest that is free */
    wf_open_requests_fini(&all);
}

/* Names that are used once must not fill the table, and those of before must not come back. */
static void many_names(void)
{
    struct wf_open_requests all = {.n = 0};
    struct wf_buf numbers = {.data = NULL};

    for (int64_t name = 0; name < N_NAMES; name++) {
        CHECK(wf_open_requests_add(&all, name * 64)->number == 1);
        CHECK(wf_open_requests_add(&all, -name - 1)->number == 2);
        wf_open_requests_call(&all);
        CHECK(number_of(&all, (name - 1) * 64) == 0);
        if (name % 3 == 0) {
            numbers.size = 0;
            CHECK(wf_open_requests_clear(&all, &numbers) == 2);
            CHECK(((const uint32_t *)(const void *)numbers.data)[1] == 2);
        } else {
            wf_open_requests_remove(&all, wf_open_requests_find(&all, name * 64));
            wf_open_requests_remove(&all, wf_open_requests_find(&all, -name - 1));
        }
        CHECK(number_of(&all, name * 64) == 0);
    }
    CHECK(all.names_capacity <= 64);
    wf_buf_fini(&numbers);
    wf_open_requests_fini(&all);
}

static void memory_is_handed_over(void)
{
    struct wf_open_requests a = {.n = 0}, b = {.n = 0};
    struct wf_buf numbers = {.data = NULL};

    (void)wf_open_requests_add(&a, 5);
    wf_open_requests_hand_over(&a, &b);
    CHECK(b.items == NULL); /* one is open */
    wf_open_requests_call(&a);
    wf_open_requests_forget(&a, wf_open_requests_find(&a, 5));
    wf_open_requests_hand_over(&a, &b);
    CHECK(b.items == NULL); /* its number is taken */
    CHECK(wf_open_requests_clear(&a, &numbers) == 0);
    wf_open_requests_hand_over(&a, &b);
    CHECK(a.items == NULL && b.items != NULL);
    CHECK(wf_open_requests_add(&b, 5)->number == 1);
    CHECK(wf_open_requests_add(&a, 5)->number == 1);
    wf_buf_fini(&numbers);
    wf_open_requests_fini(&a);
    wf_open_requests_fini(&b);
}

int main(void)
{
    RUN(the_oldest_of_a_name);
    RUN(many_names);
    RUN(memory_is_handed_over);
    return wf_test_done();
}
