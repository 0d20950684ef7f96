/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario.h"

#include "base/mem.h"
#include "base/text.h"
#include "sim/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct wf_param wf_scenario_params[] = {
    {
        .name = "source",
        .type = WF_PARAM_TEXT,
        .offset = offsetof(struct wf_scenario_core, source),
        .def = "",
        .doc = "Where the operations come from: gen:<generator> or bench:<model>",
    },
    {
        .name = "ranks",
        .type = WF_PARAM_COUNT,
        .offset = offsetof(struct wf_scenario_core, ranks),
        .min = "1",
        .max = "4000000000",
        .doc = "MPI processes of the simulated program",
    },
    {
        .name = "ranks_per_node",
        .type = WF_PARAM_COUNT,
        .offset = offsetof(struct wf_scenario_core, ranks_per_node),
        .def = "1",
        .min = "1",
        .max = "65536",
        .doc = "Ranks that share a node; nodes are filled in the order of ranks",
    },
    {
        .name = "network",
        .type = WF_PARAM_TEXT,
        .offset = offsetof(struct wf_scenario_core, network),
        .def = "loggp",
        .doc = "Network model",
    },
    {
        .name = "topology",
        .type = WF_PARAM_TEXT,
        .offset = offsetof(struct wf_scenario_core, topology),
        .def = "",
        .doc = "How the nodes are connected: torus:16x16x16",
    },
    {
        .name = "seed",
        .type = WF_PARAM_COUNT,
        .offset = offsetof(struct wf_scenario_core, seed),
        .def = "1",
        .doc = "Seed of all random numbers",
    },
    WF_PARAM_END,
};

struct wf_scenario *wf_scenario_new(void)
{
    return wf_xcalloc(1, sizeof(struct wf_scenario));
}

void wf_scenario_free(struct wf_scenario *scenario)
{
    if (scenario == NULL) {
        return;
    }
    for (size_t i = 0; i < scenario->n; i++) {
        free(scenario->settings[i].key);
        free(scenario->settings[i].value);
        free(scenario->settings[i].origin);
    }
    free(scenario->settings);
    free(scenario);
}

/* A known name whose scope was forgotten: "engine.threads" for "threads". */
static bool find_scope(const char *name, char *buf, size_t size)
{
    struct wf_catalog_entry entry;
    size_t at = 0;

    while (wf_catalog_next(&at, &entry)) {
        if (entry.params != NULL && wf_param_find(entry.params, name) != NULL) {
            (void)snprintf(buf, size, "; did you mean '%s.%.40s'?", entry.scope, name);
            return true;
        }
    }
    return false;
}

static enum wf_status unknown_key(const char *key, const char *origin, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, key);
    for (const struct wf_param *row = wf_scenario_params; row->name != NULL; row++) {
        wf_nearest_add(&nearest, row->name);
    }
    if (!find_scope(key, hint, sizeof(hint))) {
        (void)wf_nearest_hint(&nearest, hint);
    }
    return wf_err_set(err, WF_EUSAGE, "unknown parameter '%.64s'%s", origin,
                      hint[0] != '\0' ? hint : "; expected a name such as net.L");
}

/* The part before the dot must be the scope of something. */
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
        if (entry.params == NULL || entry.scope == NULL) {
            continue;
        }
        if (strcmp(entry.scope, wanted) == 0) {
            return WF_OK;
        }
        wf_nearest_add(&nearest, entry.scope);
    }
    return wf_err_set(err, WF_EUSAGE, "unknown parameter '%.64s': nothing has the scope '%s'%s",
                      origin, wanted, wf_nearest_hint(&nearest, hint));
}

enum wf_status wf_scenario_set(struct wf_scenario *scenario, const char *key, const char *value,
                               const char *origin, struct wf_err *err)
{
    size_t scope = strcspn(key, ".");
    enum wf_status status = WF_OK;

    origin = origin != NULL ? origin : key;
    if (key[scope] == '.') {
        status = check_scope(key, scope, origin, err);
    } else if (wf_param_find(wf_scenario_params, key) == NULL) {
        status = unknown_key(key, origin, err);
    }
    if (status != WF_OK) {
        return status;
    }

    scenario->settings =
        wf_xrealloc(scenario->settings, scenario->n + 1, sizeof(*scenario->settings));
    scenario->settings[scenario->n++] = (struct wf_setting){
        .key = wf_xstrdup(key),
        .value = wf_xstrdup(value),
        .origin = wf_xstrdup(origin),
    };
    return WF_OK;
}
