/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: no text, however odd, may crash the reader of machine files; what it refuses has a
 * place, and so has what is refused later. */
#include "run/machine/machine.h"
#include "run/plan/plan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_place(const char *text)
{
    if (strstr(text, ".yaml:") == NULL) {
        abort();
    }
}

static void check_plan(const struct wf_machine *machine)
{
    struct wf_err err = {.status = WF_OK};
    struct wf_scenario *scenario = wf_scenario_new();
    struct wf_plan plan;

    for (size_t i = 0; i < machine->scenario->n; i++) {
        check_place(machine->scenario->settings[i].place);
    }
    wf_scenario_append(scenario, machine->scenario);
    if (wf_scenario_set(scenario, "source", "gen:stencil3d", NULL, &err) != WF_OK ||
        wf_scenario_set(scenario, "ranks", "1", NULL, &err) != WF_OK) {
        abort();
    }

    enum wf_status status = wf_plan_init(&plan, scenario, &err);
    if (status == WF_OK) {
        wf_plan_fini(&plan);
    } else {
        check_place(err.text);
    }
    wf_scenario_free(scenario);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_machine *machine = NULL;
    struct wf_err err = {.status = WF_OK};

    if (wf_machine_parse("fuzz.yaml", (const char *)data, size, &machine, &err) == WF_OK) {
        check_plan(machine);
        wf_machine_free(machine);
    } else {
        check_place(err.text);
    }
    return 0;
}
