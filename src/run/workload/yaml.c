/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs by hand: a mapping with a list `jobs`, of which each item is a job or, with `count`, a
 * class of jobs (docs/reference/workloads.md). Members with a list of values are drawn at random,
 * and the times between submissions of a class too, by the seed and the number of the class.
 */
#include "run/machine/yaml.h"
#include "base/array.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/units.h"
#include "run/workload/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Values of a member, as they are written or one of them. */
struct values {
    int64_t *items;
    size_t n, capacity;
};

enum member { NAME, COUNT, SUBMIT, EVERY, SPACING, NODES, RUN, REQUEST, PRIORITY, MEMBERS };

enum kind { IS_TEXT, IS_COUNT, IS_SPAN, IS_SIGNED };

static const struct {
    const char *name;
    enum kind kind;
    bool list;
} members[MEMBERS] = {
    [NAME] = {"name", IS_TEXT, false},
    [COUNT] = {"count", IS_COUNT, false},
    [SUBMIT] = {"submit", IS_SPAN, false},
    [EVERY] = {"every", IS_SPAN, false},
    [SPACING] = {"spacing", IS_TEXT, false},
    [NODES] = {"nodes", IS_COUNT, true},
    [RUN] = {"run", IS_SPAN, true},
    [REQUEST] = {"request", IS_SPAN, true},
    [PRIORITY] = {"priority", IS_SIGNED, false},
};

/* An item of the list. */
struct class {
    struct wf_workload_reading *r;
    const struct wf_yaml *given[MEMBERS]; /* null: not given */
    struct values values[MEMBERS];
};

static enum wf_status bad(struct wf_workload_reading *r, const struct wf_yaml *at,
                          const char *words)
{
    r->line = at->at.line;
    return wf_workload_bad(r, "%s", words);
}

static enum wf_status take_value(struct class *class, enum member m, const struct wf_yaml *at)
{
    struct values *values = &class->values[m];
    struct wf_err *err = class->r->err;
    enum wf_status status = WF_OK;
    uint64_t count = 0;
    int64_t value = 0;

    class->r->line = at->at.line;
    if (at->kind != WF_YAML_SCALAR) {
        return wf_workload_bad(class->r, "%s is %s, but one value is expected", members[m].name,
                               wf_yaml_kind_name(at->kind));
    }
    if (members[m].kind == IS_SPAN) {
        status = wf_parse_span(at->text, &value, err);
    } else if (members[m].kind != IS_TEXT) {
        bool negative = members[m].kind == IS_SIGNED && at->text[0] == '-';

        status = wf_parse_count(at->text + (negative ? 1 : 0), &count, err);
        if (status == WF_OK && count > INT32_MAX) {
            return wf_workload_bad(class->r, "%s: %.32s is too large", members[m].name,
                                   at->text);
        }
        value = negative ? -(int64_t)count : (int64_t)count;
    }
    if (status != WF_OK) {
        wf_err_prefix(err, "%.120s:%u: %s: ", class->r->path, at->at.line, members[m].name);
        return status;
    }
    if (members[m].list && value == 0) {
        return wf_workload_bad(class->r, "%s: more than 0 is expected", members[m].name);
    }
    WF_PUSH(values->items, values->n, values->capacity, value);
    return WF_OK;
}

static enum wf_status take_member(struct class *class, const struct wf_yaml *at)
{
    struct wf_nearest nearest;
    char hint[WF_HINT_MAX];
    int m = 0;

    wf_nearest_begin(&nearest, at->key);
    for (; m < MEMBERS && strcmp(members[m].name, at->key) != 0; m++) {
        wf_nearest_add(&nearest, members[m].name);
    }
    if (m == MEMBERS) {
        class->r->line = at->key_at.line;
        return wf_workload_bad(class->r, "unknown member '%.32s' of a job%s", at->key,
                               wf_nearest_hint(&nearest, hint));
    }
    class->given[m] = at;
    if (at->kind != WF_YAML_LIST || !members[m].list) {
        return take_value(class, (enum member)m, at);
    }
    for (const struct wf_yaml *item = at->first; item != NULL; item = item->next) {
        WF_TRY(take_value(class, (enum member)m, item));
    }
    return at->first != NULL ? WF_OK : bad(class->r, at, "a list without values");
}

static int64_t single(const struct class *class, enum member m, int64_t fallback)
{
    return class->given[m] != NULL ? class->values[m].items[0] : fallback;
}

static enum wf_status check_class(const struct class *class, const struct wf_yaml *at)
{
    const struct wf_yaml *spacing = class->given[SPACING];
    bool several = single(class, COUNT, 1) > 1;

    if (class->given[NODES] == NULL || class->given[RUN] == NULL) {
        return bad(class->r, at, "a job needs 'nodes' and 'run'");
    }
    if (class->given[COUNT] != NULL && single(class, COUNT, 1) == 0) {
        return bad(class->r, class->given[COUNT], "count: more than 0 is expected");
    }
    if (several && class->given[EVERY] == NULL) {
        return bad(class->r, at,
                   "several jobs need 'every', the mean time between submissions");
    }
    if (spacing != NULL && strcmp(spacing->text, "even") != 0 &&
        strcmp(spacing->text, "random") != 0) {
        return bad(class->r, spacing, "spacing is 'even' or 'random'");
    }
    if (class->given[REQUEST] != NULL && class->values[REQUEST].n != 1 &&
        class->values[REQUEST].n != class->values[RUN].n) {
        return bad(class->r, class->given[REQUEST], "request has one value, or as many as run");
    }
    return WF_OK;
}

static size_t drawn(const struct values *values, uint64_t draw)
{
    return (size_t)wf_rng_below(draw, values->n);
}

static enum wf_status add_jobs(struct class *class, uint64_t number)
{
    struct wf_workload_reading *r = class->r;
    uint64_t place = wf_rng_start(r->options->seed, number);
    const struct wf_yaml *name = class->given[NAME], *spacing = class->given[SPACING];
    bool even = spacing != NULL && strcmp(spacing->text, "even") == 0;
    int64_t n = single(class, COUNT, 1), submit = single(class, SUBMIT, 0);
    const struct values *nodes = &class->values[NODES], *run = &class->values[RUN];
    const struct values *request = &class->values[REQUEST];

    if (r->out->jobs.n + (uint64_t)n > WF_QUEUE_JOBS_MAX) {
        return wf_workload_bad(r, "more than %d jobs", WF_QUEUE_JOBS_MAX);
    }
    for (int64_t i = 0; i < n; i++) {
        size_t length = drawn(run, wf_rng_next(&place));
        struct wf_queue_job job = {
            .submit = submit,
            .run = run->items[length],
            .requested = request->n > 0 ? request->items[request->n > 1 ? length : 0] : 0,
            .nodes = (uint32_t)nodes->items[drawn(nodes, wf_rng_next(&place))],
            .priority = (int32_t)single(class, PRIORITY, 0),
        };
        char *text =
            n > 1 ? wf_text_make("%.40s-%" PRId64, name != NULL ? name->text : "job", i + 1)
                  : wf_text_make("%.40s", name != NULL ? name->text : "job");
        double gap = even ? 1 : wf_rng_exponential(wf_rng_next(&place));

        wf_workload_add(r, text, job);
        free(text);
        submit += llround((double)single(class, EVERY, 0) * gap);
        if (submit > WF_QUEUE_TIME_MAX) {
            return wf_workload_bad(r, "the last job of this class comes after 73,000 years");
        }
    }
    return WF_OK;
}

static enum wf_status read_class(struct wf_workload_reading *r, const struct wf_yaml *at,
                                 uint64_t number)
{
    struct class class = {.r = r};
    enum wf_status status = at->kind == WF_YAML_MAP
                                ? WF_OK
                                : bad(r, at, "a job is written {nodes: 4, run: 1h, ...}");

    for (const struct wf_yaml *m = at->first; status == WF_OK && m != NULL; m = m->next) {
        status = take_member(&class, m);
    }
    WF_THEN(status, check_class(&class, at));
    r->line = at->at.line;
    WF_THEN(status, add_jobs(&class, number));
    for (int m = 0; m < MEMBERS; m++) {
        free(class.values[m].items);
    }
    return status;
}

static enum wf_status read_root(struct wf_workload_reading *r, const struct wf_yaml *root)
{
    const struct wf_yaml *jobs = root->kind == WF_YAML_MAP ? root->first : NULL;
    uint64_t number = 0;

    if (jobs == NULL || jobs->next != NULL || strcmp(jobs->key, "jobs") != 0 ||
        jobs->kind != WF_YAML_LIST) {
        return bad(r, root, "a workload has one member, the list 'jobs'");
    }
    for (const struct wf_yaml *at = jobs->first; at != NULL; at = at->next) {
        WF_TRY(read_class(r, at, number++));
    }
    return WF_OK;
}

static enum wf_status read(struct wf_workload_reading *r)
{
    struct wf_yaml *root = NULL;

    r->out->per_node = 1;
    enum wf_status status = wf_yaml_parse(r->text, r->size, &root, r->err);
    if (status != WF_OK) {
        wf_err_prefix(r->err, "%.120s:", r->path);
        return status;
    }
    status = read_root(r, root);
    wf_yaml_free(root);
    return status;
}

static bool probe(const char *path, const char *text)
{
    const char *end = strrchr(path, '.');

    return end != NULL && (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0);
}

const struct wf_workload_reader wf_workload_yaml = {
    .name = "yaml",
    .summary = "Jobs and classes of jobs by hand; the name ends in .yaml or .yml",
    .probe = probe,
    .read = read,
};
