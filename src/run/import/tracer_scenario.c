/* SPDX-License-Identifier: Apache-2.0 */
/* Settings in place of a configuration of TraceR. */
#include "run/import/tracer.h"

#include "base/mem.h"
#include "program/trace/reader.h"
#include "run/scenario/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USER_CODE "user_code"

static const double PS_PER_NS = 1e3, PS_PER_SECOND = 1e12;

struct expansion {
    const struct wf_scenario *from;
    struct wf_scenario *to;
    const struct wf_tracer *tracer;
    struct wf_err *err;
};

/* ---- settings ---- */

/* Adds a setting of a job; `line` is its place in the configuration. */
static enum wf_status put_setting(const struct expansion *x, uint32_t job, const char *name,
                                  const char *value, uint32_t line)
{
    char key[64], place[256];

    if (job == 0) {
        (void)snprintf(key, sizeof(key), "%s", name);
    } else {
        (void)snprintf(key, sizeof(key), "job.%u.%s", job, name);
    }
    (void)snprintf(place, sizeof(place), "%.200s:%u", x->tracer->label, line);
    return wf_scenario_add(x->to,
                           (struct wf_setting){
                               .key = wf_xstrdup(key),
                               .value = wf_xstrdup(value),
                               .origin = wf_xstrdup(key),
                               .place = wf_xstrdup(place),
                           },
                           x->err);
}

/* The value of a setting of the scenario; null if it has none. */
static const char *given(const struct expansion *x, const char *key)
{
    const struct wf_setting *setting = wf_scenario_find(x->from, key);

    return setting != NULL ? setting->value : NULL;
}

static bool is_bigsim(const char *trace)
{
    struct wf_reader_probe probe;
    const struct wf_reader_ops *reader = NULL;

    /* A trace that cannot be opened is reported later. */
    if (wf_reader_find(trace, &probe, &reader, NULL) != WF_OK) {
        return false;
    }
    wf_reader_probe_fini(&probe);
    return strcmp(reader->name, "bigsim") == 0;
}

/* BigSim's logs have times of the emulator that TraceR does not replay. */
static enum wf_status put_rules(const struct expansion *x, uint32_t number,
                                const struct wf_tracer_job *job)
{
    const char *soft_delay = given(x, "node.o_send");

    WF_TRY(put_setting(x, number, "trace.rules", "tracer", job->line));
    return soft_delay == NULL || strcmp(soft_delay, "auto") == 0
               ? WF_OK
               : put_setting(x, number, "trace.soft_delay", soft_delay, job->line);
}

/* ---- changes of times and sizes ---- */

/* The last change of a kind that applies to the job; null if there is none. */
static const struct wf_tracer_change *last_change(const struct expansion *x, char kind,
                                                  uint32_t job)
{
    const struct wf_tracer_change *found = NULL;

    for (size_t i = 0; i < x->tracer->n_changes; i++) {
        const struct wf_tracer_change *change = &x->tracer->changes[i];
        if (change->kind == kind && (kind == 'T' || change->job == job)) {
            found = change;
        }
    }
    return found;
}

/* Puts a limit and a value, with a unit after each, as two settings. */
static enum wf_status put_pair(const struct expansion *x, uint32_t number,
                               const struct wf_tracer_change *change, const char *const name[2],
                               double unit, const char *suffix)
{
    const double values[2] = {change->limit * unit, change->number * unit};
    char text[64];

    for (int i = 0; i < 2; i++) {
        (void)snprintf(text, sizeof(text), "%.0f%s", values[i], suffix);
        WF_TRY(put_setting(x, number, name[i], text, change->line));
    }
    return WF_OK;
}

/* For logs of BigSim, whose reader knows which of them are calls of MPI. TraceR does not use S
 * there. */
static enum wf_status put_bigsim_changes(const struct expansion *x, uint32_t number)
{
    static const char *const times[2] = {"trace.long_time", "trace.long_time_is"};
    static const char *const sizes[2] = {"trace.large_bytes", "trace.large_bytes_are"};
    const struct wf_tracer_change *longer = last_change(x, 'T', number);
    const struct wf_tracer_change *larger = last_change(x, 'M', number);
    const struct wf_tracer_change *equal = last_change(x, 'S', number);

    if (longer != NULL) {
        WF_TRY(put_pair(x, number, longer, times, PS_PER_SECOND, "ps"));
    }
    if (larger != NULL) {
        WF_TRY(put_pair(x, number, larger, sizes, 1, ""));
    }
    if (equal != NULL) {
        wf_scenario_note(x->to,
                         "%.200s:%u: S is not used: TraceR changes no exact sizes in "
                         "BigSim's logs",
                         x->tracer->label, equal->line);
    }
    return WF_OK;
}

static void add_rule(char *out, size_t size, const char *what, const char *value,
                     const char *by)
{
    size_t len = strlen(out);

    (void)snprintf(out + len, size - len, "%s%s%s:%s", len > 0 ? "," : "", what, value, by);
}

static void add_change(char *out, size_t size, const struct wf_tracer_change *change,
                       const char *what, double units[2], const char *suffix)
{
    char limit[40], value[40];

    (void)snprintf(limit, sizeof(limit), "%.0f%s", change->limit * units[0], suffix);
    (void)snprintf(value, sizeof(value), "%.0f%s", change->number * units[1], suffix);
    add_rule(out, size, what, limit, value);
}

/* Sizes that are replaced one by one, after those that are replaced above a limit. */
static void add_sizes(const struct expansion *x, uint32_t number, char *out, size_t size)
{
    for (size_t i = 0; i < x->tracer->n_changes; i++) {
        const struct wf_tracer_change *change = &x->tracer->changes[i];
        if (change->kind == 'S' && change->job == number) {
            add_change(out, size, change, "bytes=", (double[]){1, 1}, "");
        }
    }
}

/* The line that gives all computations of a job one duration; null if there is none. TraceR does
 * not use it if it scales them. */
static const struct wf_tracer_change *user_code(const struct expansion *x, uint32_t job)
{
    const struct wf_tracer_change *found = NULL;

    for (size_t i = 0; i < x->tracer->n_changes; i++) {
        const struct wf_tracer_change *change = &x->tracer->changes[i];
        if (change->kind != 'E' || change->job != job) {
            continue;
        }
        if (strcmp(change->event, "scale_all") == 0) {
            return NULL;
        }
        found = strcmp(change->event, USER_CODE) == 0 ? change : found;
    }
    return found;
}

/* For traces of MPI operations. In OTF2 traces TraceR compares the limit of T with nanoseconds. */
static enum wf_status put_op_changes(const struct expansion *x, uint32_t number)
{
    const struct wf_tracer_change *longer = last_change(x, 'T', number);
    const struct wf_tracer_change *larger = last_change(x, 'M', number);
    const struct wf_tracer_change *user = user_code(x, number);
    size_t size = 96 * (x->tracer->n_changes + 3);
    char *text = wf_xcalloc(size, 1);
    enum wf_status status = WF_OK;

    if (longer != NULL) {
        add_change(text, size, longer, "compute>=", (double[]){PS_PER_NS, PS_PER_SECOND}, "ps");
        wf_scenario_note(x->to,
                         "%.200s:%u: the limit of T is %g ns: TraceR takes it for seconds in "
                         "BigSim's logs only",
                         x->tracer->label, longer->line, longer->limit);
    }
    if (user != NULL) {
        add_change(text, size, user, "compute>=", (double[]){PS_PER_SECOND, PS_PER_SECOND},
                   "ps");
    }
    if (larger != NULL) {
        add_change(text, size, larger, "bytes>=", (double[]){1, 1}, "");
    }
    add_sizes(x, number, text, size);
    if (text[0] != '\0') {
        status = put_setting(x, number, "changes", text, x->tracer->jobs[number].line);
    }
    free(text);
    return status;
}

/* ---- jobs ---- */

static enum wf_status put_trace(const struct expansion *x, uint32_t number, const char *trace,
                                const char *placement)
{
    const struct wf_tracer_job *job = &x->tracer->jobs[number];
    const char *per_node = given(x, "ranks_per_node");
    bool bigsim = is_bigsim(trace);
    char text[32];

    WF_TRY(put_setting(x, number, "source", trace, job->line));
    (void)snprintf(text, sizeof(text), "%u", job->ranks);
    WF_TRY(put_setting(x, number, "ranks", text, job->line));
    WF_TRY(put_setting(x, number, "placement", placement, job->line));
    if (number > 0 && per_node != NULL) {
        WF_TRY(put_setting(x, number, "ranks_per_node", per_node, job->line));
    }
    if (bigsim) {
        WF_TRY(put_rules(x, number, job));
    }
    if (job->iterations > 1) {
        (void)snprintf(text, sizeof(text), "%u", job->iterations);
        WF_TRY(put_setting(x, number, bigsim ? "trace.loops" : "loops", text, job->line));
    }
    return bigsim ? put_bigsim_changes(x, number) : put_op_changes(x, number);
}

static enum wf_status put_job(const struct expansion *x, uint32_t number)
{
    char *trace = wf_tracer_path(x->tracer, x->tracer->jobs[number].trace);
    char *placement = wf_xcalloc(strlen(x->tracer->label) + sizeof("tracer:"), 1);

    (void)sprintf(placement, "tracer:%s", x->tracer->label);
    enum wf_status status = put_trace(x, number, trace, placement);
    free(placement);
    free(trace);
    return status;
}

/* ---- changes of traces ---- */

static enum wf_status refuse(const struct expansion *x, const struct wf_tracer_change *change,
                             const char *why)
{
    return wf_err_set(x->err, WF_EINVAL, "%.200s:%u: %c: %s", x->tracer->label, change->line,
                      change->kind, why);
}

/* The factor by which TraceR divides the compute times of a job; 1 if it has none. */
static double factor_of(const struct wf_tracer *tracer, uint32_t job, uint32_t *line)
{
    double factor = 1;

    for (size_t i = 0; i < tracer->n_changes; i++) {
        const struct wf_tracer_change *change = &tracer->changes[i];
        if (change->kind == 'E' && change->job == job &&
            strcmp(change->event, "scale_all") == 0) {
            factor = change->number;
            *line = change->line;
        }
    }
    return factor;
}

/* One processor serves all jobs. */
static enum wf_status put_scale(const struct expansion *x)
{
    uint32_t line = 0;
    double factor = factor_of(x->tracer, 0, &line);
    char text[64];

    for (uint32_t i = 1; i < x->tracer->n_jobs; i++) {
        double other = factor_of(x->tracer, i, &line);
        if (other < factor || other > factor) {
            return wf_err_set(x->err, WF_EINVAL,
                              "%.200s:%u: E: scale_all must be the same for all jobs, because "
                              "they share the processors of the machine",
                              x->tracer->label, line);
        }
    }
    if (line == 0) {
        return WF_OK;
    }
    if (!(factor > 0)) {
        return wf_err_set(x->err, WF_EINVAL, "%.200s:%u: E: scale_all must be above 0",
                          x->tracer->label, line);
    }
    if (given(x, "cpu.scale") != NULL) {
        wf_scenario_note(x->to, "%.200s:%u: scale_all is not used, because cpu.scale is given",
                         x->tracer->label, line);
        return WF_OK;
    }
    (void)snprintf(text, sizeof(text), "%.17g", 1 / factor);
    return put_setting(x, 0, "cpu.scale", text, line);
}

static enum wf_status check_event(const struct expansion *x,
                                  const struct wf_tracer_change *change)
{
    if (strcmp(change->event, "scale_all") == 0) {
        return WF_OK;
    }
    char *trace = wf_tracer_path(x->tracer, x->tracer->jobs[change->job].trace);
    bool bigsim = is_bigsim(trace);
    free(trace);
    if (bigsim) {
        return refuse(x, change, "events of BigSim's logs cannot be given a duration");
    }
    if (strcmp(change->event, USER_CODE) == 0) {
        return change->number >= 0 ? WF_OK : refuse(x, change, "user_code is below 0");
    }
    wf_scenario_note(x->to,
                     "%.200s:%u: event %.64s is not changed: TraceR knows only scale_all and "
                     "user_code in OTF2 traces; -p cpu.region.<name> sets the time of a region",
                     x->tracer->label, change->line, change->event);
    return WF_OK;
}

static enum wf_status put_changes(const struct expansion *x)
{
    for (size_t i = 0; i < x->tracer->n_changes; i++) {
        const struct wf_tracer_change *change = &x->tracer->changes[i];

        if (change->kind == 'E') {
            WF_TRY(check_event(x, change));
        }
    }
    return put_scale(x);
}

/* ---- the scenario as a whole ---- */

/* Other jobs cannot take the numbers of TraceR's. */
static enum wf_status check_jobs(const struct expansion *x)
{
    for (uint32_t i = 1; i < x->tracer->n_jobs; i++) {
        char key[32];

        (void)snprintf(key, sizeof(key), "job.%u.source", i);
        if (given(x, key) != NULL) {
            return wf_err_set(x->err, WF_EUSAGE,
                              "%s: job %u is already in '%.200s', which has %u; give further "
                              "ones as -p job.%u.source=...",
                              key, i, x->tracer->label, x->tracer->n_jobs, x->tracer->n_jobs);
        }
    }
    return WF_OK;
}

static void note_maps(const struct expansion *x)
{
    for (uint32_t i = 0; i < x->tracer->n_jobs; i++) {
        const struct wf_tracer_job *job = &x->tracer->jobs[i];

        if (x->tracer->global_map == NULL && job->map != NULL) {
            wf_scenario_note(x->to,
                             "%.200s:%u: map file '%.64s' is not used: without a global map, "
                             "ranks are placed in their order, as TraceR does",
                             x->tracer->label, job->line, job->map);
        }
    }
}

static enum wf_status expand(const struct expansion *x)
{
    WF_TRY(check_jobs(x));
    for (uint32_t i = 0; i < x->tracer->n_jobs; i++) {
        WF_TRY(put_job(x, i));
    }
    WF_TRY(put_changes(x));
    note_maps(x);
    return WF_OK;
}

static bool is_not_source(const void *arg, const char *key)
{
    return strcmp(key, "source") != 0;
}

enum wf_status wf_tracer_expand(const struct wf_scenario *scenario, struct wf_scenario **out,
                                struct wf_err *err)
{
    const struct wf_setting *source = wf_scenario_find(scenario, "source");
    char *path = source != NULL ? wf_tracer_find(source->value) : NULL;
    struct wf_tracer *tracer = NULL;

    *out = NULL;
    if (path == NULL) {
        return WF_OK;
    }
    enum wf_status status = wf_tracer_load(path, &tracer, err);
    free(path);
    if (status != WF_OK) {
        return status;
    }
    struct expansion x = {
        .from = scenario, .to = wf_scenario_new(), .tracer = tracer, .err = err};
    status = expand(&x);
    if (status == WF_OK) {
        wf_scenario_append_if(x.to, scenario, is_not_source, NULL);
        *out = x.to;
    } else {
        wf_scenario_free(x.to);
    }
    wf_tracer_free(tracer);
    return status;
}
