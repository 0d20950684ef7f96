/* SPDX-License-Identifier: Apache-2.0 */
#include "run/scenario/scenario.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/tally.h"
#include "run/program/program.h"
#include "run/scenario/catalog.h"
#include "run/scenario/uncertainty.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(struct wf_scenario_core, job) == 0,
               "rows of a job are rows of the scenario");

enum { NOTE_MAX = 512 };

const struct wf_param wf_scenario_params[] = {
    WF_PARAM_ROW(struct wf_scenario_core, network, TEXT, .def = "loggp",
                 .doc = "Network model"),
    WF_PARAM_ROW(struct wf_scenario_core, topology, TEXT, .def = "",
                 .doc = "How the nodes are connected: torus:16x16x16"),
    WF_PARAM_ROW(struct wf_scenario_core, seed, COUNT, .def = "1",
                 .doc = "Seed of all random numbers"),
    WF_PARAM_ROW(struct wf_scenario_core, efficiency, BOOL, .def = "false",
                 .doc = "Run on an ideal network too, and report the losses to load imbalance, "
                        "serialisation and transfer"),
    WF_PARAM_ROW(struct wf_scenario_core, alone, BOOL, .def = "false",
                 .doc = "Run each of several jobs alone too, and report how much slower it is "
                        "beside the others"),
    WF_PARAM_ROW(struct wf_scenario_core, runs, COUNT, .def = "0", .max = "100000",
                 .doc = "Repeat the replay this many times with compute times and uncertain "
                        "settings drawn from their distributions, and report quantiles; 99 is "
                        "a good number"),
    WF_PARAM_ROW(struct wf_scenario_core, until, TIME, .def = "0",
                 .doc =
                     "Stop at this simulated time, although programs have not ended; 0: run to "
                     "their end"),
    WF_PARAM_ROW(
        struct wf_scenario_job, source, TEXT, .def = "",
        .doc = "Where the operations come from: gen:<generator>, a trace, traffic:<pattern> or "
               "bench:<model>"),
    WF_PARAM_ROW(struct wf_scenario_job, ranks, COUNT, .min = "1", .max = "4000000000",
                 .doc = "MPI processes of the simulated program; a trace has its own number"),
    WF_PARAM_ROW(struct wf_scenario_job, ranks_per_node, COUNT, .def = "1", .min = "1",
                 .max = "65536", .doc = "Ranks that share a node"),
    WF_PARAM_ROW(
        struct wf_scenario_job, placement, TEXT, .def = "auto",
        .doc = "Nodes of the ranks: auto (linear; all of a hierarchy), linear, roundrobin, "
               "random, block:<size>x..., nodes:<list>, file:<path>, "
               "tracer:<path>"),
    WF_PARAM_ROW(struct wf_scenario_job, start, TIME, .def = "0",
                 .doc = "When the program starts"),
    WF_PARAM_ROW(struct wf_scenario_job, repeat, COUNT, .def = "1", .min = "1",
                 .max = "1000000000",
                 .doc = "How many times the program runs, one after the other"),
    WF_PARAM_ROW(struct wf_scenario_job, region, TEXT, .def = "",
                 .doc = "Play only the region of this name"),
    WF_PARAM_ROW(struct wf_scenario_job, iterations, TEXT, .def = "",
                 .doc = "Play only these iterations, first:last or one number, counted from 0"),
    WF_PARAM_ROW(struct wf_scenario_job, repeat_iteration, COUNT, .def = "1", .min = "1",
                 .max = "1000000000", .doc = "How many times the iterations are played"),
    WF_PARAM_ROW(
        struct wf_scenario_job, loops, COUNT, .def = "1", .min = "1", .max = "1000000000",
        .doc = "How many times each loop is played: a region of a name that begins with "
               "TRACER_Loop"),
    WF_PARAM_ROW(struct wf_scenario_job, changes, TEXT, .def = "",
                 .doc =
                     "Replace compute times and sizes of messages: compute>=1ms:20us (1 ms or "
                     "more become 20 us), bytes>=64KiB:8KiB, bytes=1000:2000; separated by "
                     "commas"),
    WF_PARAM_END,
};

const struct wf_param *wf_scenario_job_params(void)
{
    const struct wf_param *row = wf_scenario_params;

    while (strcmp(row->name, "source") != 0) { /* the first row of a job */
        row++;
    }
    return row;
}

bool wf_scenario_job_key(const char *key, uint32_t *number, const char **name)
{
    uint32_t n = 0;
    const char *at = key + 4;

    if (strncmp(key, "job.", 4) != 0 || *at < '1' || *at > '9') {
        return false;
    }
    for (; *at >= '0' && *at <= '9' && n <= WF_JOBS_MAX; at++) {
        n = 10 * n + (uint32_t)(*at - '0');
    }
    *number = n;
    *name = at + 1;
    return *at == '.';
}

bool wf_scenario_source_key(const char *name)
{
    return strncmp(name, "gen.", 4) == 0 || strncmp(name, "trace.", 6) == 0 ||
           strncmp(name, "run.", 4) == 0;
}

struct wf_scenario *wf_scenario_new(void)
{
    return wf_xcalloc(1, sizeof(struct wf_scenario));
}

static void release(struct wf_setting *setting)
{
    free(setting->key);
    free(setting->value);
    free(setting->origin);
    free(setting->place);
    free(setting->model);
}

void wf_scenario_free(struct wf_scenario *scenario)
{
    if (scenario == NULL) {
        return;
    }
    for (size_t i = 0; i < scenario->n; i++) {
        release(&scenario->settings[i]);
    }
    for (size_t i = 0; i < scenario->n_notes; i++) {
        free(scenario->notes[i]);
    }
    free(scenario->settings);
    free(scenario->machine);
    free(scenario->notes);
    free(scenario);
}

/* Suggests the scope for a known name without one: "engine.threads" for "threads". */
static bool find_scope(const char *name, char *buf, size_t size)
{
    struct wf_catalog_entry entry;
    size_t at = 0;
    const char *scope = NULL; /* the network's, or else the first */

    while (wf_catalog_next(&at, &entry)) {
        if (entry.params != NULL && wf_param_find(entry.params, name) != NULL &&
            (scope == NULL || strcmp(entry.scope, "net") == 0)) {
            scope = entry.scope;
        }
    }
    if (scope != NULL) {
        (void)snprintf(buf, size, "; did you mean '%s.%.40s'?", scope, name);
    }
    return scope != NULL;
}

/* Suggests the nearest name of a table; "" if none is near. */
static const char *nearest_row(const struct wf_param *row, const char *name,
                               char hint[WF_HINT_MAX])
{
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (; row->name != NULL; row++) {
        wf_nearest_add(&nearest, row->name);
    }
    return wf_nearest_hint(&nearest, hint);
}

static enum wf_status unknown_key(const char *key, const char *origin, struct wf_err *err)
{
    char hint[WF_HINT_MAX];

    if (!find_scope(key, hint, sizeof(hint))) {
        (void)nearest_row(wf_scenario_params, key, hint);
    }
    return wf_err_set(err, WF_EUSAGE, "unknown parameter '%.64s'%s", origin,
                      hint[0] != '\0' ? hint : "; expected a name such as net.L");
}

/* The part before the dot must be a known scope. */
static enum wf_status check_scope(const char *key, size_t len, const char *origin,
                                  struct wf_err *err)
{
    char wanted[64], hint[WF_HINT_MAX];
    struct wf_nearest nearest;
    struct wf_catalog_entry entry;
    size_t at = 0;

    (void)snprintf(wanted, sizeof(wanted), "%.*s", (int)(len < 63 ? len : 63), key);
    wf_nearest_begin(&nearest, wanted);
    while (wf_catalog_next(&at, &entry)) {
        if (entry.scope == NULL) {
            continue;
        }
        if (strcmp(entry.scope, wanted) == 0) {
            return WF_OK;
        }
        wf_nearest_add(&nearest, entry.scope);
    }
    return wf_err_set(err, WF_EUSAGE, "unknown parameter '%.64s': there is no scope '%s'%s",
                      origin, wanted, wf_nearest_hint(&nearest, hint));
}

/* Checks a key that begins with "job.": its name must be a setting of a job. */
static enum wf_status check_job_key(const char *key, const char *origin, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    uint32_t number;
    const char *name;

    if (!wf_scenario_job_key(key, &number, &name) || number > WF_JOBS_MAX) {
        return wf_err_set(err, WF_EUSAGE,
                          "unknown parameter '%.64s'; expected job.<number>.<name> with a "
                          "number from 1 to %d, as in job.1.source",
                          origin, WF_JOBS_MAX);
    }
    if (wf_scenario_source_key(name) || wf_param_find(wf_scenario_job_params(), name) != NULL) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EUSAGE, "unknown parameter '%.64s': a job has no '%.64s'%s",
                      origin, name, nearest_row(wf_scenario_job_params(), name, hint));
}

/* Refuses keys that no scenario has. */
static enum wf_status check_key(const char *key, const char *origin, struct wf_err *err)
{
    size_t scope = strcspn(key, ".");

    if (wf_sim_uncertainty_is(key)) {
        return wf_sim_uncertainty_check_key(key, origin, err);
    }
    if (strncmp(key, "job.", 4) == 0) {
        return check_job_key(key, origin, err);
    }
    if (key[scope] == '.') {
        return check_scope(key, scope, origin, err);
    }
    if (wf_param_find(wf_scenario_params, key) == NULL) {
        return unknown_key(key, origin, err);
    }
    return WF_OK;
}

static void append(struct wf_scenario *scenario, struct wf_setting setting)
{
    scenario->settings =
        wf_xrealloc(scenario->settings, scenario->n + 1, sizeof(*scenario->settings));
    scenario->settings[scenario->n++] = setting;
}

enum wf_status wf_scenario_check_name(const char *key, struct wf_err *err)
{
    const char *of_job = key;
    struct wf_catalog_entry entry;
    struct wf_nearest nearest;
    struct wf_cpu_rule rule;
    bool has_scope = false;
    uint32_t number;
    size_t at = 0;

    (void)wf_scenario_job_key(key, &number, &of_job);
    size_t scope = strcspn(of_job, ".");
    const char *name = of_job + scope + (of_job[scope] == '.');
    if (wf_cpu_rule_parse(name, &rule) != WF_CPU_NO_RULE) {
        return WF_OK;
    }
    wf_nearest_begin(&nearest, name);
    while (wf_catalog_next(&at, &entry)) {
        if (entry.params == NULL || strlen(entry.scope) != scope ||
            strncmp(entry.scope, of_job, scope) != 0) {
            continue;
        }
        if (wf_param_find(entry.params, name) != NULL) {
            return WF_OK;
        }
        has_scope = true;
        for (const struct wf_param *row = entry.params; row->name != NULL; row++) {
            wf_nearest_add(&nearest, row->name);
        }
    }
    if (!has_scope) {
        return WF_OK;
    }
    if (nearest.best == NULL) {
        return wf_err_set(err, WF_EUSAGE, "unknown parameter '%.64s'", key);
    }
    return wf_err_set(err, WF_EUSAGE, "unknown parameter '%.64s'; did you mean '%.*s%s'?", key,
                      (int)(name - key), key, nearest.best);
}

bool wf_setting_runs_program(const struct wf_setting *setting)
{
    size_t length = strlen(setting->key), name = strlen("source");

    return length >= name && strcmp(setting->key + length - name, "source") == 0 &&
           strncmp(setting->value, WF_PROGRAM_PREFIX, strlen(WF_PROGRAM_PREFIX)) == 0;
}

/* Files may come from strangers, and running a program is more than reading it. */
static enum wf_status check_trust(const struct wf_setting *setting, struct wf_err *err)
{
    if (setting->place == NULL || !wf_setting_runs_program(setting)) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "%s: a file may not start a program; record it with 'weft emulate' and "
                      "name the trace",
                      setting->origin);
}

enum wf_status wf_scenario_add(struct wf_scenario *scenario, struct wf_setting setting,
                               struct wf_err *err)
{
    enum wf_status status = check_key(setting.key, setting.origin, err);

    WF_THEN(status, check_trust(&setting, err));
    if (status != WF_OK) {
        status = wf_setting_blame(&setting, status, err);
        release(&setting);
        return status;
    }
    append(scenario, setting);
    return WF_OK;
}

enum wf_status wf_scenario_set(struct wf_scenario *scenario, const char *key, const char *value,
                               const char *origin, struct wf_err *err)
{
    struct wf_setting setting = {
        .key = wf_xstrdup(key),
        .value = wf_xstrdup(value),
        .origin = wf_xstrdup(origin != NULL ? origin : key),
    };

    return wf_scenario_add(scenario, setting, err);
}

static char *copy(const char *text)
{
    return text != NULL ? wf_xstrdup(text) : NULL;
}

void wf_scenario_append(struct wf_scenario *scenario, const struct wf_scenario *from)
{
    wf_scenario_append_if(scenario, from, NULL, NULL);
}

void wf_scenario_append_if(struct wf_scenario *scenario, const struct wf_scenario *from,
                           bool (*keep)(const void *arg, const char *key), const void *arg)
{
    for (size_t i = 0; i < from->n; i++) {
        struct wf_setting setting = from->settings[i];

        if (keep != NULL && !keep(arg, setting.key)) {
            continue;
        }
        setting.key = copy(setting.key);
        setting.value = copy(setting.value);
        setting.origin = copy(setting.origin);
        setting.place = copy(setting.place);
        setting.model = copy(setting.model);
        append(scenario, setting);
    }
    if (from->machine != NULL) {
        wf_scenario_name_machine(scenario, from->machine);
    }
    for (size_t i = 0; i < from->n_notes; i++) {
        wf_scenario_note(scenario, "%s", from->notes[i]);
    }
}

void wf_scenario_name_machine(struct wf_scenario *scenario, const char *name)
{
    char *old = scenario->machine;

    scenario->machine = copy(name);
    free(old);
}

void wf_scenario_note(struct wf_scenario *scenario, const char *fmt, ...)
{
    char text[NOTE_MAX];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    scenario->notes =
        wf_xrealloc(scenario->notes, scenario->n_notes + 1, sizeof(*scenario->notes));
    scenario->notes[scenario->n_notes++] = wf_xstrdup(wf_text_safe(text));
}

const struct wf_setting *wf_scenario_find(const struct wf_scenario *scenario, const char *key)
{
    for (size_t i = scenario->n; i > 0; i--) {
        if (strcmp(scenario->settings[i - 1].key, key) == 0) {
            return &scenario->settings[i - 1];
        }
    }
    return NULL;
}

enum wf_status wf_setting_apply(const struct wf_setting *setting, const struct wf_param *table,
                                void *values, const char *name, struct wf_err *err)
{
    const struct wf_param *row = wf_param_find(table, name);
    enum wf_status status;

    if (row == NULL) {
        /* The message repeats the scope that the user wrote. */
        char scope[64];
        size_t len = strlen(setting->key) - strlen(name);
        (void)snprintf(scope, sizeof(scope), "%.*s", (int)(len < 63 ? len : 63), setting->key);
        status = wf_param_set(table, values, scope, name, setting->value, err);
    } else {
        /* The parameter as the user called it, without the name of a value in a group. */
        char *called = wf_xstrdup(setting->origin);
        size_t inside = strlen(name) - strlen(row->name), len = strlen(called);
        struct wf_param named[] = {*row, WF_PARAM_END};
        called[len > inside ? len - inside : len] = '\0';
        named[0].name = called;
        status = wf_param_set(named, values, "", setting->origin, setting->value, err);
        free(called);
    }
    return wf_setting_blame(setting, status, err);
}

enum wf_status wf_setting_blame(const struct wf_setting *setting, enum wf_status status,
                                struct wf_err *err)
{
    if (status == WF_OK || setting == NULL || setting->place == NULL) {
        return status;
    }
    wf_err_prefix(err, "%s: ", setting->place);
    if (err != NULL) {
        err->status = WF_EINVAL;
    }
    return WF_EINVAL;
}
