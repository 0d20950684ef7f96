/* SPDX-License-Identifier: Apache-2.0 */
#include "run/document/kernels.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "engine/hosts/comm.h"
#include "program/ops/live.h"
#include "run/document/document.h"
#include "run/plan/plan.h"

#include <inttypes.h>
#include <stdio.h>

static bool ask(const struct wf_plan *plan, uint32_t job, uint32_t i,
                struct wf_live_kernel *out)
{
    const struct wf_source *source = plan->jobs[job].source;

    return source != NULL && source->live != NULL && source->live->kernels != NULL &&
           source->live->kernels(source, i, out);
}

void wf_document_kernels_collect(const struct wf_plan *plan, struct wf_comm *world,
                                 struct wf_document_kernels *out)
{
    struct wf_live_kernel one;

    *out = (struct wf_document_kernels){.n = 0};
    for (uint32_t job = 0; job < plan->n_jobs; job++) {
        for (uint32_t i = 0; ask(plan, job, i, &one); i++) {
            out->n++;
        }
    }
    out->items = wf_xcalloc(out->n, sizeof(*out->items));
    uint32_t at = 0;
    for (uint32_t job = 0; job < plan->n_jobs; job++) {
        for (uint32_t i = 0; ask(plan, job, i, &one); i++) {
            int64_t sums[] = {(int64_t)one.calls, (int64_t)one.executed,
                              (int64_t)one.picoseconds};
            if (wf_comm_size(world) > 1) {
                wf_comm_reduce(world, WF_COMM_SUM, sums, sizeof(sums) / sizeof(sums[0]));
            }
            one.calls = (uint64_t)sums[0];
            one.executed = (uint64_t)sums[1];
            one.picoseconds = (uint64_t)sums[2];
            out->items[at++] = one;
        }
    }
}

/* One line about functions of the file that the program does not have under any of their names. */
static void warn_missing(const struct wf_document_kernels *kernels, struct wf_value *root)
{
    char names[300] = "";
    size_t used = 0;
    uint32_t found = 0, missing = 0;

    for (uint32_t i = 0; i < kernels->n; i++) {
        const struct wf_live_kernel *one = &kernels->items[i];
        found += one->found;
        if (one->kernel_found) {
            continue;
        }
        missing++;
        if (used < sizeof(names) - 1) {
            int n = snprintf(names + used, sizeof(names) - used, "%s%s",
                             missing > 1 ? ", " : "", one->name);
            used += n > 0 ? (size_t)n : 0;
        }
    }
    if (found == 0) {
        wf_sim_warn(root,
                    "the program has none of the functions in the file of kernels; all of "
                    "it was executed: functions that were inlined, or names of another "
                    "interface, are not found");
    } else if (missing > 0) {
        wf_sim_warn(root, "not in the program or its libraries, or inlined there: %s", names);
    }
}

void wf_document_kernels(const struct wf_document_kernels *kernels, struct wf_value *root)
{
    uint64_t skipped = 0;

    if (kernels->n == 0) {
        return;
    }
    const struct wf_value *result = wf_doc_find(root, "result");
    /* part of `root`, which the caller may change */
    struct wf_value *list = wf_doc_list(wf_unconst(result), "kernels");
    for (uint32_t i = 0; i < kernels->n; i++) {
        const struct wf_live_kernel *one = &kernels->items[i];
        skipped += one->calls - one->executed;
        if (!one->found) {
            continue;
        }
        struct wf_value *item = wf_doc_section(list, NULL);
        wf_doc_text(item, "function", one->name);
        wf_doc_count(item, "calls", one->calls);
        wf_doc_count(item, "executed", one->executed);
        wf_doc_count(item, "time_ps", one->picoseconds);
    }
    if (skipped > 0) {
        wf_sim_warn(
            root,
            "%" PRIu64 " call%s of kernels %s not executed: what the program computes "
            "is undefined; the predicted time holds if its course does not depend on it",
            skipped, skipped == 1 ? "" : "s", skipped == 1 ? "was" : "were");
    }
    warn_missing(kernels, root);
}
