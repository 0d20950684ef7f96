/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The kernels of model/net/router/lockstep/kernels.c and model/net/router/lockstep/whole.c, as text for GPUs and as functions for the host. */

#include "model/net/router/gpu/gpu.h"

struct wf_lockstep_net;

extern const struct wf_gpu_host_kernel wf_lockstep_host_kernels[];
extern const struct wf_gpu_host_kernel wf_lockstep_host_kernels_tight[];
extern const struct wf_gpu_host_kernel wf_lockstep_host_kernels_whole[];

/* The kernels for a network: those of a variant that the compiler knows more about, of all grids, or
 * of all networks. Sets net->tight and net->whole. */
struct wf_gpu_program wf_lockstep_program(struct wf_lockstep_net *net);
