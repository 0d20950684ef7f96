/* SPDX-License-Identifier: Apache-2.0 */
#include "net/levels.h"

#include "topo/nested.h"

#include <inttypes.h>

static enum wf_status check_list(const char *name, const struct wf_list *list,
                                 uint32_t n_levels, struct wf_err *err)
{
    if (list->n == 1 || list->n == n_levels) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "net.%s: %zu values for a network of %" PRIu32
                      " level%s; expected one, or "
                      "one per level, outermost first",
                      name, list->n, n_levels, n_levels == 1 ? "" : "s");
}

enum wf_status wf_net_levels_check(const char *model, const struct wf_net_env *env,
                                   const struct wf_list *link_latency,
                                   const struct wf_list *bandwidth, struct wf_err *err)
{
    if (env->topo == NULL) {
        return wf_err_set(err, WF_EUSAGE,
                          "network model '%s' needs a topology, as in --topo torus:8x8x8",
                          model);
    }
    if (env->n_nodes > env->topo->n_nodes) {
        return wf_err_set(err, WF_EINVAL, "%u nodes do not fit on a %s of %u", env->n_nodes,
                          env->topo->ops->name, env->topo->n_nodes);
    }

    uint32_t n_levels = wf_topo_n_levels(env->topo);
    enum wf_status status = check_list("link_latency", link_latency, n_levels, err);
    if (status == WF_OK) {
        status = check_list("bandwidth", bandwidth, n_levels, err);
    }
    return status;
}
