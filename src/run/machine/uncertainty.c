/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how well the figures of a machine are known. */
#include "run/scenario/uncertainty.h"
#include "base/mem.h"
#include "run/machine/reader.h"

#include <stdio.h>

enum wf_status wf_machine_read_uncertainty(struct wf_machine_reader *reader,
                                           const struct wf_yaml *node, struct wf_err *err)
{
    WF_TRY(wf_machine_expect(reader, node, WF_YAML_MAP, err));
    for (const struct wf_yaml *at = node->first; at != NULL; at = at->next) {
        char key[128];

        WF_TRY(wf_machine_expect(reader, at, WF_YAML_SCALAR, err));
        (void)snprintf(key, sizeof(key), WF_SIM_UNCERTAINTY "%.100s", at->key);
        /* A key that does not exist is an error at the key, a wrong value one at the value. */
        if (wf_sim_uncertainty_check_key(key, key, err) != WF_OK) {
            return wf_machine_blame(reader, at->key_at, err);
        }
        WF_TRY(wf_machine_emit(reader, key, key, wf_xstrdup(at->text), at->at, err));

        const struct wf_scenario *scenario = reader->machine->scenario;
        WF_TRY(wf_sim_uncertainty_check(&scenario->settings[scenario->n - 1], NULL, err));
    }
    return WF_OK;
}
