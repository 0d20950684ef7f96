/* SPDX-License-Identifier: Apache-2.0 */
#include "run/scenario/uncertainty.h"

#include "base/param_scale.h"
#include "base/result/doc.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/units.h"
#include "model/net/net.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"
#include "run/plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PERCENT_MAX = 100, TEXT_MAX = 64 };

/* The scopes that describe a machine. The parameters of `net` are those of a network model. */
static const struct {
    const char *scope;
    const struct wf_param *params;
} scopes[] = {
    {"net", NULL}, {"node", wf_node_params}, {"mpi", wf_mpi_params}, {"cpu", wf_cpu_params}};

enum { N_SCOPES = sizeof(scopes) / sizeof(scopes[0]) };

bool wf_sim_uncertainty_is(const char *key)
{
    return strncmp(key, WF_SIM_UNCERTAINTY, strlen(WF_SIM_UNCERTAINTY)) == 0;
}

/* The setting that is uncertain: "net.bandwidth". */
static const char *setting_of(const char *key)
{
    return key + strlen(WF_SIM_UNCERTAINTY);
}

static bool is_model(const char *key)
{
    return strcmp(setting_of(key), "model") == 0;
}

/* The name of a parameter without its scope, and the number of its scope; N_SCOPES if it has
 * none of those. */
static size_t scope_of(const char *setting, const char **name)
{
    size_t length = strcspn(setting, "."), i = 0;

    while (i < N_SCOPES && (strlen(scopes[i].scope) != length ||
                            strncmp(scopes[i].scope, setting, length) != 0)) {
        i++;
    }
    *name = setting[length] == '.' ? setting + length + 1 : "";
    return i;
}

/* ---- keys ---- */

/* Finds a row, and adds the names of quantities to the search for the nearest one. */
static const struct wf_param *find_row(const struct wf_param *table, const char *name,
                                       struct wf_nearest *nearest)
{
    for (const struct wf_param *row = table; row != NULL && row->name != NULL; row++) {
        if (row->type != WF_PARAM_GROUPS && wf_param_scale_fits(row, row->name)) {
            wf_nearest_add(nearest, row->name);
        }
    }
    return table != NULL ? wf_param_find(table, name) : NULL;
}

/* Finds a row that fits in the table, or in those of all network models. `found` is set if any
 * has the name. */
static bool find_fit(size_t scope, const struct wf_net_ops *net, const char *name,
                     struct wf_nearest *nearest, bool *found)
{
    const struct wf_net_ops *const *models = wf_net_table();
    const struct wf_param *row = NULL;
    bool fits = false;

    *found = false;
    if (scopes[scope].params != NULL || net != NULL) {
        row = find_row(net != NULL && scopes[scope].params == NULL ? net->params
                                                                   : scopes[scope].params,
                       name, nearest);
        *found = row != NULL;
        return row != NULL && wf_param_scale_fits(row, name);
    }
    for (; *models != NULL; models++) {
        row = find_row((*models)->params, name, nearest);
        *found = *found || row != NULL;
        fits = fits || (row != NULL && wf_param_scale_fits(row, name));
    }
    return fits;
}

static enum wf_status check_name(const char *key, const struct wf_net_ops *net,
                                 const char *origin, struct wf_err *err)
{
    struct wf_nearest nearest;
    const char *name;
    char hint[WF_HINT_MAX] = "";
    bool found = false;
    size_t scope = scope_of(setting_of(key), &name);

    if (is_model(key)) {
        return WF_OK;
    }
    if (scope == N_SCOPES) {
        return wf_err_set(err, WF_EUSAGE,
                          "%.100s: only settings of the machine can be uncertain; expected a "
                          "name that begins with net., node., mpi. or cpu., such as "
                          "net.bandwidth, or model",
                          origin);
    }
    wf_nearest_begin(&nearest, name);
    if (find_fit(scope, net, name, &nearest, &found)) {
        return WF_OK;
    }
    if (found) {
        return wf_err_set(err, WF_EUSAGE,
                          "%.100s: '%.64s' is not a time, rate, size or real number, so it "
                          "cannot be uncertain by some percent",
                          origin, setting_of(key));
    }
    if (nearest.best != NULL) {
        (void)snprintf(hint, sizeof(hint), "; did you mean '%s.%.64s'?", scopes[scope].scope,
                       nearest.best);
    }
    if (net != NULL && scopes[scope].params == NULL) {
        return wf_err_set(err, WF_EUSAGE,
                          "%.100s: the network model '%s' has no parameter '%.64s'%s", origin,
                          net->name, name, hint);
    }
    return wf_err_set(err, WF_EUSAGE, "%.100s: unknown setting '%.64s'%s", origin,
                      setting_of(key), hint);
}

enum wf_status wf_sim_uncertainty_check_key(const char *key, const char *origin,
                                            struct wf_err *err)
{
    return check_name(key, NULL, origin, err);
}

/* ---- values ---- */

static enum wf_status parse_percent(const struct wf_setting *setting, double *out,
                                    struct wf_err *err)
{
    char number[TEXT_MAX];
    size_t length = strlen(setting->value);
    double percent = 0;

    if (length < 2 || length >= sizeof(number) || setting->value[length - 1] != '%') {
        return wf_err_set(err, WF_EUSAGE,
                          "%.100s: '%.64s' is not a percentage; expected a relative standard "
                          "deviation from 0%% to %d%%, such as 3%%",
                          setting->origin, setting->value, PERCENT_MAX);
    }
    (void)snprintf(number, sizeof(number), "%.*s", (int)length - 1, setting->value);
    if (length > 2 && number[length - 2] == ' ') {
        number[length - 2] = '\0';
    }
    if (wf_parse_real(number, &percent, NULL) != WF_OK) {
        return wf_err_set(err, WF_EUSAGE,
                          "%.100s: '%.64s' is not a number and a '%%'; expected a relative "
                          "standard deviation such as 3%%",
                          setting->origin, setting->value);
    }
    if (!(percent >= 0 && percent <= PERCENT_MAX)) {
        return wf_err_set(err, WF_EUSAGE,
                          "%.100s: '%.64s' is out of range; expected 0%% to %d%%",
                          setting->origin, setting->value, PERCENT_MAX);
    }
    *out = percent;
    return WF_OK;
}

enum wf_status wf_sim_uncertainty_check(const struct wf_setting *setting,
                                        const struct wf_net_ops *net, struct wf_err *err)
{
    double percent;
    enum wf_status status = check_name(setting->key, net, setting->origin, err);

    if (status == WF_OK) {
        status = parse_percent(setting, &percent, err);
    }
    return wf_setting_blame(setting, status, err);
}

/* ---- the settings of a plan ---- */

/* A setting that is uncertain, and where the plan keeps its value. */
struct uncertain {
    const char *key;  /* "net.links.global.latency" */
    const char *name; /* "links.global.latency" */
    const struct wf_param *row;
    void *values;
    double percent;
};

/* False if the plan has no number that the setting could make uncertain. */
static bool resolve(const struct wf_plan *plan, const struct wf_setting *setting,
                    struct uncertain *out)
{
    size_t scope;

    *out = (struct uncertain){.key = setting_of(setting->key)};
    scope = scope_of(out->key, &out->name);
    if (scope == N_SCOPES || plan->net == NULL) {
        return false;
    }
    const struct wf_param *table =
        scopes[scope].params != NULL ? scopes[scope].params : plan->net->params;
    out->values = wf_plan_values(plan, scopes[scope].scope);
    out->row = out->values != NULL ? wf_param_find(table, out->name) : NULL;
    return out->row != NULL && wf_param_scale_fits(out->row, out->name);
}

static bool is_known(const struct uncertain *item)
{
    return wf_param_scale_matters(item->row, item->name, item->values);
}

bool wf_sim_uncertainty_skips(const struct wf_plan *plan, const struct wf_setting *setting)
{
    struct uncertain item;

    return setting->place != NULL && !is_model(setting->key) &&
           (!resolve(plan, setting, &item) || !is_known(&item));
}

/* A setting that the user gave must have a value that can be uncertain. */
static enum wf_status check_value(const struct wf_plan *plan, const struct wf_setting *setting,
                                  struct wf_err *err)
{
    struct uncertain item;

    if (setting->place != NULL || !resolve(plan, setting, &item) || is_known(&item)) {
        return WF_OK;
    }
    if (item.row->type == WF_PARAM_GROUPS) {
        return wf_err_set(err, WF_EUSAGE,
                          "%.100s: %.100s is not set; set it, as in -p %.100s=...",
                          setting->origin, item.key, item.key);
    }
    return wf_err_set(err, WF_EUSAGE,
                      "%.100s: %.64s is 0 or unlimited, which no percentage changes; set it to "
                      "a number",
                      setting->origin, item.key);
}

enum wf_status wf_sim_uncertainty_check_all(const struct wf_plan *plan, struct wf_err *err)
{
    for (size_t i = 0; i < plan->scenario->n; i++) {
        const struct wf_setting *setting = &plan->scenario->settings[i];

        if (!wf_sim_uncertainty_is(setting->key) || wf_sim_uncertainty_skips(plan, setting)) {
            continue;
        }
        WF_TRY(wf_sim_uncertainty_check(setting, plan->net, err));
        WF_TRY(check_value(plan, setting, err));
    }
    return WF_OK;
}

/* The next setting in force that is uncertain, from *at on; false if there is none. */
static bool next_uncertain(const struct wf_plan *plan, size_t *at, struct uncertain *item)
{
    while (*at < plan->scenario->n) {
        const struct wf_setting *setting = &plan->scenario->settings[(*at)++];

        if (wf_sim_uncertainty_is(setting->key) &&
            wf_scenario_find(plan->scenario, setting->key) == setting &&
            resolve(plan, setting, item) && is_known(item) &&
            parse_percent(setting, &item->percent, NULL) == WF_OK && item->percent > 0) {
            return true;
        }
    }
    return false;
}

/* The percentage of uncertainty.model; 0 if it is not given. */
static double model_percent(const struct wf_plan *plan)
{
    const struct wf_setting *setting =
        wf_scenario_find(plan->scenario, WF_SIM_UNCERTAINTY "model");
    double percent = 0;

    return setting != NULL && parse_percent(setting, &percent, NULL) == WF_OK ? percent : 0;
}

size_t wf_sim_uncertainty_count(const struct wf_plan *plan)
{
    struct uncertain item;
    size_t n = model_percent(plan) > 0;

    for (size_t at = 0; next_uncertain(plan, &at, &item); n++) {
    }
    return n;
}

/* ---- drawing ---- */

/* A stream of random numbers for a name: FNV-1a, 64 bits. */
static uint64_t stream_of(const char *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *key != '\0'; key++) {
        hash = (hash ^ (unsigned char)*key) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* The natural logarithm of 1 + x for 0 <= x <= 1, from wf_rng_exp() by Newton's method: the
 * library's function may differ from one machine to the next. */
static double log_one_plus(double x)
{
    double y = x;

    for (int i = 0; i < 6; i++) {
        y = y - 1 + (1 + x) / wf_rng_exp(y);
    }
    return y;
}

/* A log-normal factor with median 1: its standard deviation is `percent` of its mean. */
static uint64_t draw_factor(double percent, uint64_t random)
{
    double cv = percent / 100;
    double factor = wf_rng_exp(sqrt(log_one_plus(cv * cv)) * wf_rng_normal(random));

    return (uint64_t)(factor * (double)WF_PARAM_SCALE_ONE + 0.5);
}

/* Copies the value of a parameter from the struct of another plan. */
static void copy_value(const struct wf_param *row, const void *from, void *to)
{
    const struct wf_param one[] = {*row, WF_PARAM_END};
    char text[WF_PARAM_TEXT_MAX];
    struct wf_err err;

    if (wf_param_set(one, to, "", row->name, wf_param_format(row, from, text), &err) != WF_OK) {
        wf_panic("value of a plan: %s", err.text);
    }
}

void wf_sim_uncertainty_draw(struct wf_plan *plan, const struct wf_plan *nominal,
                             uint64_t replica)
{
    struct uncertain item, own;

    for (size_t at = 0; next_uncertain(nominal, &at, &item);) {
        const struct wf_setting *setting = &nominal->scenario->settings[at - 1];
        if (resolve(plan, setting, &own)) {
            copy_value(item.row, item.values, own.values);
        }
    }
    for (size_t at = 0; next_uncertain(nominal, &at, &item);) {
        const struct wf_setting *setting = &nominal->scenario->settings[at - 1];
        uint64_t random = wf_rng_draw(nominal->core.seed, stream_of(item.key), replica);
        if (resolve(plan, setting, &own)) {
            wf_param_scale(own.row, own.name, own.values, draw_factor(item.percent, random));
        }
    }
}

uint64_t wf_sim_uncertainty_model(const struct wf_plan *nominal, uint64_t replica)
{
    uint64_t random = wf_rng_draw(nominal->core.seed, stream_of("model"), replica);

    return draw_factor(model_percent(nominal), random);
}

void wf_sim_uncertainty_describe(const struct wf_plan *plan, struct wf_value *section)
{
    struct uncertain item;

    if (model_percent(plan) > 0) {
        wf_doc_real(section, "model", model_percent(plan));
    }
    for (size_t at = 0; next_uncertain(plan, &at, &item);) {
        wf_doc_real(section, item.key, item.percent);
    }
}
