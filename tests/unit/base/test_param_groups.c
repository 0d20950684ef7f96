/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters with values in groups: one text for all, or one value by its name. */
#include "base/param.h"
#include "base/param_groups.h"

#include "harness/wf_test.h"

#include <stdlib.h>

struct params {
    char *links;
};

static const char *const words[] = {"class", "property", NULL};
static const struct wf_param table[] = {
    WF_PARAM_ROW(struct params, links, GROUPS, .def = "", .choices = words, .doc = "Links"),
    WF_PARAM_END,
};

static bool set(struct params *params, const char *name, const char *value, struct wf_err *err)
{
    return wf_param_set(table, params, "net.", name, value, err) == WF_OK;
}

static void single_values_join_the_text(void)
{
    struct params params = {.links = NULL};
    struct wf_err err = {.text = ""};

    CHECK(wf_param_defaults(table, &params, &err) == WF_OK);
    CHECK_STR(params.links, "");
    CHECK(set(&params, "links.global.latency", "1us", &err));
    CHECK(set(&params, "links.0.x.bandwidth", "25GB/s", &err));
    CHECK(set(&params, "links.global.bandwidth", "10GB/s", &err));
    CHECK_STR(params.links, "global:latency=1us,bandwidth=10GB/s,0.x:bandwidth=25GB/s");
    CHECK(set(&params, "links.global.latency", "2us", &err)); /* the last one counts */
    CHECK_STR(params.links, "global:latency=2us,bandwidth=10GB/s,0.x:bandwidth=25GB/s");
    CHECK(set(&params, "links", "a:x=1,b:x=2,a:y=3", &err)); /* replaces all */
    CHECK_STR(params.links, "a:x=1,y=3,b:x=2");
    CHECK(set(&params, "links", "", &err));
    CHECK_STR(params.links, "");
    wf_param_release(table, &params);
}

static void items_are_read_in_order(void)
{
    static const char text[] = "a:x=1,y=3,b.c:x=2/s";
    static const char *const expected[] = {"a x 1", "a y 3", "b.c x 2/s"};
    struct wf_param_groups_item item = {.group = ""};
    size_t at = 0, n = 0;

    for (; wf_param_groups_next(text, &at, &item); n++) {
        char buf[64];
        (void)snprintf(buf, sizeof(buf), "%.*s %.*s %.*s", (int)item.group_length, item.group,
                       (int)item.name_length, item.name, (int)item.value_length, item.value);
        CHECK(n < 3);
        CHECK_STR(buf, expected[n]);
    }
    CHECK_U64(n, 3);
}

static void mistakes_are_named(void)
{
    static const struct {
        const char *name, *value, *text;
    } wrong[] = {
        {"links", "x", "net.links: 'x': expected <class>:<property>=<value>,..."},
        {"links", "x=1", "net.links: 'x=1': expected <class>:<property>=<value>,..."},
        {"links", "a:=1", "net.links: 'a:=1': expected <class>:<property>=<value>,..."},
        {"links", "a:x=", "net.links: 'a:x=': expected <class>:<property>=<value>,..."},
        {"links", "a:x=1,", "net.links: '': expected <class>:<property>=<value>,..."},
        {"links", ",a:x=1", "net.links: '': expected <class>:<property>=<value>,..."},
        {"links", "a b:x=1", "net.links: 'a b' is no name; expected <class>:"},
        {"links", "a:x y=1", "net.links: 'x y' is no name; expected <class>:"},
        {"links", "a:x=1=2", "net.links: '1=2': a value has no '='; expected <class>:"},
        {"links", "a:x=1,x=2", "net.links: x of a is given twice"},
        {"links.a", "1", "net.links.a: 'a' is not complete; expected <class>:"},
        {"links..x", "1", "net.links..x: '' is no name"},
        {"links.a.x", "", "net.links.a.x: a value is missing"},
        {"links.a.x", "1,b:y=2", "net.links.a.x: '1,b:y=2': a value has no ','"},
        {"linksa.x", "1", "unknown parameter 'net.linksa.x'"},
    };
    struct params params = {.links = NULL};
    struct wf_err err = {.text = ""};

    CHECK(wf_param_defaults(table, &params, &err) == WF_OK);
    CHECK(set(&params, "links", "a:y=7", &err));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CHECK(!set(&params, wrong[i].name, wrong[i].value, &err));
        if (strncmp(err.text, wrong[i].text, strlen(wrong[i].text)) != 0) {
            printf("# '%s', expected '%s'\n", err.text, wrong[i].text);
            CHECK(false);
        }
        CHECK_STR(params.links, "a:y=7");
    }
    char longest[WF_PARAM_TEXT_MAX + 8];
    memset(longest, 'v', sizeof(longest));
    memcpy(longest, "a:x=", 4);
    longest[sizeof(longest) - 1] = '\0';
    CHECK(set(&params, "links", longest, &err));
    CHECK_U64(strlen(params.links), sizeof(longest) - 1);
    wf_param_release(table, &params);
}

int main(void)
{
    RUN(single_values_join_the_text);
    RUN(items_are_read_in_order);
    RUN(mistakes_are_named);
    return wf_test_done();
}
