/* SPDX-License-Identifier: Apache-2.0 */
/* Settings in place of a configuration of TraceR. */
#include "sim/tracer.h"

#include "base/mem.h"
#include "sim/scenario.h"
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct expansion {
    const struct wf_scenario *from;
    struct wf_scenario *to;
    const struct wf_tracer *tracer;
    struct wf_err *err;
};

/* ---- settings ---- */

/* Adds a setting of a job; `line` is its place in the configuration. */
static enum wf_status put(const struct expansion *x, uint32_t job, const char *name,
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

    WF_TRY(put(x, number, "trace.rules", "tracer", job->line));
    return soft_delay == NULL || strcmp(soft_delay, "auto") == 0
               ? WF_OK
               : put(x, number, "trace.soft_delay", soft_delay, job->line);
}

static enum wf_status put_job(const struct expansion *x, uint32_t number)
{
    const struct wf_tracer_job *job = &x->tracer->jobs[number];
    const char *per_node = given(x, "ranks_per_node");
    char text[32];

    if (job->iterations != 1) {
        return wf_err_set(x->err, WF_EINVAL,
                          "%.200s:%u: %u iterations: the loop of a trace is replayed once; "
                          "write 1. With -p region=<name> -p repeat=%u only the region <name> "
                          "is replayed, %u times",
                          x->tracer->label, job->line, job->iterations, job->iterations,
                          job->iterations);
    }
    char *trace = wf_tracer_path(x->tracer, job->trace);
    char *placement = wf_xcalloc(strlen(x->tracer->label) + sizeof("tracer:"), 1);
    (void)sprintf(placement, "tracer:%s", x->tracer->label);
    (void)snprintf(text, sizeof(text), "%u", job->ranks);
    enum wf_status status = put(x, number, "source", trace, job->line);
    status = status == WF_OK ? put(x, number, "ranks", text, job->line) : status;
    status = status == WF_OK ? put(x, number, "placement", placement, job->line) : status;
    if (status == WF_OK && number > 0 && per_node != NULL) {
        status = put(x, number, "ranks_per_node", per_node, job->line);
    }
    if (status == WF_OK && is_bigsim(trace)) {
        status = put_rules(x, number, job);
    }
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
    return put(x, 0, "cpu.scale", text, line);
}

static enum wf_status check_event(const struct expansion *x,
                                  const struct wf_tracer_change *change)
{
    if (strcmp(change->event, "scale_all") == 0) {
        return WF_OK;
    }
    if (strcmp(change->event, "user_code") == 0) {
        return refuse(x, change,
                      "user_code: all computations cannot be given one duration; "
                      "-p cpu.region.<name>=<time> sets that of a region");
    }
    char *trace = wf_tracer_path(x->tracer, x->tracer->jobs[change->job].trace);
    bool bigsim = is_bigsim(trace);
    free(trace);
    if (bigsim) {
        return refuse(x, change, "events of BigSim's logs cannot be given a duration");
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

        if (change->kind == 'T') {
            return refuse(x, change,
                          "computations cannot be replaced by their duration; "
                          "-p cpu.region.<name>=<time> sets that of a region");
        }
        if (change->kind != 'E') {
            return refuse(x, change, "sizes of messages cannot be replaced; remove the line");
        }
        WF_TRY(check_event(x, change));
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
        wf_scenario_append_except(x.to, scenario, source->key);
        *out = x.to;
    } else {
        wf_scenario_free(x.to);
    }
    wf_tracer_free(tracer);
    return status;
}
