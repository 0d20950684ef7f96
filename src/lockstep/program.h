/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The kernels of lockstep/kernels.c, as text for GPUs and as functions for the host. */

#include "gpu/gpu.h"

struct wf_lockstep_net;

extern const struct wf_gpu_host_kernel wf_lockstep_host_kernels[];

/* The kernels for a network: those of a variant that the compiler knows more about, or of all.
 * Returns `program`. */
const struct wf_gpu_program *wf_lockstep_program(const struct wf_lockstep_net *net,
                                                 struct wf_gpu_program *program);
