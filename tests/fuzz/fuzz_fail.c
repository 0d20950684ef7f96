/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: no text of net.fail may crash the reader of failures; what it accepts has epochs in
 * ascending order, and routes in each of them. */
#include "model/net/fault/fault.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plan(const struct wf_fault_plan *plan)
{
    for (uint32_t i = 0; i < wf_fault_n_epochs(plan); i++) {
        int64_t begin = wf_fault_epoch_begin(plan, i);
        if (wf_fault_epoch(plan, begin) != i || wf_fault_route(plan, i) == NULL ||
            wf_fault_next(plan, 0, 0, begin) <= begin ||
            wf_fault_retry(plan, 0, 5, begin, 1) < begin) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char fail[256];
    struct wf_topo *topo = NULL;
    struct wf_fault_plan *plan = NULL;
    struct wf_err err = {.status = WF_OK};

    if (size >= sizeof(fail) || wf_topo_create("mesh:3x2", &topo, &err) != WF_OK) {
        return 0;
    }
    memcpy(fail, data, size);
    fail[size] = '\0';
    const struct wf_fault_config config = {
        .topo = topo, .fail = fail, .policy = &wf_route_minimal_ops, .n_vcs = WF_VC_MAX};
    if (wf_fault_plan_create(&config, &plan, &err) == WF_OK) {
        check_plan(plan);
        wf_fault_plan_free(plan);
    } else if (err.text[0] == '\0') {
        abort();
    }
    wf_topo_free(topo);
    return 0;
}
