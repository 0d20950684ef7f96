/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lookup.h"

#include "harness/wf_test.h"

struct row {
    const char *name;
    int value;
};

static const struct row rows[] = {{"torus", 1}, {"fattree", 2}, {NULL, 0}};
static const struct row *const table[] = {&rows[0], &rows[1], NULL};

static void names_are_found(void)
{
    CHECK(wf_lookup("topology", "fattree", table, NULL) == &rows[1]);
    CHECK(wf_lookup_row("topology", "torus", rows, sizeof(*rows), NULL) == &rows[0]);
}

static void an_error_proposes_the_nearest_name(void)
{
    struct wf_err err = {.status = WF_OK};

    CHECK(wf_lookup("topology", "tours", table, &err) == NULL && err.status == WF_EUSAGE);
    CHECK_STR(err.text, "unknown topology 'tours'; did you mean 'torus'?");
    CHECK(wf_lookup_row("kind", "fatree", rows, sizeof(*rows), &err) == NULL);
    CHECK_STR(err.text, "unknown kind 'fatree'; did you mean 'fattree'?");
    CHECK(wf_lookup("kind", "xyz", table, &err) == NULL);
    CHECK_STR(err.text, "unknown kind 'xyz'");
}

int main(void)
{
    RUN(names_are_found);
    RUN(an_error_proposes_the_nearest_name);
    return wf_test_done();
}
