/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/router/lockstep/program.h"

#include "model/net/router/lockstep/place.h"

/* PTX (CMakeLists.txt); null in builds without clang. */
#define WF_LOCKSTEP_VARIANT(name, dims, vcs, scheme) \
    extern const char *const wf_lockstep_ptx_##name;
#include "model/net/router/lockstep/variants.def"
#undef WF_LOCKSTEP_VARIANT

static const struct variant {
    uint32_t dims, vcs, scheme;
    const char *name;
    const char *const *ptx;
} variants[] = {
#define WF_LOCKSTEP_VARIANT(name, dims, vcs, scheme) \
    {dims, vcs, scheme, #name, &wf_lockstep_ptx_##name},
#include "model/net/router/lockstep/variants.def"
#undef WF_LOCKSTEP_VARIANT
};

enum { N_VARIANTS = sizeof(variants) / sizeof(variants[0]) };

struct wf_gpu_program wf_lockstep_program(struct wf_lockstep_net *net)
{
    const struct variant *found = &variants[0]; /* for all grids */

    for (int i = 1; i < N_VARIANTS && wf_lockstep_is_usual(net); i++) {
        if (variants[i].dims == net->rules.n_dims && variants[i].vcs == net->rules.vcs &&
            variants[i].scheme == net->rules.scheme) {
            found = &variants[i];
        }
    }
    net->tight = found != &variants[0];
    return (struct wf_gpu_program){.name = found->name,
                                   .ptx = *found->ptx,
                                   .host = net->tight != 0 ? wf_lockstep_host_kernels_tight
                                                           : wf_lockstep_host_kernels};
}
