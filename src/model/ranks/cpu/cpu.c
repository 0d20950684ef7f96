/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/cpu/cpu.h"

#include "base/arith.h"
#include "base/expr.h"
#include "base/mem.h"
#include "base/text.h"
#include "program/ops/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(member, row_type, default_value)                     \
    .name = #member, .type = (row_type), .def = (default_value), \
    .offset = offsetof(struct wf_cpu_params, member)

const char *const wf_cpu_framework_names[] = {
    "none", "megatron", "megatron-deepspeed", "megatron-core", "torchtitan", NULL};

const struct wf_param wf_cpu_params[] = {
    {ROW(name, WF_PARAM_TEXT, ""), .doc = "Name of the processor; only echoed in results"},
    {ROW(cores, WF_PARAM_COUNT, "0"), .max = "1000000",
     .doc =
         "Cores of a node, 0 if unknown; only echoed in results: ranks_per_node places ranks"},
    {ROW(clock_ghz, WF_PARAM_REAL, "0"), .min = "0", .max = "1000",
     .doc = "Clock rate in GHz, 0 if unknown; only echoed in results"},
    {ROW(gflops, WF_PARAM_REAL, "0"), .min = "0", .max = "1000000000",
     .doc = "Peak of a node in 10^9 floating-point operations per second, 0 if unknown; only "
            "echoed in results"},
    {ROW(scale, WF_PARAM_REAL, "1"), .min = "0.000001", .max = "1000000",
     .doc = "Factor on all compute times: 2 is a processor of half the speed"},
    {ROW(tflops16, WF_PARAM_REAL, "0"), .min = "0", .max = "1000000",
     .doc = "Peak of a core or GPU in 10^12 operations per second on 16-bit numbers, for "
            "programs that count their work; 0: unknown"},
    {ROW(tflops8, WF_PARAM_REAL, "0"), .min = "0", .max = "1000000",
     .doc = "The same on 8-bit numbers; 0: as on 16-bit numbers"},
    {ROW(efficiency, WF_PARAM_REAL, "0"), .min = "0", .max = "1",
     .doc = "Share of these peaks that programs reach; 0: all"},
    {ROW(efficiency8, WF_PARAM_REAL, "0"), .min = "0", .max = "1",
     .doc = "The same on 8-bit numbers; 0: the same share"},
    {ROW(memory, WF_PARAM_SIZE, "0"),
     .doc = "Memory of a core or GPU, for programs that know what they need; 0: unknown"},
    {ROW(memory_bandwidth, WF_PARAM_RATE, "unlimited"), .word = "unlimited",
     .doc = "Memory bandwidth of a core or GPU, for programs that count their work"},
    {ROW(dispatch, WF_PARAM_TIME, "0"), .min = "0", .max = "1s",
     .doc = "Time of the host to launch a kernel of a GPU, for programs that count kernels: "
            "they take at least that long"},
    {ROW(framework, WF_PARAM_ENUM, "none"), .choices = wf_cpu_framework_names,
     .doc = "What gen.framework=auto is on this machine"},
    WF_PARAM_END,
};

uint64_t wf_cpu_scale(double factor)
{
    return (uint64_t)(factor * (double)WF_CPU_SCALE_ONE + 0.5);
}

/* ---- rules ---- */

enum { REGIONS_MAX = 65536 }; /* regions with larger numbers have no rules */

/* Variables of a region's formula; counters follow. */
enum { VAR_TIME, VAR_VALUE, VAR_RANK, VAR_SIZE, VAR_ITERATION, N_VARIABLES };

static const struct wf_expr_variable own_variables[N_VARIABLES] = {
    [VAR_TIME] = {"t", true},
    [VAR_VALUE] = {"n", false},
    [VAR_RANK] = {"rank", false},
    [VAR_SIZE] = {"size", false},
    [VAR_ITERATION] = {"iteration", false},
};

#define NO_SHARE UINT64_MAX

/* A region has a formula or a factor; without a rule the factor is one. `memory_bound` is
 * NO_SHARE without a rule. */
struct region {
    struct wf_expr_program *formula;
    uint64_t factor, memory_bound;
};

struct job {
    struct region *regions; /* by number */
    uint32_t n_regions;
    uint32_t n_counted; /* number of the first counter that has a cost, + 1; 0: none has */
    struct wf_expr_program
        *costs; /* formula over the counters "c0", "c1", ...; null: none has a cost */
};

struct wf_cpu_rules {
    uint32_t n_jobs;
    bool memory_bound; /* a region has a share that waits for memory */
    struct job jobs[];
};

enum wf_cpu_rule_kind wf_cpu_rule_parse(const char *setting, struct wf_cpu_rule *rule)
{
    static const struct {
        const char *prefix;
        enum wf_cpu_rule_kind kind;
    } kinds[] = {
        {"region.", WF_CPU_REGION}, {"counter.", WF_CPU_COUNTER}, {"memory.", WF_CPU_MEMORY}};

    rule->kind = WF_CPU_NO_RULE;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t length = strlen(kinds[i].prefix);
        if (strncmp(setting, kinds[i].prefix, length) == 0 && setting[length] != '\0') {
            rule->kind = kinds[i].kind;
            rule->name = setting + length;
        }
    }
    return rule->kind;
}

/* What the rule is about. */
static const char *subject(const struct wf_cpu_rule *rule)
{
    return rule->kind == WF_CPU_COUNTER ? "counter" : "region";
}

static enum wf_status name_rule(const struct wf_cpu_rule *rule, enum wf_status status,
                                struct wf_err *err)
{
    if (status != WF_OK && err != NULL) {
        wf_err_prefix(err,
                      "cpu.%s.%.64s: ", rule->kind == WF_CPU_MEMORY ? "memory" : subject(rule),
                      rule->name);
    }
    return status;
}

/* The name of the region or counter with this number; null after the last. */
static const char *name_of(const struct wf_source *source, const struct wf_cpu_rule *rule,
                           uint32_t number)
{
    if (rule->kind != WF_CPU_COUNTER) {
        return number < REGIONS_MAX ? wf_source_name_of(source, WF_NAME_REGION, number) : NULL;
    }
    return number < WF_COUNTERS_MAX ? wf_source_name_of(source, WF_NAME_COUNTER, number) : NULL;
}

/* ---- building ---- */

static struct region *region_at(struct job *job, uint32_t number)
{
    if (number >= job->n_regions) {
        job->regions = wf_xrealloc(job->regions, number + 1, sizeof(*job->regions));
        while (job->n_regions <= number) {
            job->regions[job->n_regions++] =
                (struct region){.factor = WF_CPU_SCALE_ONE, .memory_bound = NO_SHARE};
        }
    }
    return &job->regions[number];
}

static uint32_t set_variables(const struct wf_source *source, struct wf_expr_variable *out)
{
    const struct wf_cpu_rule any_counter = {.kind = WF_CPU_COUNTER};
    uint32_t n = N_VARIABLES;

    memcpy(out, own_variables, sizeof(own_variables));
    for (uint32_t i = 0; i < WF_COUNTERS_MAX; i++) {
        const char *name = name_of(source, &any_counter, i);
        if (name == NULL) {
            break;
        }
        out[n++] = (struct wf_expr_variable){name, false};
    }
    return n;
}

/* A constant is checked once; other expressions are checked when they are used. */
static enum wf_status check_constant(const struct wf_expr_program *program, struct wf_err *err)
{
    uint64_t number = 0;
    enum wf_expr_outcome outcome = wf_expr_number(program, NULL, &number);

    if (outcome != WF_EXPR_FINE) {
        return wf_err_set(err, WF_EINVAL, "the value %s", wf_expr_outcome_text(outcome));
    }
    return WF_OK;
}

static enum wf_status set_region(struct region *region, const struct wf_cpu_rule *rule,
                                 const struct wf_source *source, struct wf_err *err)
{
    struct wf_expr_variable variables[N_VARIABLES + WF_COUNTERS_MAX];
    uint32_t n = set_variables(source, variables);
    struct wf_expr_program *program = NULL;
    uint64_t factor = WF_CPU_SCALE_ONE;

    enum wf_status status = wf_expr_compile(rule->text, variables, n, &program, err);
    if (status != WF_OK) {
        return status;
    }
    if (wf_expr_is_constant(program)) {
        status = check_constant(program, err);
    } else if (!wf_expr_is_time(program)) {
        status = wf_err_set(err, WF_EINVAL,
                            "the formula gives a number, not a time; expected for example "
                            "2.1us*n, or 0.5*t for half the recorded time");
    }
    if (status == WF_OK && !wf_expr_is_time(program)) {
        status = wf_expr_number(program, NULL, &factor) == WF_EXPR_FINE ? WF_OK : WF_EINTERNAL;
        wf_expr_free(program);
        program = NULL;
    }
    if (status != WF_OK) {
        wf_expr_free(program);
        return status;
    }
    wf_expr_free(region->formula);
    region->formula = program;
    region->factor = factor;
    return WF_OK;
}

static enum wf_status set_memory_bound(struct region *region, const struct wf_cpu_rule *rule,
                                       struct wf_err *err)
{
    double share;

    if (wf_parse_real(rule->text, &share, err) != WF_OK || share < 0 || share > 1) {
        return wf_err_set(err, WF_EINVAL,
                          "'%.64s' is no share; expected a number from 0 to 1, for example 0.7",
                          rule->text);
    }
    region->memory_bound = wf_cpu_scale(share);
    return WF_OK;
}

/* The time of one count must be a constant time. */
static enum wf_status check_cost(const struct wf_cpu_rule *rule, struct wf_err *err)
{
    struct wf_expr_program *program = NULL;
    WF_TRY(wf_expr_compile(rule->text, NULL, 0, &program, err));
    enum wf_status status =
        wf_expr_is_time(program)
            ? check_constant(program, err)
            : wf_err_set(err, WF_EINVAL, "'%.64s' is not a time; expected for example 0.3ns",
                         rule->text);
    wf_expr_free(program);
    return status;
}

/* Combines the costs of a job's counters into one formula, which is rounded once. */
static enum wf_status set_costs(struct job *job, const char *const *texts, struct wf_err *err)
{
    enum { TEXT_MAX = WF_EXPR_TEXT_MAX + 1 };
    static const struct wf_expr_variable variables[WF_COUNTERS_MAX] = {
        {"c0", false}, {"c1", false}, {"c2", false}, {"c3", false}};
    char text[TEXT_MAX] = "0ps";
    size_t length = strlen(text);
    bool any = false;

    for (uint32_t i = 0; i < WF_COUNTERS_MAX; i++) {
        if (texts[i] == NULL) {
            continue;
        }
        int more = snprintf(text + length, TEXT_MAX - length, "+(%s)*c%" PRIu32, texts[i], i);
        if (more < 0 || (size_t)more >= TEXT_MAX - length) {
            return wf_err_set(err, WF_EINVAL, "the costs of counters are too long");
        }
        length += (size_t)more;
        job->n_counted = any ? job->n_counted : i + 1;
        any = true;
    }
    return any ? wf_expr_compile(text, variables, WF_COUNTERS_MAX, &job->costs, err) : WF_OK;
}

/* The number of the rule's region or counter; -1 if this source has none with that name. */
static int64_t find_named(const struct wf_source *source, const struct wf_cpu_rule *rule,
                          struct wf_nearest *nearest)
{
    const char *name;

    for (uint32_t i = 0; (name = name_of(source, rule, i)) != NULL; i++) {
        if (strcmp(name, rule->name) == 0) {
            return i;
        }
        wf_nearest_add(nearest, name);
    }
    return -1;
}

/* The rules of a run while they are built. */
struct build {
    const struct wf_source *const *sources;
    struct wf_cpu_rules *out;
    const char *(*costs)[WF_COUNTERS_MAX]; /* texts, by job and counter */
};

static enum wf_status unknown(const struct wf_cpu_rule *rule, const struct wf_nearest *nearest,
                              const struct build *build, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    bool any = false;

    for (uint32_t i = 0; i < build->out->n_jobs; i++) {
        any |= name_of(build->sources[i], rule, 0) != NULL;
    }
    if (!any) {
        return wf_err_set(err, WF_EUSAGE, "the program has no %ss with names", subject(rule));
    }
    return wf_err_set(err, WF_EUSAGE, "the program has no %s '%.64s'%s", subject(rule),
                      rule->name, wf_nearest_hint(nearest, hint));
}

static enum wf_status apply_rule(const struct build *build, const struct wf_cpu_rule *rule,
                                 struct wf_err *err)
{
    struct wf_nearest nearest;
    enum wf_status status = rule->kind == WF_CPU_COUNTER ? check_cost(rule, err) : WF_OK;
    bool found = false;

    wf_nearest_begin(&nearest, rule->name);
    for (uint32_t i = 0; i < build->out->n_jobs && status == WF_OK; i++) {
        int64_t number = find_named(build->sources[i], rule, &nearest);
        if (number < 0) {
            continue;
        }
        found = true;
        if (rule->kind == WF_CPU_COUNTER) {
            build->costs[i][number] = rule->text;
            continue;
        }
        struct region *region = region_at(&build->out->jobs[i], (uint32_t)number);
        if (rule->kind == WF_CPU_MEMORY) {
            build->out->memory_bound = true;
            status = set_memory_bound(region, rule, err);
        } else {
            status = set_region(region, rule, build->sources[i], err);
        }
    }
    if (status == WF_OK && !found) {
        status = unknown(rule, &nearest, build, err);
    }
    return name_rule(rule, status, err);
}

enum wf_status wf_cpu_build(const struct wf_cpu_rule *rules, uint32_t n_rules,
                            const struct wf_source *const *sources, uint32_t n_sources,
                            struct wf_cpu_rules **out, struct wf_err *err)
{
    enum wf_status status = WF_OK;
    struct build build = {.sources = sources};

    if (n_rules == 0) {
        *out = NULL;
        return WF_OK;
    }
    build.out = wf_xcalloc(1, sizeof(*build.out) + n_sources * sizeof(build.out->jobs[0]));
    build.out->n_jobs = n_sources;
    build.costs = wf_xcalloc(n_sources + 1, sizeof(*build.costs));
    for (uint32_t i = 0; i < n_rules && status == WF_OK; i++) {
        status = apply_rule(&build, &rules[i], err);
    }
    for (uint32_t i = 0; i < n_sources && status == WF_OK; i++) {
        status = set_costs(&build.out->jobs[i], build.costs[i], err);
    }
    free(build.costs);
    if (status != WF_OK) {
        wf_cpu_rules_free(build.out);
        return status;
    }
    *out = build.out;
    return WF_OK;
}

void wf_cpu_rules_free(struct wf_cpu_rules *rules)
{
    for (uint32_t i = 0; rules != NULL && i < rules->n_jobs; i++) {
        struct job *job = &rules->jobs[i];
        for (uint32_t j = 0; j < job->n_regions; j++) {
            wf_expr_free(job->regions[j].formula);
        }
        free(job->regions);
        wf_expr_free(job->costs);
    }
    free(rules);
}

/* ---- use ---- */

static int64_t count_time(const struct job *job, const struct wf_cpu_work *work)
{
    uint64_t values[WF_COUNTERS_MAX] = {0};
    int64_t time = WF_CPU_NO_TIME;

    for (uint32_t i = 0; i < work->n_counters && i < WF_COUNTERS_MAX; i++) {
        values[i] = work->counters[i];
    }
    return wf_expr_time(job->costs, values, &time) == WF_EXPR_FINE ? time : WF_CPU_NO_TIME;
}

static int64_t formula_time(const struct wf_expr_program *formula,
                            const struct wf_cpu_work *work)
{
    uint64_t values[N_VARIABLES + WF_COUNTERS_MAX] = {
        [VAR_TIME] = (uint64_t)work->duration,
        [VAR_VALUE] = work->value,
        [VAR_RANK] = work->rank,
        [VAR_SIZE] = work->size,
        [VAR_ITERATION] = work->iteration,
    };
    int64_t time = WF_CPU_NO_TIME;

    for (uint32_t i = 0; i < work->n_counters && i < WF_COUNTERS_MAX; i++) {
        values[N_VARIABLES + i] = work->counters[i];
    }
    return wf_expr_time(formula, values, &time) == WF_EXPR_FINE ? time : WF_CPU_NO_TIME;
}

/* The rules for the region of this work; null if it has none. */
static const struct region *region_of(const struct wf_cpu_rules *rules,
                                      const struct wf_cpu_work *work)
{
    const struct job *job = &rules->jobs[work->job];

    return work->region < job->n_regions ? &job->regions[work->region] : NULL;
}

/* The duration according to the rules; `otherwise` is the duration without rules. */
static int64_t by_rules(const struct wf_cpu_rules *rules, const struct wf_cpu_work *work,
                        int64_t otherwise)
{
    const struct job *job = &rules->jobs[work->job];
    const struct region *region = region_of(rules, work);
    int64_t time = otherwise;

    if (region != NULL && region->formula != NULL) {
        return formula_time(region->formula, work);
    }
    if (job->costs != NULL && work->n_counters >= job->n_counted) {
        time = count_time(job, work);
    }
    return region != NULL && time >= 0 ? wf_cpu_time(region->factor, time) : time;
}

/* ---- the roofline ---- */

const char *const wf_cpu_counter_names[] = {[WF_CPU_FLOPS16] = "flops16",
                                            [WF_CPU_FLOPS8] = "flops8",
                                            [WF_CPU_BYTES] = "memory_bytes",
                                            [WF_CPU_KERNELS] = "kernels",
                                            [WF_CPU_COUNTERS] = NULL};

/* Kernels besides those whose time was measured, which is the duration of the op. */
static const char other_kernels[] = "other_kernels";
enum { WITH_DURATION = 0x80 };

/* The counters of work that a source has. */
static uint8_t counters_of_work(const struct wf_source *source)
{
    uint8_t n = 0;

    while (n < WF_CPU_COUNTERS) {
        const char *name = wf_source_name_of(source, WF_NAME_COUNTER, n);
        if (name == NULL || strcmp(name, wf_cpu_counter_names[n]) != 0) {
            break;
        }
        n++;
    }
    if (n == WF_CPU_KERNELS) {
        const char *name = wf_source_name_of(source, WF_NAME_COUNTER, n);
        n = name != NULL && strcmp(name, other_kernels) == 0 ? WITH_DURATION | WF_CPU_COUNTERS
                                                             : n;
    }
    return n < WF_CPU_KERNELS ? 0 : n;
}

struct wf_cpu_roofline wf_cpu_roofline(const struct wf_cpu_params *cpu,
                                       const struct wf_source *const *sources,
                                       uint32_t n_sources)
{
    const double tera = 1e12;
    double tflops8 = cpu->tflops8 > 0 ? cpu->tflops8 : cpu->tflops16;
    double efficiency = cpu->efficiency > 0 ? cpu->efficiency : 1;
    double efficiency8 = cpu->efficiency8 > 0 ? cpu->efficiency8 : efficiency;
    struct wf_cpu_roofline roofline = {
        .flops16 = (uint64_t)(cpu->tflops16 * efficiency * tera + 0.5),
        .flops8 = (uint64_t)(tflops8 * efficiency8 * tera + 0.5),
        .memory = cpu->memory_bandwidth,
        .dispatch = cpu->dispatch,
    };

    roofline.flops8 = wf_max_u64(roofline.flops8, 1);
    bool any = false;
    roofline.counted = wf_xcalloc(n_sources + 1, sizeof(*roofline.counted));
    for (uint32_t i = 0; i < n_sources && roofline.flops16 > 0; i++) {
        roofline.counted[i] = counters_of_work(sources[i]);
        any |= roofline.counted[i] > 0;
    }
    if (!any) {
        free(roofline.counted);
        roofline.counted = NULL;
    }
    return roofline;
}

/* Operations at so many per second; rounded up. */
static int64_t operations_ps(uint64_t count, uint64_t per_second)
{
    wf_u128 ps = ((wf_u128)count * UINT64_C(1000000000000) + per_second - 1) / per_second;

    return ps > (wf_u128)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)ps;
}

/* The time of work that counts its operations and bytes. */
static int64_t work_time(const struct wf_cpu_roofline *roofline, const uint64_t *counters,
                         uint64_t kernels, int64_t measured)
{
    int64_t time = operations_ps(counters[WF_CPU_FLOPS16], roofline->flops16);
    int64_t moves = wf_transfer_ps(counters[WF_CPU_BYTES], roofline->memory);

    time = wf_time_add(time, operations_ps(counters[WF_CPU_FLOPS8], roofline->flops8));
    if (kernels == 0) {
        return wf_time_add(measured, wf_max_i64(time, moves));
    }
    time = wf_time_add(time, measured);
    wf_u128 launches = (wf_u128)kernels * (uint64_t)roofline->dispatch;
    int64_t host = launches > (wf_u128)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)launches;
    return wf_max_i64(wf_time_add(time, moves), host);
}

/* The duration of work whose recorded duration counts. */
static int64_t recorded_time(const struct wf_cpu *cpu, const struct wf_cpu_work *work)
{
    int64_t time = cpu->scale == WF_CPU_SCALE_ONE ? work->duration
                                                  : wf_cpu_time(cpu->scale, work->duration);

    return cpu->rules == NULL ? time : by_rules(cpu->rules, work, time);
}

int64_t wf_cpu_duration(const struct wf_cpu *cpu, const struct wf_cpu_work *work)
{
    uint32_t counted_as = cpu->roofline.counted == NULL ? 0 : cpu->roofline.counted[work->job];
    uint32_t n = counted_as & ~(uint32_t)WITH_DURATION;

    if (n > 0 && work->n_counters >= n) {
        struct wf_cpu_work counted = *work;
        uint64_t kernels = n > WF_CPU_KERNELS ? work->counters[WF_CPU_KERNELS] : 0;
        counted.duration = work_time(&cpu->roofline, work->counters, kernels,
                                     counted_as > n ? work->duration : 0);
        return recorded_time(cpu, &counted);
    }
    return recorded_time(cpu, work);
}

bool wf_cpu_has_memory_bound(const struct wf_cpu *cpu)
{
    return cpu->rules != NULL && cpu->rules->memory_bound;
}

uint64_t wf_cpu_memory_bound(const struct wf_cpu *cpu, const struct wf_cpu_work *work,
                             uint64_t otherwise)
{
    const struct region *region = cpu->rules != NULL ? region_of(cpu->rules, work) : NULL;

    return region != NULL && region->memory_bound != NO_SHARE ? region->memory_bound
                                                              : otherwise;
}
