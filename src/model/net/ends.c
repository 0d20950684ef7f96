/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/ends.h"

#include "model/net/net.h"

#include <inttypes.h>

/* Members of the environment that are 0 count as 1. */
static uint32_t nics_of(const struct wf_net_env *env)
{
    return env->nics > 0 ? env->nics : 1;
}

static uint32_t group_of(const struct wf_net_env *env)
{
    return env->nic_group > 0 && env->nics > 1 ? env->nic_group : 1;
}

struct wf_net_ends wf_net_ends_of(const struct wf_net_env *env)
{
    uint32_t nics = nics_of(env), group = group_of(env), rest = env->n_nodes % group;

    return (struct wf_net_ends){
        .n_nodes = env->n_nodes,
        .nics = nics,
        .group = group,
        .whole = (env->n_nodes - rest) * nics,
        .rest = rest,
        .gaps = rest > 0 ? (group - rest) * nics : 0,
        .after = env->n_nodes * nics,
    };
}

uint32_t wf_net_ends_capacity(const struct wf_net_env *env)
{
    uint32_t group = group_of(env);

    return (uint32_t)(env->topo->n_nodes / ((uint64_t)nics_of(env) * group) * group);
}

enum wf_status wf_net_ends_check(const struct wf_net_env *env, struct wf_err *err)
{
    uint64_t nics = nics_of(env), group = group_of(env);
    uint64_t all = (env->n_nodes + group - 1) / group * group * nics;

    if (nics > WF_NET_NICS_MAX || group > UINT32_MAX / nics || all > UINT32_MAX) {
        return wf_err_set(err, WF_ELIMIT,
                          "node.nics: %" PRIu32 " nodes with %" PRIu64 " interfaces each, in "
                          "groups of %" PRIu64 ", are too many",
                          env->n_nodes, nics, group);
    }
    if (env->topo != NULL && group > 1 && env->topo->n_nodes % (group * nics) != 0) {
        return wf_err_set(err, WF_EINVAL,
                          "node.nic_group: groups of %" PRIu64 " nodes with %" PRIu64
                          " interfaces each do not divide the %" PRIu32 " nodes of the %s",
                          group, nics, env->topo->n_nodes, env->topo->ops->name);
    }
    return WF_OK;
}
