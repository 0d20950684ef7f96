/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Functions of programs that were not executed but took the time of a formula. */

#include <stdint.h>

struct wf_comm;
struct wf_live_kernel;
struct wf_plan;
struct wf_value;

struct wf_document_kernels {
    struct wf_live_kernel *items; /* owned by who collected them; the names are the sources' */
    uint32_t n;
};

/* Those of all programs, summed over all processes, which all call it. */
void wf_document_kernels_collect(const struct wf_plan *plan, struct wf_comm *world,
                                 struct wf_document_kernels *out);
/* Adds the list `kernels` to the result, and warnings. Nothing if there are none. */
void wf_document_kernels(const struct wf_document_kernels *kernels, struct wf_value *root);
