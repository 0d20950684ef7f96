/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the options of a command that simulates into settings of a scenario. */
#include "base/mem.h"
#include "run/machine/machine.h"
#include "run/scenario/scenario.h"
#include "ui/cli/simulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum wf_status apply_pair(const char *pair, struct wf_scenario *scenario,
                                 struct wf_err *err)
{
    char *key = wf_xstrdup(pair);
    char *equals = strchr(key, '=');

    *equals = '\0';
    enum wf_status status = wf_scenario_set(scenario, key, equals + 1, NULL, err);
    free(key);
    return status;
}

/* Whether a setting begins here: a name and '='. The value of a generator's parameter may
 * contain such text too; after such a parameter only names of job settings count. */
static bool begins_setting(const char *text, bool in_generator)
{
    size_t len = strcspn(text, "=,:");
    char name[64];

    (void)snprintf(name, sizeof(name), "%.*s", (int)(len < 63 ? len : 63), text);
    return text[len] == '=' && (!in_generator || strncmp(name, "gen.", 4) == 0 ||
                                wf_param_find(wf_scenario_job_params(), name) != NULL);
}

/* The length of the first part of "gen:ring,ranks=8,gen.bytes=1KiB": up to a comma that is not
 * part of a value. */
static size_t part_length(const char *text)
{
    bool in_generator = strncmp(text, "gen.", 4) == 0;
    size_t len = strcspn(text, ",");

    while (text[len] == ',' && !begins_setting(text + len + 1, in_generator)) {
        len += 1 + strcspn(text + len + 1, ",");
    }
    return len;
}

/* Applies --job: a source, then settings of that job. */
static enum wf_status apply_job(const char *text, size_t number, struct wf_scenario *scenario,
                                struct wf_err *err)
{
    const char *name = "source", *at = text;
    enum wf_status status = WF_OK;

    for (;;) {
        size_t len = part_length(at);
        size_t name_len = at == text ? strlen(name) : strcspn(at, "=");
        char *value = wf_xstrdup(at == text ? at : at + name_len + 1);
        char key[128];

        value[at == text ? len : len - name_len - 1] = '\0';
        (void)snprintf(key, sizeof(key), "job.%zu.%.*s", number,
                       (int)(name_len < 96 ? name_len : 96), at == text ? name : at);
        status = wf_scenario_set(scenario, key, value, NULL, err);
        free(value);
        if (status != WF_OK || at[len] == '\0') {
            return status;
        }
        at += len + 1;
    }
}

/* Sets the keys of options in the scenario, with the options' own names as origin. */
static enum wf_status apply_options(const struct wf_operands *operands,
                                    struct wf_scenario *scenario, struct wf_err *err)
{
    for (size_t i = 0; operands->table[i].param.name != NULL; i++) {
        const struct wf_opt *row = &operands->table[i];
        char origin[64];

        if (operands->settings[i] != NULL) {
            (void)snprintf(origin, sizeof(origin), "--%s", row->param.name);
            bool is_word = row->word != NULL && strcmp(operands->settings[i], row->word) == 0;
            WF_TRY(wf_scenario_set(scenario, is_word ? row->word_key : row->key,
                                   is_word ? "true" : operands->settings[i], origin, err));
        }
    }
    return WF_OK;
}

enum wf_status wf_simulate_apply(const struct wf_simulate_opts *opts,
                                 const struct wf_operands *operands,
                                 struct wf_scenario *scenario, struct wf_err *err)
{
    WF_TRY(opts->machine != NULL ? wf_machine_apply(opts->machine, scenario, err) : WF_OK);
    WF_TRY(apply_options(operands, scenario, err));
    for (size_t i = 0; i < opts->jobs.n; i++) {
        WF_TRY(apply_job(opts->jobs.items[i], i + 1, scenario, err));
    }
    for (size_t i = 0; i < opts->params.n; i++) {
        WF_TRY(apply_pair(opts->params.items[i], scenario, err));
    }
    return WF_OK;
}
