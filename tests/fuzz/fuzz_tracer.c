/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever the bytes of a configuration of TraceR are, the outcome is at least one
 * job with ranks, or an error that names file and line. */
#include "run/import/tracer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_tracer *tracer = NULL;
    struct wf_err err = {.status = WF_OK};

    if (wf_tracer_parse("f", (const char *)data, size, &tracer, &err) != WF_OK) {
        require(tracer == NULL && err.status == WF_EINVAL && strncmp(err.text, "f:", 2) == 0);
        return 0;
    }
    require(tracer->n_jobs > 0);
    for (uint32_t i = 0; i < tracer->n_jobs; i++) {
        require(tracer->jobs[i].ranks > 0 && tracer->jobs[i].iterations > 0 &&
                tracer->jobs[i].trace != NULL);
    }
    for (size_t i = 0; i < tracer->n_changes; i++) {
        require(tracer->changes[i].job < tracer->n_jobs);
    }
    wf_tracer_free(tracer);
    return 0;
}
