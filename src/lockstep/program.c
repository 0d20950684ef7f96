/* SPDX-License-Identifier: Apache-2.0 */
#include "lockstep/program.h"

#include "lockstep/place.h"

/* PTX (CMakeLists.txt); null in builds without clang. */
#define WF_LOCKSTEP_VARIANT(name, dims, vcs, scheme) \
    extern const char *const wf_lockstep_ptx_##name;
#include "lockstep/variants.def"
#undef WF_LOCKSTEP_VARIANT
extern const char *const wf_lockstep_ptx_whole;

static const struct variant {
    uint32_t dims, vcs, scheme;
    const char *name;
    const char *const *ptx;
} variants[] = {
#define WF_LOCKSTEP_VARIANT(name, dims, vcs, scheme) \
    {dims, vcs, scheme, #name, &wf_lockstep_ptx_##name},
#include "lockstep/variants.def"
#undef WF_LOCKSTEP_VARIANT
};

enum { N_VARIANTS = sizeof(variants) / sizeof(variants[0]) };

/* What the variants suppose, see specialise() in lockstep/kernels.c. */
static bool is_usual(const struct wf_lockstep_net *net)
{
    return net->n_ports == 2 * net->n_dims && net->n_nodes == net->n && net->n_injection == 1 &&
           net->has_kinds == 0 && net->slow == 0 && net->has_scales == 0 &&
           net->arbitration == WF_LOCKSTEP_ROUND_ROBIN &&
           net->injection == WF_LOCKSTEP_INJECT_SHORTEST && net->transit == 0 &&
           net->stats == 0 && net->burst == 1 && wf_lockstep_is_small(net) &&
           (net->scheme != WF_LOCKSTEP_ADAPTIVE || net->request == WF_LOCKSTEP_SMART);
}

/* Whether tiles can hold the network: all routers are nodes of a grid, and bits of a word are enough
 * for their queues. */
static bool fits_tiles(const struct wf_lockstep_net *net)
{
    return net->n_dims > 0 && net->n_words == 1 && net->has_more == 0 && net->before == NULL &&
           net->limit == 0 && net->pattern <= WF_LOCKSTEP_HOT_REGION;
}

struct wf_gpu_program wf_lockstep_program(struct wf_lockstep_net *net)
{
    const struct variant *found = &variants[0]; /* for all grids */

    net->whole = !fits_tiles(net);
    if (net->whole != 0) {
        net->tight = 0;
        return (struct wf_gpu_program){.name = "whole",
                                       .ptx = wf_lockstep_ptx_whole,
                                       .host = wf_lockstep_host_kernels_whole};
    }
    for (int i = 1; i < N_VARIANTS && is_usual(net); i++) {
        if (variants[i].dims == net->n_dims && variants[i].vcs == net->vcs &&
            variants[i].scheme == net->scheme) {
            found = &variants[i];
        }
    }
    net->tight = found != &variants[0];
    return (struct wf_gpu_program){.name = found->name,
                                   .ptx = *found->ptx,
                                   .host = net->tight != 0 ? wf_lockstep_host_kernels_tight
                                                           : wf_lockstep_host_kernels};
}
