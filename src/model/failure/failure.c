/* SPDX-License-Identifier: Apache-2.0 */
#include "model/failure/failure.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/columns.h"
#include "base/file.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct wf_failure_law *const laws[] = {
#define WF_FAILURE_LAW(name) &wf_failure_law_##name,
#include "model/failure/laws.def"
    NULL,
};

enum { FILE_MAX = 64 << 20 };

/* ---- reading ---- */

/* A line of a list: a time and perhaps a node. */
static enum wf_status take_time(struct wf_failure_class *class, char *line, struct wf_err *err)
{
    struct wf_failure_event failure = {.part = UINT32_MAX};
    size_t length = strcspn(line, " \t");
    char *node = line + length + strspn(line + length, " \t");
    uint64_t number = 0;

    line[length] = '\0';
    WF_TRY(wf_parse_span(line, &failure.at, err));
    if (*node != '\0') {
        node[strcspn(node, " \t")] = '\0';
        WF_TRY(wf_parse_count(node, &number, err));
        failure.part = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX - 1;
    }
    if (class->n_times > 0 && failure.at < class->times[class->n_times - 1].at) {
        return wf_err_set(err, WF_EINVAL, "'%.32s' is before the line above it", line);
    }
    WF_PUSH(class->times, class->n_times, class->times_capacity, failure);
    return WF_OK;
}

static enum wf_status read_times(struct wf_failure_class *class, const char *path,
                                 struct wf_err *err)
{
    struct wf_buf text = {.data = NULL};
    uint64_t number = 0;
    enum wf_status status = wf_file_read(path, FILE_MAX, &text, err);
    char *rest = status == WF_OK ? (char *)text.data : NULL, *line;

    while (status == WF_OK && (line = strsep(&rest, "\n")) != NULL) {
        number++;
        line[strcspn(line, "#\r")] = '\0';
        line += strspn(line, " \t");
        if (*line != '\0') {
            status = take_time(class, line, err);
            if (status != WF_OK) {
                wf_err_prefix(err, "%.120s:%" PRIu64 ": ", path, number);
            }
        }
    }
    wf_buf_fini(&text);
    class->law = &wf_failure_law_list;
    return status;
}

static enum wf_status take_item(struct wf_failure_class *class, const char *key,
                                const char *value, struct wf_err *err)
{
    if (strcmp(key, "count") == 0) {
        return wf_parse_count(value, &class->count, err);
    }
    if (strcmp(key, "mtbf") == 0) {
        return wf_parse_span(value, &class->mtbf, err);
    }
    if (strcmp(key, "age") == 0) {
        return wf_parse_span(value, &class->age, err);
    }
    if (strcmp(key, "repair") == 0) {
        return wf_parse_span(value, &class->repair, err);
    }
    if (strcmp(key, "shape") == 0) {
        return wf_parse_real(value, &class->shape, err);
    }
    if (strcmp(key, "times") == 0) {
        return read_times(class, value, err);
    }
    if (strcmp(key, "law") == 0) {
        class->law = wf_lookup("law", value, laws, err);
        return class->law != NULL ? WF_OK : WF_EUSAGE;
    }
    return wf_err_set(
        err, WF_EUSAGE,
        "unknown member '%.32s'; expected count, mtbf, law, shape, age, repair or times", key);
}

static enum wf_status check(struct wf_failure_class *class, struct wf_err *err)
{
    const uint64_t count_max = UINT64_C(1) << 24;
    const double shape_min = 0.1, shape_max = 100;

    if (class->law->gap == NULL) {
        return class->n_times > 0 ? WF_OK
                                  : wf_err_set(err, WF_EUSAGE, "a list needs times=<file>");
    }
    if (class->mtbf <= 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "mtbf, the mean time between failures of a part, must be given and "
                          "above 0");
    }
    if (class->shape < shape_min || class->shape > shape_max || class->count > count_max) {
        return wf_err_set(err, WF_EUSAGE,
                          "expected a shape from 0.1 to 100 and a count up to 2^24");
    }
    class->stretch = 1 / tgamma(1 + 1 / class->shape);
    return WF_OK;
}

enum wf_status wf_failure_parse(const char *text, struct wf_failure_class *out,
                                struct wf_err *err)
{
    char *copy = wf_xstrdup(text), *rest = copy, *item;
    size_t name = strcspn(text, ":=,");
    enum wf_status status = WF_OK;

    *out = (struct wf_failure_class){
        .name = "node", .law = &wf_failure_law_exponential, .shape = 1};
    if (text[name] == ':') {
        (void)snprintf(out->name, sizeof(out->name), "%.*s", name < 31 ? (int)name : 31, text);
        rest = copy + name + 1;
    }
    while (status == WF_OK && (item = strsep(&rest, ",")) != NULL) {
        char *value = strchr(item, '=');

        if (value == NULL) {
            status = wf_err_set(err, WF_EUSAGE, "'%.32s' is no key=value", item);
        } else {
            *value = '\0';
            status = take_item(out, item, value + 1, err);
        }
    }
    status = status == WF_OK ? check(out, err) : status;
    if (status != WF_OK) {
        wf_err_prefix(err, "--fail %.64s: ", text);
        wf_failure_fini(out);
    }
    free(copy);
    return status;
}

void wf_failure_fini(struct wf_failure_class *class)
{
    free(class->times);
    class->times = NULL;
}

void wf_failure_list(FILE *out)
{
    (void)fputs("\nLaws of failures:\n", out);
    for (const struct wf_failure_law *const *law = laws; *law != NULL; law++) {
        wf_columns_row(out, (*law)->name, (*law)->summary);
    }
}

/* ---- times ---- */

/* A random time to the next failure of one of `parts` parts, at least 1. More than one need a
 * memoryless law. */
static int64_t next_gap(const struct wf_failure_class *class, uint64_t parts, uint64_t *place)
{
    double gap = class->law->gap(class, wf_rng_next(place)) / (double)parts;

    return gap < 1 ? 1 : gap < (double)WF_SPAN_MAX ? llround(gap) : WF_SPAN_MAX;
}

double wf_failure_rate(const struct wf_failure_class *classes, size_t n, int64_t horizon)
{
    double rate = 0;

    for (size_t i = 0; i < n; i++) {
        const struct wf_failure_class *class = &classes[i];
        rate += class->law->gap != NULL ? (double)class->count / (double)class->mtbf
                                        : (double)class->n_times / (double)horizon;
    }
    return rate;
}

static int by_time(const void *a, const void *b)
{
    const struct wf_failure_event *x = a, *y = b;

    return 4 * WF_ORDER(x->at, y->at) + 2 * WF_ORDER(x->of, y->of) + WF_ORDER(x->part, y->part);
}

struct trace {
    struct wf_failure_event *items;
    size_t n, capacity;
};

/* Failures of one part, or of all parts together. */
static void add_stream(struct trace *trace, const struct wf_failure_class *class,
                       struct wf_failure_event event, uint64_t place, int64_t horizon)
{
    bool together = class->law->memoryless;
    uint64_t parts = together ? class->count : 1;

    event.at = together ? 0 : -class->age;
    while ((event.at += next_gap(class, parts, &place)) < horizon) {
        if (together) {
            event.part = (uint32_t)wf_rng_below(wf_rng_next(&place), parts);
        }
        if (event.at >= 0) {
            WF_PUSH(trace->items, trace->n, trace->capacity, event);
        }
    }
}

size_t wf_failure_trace(const struct wf_failure_class *classes, size_t n, uint64_t seed,
                        int64_t horizon, struct wf_failure_event **out)
{
    struct trace trace = {.n = 0};

    for (uint32_t c = 0; c < n; c++) {
        const struct wf_failure_class *class = &classes[c];
        const struct wf_failure_law *law = class->law;
        uint64_t streams = law->gap == NULL ? 0 : law->memoryless ? 1 : class->count;

        for (uint64_t s = 0; s < streams; s++) {
            struct wf_failure_event event = {.of = c, .part = (uint32_t)s};

            add_stream(&trace, class, event, wf_rng_start(wf_rng_draw(seed, c, 0), s), horizon);
        }
        for (size_t i = 0; i < class->n_times && class->times[i].at < horizon; i++) {
            class->times[i].of = c;
            WF_PUSH(trace.items, trace.n, trace.capacity, class->times[i]);
        }
    }
    WF_SORT(trace.items, trace.n, by_time);
    *out = trace.items;
    return trace.n;
}
