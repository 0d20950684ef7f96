/* SPDX-License-Identifier: Apache-2.0 */
#include "run/plan/plan.h"

#include "base/lookup.h"
#include "base/mem.h"
#include "base/result/doc.h"
#include "engine/models/bench.h"
#include "model/net/net.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"
#include "model/storage/storage.h"
#include "model/topo/classes.h"
#include "model/topo/nested.h"
#include "model/traffic/traffic.h"
#include "program/ops/source.h"
#include "run/import/tracer.h"
#include "run/plan/cpu_settings.h"
#include "run/plan/jobs.h"
#include "run/plan/uncertain.h"
#include "run/scenario/catalog.h"
#include "run/scenario/power.h"
#include "run/scenario/uncertainty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENGINE_SCOPE "engine"

/* Adds a scope with the defaults of its parameters, in a struct of `size` bytes. */
static enum wf_status add_block(struct wf_plan *plan, const char *scope,
                                const struct wf_param *table, size_t size, struct wf_err *err)
{
    void *values = wf_xcalloc(1, size);

    plan->blocks[plan->n_blocks++] = (struct wf_plan_block){scope, table, values};
    return wf_param_defaults(table, values, err);
}

static const struct wf_plan_block *find_block(const struct wf_plan *plan, const char *scope,
                                              size_t len)
{
    for (size_t i = 0; i < plan->n_blocks; i++) {
        const struct wf_plan_block *block = &plan->blocks[i];
        if (strlen(block->scope) == len && memcmp(block->scope, scope, len) == 0) {
            return block;
        }
    }
    return NULL;
}

static enum wf_status apply_core(struct wf_plan *plan, const struct wf_scenario *scenario,
                                 struct wf_err *err)
{
    WF_TRY(wf_param_defaults(wf_scenario_params, &plan->core, err));
    for (size_t i = 0; i < scenario->n; i++) {
        const struct wf_setting *s = &scenario->settings[i];
        if (strchr(s->key, '.') == NULL) {
            WF_TRY(wf_setting_apply(s, wf_scenario_params, &plan->core, s->key, err));
        }
    }
    return WF_OK;
}

static enum wf_status means_nothing(const struct wf_plan *plan,
                                    const struct wf_setting *setting, struct wf_err *err)
{
    uint32_t number = 0;
    const char *name;
    bool other = wf_scenario_job_key(setting->key, &number, &name) && number < plan->n_jobs;
    enum wf_status status =
        wf_err_set(err, WF_EUSAGE, "%.64s does not apply to source '%.64s'", setting->origin,
                   other ? plan->jobs[number].settings->source : plan->core.job.source);

    return wf_setting_blame(setting, status, err);
}

/* A benchmark has no ranks and no network. */
static enum wf_status check_bench_core(const struct wf_plan *plan,
                                       const struct wf_scenario *scenario, struct wf_err *err)
{
    for (size_t i = 0; i < scenario->n; i++) {
        const struct wf_setting *s = &scenario->settings[i];
        uint32_t number;
        const char *name;
        bool of_replay = strchr(s->key, '.') == NULL && strcmp(s->key, "source") != 0 &&
                         strcmp(s->key, "seed") != 0;
        if (of_replay || wf_scenario_job_key(s->key, &number, &name)) {
            return means_nothing(plan, s, err);
        }
    }
    return WF_OK;
}

/* Whether the network model that was chosen has a parameter that takes this value. */
static bool means_something(const struct wf_net_ops *net, const struct wf_setting *setting)
{
    const char *name = strchr(setting->key, '.') + 1;
    void *scratch = wf_xcalloc(1, net->params_size);
    bool takes = wf_param_set(net->params, scratch, "", name, setting->value, NULL) == WF_OK;

    wf_param_release(net->params, scratch);
    free(scratch);
    return takes;
}

/* Whether a list of values, one for each level of one topology, fits the topology that replaced
 * it. */
static bool fits_levels(const struct wf_plan *plan, const struct wf_setting *setting)
{
    uint32_t n = 1;

    for (const char *p = setting->value; *p != '\0'; p++) {
        n += *p == ',';
    }
    return n == 1 || (plan->topo != NULL && n == wf_topo_n_levels(plan->topo));
}

/* Whether a property of a link class names a class of the topology. */
static bool fits_classes(const struct wf_plan *plan, const struct wf_setting *setting)
{
    static const char prefix[] = "net.links.";
    const char *name = setting->key + strlen(prefix);
    const char *end = strrchr(setting->key, '.');
    uint32_t number = 0;

    return strncmp(setting->key, prefix, strlen(prefix)) != 0 || plan->topo == NULL ||
           end < name ||
           wf_topo_class_find(plan->topo, name, (size_t)(end - name), &number, NULL) == WF_OK;
}

bool wf_plan_skips(const struct wf_plan *plan, const struct wf_setting *setting)
{
    if (wf_sim_uncertainty_is(setting->key)) {
        return plan->net != NULL && wf_sim_uncertainty_skips(plan, setting);
    }
    if (setting->model == NULL || plan->net == NULL) {
        return false;
    }
    if (wf_scenario_find(plan->scenario, "topology") > setting &&
        !fits_classes(plan, setting)) {
        return true;
    }
    if (setting->with_topology && wf_scenario_find(plan->scenario, "topology") > setting &&
        !fits_levels(plan, setting)) {
        return true;
    }
    return strcmp(setting->model, plan->net->name) != 0 && !means_something(plan->net, setting);
}

/* Traffic has no ranks: every node of the topology sends. */
static bool is_of_traffic(const struct wf_setting *setting)
{
    static const char *const beginnings[] = {"source", "seed",     "network", "topology",
                                             "net.",   "traffic.", "engine.", NULL};

    for (size_t i = 0; beginnings[i] != NULL; i++) {
        if (strncmp(setting->key, beginnings[i], strlen(beginnings[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* Adds to the error the network models that have the parameter, if others have it. */
static enum wf_status no_such_parameter(const struct wf_plan *plan,
                                        const struct wf_setting *setting, const char *name,
                                        struct wf_err *err)
{
    char having[128] = "";
    size_t used = 0;

    for (const struct wf_net_ops *const *ops = wf_net_table(); *ops != NULL; ops++) {
        if (wf_param_find((*ops)->params, name) != NULL && used < sizeof(having)) {
            used += (size_t)snprintf(having + used, sizeof(having) - used, "%s%s",
                                     used > 0 ? ", " : "", (*ops)->name);
        }
    }
    if (used == 0) {
        return WF_OK;
    }
    return wf_setting_blame(setting,
                            wf_err_set(err, WF_EUSAGE,
                                       "unknown parameter '%.64s': the network model '%s' has "
                                       "none of that name; models that have it: %s",
                                       setting->origin, plan->net->name, having),
                            err);
}

static enum wf_status apply_parameters(struct wf_plan *plan, const struct wf_scenario *scenario,
                                       struct wf_err *err)
{
    for (size_t i = 0; i < scenario->n; i++) {
        const struct wf_setting *s = &scenario->settings[i];
        size_t len = strcspn(s->key, ".");
        const char *name = s->key + len + 1;
        if (s->key[len] == '\0' || wf_plan_job_setting(s) ||
            (plan->bench == NULL &&
             (wf_sim_cpu_settings_has(s) || wf_sim_uncertainty_is(s->key))) ||
            (plan->pattern != NULL && !is_of_traffic(s))) {
            continue;
        }

        const struct wf_plan_block *block = wf_plan_job_block(plan, s, &name);
        if (block == NULL) {
            block = find_block(plan, s->key, len);
        }
        if (block == NULL) {
            return means_nothing(plan, s, err);
        }

        if (wf_plan_skips(plan, s)) {
            continue;
        }
        if (plan->net != NULL && block->table == plan->net->params &&
            wf_param_find(block->table, name) == NULL) {
            WF_TRY(no_such_parameter(plan, s, name, err));
        }
        WF_TRY(wf_setting_apply(s, block->table, block->values, name, err));
    }
    return WF_OK;
}

/* Applies the preset of the network model, before the settings that are given. An unknown name
 * is reported later, like any other wrong value. */
static enum wf_status apply_preset(struct wf_plan *plan, const struct wf_scenario *scenario,
                                   struct wf_err *err)
{
    const struct wf_setting *setting = wf_scenario_find(scenario, "net.preset");
    const struct wf_net_preset *preset = plan->net != NULL ? plan->net->presets : NULL;
    enum wf_status status = WF_OK;

    if (setting == NULL || preset == NULL || wf_plan_skips(plan, setting)) {
        return WF_OK;
    }
    while (preset->name != NULL && strcmp(preset->name, setting->value) != 0) {
        preset++;
    }
    for (size_t i = 0; preset->name != NULL && preset->settings[i] != NULL && status == WF_OK;
         i += 2) {
        status = wf_param_set(plan->net->params, wf_plan_values(plan, "net"), "net.",
                              preset->settings[i], preset->settings[i + 1], err);
    }
    return status;
}

static enum wf_status plan_bench(struct wf_plan *plan, const char *name, struct wf_err *err)
{
    plan->bench = wf_lookup("model", name, wf_bench_table(), err);
    if (plan->bench == NULL) {
        return WF_EUSAGE;
    }
    return add_block(plan, plan->bench->name, plan->bench->params, plan->bench->params_size,
                     err);
}

static enum wf_status plan_network(struct wf_plan *plan, struct wf_err *err)
{
    WF_TRY(
        wf_plan_blame(plan, "network", wf_net_find(plan->core.network, &plan->net, err), err));
    WF_TRY(add_block(plan, "net", plan->net->params, plan->net->params_size, err));
    if (plan->core.topology[0] == '\0') {
        return WF_OK;
    }
    return wf_plan_blame(plan, "topology",
                         wf_topo_create(plan->core.topology, &plan->topo, err), err);
}

/* Settings of ranks and processors are ignored if they come from a machine file, and refused if
 * the user gave them. */
static enum wf_status check_traffic(const struct wf_plan *plan, struct wf_err *err)
{
    for (size_t i = 0; i < plan->scenario->n; i++) {
        const struct wf_setting *s = &plan->scenario->settings[i];
        if (s->place == NULL && !is_of_traffic(s)) {
            return means_nothing(plan, s, err);
        }
    }
    return WF_OK;
}

static enum wf_status plan_traffic(struct wf_plan *plan, const char *name, struct wf_err *err)
{
    plan->pattern = name;
    WF_TRY(check_traffic(plan, err));
    WF_TRY(
        add_block(plan, "traffic", wf_traffic_params, sizeof(struct wf_traffic_params), err));
    return plan_network(plan, err);
}

static enum wf_status plan_replay(struct wf_plan *plan, struct wf_err *err)
{
    WF_TRY(wf_plan_jobs_find(plan, err));
    WF_TRY(plan_network(plan, err));
    WF_TRY(add_block(plan, "cpu", wf_cpu_params, sizeof(struct wf_cpu_params), err));
    WF_TRY(add_block(plan, "node", wf_node_params, sizeof(struct wf_node_params), err));
    WF_TRY(add_block(plan, "mpi", wf_mpi_params, sizeof(struct wf_mpi_params), err));
    WF_TRY(
        add_block(plan, "storage", wf_storage_params, sizeof(struct wf_storage_params), err));
    WF_TRY(add_block(plan, "power", wf_sim_energy_params, sizeof(struct wf_sim_energy_params),
                     err));
    WF_TRY(
        add_block(plan, "price", wf_sim_price_params, sizeof(struct wf_sim_price_params), err));
    return add_block(plan, "replay", wf_replay_params, sizeof(struct wf_replay_params), err);
}

static enum wf_status plan_source(struct wf_plan *plan, struct wf_err *err)
{
    static const struct {
        const char *prefix;
        enum wf_status (*plan)(struct wf_plan *plan, const char *name, struct wf_err *err);
    } kinds[] = {{"bench:", plan_bench}, {"traffic:", plan_traffic}};
    const char *source = plan->core.job.source;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t len = strlen(kinds[i].prefix);
        if (strncmp(source, kinds[i].prefix, len) == 0) {
            return kinds[i].plan(plan, source + len, err);
        }
    }
    return plan_replay(plan, err);
}

static enum wf_status check_runs(const struct wf_plan *plan, struct wf_err *err)
{
    const struct wf_setting *setting = wf_scenario_find(plan->scenario, "runs");

    if (plan->core.runs != 1) {
        return WF_OK;
    }
    return wf_setting_blame(setting,
                            wf_err_set(err, WF_EUSAGE,
                                       "%s: one repeated run has no distribution; expected 0, "
                                       "or 2 to 100000, such as 99",
                                       setting != NULL ? setting->origin : "runs"),
                            err);
}

/* A run that is stopped has no total times, which these settings are about. */
static enum wf_status check_until(const struct wf_plan *plan, struct wf_err *err)
{
    const struct wf_setting *setting = wf_scenario_find(plan->scenario, "until");
    const char *other = plan->core.runs > 0     ? "runs"
                        : plan->core.efficiency ? "efficiency"
                        : plan->core.alone      ? "alone"
                                                : NULL;

    if (plan->core.until == 0) {
        return WF_OK;
    }
    if (plan->n_jobs == 0) {
        return means_nothing(plan, setting, err);
    }
    return other == NULL
               ? WF_OK
               : wf_setting_blame(setting,
                                  wf_err_set(err, WF_EUSAGE,
                                             "%s: %s needs programs that run to their end",
                                             setting->origin, other),
                                  err);
}

/* The scopes are complete before settings are applied: a key of an unknown scope is refused. */
static enum wf_status fill(struct wf_plan *plan, struct wf_err *err)
{
    const struct wf_scenario *scenario = plan->scenario;

    WF_TRY(apply_core(plan, scenario, err));
    WF_TRY(check_runs(plan, err));
    WF_TRY(plan_source(plan, err));
    WF_TRY(check_until(plan, err));
    plan->blocks[plan->n_blocks++] =
        (struct wf_plan_block){ENGINE_SCOPE, wf_executor_params, plan};
    WF_TRY(wf_param_defaults(wf_executor_params, plan, err));
    if (plan->bench != NULL) {
        WF_TRY(check_bench_core(plan, scenario, err));
    }
    if (plan->topo != NULL && plan->net->fit != NULL) {
        plan->net->fit(wf_plan_values(plan, "net"), plan->topo);
    }
    WF_TRY(apply_preset(plan, scenario, err));
    WF_TRY(apply_parameters(plan, scenario, err));
    if (plan->n_jobs > 0) {
        WF_TRY(wf_sim_uncertainty_check_all(plan, err));
    }
    WF_TRY(wf_plan_jobs_open(plan, err));
    plan->engine.seed = plan->core.seed;
    plan->engine.end = plan->core.until;
    if (plan->bench != NULL) {
        const char *params = wf_plan_values(plan, plan->bench->name);
        memcpy(&plan->engine.end, params + plan->bench->end_offset, sizeof(plan->engine.end));
    }
    return WF_OK;
}

enum wf_status wf_plan_init(struct wf_plan *plan, const struct wf_scenario *scenario,
                            struct wf_err *err)
{
    memset(plan, 0, sizeof(*plan));
    WF_TRY(wf_tracer_expand(scenario, &plan->expanded, err));
    plan->scenario = plan->expanded != NULL ? plan->expanded : scenario;

    enum wf_status status = fill(plan, err);
    if (status != WF_OK) {
        wf_plan_fini(plan);
    }
    return status;
}

bool wf_plan_runs_programs(const struct wf_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        if (plan->jobs[i].source != NULL && plan->jobs[i].source->live != NULL) {
            return true;
        }
    }
    return false;
}

void wf_plan_fini(struct wf_plan *plan)
{
    for (size_t i = 0; i < plan->n_blocks; i++) {
        struct wf_plan_block *block = &plan->blocks[i];
        wf_param_release(block->table, block->values);
        if (block->values != (void *)plan) {
            free(block->values);
        }
    }
    wf_plan_jobs_fini(plan);
    wf_topo_free(plan->topo);
    wf_param_release(wf_scenario_params, &plan->core);
    wf_scenario_free(plan->expanded);
    memset(plan, 0, sizeof(*plan));
}

enum wf_status wf_plan_blame(const struct wf_plan *plan, const char *key, enum wf_status status,
                             struct wf_err *err)
{
    const struct wf_setting *setting = NULL;
    char named[64];

    if (status != WF_OK && err != NULL) {
        size_t len = strcspn(err->text, ":");
        (void)snprintf(named, sizeof(named), "%.*s", (int)(len < 63 ? len : 63), err->text);
        setting = wf_scenario_find(plan->scenario, named);
        /* A value in a group may come from a text with all of them. */
        for (char *dot = strrchr(named, '.'); dot != NULL && setting == NULL;
             dot = strrchr(named, '.')) {
            *dot = '\0';
            setting = wf_scenario_find(plan->scenario, named);
        }
    }
    if (setting == NULL) {
        setting = wf_scenario_find(plan->scenario, key);
    }
    return wf_setting_blame(setting, status, err);
}

void *wf_plan_values(const struct wf_plan *plan, const char *scope)
{
    const struct wf_plan_block *block = find_block(plan, scope, strlen(scope));

    return block != NULL ? block->values : NULL;
}

static void describe_param(const struct wf_param *row, const void *values,
                           struct wf_value *section)
{
    const void *at = (const char *)values + row->offset;
    char text[WF_PARAM_TEXT_MAX];

    if (row->type == WF_PARAM_BOOL) {
        wf_doc_bool(section, row->name, *(const bool *)at);
    } else if (row->type == WF_PARAM_COUNT &&
               (row->word == NULL || *(const uint64_t *)at != WF_PARAM_WORD)) {
        wf_doc_count(section, row->name, *(const uint64_t *)at);
    } else if (row->type == WF_PARAM_REAL) {
        wf_doc_real(section, row->name, *(const double *)at);
    } else {
        wf_doc_text(section, row->name, wf_param_format(row, values, text));
    }
}

/* Parameters of a processor and powers that are "", 0 or unlimited are unknown and are not
 * shown. */
static bool is_unknown(const struct wf_plan_block *block, const struct wf_param *row)
{
    char text[WF_PARAM_TEXT_MAX];

    if (block->table != wf_cpu_params && block->table != wf_sim_energy_params &&
        block->table != wf_sim_price_params) {
        return false;
    }
    const char *value = wf_param_format(row, block->values, text);
    return strcmp(value, "") == 0 || strcmp(value, "0") == 0 || strcmp(value, "unlimited") == 0;
}

struct wf_value *wf_plan_describe_values(const struct wf_plan_block *block,
                                         struct wf_value *parent, const char *name)
{
    struct wf_value *section = wf_doc_section(parent, name);

    for (const struct wf_param *row = block->table; row->name != NULL; row++) {
        if (!is_unknown(block, row)) {
            describe_param(row, block->values, section);
        }
    }
    return section;
}

void wf_plan_describe_block(const struct wf_plan *plan, const char *scope,
                            struct wf_value *parent, const char *name)
{
    const struct wf_plan_block *block = find_block(plan, scope, strlen(scope));
    struct wf_value *section = wf_plan_describe_values(block, parent, name);

    if (block->table == wf_cpu_params) {
        wf_sim_cpu_settings_describe(plan->scenario, section);
    }
}

/* The machine's name, if there is one, and what the user set himself: both together repeat the run.
 * Settings of the engine do not change results and are left out. */
static void describe_machine(const struct wf_scenario *scenario, struct wf_value *section)
{
    if (scenario->machine != NULL) {
        wf_doc_text(section, "machine", scenario->machine);
    }
    struct wf_value *own = wf_doc_section(section, "settings");
    for (size_t i = 0; i < scenario->n; i++) {
        const struct wf_setting *setting = &scenario->settings[i];
        bool of_engine = strncmp(setting->key, ENGINE_SCOPE ".", strlen(ENGINE_SCOPE ".")) == 0;

        if (!setting->implied && !of_engine &&
            wf_scenario_find(scenario, setting->key) == setting) {
            wf_doc_text(own, setting->key, setting->value);
        }
    }
}

void wf_plan_describe(const struct wf_plan *plan, struct wf_value *root)
{
    struct wf_value *section = wf_doc_section(root, "scenario");

    wf_doc_text(section, "command",
                plan->bench != NULL     ? "bench"
                : plan->pattern != NULL ? "traffic"
                                        : "replay");
    if (plan->n_jobs > 0) {
        wf_plan_job_describe(&plan->jobs[0], section);
    } else {
        wf_doc_text(section, "source", plan->core.job.source);
    }
    if (plan->bench == NULL) {
        wf_doc_text(section, "network", plan->core.network);
        if (plan->topo != NULL && plan->net->uses_topology) {
            wf_doc_text(section, "topology", plan->core.topology);
        } else {
            wf_doc_null(section, "topology");
        }
        wf_doc_bool(section, "efficiency", plan->core.efficiency);
        if (plan->core.alone) {
            wf_doc_bool(section, "alone", true);
        }
    }
    if (plan->core.runs > 0) {
        wf_doc_count(section, "runs", plan->core.runs);
        wf_sim_uncertainty_describe(plan, wf_doc_section(section, "uncertainty"));
    }
    if (plan->core.until > 0) {
        wf_doc_count(section, "until_ps", (uint64_t)plan->core.until);
    }
    wf_doc_count(section, "seed", plan->core.seed);
    describe_machine(plan->scenario, section);

    struct wf_value *parameters = wf_doc_section(section, "parameters");
    if (plan->n_jobs > 0 && plan->jobs[0].block.table != NULL) {
        (void)wf_plan_describe_values(&plan->jobs[0].block, parameters,
                                      plan->jobs[0].block.scope);
    }
    for (size_t i = 0; i < plan->n_blocks; i++) {
        const char *scope = plan->blocks[i].scope;
        const void *table = plan->blocks[i].table, *values = plan->blocks[i].values;
        bool unknown = (table == wf_sim_energy_params && !wf_sim_energy_is_known(values)) ||
                       (table == wf_sim_price_params && !wf_sim_price_is_known(values)) ||
                       (table == wf_storage_params && !wf_storage_is_known(values));
        if (strcmp(scope, ENGINE_SCOPE) != 0 && !unknown) {
            wf_plan_describe_block(plan, scope, parameters, scope);
        }
    }
    if (plan->n_jobs > 1) {
        wf_plan_jobs_describe(plan, section);
    }
}
