/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/cores.h"

#include "base/arith.h"
#include "model/ranks/node_params.h"

#include <inttypes.h>

enum wf_status wf_cores_check(const struct wf_node_params *params, struct wf_err *err)
{
    if (params->domains % params->sockets != 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "node.domains: %" PRIu64 " memory domains cannot be divided evenly "
                          "among %" PRIu64 " sockets; set node.domains to a multiple of "
                          "node.sockets",
                          params->domains, params->sockets);
    }
    if (params->cores != WF_PARAM_WORD && params->cores % params->domains != 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "node.cores: %" PRIu64 " cores cannot be divided evenly among "
                          "%" PRIu64 " memory domains; set node.cores to a multiple of "
                          "node.domains",
                          params->cores, params->domains);
    }
    return WF_OK;
}

struct wf_cores wf_cores_init(const struct wf_node_params *params, uint32_t slots_max)
{
    uint32_t domains = (uint32_t)params->domains;
    /* Without a number each rank has a core, and the domains have the same number of cores. */
    uint32_t n = params->cores != WF_PARAM_WORD ? (uint32_t)params->cores
                                                : (slots_max + domains - 1) / domains * domains;

    return (struct wf_cores){
        .n = n,
        .domains = domains,
        .per_domain = n / domains,
        .domains_per_socket = domains / (uint32_t)params->sockets,
        .spread = params->bind == WF_NODE_BIND_SPREAD,
        .shared = n < slots_max,
    };
}

uint32_t wf_cores_domains_used(const struct wf_cores *cores, uint32_t slots_max)
{
    uint32_t ranks = (uint32_t)wf_min_u64(slots_max, cores->n);

    return cores->spread ? (uint32_t)wf_min_u64(ranks, cores->domains)
                         : (ranks + cores->per_domain - 1) / cores->per_domain;
}

uint32_t wf_cores_used(const struct wf_cores *cores, uint32_t domain, uint32_t n_slots)
{
    uint32_t ranks = (uint32_t)wf_min_u64(n_slots, cores->n);
    uint32_t first = cores->spread ? domain : domain * cores->per_domain;
    uint32_t left =
        ranks > first ? ranks - first : 0; /* slots from the domain's first one on */

    return cores->spread ? (left + cores->domains - 1) / cores->domains
                         : (uint32_t)wf_min_u64(left, cores->per_domain);
}
