/* SPDX-License-Identifier: Apache-2.0 */
#include "base/param_scale.h"

#include "harness/wf_test.h"

struct params {
    uint64_t count, size, rate;
    int64_t time;
    double real;
    bool on;
    char *text, *groups;
    struct wf_list times, rates;
};

static const char *const words[] = {"class", "property", NULL};

static const struct wf_param rows[] = {
    WF_PARAM_ROW(struct params, count, COUNT, .def = "7"),
    WF_PARAM_ROW(struct params, size, SIZE, .def = "1000", .max = "1500"),
    WF_PARAM_ROW(struct params, rate, RATE, .def = "unlimited", .word = "unlimited"),
    WF_PARAM_ROW(struct params, time, TIME, .def = "3ps", .min = "2ps"),
    WF_PARAM_ROW(struct params, real, REAL, .def = "1.5", .min = "1"),
    WF_PARAM_ROW(struct params, on, BOOL, .def = "yes"),
    WF_PARAM_ROW(struct params, text, TEXT, .def = "x"),
    WF_PARAM_ROW(struct params, groups, GROUPS, .choices = words,
                 .def = "a:latency=10ns,bandwidth=1GB/s,b.c:buffer=64KiB,delay=0"),
    WF_PARAM_ROW(struct params, times, TIMES, .def = "1us,2ns,0"),
    WF_PARAM_ROW(struct params, rates, RATES, .def = "1GB/s"),
    WF_PARAM_END,
};

/* The value of a parameter after scaling, as text. */
static const char *scaled(const char *name, double factor, const char *value, char *buf)
{
    const struct wf_param *row = wf_param_find(rows, name);
    struct params params = {.count = 0};
    struct wf_err err;

    if (wf_param_defaults(rows, &params, &err) != WF_OK ||
        (value != NULL && wf_param_set(rows, &params, "", name, value, &err) != WF_OK)) {
        wf_param_release(rows, &params);
        (void)snprintf(buf, WF_PARAM_TEXT_MAX, "%s", err.text);
        return buf;
    }
    wf_param_scale(row, name, &params, (uint64_t)(factor * (double)WF_PARAM_SCALE_ONE));
    const char *text = wf_param_format(row, &params, buf);
    if (text != buf) {
        (void)snprintf(buf, WF_PARAM_TEXT_MAX, "%s", text);
    }
    wf_param_release(rows, &params);
    return buf;
}

static void numbers_of_every_kind_are_multiplied(void)
{
    char buf[WF_PARAM_TEXT_MAX];

    CHECK_STR(scaled("size", 0.5, NULL, buf), "500");
    CHECK_STR(scaled("rate", 1.5, "2GB/s", buf), "3GB/s");
    CHECK_STR(scaled("time", 1.5, "1us", buf), "1.5us");
    CHECK_STR(scaled("real", 2, NULL, buf), "3");
    CHECK_STR(scaled("times", 2, NULL, buf), "2us,4ns,0");
    CHECK_STR(scaled("rates", 0.25, NULL, buf), "250MB/s");
    CHECK_STR(scaled("groups.a.latency", 3, NULL, buf),
              "a:latency=30ns,bandwidth=1GB/s,b.c:buffer=64KiB,delay=0");
    CHECK_STR(scaled("groups.a.bandwidth", 3, NULL, buf),
              "a:latency=10ns,bandwidth=3GB/s,b.c:buffer=64KiB,delay=0");
    CHECK_STR(scaled("groups.b.c.buffer", 2, NULL, buf),
              "a:latency=10ns,bandwidth=1GB/s,b.c:buffer=128KiB,delay=0");
}

static void values_stay_valid(void)
{
    char buf[WF_PARAM_TEXT_MAX];

    CHECK_STR(scaled("size", 2, NULL, buf), "1500");       /* the largest */
    CHECK_STR(scaled("time", 0.1, NULL, buf), "2ps");      /* the smallest */
    CHECK_STR(scaled("real", 0.1, NULL, buf), "1");        /* likewise */
    CHECK_STR(scaled("times", 0.0001, "1ps", buf), "1ps"); /* above 0 */
}

static void words_and_other_kinds_stay(void)
{
    char buf[WF_PARAM_TEXT_MAX];

    CHECK_STR(scaled("rate", 2, NULL, buf), "unlimited");
    CHECK_STR(scaled("count", 2, NULL, buf), "7");
    CHECK_STR(scaled("text", 2, NULL, buf), "x");
    CHECK_STR(scaled("groups.a.none", 2, NULL, buf),
              "a:latency=10ns,bandwidth=1GB/s,b.c:buffer=64KiB,delay=0");
}

static void it_is_known_what_scaling_changes(void)
{
    static const struct {
        const char *name;
        bool fits, matters;
    } cases[] = {
        {"count", false, false},
        {"size", true, true},
        {"rate", true, false},
        {"time", true, true},
        {"real", true, true},
        {"on", false, false},
        {"text", false, false},
        {"groups", false, false},
        {"groups.a.latency", true, true},
        {"groups.b.c.delay", true, false},
        {"groups.x.latency", true, false},
        {"times", true, true},
        {"rates", true, true},
    };
    struct params params = {.count = 0};
    struct wf_err err;

    CHECK(wf_param_defaults(rows, &params, &err) == WF_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct wf_param *row = wf_param_find(rows, cases[i].name);
        CHECK(wf_param_scale_fits(row, cases[i].name) == cases[i].fits);
        if (cases[i].fits) {
            CHECK(wf_param_scale_matters(row, cases[i].name, &params) == cases[i].matters);
        }
    }
    wf_param_release(rows, &params);
}

int main(void)
{
    RUN(numbers_of_every_kind_are_multiplied);
    RUN(values_stay_valid);
    RUN(words_and_other_kinds_stay);
    RUN(it_is_known_what_scaling_changes);
    return wf_test_done();
}
