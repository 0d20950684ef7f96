/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"

#include "harness/wf_test.h"

static void texts_are_numbered_in_order(void)
{
    struct wf_strings strings = {.n = 0};
    char text[32];

    CHECK_U64(wf_strings_find(&strings, "x", 1), WF_STRINGS_NONE);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            int length = snprintf(text, sizeof(text), "name %u", i);
            CHECK_U64(wf_strings_put(&strings, text, (size_t)length), i);
        }
    }
    CHECK_U64(strings.n, 5000);
    const char *first = wf_strings_at(&strings, 0);
    CHECK_U64(wf_strings_put(&strings, "", 0), 5000);
    CHECK(wf_strings_at(&strings, 0) == first);
    CHECK_STR(first, "name 0");
    CHECK_STR(wf_strings_at(&strings, 4321), "name 4321");
    CHECK_U64(wf_strings_find(&strings, "name 4321", 9), 4321);
    CHECK_U64(wf_strings_find(&strings, "name 4321", 8), 432);
    CHECK_U64(wf_strings_find(&strings, "name", 4), WF_STRINGS_NONE);
    wf_strings_fini(&strings);
}

int main(void)
{
    RUN(texts_are_numbered_in_order);
    return wf_test_done();
}
