/* SPDX-License-Identifier: Apache-2.0 */
#include "run/scenario/uncertainty.h"

#include "base/param_scale.h"
#include "base/text.h"
#include "base/units.h"
#include "model/net/net.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"

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

const char *wf_sim_uncertainty_of(const char *key)
{
    return key + strlen(WF_SIM_UNCERTAINTY);
}

bool wf_sim_uncertainty_is_model(const char *key)
{
    return strcmp(wf_sim_uncertainty_of(key), "model") == 0;
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

const struct wf_param *wf_sim_uncertainty_table(const char *key, const struct wf_net_ops *net,
                                                const char **scope, const char **name)
{
    size_t number = scope_of(wf_sim_uncertainty_of(key), name);

    if (number == N_SCOPES) {
        return NULL;
    }
    *scope = scopes[number].scope;
    return scopes[number].params != NULL ? scopes[number].params : net->params;
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
    size_t scope = scope_of(wf_sim_uncertainty_of(key), &name);

    if (wf_sim_uncertainty_is_model(key)) {
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
                          origin, wf_sim_uncertainty_of(key));
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
                      wf_sim_uncertainty_of(key), hint);
}

enum wf_status wf_sim_uncertainty_check_key(const char *key, const char *origin,
                                            struct wf_err *err)
{
    return check_name(key, NULL, origin, err);
}

/* ---- values ---- */

enum wf_status wf_sim_uncertainty_percent(const struct wf_setting *setting, double *out,
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

    WF_THEN(status, wf_sim_uncertainty_percent(setting, &percent, err));
    return wf_setting_blame(setting, status, err);
}
