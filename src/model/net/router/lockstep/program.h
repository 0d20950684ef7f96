/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The kernels of model/net/router/lockstep/kernels.c, as text for GPUs and as functions for the host. */

#include "model/net/router/gpu/gpu.h"

struct wf_lockstep_net;

extern const struct wf_gpu_host_kernel wf_lockstep_host_kernels[];
extern const struct wf_gpu_host_kernel wf_lockstep_host_kernels_tight[];

/* The kernels for a network: those of a variant that the compiler knows more about, or of all
 * grids. Sets net->tight. */
struct wf_gpu_program wf_lockstep_program(struct wf_lockstep_net *net);
