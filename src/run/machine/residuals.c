/* SPDX-License-Identifier: Apache-2.0 */
#include "run/machine/residuals.h"

#include "base/array.h"
#include "run/machine/reader.h"

#define ROW(member, kind, ...) \
    WF_PARAM_ROW(struct wf_machine_residual, member, kind, __VA_ARGS__)

const struct wf_param wf_machine_residual_params[] = {
    ROW(model, TEXT, .doc = "The network model"),
    ROW(pattern, TEXT, .doc = "The pattern of messages, as in gen.pattern"),
    ROW(mean_percent, REAL, .min = "0", .max = "1000000",
        .doc = "Mean error of the model over the sizes that were measured"),
    ROW(worst_percent, REAL, .min = "0", .max = "1000000", .doc = "Largest error"),
    WF_PARAM_END,
};

enum wf_status wf_machine_read_residuals(struct wf_machine_reader *reader,
                                         const struct wf_yaml *node, struct wf_err *err)
{
    struct wf_machine *machine = reader->machine;

    WF_TRY(wf_machine_expect(reader, node, WF_YAML_LIST, err));
    for (const struct wf_yaml *at = node->first; at != NULL; at = at->next) {
        struct wf_machine_residual entry = {.model = NULL};
        enum wf_status status = wf_machine_read_entry(reader, at, "residuals.",
                                                      wf_machine_residual_params, &entry, err);

        if (status != WF_OK || reader->included) {
            wf_param_release(wf_machine_residual_params, &entry);
            WF_TRY(status);
            continue;
        }
        WF_GROW(machine->residuals, machine->n_residuals, machine->residuals_capacity);
        machine->residuals[machine->n_residuals++] = entry;
    }
    return WF_OK;
}
