/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/cpu/cpu.h"

#include "harness/wf_test.h"
#include "program/ops/source.h"

static const char *name_of(const struct wf_source *source, enum wf_source_name kind,
                           uint32_t number)
{
    static const char *const regions[] = {"setup", "solve", "write"};
    static const char *const counters[] = {"instructions", "flops", "misses"};

    return number >= 3 ? NULL : kind == WF_NAME_REGION ? regions[number] : counters[number];
}

/* Another program, in which the region `solve` has another number. */
static const char *other_name(const struct wf_source *source, enum wf_source_name kind,
                              uint32_t number)
{
    return kind == WF_NAME_REGION && number == 0 ? "solve" : NULL;
}

static const struct wf_source_ops named = {.name = "named", .name_of = name_of};
static const struct wf_source_ops other = {.name = "other", .name_of = other_name};
static const struct wf_source_ops bare = {.name = "bare"};
static const struct wf_source programs[] = {{.ops = &named}, {.ops = &other}, {.ops = &bare}};
static const struct wf_source *const sources[] = {&programs[0], &programs[1], &programs[2]};

/* One rule, as it is set: "region.solve", "2us*n". */
struct given {
    const char *setting, *text;
};

static enum wf_status build(const struct given *given, uint32_t n,
                            const struct wf_source *const *of, uint32_t n_sources,
                            struct wf_cpu_rules **out, struct wf_err *err)
{
    struct wf_cpu_rule rules[8];

    for (uint32_t i = 0; i < n; i++) {
        rules[i].text = given[i].text;
        if (wf_cpu_rule_parse(given[i].setting, &rules[i]) == WF_CPU_NO_RULE) {
            abort();
        }
    }
    return wf_cpu_build(rules, n, of, n_sources, out, err);
}

static struct wf_cpu_rules *in_force; /* those of the last cpu_of() */

static void release(void)
{
    wf_cpu_rules_free(in_force);
    in_force = NULL;
}

/* The processor of these rules for the first `n_sources` programs. */
static struct wf_cpu cpu_of(const struct given *given, uint32_t n, uint32_t n_sources)
{
    struct wf_err err = {.status = WF_OK};

    if (build(given, n, sources, n_sources, &in_force, &err) != WF_OK) {
        printf("# %s\n", err.text);
        abort();
    }
    return (struct wf_cpu){.scale = WF_CPU_SCALE_ONE, .rules = in_force};
}

static void settings_are_told_apart(void)
{
    struct wf_cpu_rule rule;

    CHECK(wf_cpu_rule_parse("region.solve", &rule) == WF_CPU_REGION);
    CHECK_STR(rule.name, "solve");
    CHECK(wf_cpu_rule_parse("region.a.b", &rule) == WF_CPU_REGION);
    CHECK_STR(rule.name, "a.b");
    CHECK(wf_cpu_rule_parse("counter.flops", &rule) == WF_CPU_COUNTER);
    CHECK(wf_cpu_rule_parse("scale", &rule) == WF_CPU_NO_RULE);
    CHECK(wf_cpu_rule_parse("region", &rule) == WF_CPU_NO_RULE);
    CHECK(wf_cpu_rule_parse("region.", &rule) == WF_CPU_NO_RULE);
}

static void a_region_has_a_factor_or_a_formula(void)
{
    static const struct given given[] = {{"region.solve", "2.1us*n + 1ns*(rank + size)"},
                                         {"region.setup", "0.5"}};
    struct wf_cpu cpu = cpu_of(given, 2, 1);
    struct wf_cpu_work work = {.duration = 1001, .value = 10, .rank = 3, .size = 4};

    work.region = 1;
    CHECK(wf_cpu_duration(&cpu, &work) == 21000000 + 7000);
    work.region = 0;
    CHECK(wf_cpu_duration(&cpu, &work) == 501); /* 500.5 */
    work.region = 2;
    CHECK(wf_cpu_duration(&cpu, &work) == 1001);
    work.region = WF_CPU_NO_REGION;
    CHECK(wf_cpu_duration(&cpu, &work) == 1001);

    /* The scale is for what is recorded, not for what a formula says. */
    cpu.scale = wf_cpu_scale(2);
    CHECK(wf_cpu_duration(&cpu, &work) == 2002);
    work.region = 0;
    CHECK(wf_cpu_duration(&cpu, &work) == 1001);
    work.region = 1;
    CHECK(wf_cpu_duration(&cpu, &work) == 21007000);
    release();
}

static void regions_wait_for_memory(void)
{
    static const struct given given[] = {{"memory.solve", "0.25"}, {"region.setup", "2"}};
    struct wf_cpu cpu = cpu_of(given, 2, 2);
    struct wf_cpu_work work = {.duration = 1000, .region = 1};

    CHECK(wf_cpu_has_memory_bound(&cpu));
    CHECK(wf_cpu_memory_bound(&cpu, &work, 5) == WF_CPU_SCALE_ONE / 4);
    CHECK(wf_cpu_duration(&cpu, &work) == 1000);
    work.region = 0;
    CHECK(wf_cpu_memory_bound(&cpu, &work, 5) == 5);
    CHECK(wf_cpu_duration(&cpu, &work) == 2000);
    work.region = WF_CPU_NO_REGION;
    CHECK(wf_cpu_memory_bound(&cpu, &work, 5) == 5);
    /* In the other program the region has the number 0. */
    work.job = 1;
    work.region = 0;
    CHECK(wf_cpu_memory_bound(&cpu, &work, 5) == WF_CPU_SCALE_ONE / 4);
    release();
    cpu = cpu_of(&given[1], 1, 1);
    CHECK(!wf_cpu_has_memory_bound(&cpu));
    release();
}

static void counters_cost_time(void)
{
    static const struct given given[] = {{"counter.flops", "0.3ns"},
                                         {"counter.misses", "80ns"},
                                         {"region.write", "2"},
                                         {"region.solve", "1ns*instructions + t"}};
    static const uint64_t counters[] = {1000, 11, 3};
    struct wf_cpu cpu = cpu_of(given, 4, 1);
    struct wf_cpu_work work = {.duration = 5, .region = WF_CPU_NO_REGION, .counters = counters};

    work.n_counters = 3;
    CHECK(wf_cpu_duration(&cpu, &work) == 3300 + 240000);
    work.region = 2;
    CHECK(wf_cpu_duration(&cpu, &work) == INT64_C(2) * (3300 + 240000));
    work.region = 1;
    CHECK(wf_cpu_duration(&cpu, &work) == 1000005);
    work.region = 0;
    work.n_counters = 2;
    CHECK(wf_cpu_duration(&cpu, &work) == 3300);
    work.n_counters = 1; /* nothing that costs was counted: the time that was recorded */
    CHECK(wf_cpu_duration(&cpu, &work) == 5);
    work.n_counters = 0;
    work.region = 1;
    CHECK(wf_cpu_duration(&cpu, &work) == 5);
    release();
}

static void each_job_has_its_own_regions(void)
{
    static const struct given given[] = {{"region.solve", "3"}, {"region.write", "7ps"}};
    struct wf_cpu cpu = cpu_of(given, 2, 3);
    struct wf_cpu_work work = {.duration = 100, .region = 0};

    CHECK(wf_cpu_duration(&cpu, &work) == 100);
    work.job = 1;
    CHECK(wf_cpu_duration(&cpu, &work) == 300);
    work.region = 2;
    CHECK(wf_cpu_duration(&cpu, &work) == 100);
    work.job = 0;
    CHECK(wf_cpu_duration(&cpu, &work) == 7);
    work.job = 2;
    CHECK(wf_cpu_duration(&cpu, &work) == 100);
    release();
}

static void the_last_of_equal_rules_counts(void)
{
    static const struct given given[] = {{"region.solve", "1us"}, {"region.solve", "2"}};
    struct wf_cpu cpu = cpu_of(given, 2, 1);
    const struct wf_cpu_work work = {.duration = 100, .region = 1};

    CHECK(wf_cpu_duration(&cpu, &work) == 200);
    release();
}

static void a_formula_without_a_value_is_told(void)
{
    static const struct given given[] = {{"region.solve", "1us/n"}, {"region.setup", "t-1ns"}};
    struct wf_cpu cpu = cpu_of(given, 2, 1);
    struct wf_cpu_work work = {.duration = 10, .region = 1};

    CHECK(wf_cpu_duration(&cpu, &work) == WF_CPU_NO_TIME);
    work.value = 4;
    CHECK(wf_cpu_duration(&cpu, &work) == 250000);
    work.region = 0;
    CHECK(wf_cpu_duration(&cpu, &work) == WF_CPU_NO_TIME);
    release();
}

static void mistakes_are_explained(void)
{
    static const struct {
        struct given given;
        uint32_t source;
        enum wf_status status;
        const char *words;
    } cases[] = {
        {{"region.slove", "1"},
         0,
         WF_EUSAGE,
         "cpu.region.slove: the program has no region 'slove'; did you mean 'solve'?"},
        {{"counter.flop", "1ns"},
         0,
         WF_EUSAGE,
         "cpu.counter.flop: the program has no counter 'flop'; did you mean 'flops'?"},
        {{"region.solve", "1"},
         2,
         WF_EUSAGE,
         "cpu.region.solve: the program has no regions with names"},
        {{"counter.flops", "1ns"},
         1,
         WF_EUSAGE,
         "cpu.counter.flops: the program has no counters with names"},
        {{"region.solve", "2us*m"},
         0,
         WF_EINVAL,
         "cpu.region.solve: column 5: unknown name 'm'"},
        {{"region.solve", "2*n"},
         0,
         WF_EINVAL,
         "cpu.region.solve: the formula gives a number, not a time; expected for example "
         "2.1us*n, or 0.5*t for half the recorded time"},
        {{"region.solve", "-1"}, 0, WF_EINVAL, "cpu.region.solve: the value is negative"},
        {{"region.solve", "1us/(2-2)"},
         0,
         WF_EINVAL,
         "cpu.region.solve: the value divides by zero"},
        {{"counter.flops", "0.3"},
         0,
         WF_EINVAL,
         "cpu.counter.flops: '0.3' is not a time; expected for example 0.3ns"},
        {{"counter.flops", "1ns*n"},
         0,
         WF_EINVAL,
         "cpu.counter.flops: column 5: unknown name 'n'"},
        {{"counter.flops", "0-1ns"}, 0, WF_EINVAL, "cpu.counter.flops: the value is negative"},
        {{"memory.solve", "1.5"},
         0,
         WF_EINVAL,
         "cpu.memory.solve: '1.5' is no share; expected a number from 0 to 1, for example 0.7"},
        {{"memory.sovle", "0.5"},
         0,
         WF_EUSAGE,
         "cpu.memory.sovle: the program has no region 'sovle'; did you mean 'solve'?"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_cpu_rules *rules = NULL;
        struct wf_err err = {.status = WF_OK};
        enum wf_status status =
            build(&cases[i].given, 1, &sources[cases[i].source], 1, &rules, &err);

        CHECK_STR(err.text, cases[i].words);
        CHECK(status == cases[i].status && rules == NULL);
    }
}

static void no_rules_are_no_rules(void)
{
    static const struct given some[] = {{"region.solve", "1"}};
    const struct wf_cpu cpu = cpu_of(some, 1, 1);
    struct wf_cpu_rules *rules = in_force;
    struct wf_err err = {.status = WF_OK};

    CHECK(cpu.rules != NULL);
    CHECK(wf_cpu_build(NULL, 0, sources, 1, &rules, &err) == WF_OK && rules == NULL);
    release();
    CHECK(build(&(struct given){"region.solve", "1"}, 1, sources, 0, &rules, &err) ==
          WF_EUSAGE);
}

int main(void)
{
    RUN(settings_are_told_apart);
    RUN(a_region_has_a_factor_or_a_formula);
    RUN(regions_wait_for_memory);
    RUN(counters_cost_time);
    RUN(each_job_has_its_own_regions);
    RUN(the_last_of_equal_rules_counts);
    RUN(a_formula_without_a_value_is_told);
    RUN(mistakes_are_explained);
    RUN(no_rules_are_no_rules);
    return wf_test_done();
}
