/* SPDX-License-Identifier: Apache-2.0 */
/* The installed interface, on top of wf_scenario and wf_sim_run(). */
#include "base/mem.h"
#include "result/doc.h"
#include "result/json.h"
#include "sim/scenario.h"
#include "sim/sim.h"

#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>

struct weft_scenario {
    struct wf_scenario *scenario;
};

struct weft_result {
    int64_t predicted_time_ps;
    char *json;
};

_Static_assert((int)WEFT_ERROR_TEXT_MAX == (int)WF_ERR_TEXT_MAX, "a sentence fits in either");

static enum weft_code report(enum wf_status status, const struct wf_err *err,
                             struct weft_error *error)
{
    enum weft_code code = (enum weft_code)wf_status_exit_code(status);

    if (status != WF_OK && error != NULL) {
        error->code = code;
        (void)snprintf(error->text, sizeof(error->text), "%s", err->text);
    }
    return code;
}

struct weft_scenario *weft_scenario_new(void)
{
    struct weft_scenario *scenario = wf_xcalloc(1, sizeof(*scenario));

    scenario->scenario = wf_scenario_new();
    return scenario;
}

void weft_scenario_free(struct weft_scenario *scenario)
{
    if (scenario != NULL) {
        wf_scenario_free(scenario->scenario);
        free(scenario);
    }
}

enum weft_code weft_scenario_set(struct weft_scenario *scenario, const char *key,
                                 const char *value, struct weft_error *error)
{
    struct wf_err err = {.status = WF_OK};

    return report(wf_scenario_set(scenario->scenario, key, value, NULL, &err), &err, error);
}

enum weft_code weft_run(const struct weft_scenario *scenario, struct weft_result **result,
                        struct weft_error *error)
{
    const struct wf_sim_host host = {.world = NULL};
    struct wf_err err = {.status = WF_OK};
    struct wf_value *doc = NULL;

    *result = NULL;
    enum wf_status status = wf_sim_run(scenario->scenario, &host, &doc, &err);
    if (doc != NULL) {
        struct weft_result *new = wf_xcalloc(1, sizeof(*new));
        const struct wf_value *time = wf_doc_find(doc, "result.predicted_time_ps");

        new->predicted_time_ps = time != NULL ? (int64_t)time->count : -1;
        new->json = wf_doc_to_json(doc);
        wf_doc_free(doc);
        *result = new;
    }
    return report(status, &err, error);
}

int64_t weft_result_predicted_time_ps(const struct weft_result *result)
{
    return result->predicted_time_ps;
}

const char *weft_result_json(const struct weft_result *result)
{
    return result->json;
}

void weft_result_free(struct weft_result *result)
{
    if (result != NULL) {
        free(result->json);
        free(result);
    }
}
