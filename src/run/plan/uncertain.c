/* SPDX-License-Identifier: Apache-2.0 */
#include "run/plan/uncertain.h"

#include "base/param_scale.h"
#include "base/result/doc.h"
#include "base/rng.h"
#include "model/net/net.h"
#include "run/scenario/uncertainty.h"

#include <math.h>

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
    const char *scope;

    *out = (struct uncertain){.key = wf_sim_uncertainty_of(setting->key)};
    if (plan->net == NULL) {
        return false;
    }
    const struct wf_param *table =
        wf_sim_uncertainty_table(setting->key, plan->net, &scope, &out->name);
    out->values = table != NULL ? wf_plan_values(plan, scope) : NULL;
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

    return setting->place != NULL && !wf_sim_uncertainty_is_model(setting->key) &&
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
            wf_sim_uncertainty_percent(setting, &item->percent, NULL) == WF_OK &&
            item->percent > 0) {
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

    return setting != NULL && wf_sim_uncertainty_percent(setting, &percent, NULL) == WF_OK
               ? percent
               : 0;
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
