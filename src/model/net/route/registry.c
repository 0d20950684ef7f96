/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/route/route.h"

#include "base/lookup.h"
#include "base/mem.h"
#include "model/topo/damaged.h"

#include <stdlib.h>
#include <string.h>

static const struct wf_route_ops *const route_table[] = {
#define WF_ROUTE_POLICY(name) &wf_route_##name##_ops,
#include "model/net/route/policies.def"
    NULL,
};

const char *const wf_route_flow_names[] = {"flow", "message", "packet", NULL};

struct wf_registry wf_route_registry = WF_REGISTRY("routing policy", route_table, .with = NULL);

const struct wf_route_ops *const *wf_route_table(void)
{
    return (const struct wf_route_ops *const *)wf_registry_entries(&wf_route_registry);
}

const char *wf_route_usual(const struct wf_topo *topo)
{
    const char *usual = "minimal";

    topo = wf_topo_damaged_whole(topo);
    for (uint32_t i = 0; i < wf_topo_n_levels(topo); i++) {
        const char *own = wf_topo_level(topo, i)->ops->usual_routing;
        /* A detour is also a choice among the shortest routes. */
        if (own != NULL && strcmp(usual, "ugal_l") != 0) {
            usual = own;
        }
    }
    return usual;
}

enum wf_status wf_route_find_on(const struct wf_topo *topo, const char *name,
                                const struct wf_route_ops **out, struct wf_err *err)
{
    return wf_route_find(strcmp(name, "usual") == 0 ? wf_route_usual(topo) : name, out, err);
}

enum wf_status wf_route_find(const char *name, const struct wf_route_ops **out,
                             struct wf_err *err)
{
    *out = wf_lookup("routing policy", name, wf_route_table(), err);
    return *out != NULL ? WF_OK : WF_EUSAGE;
}

enum wf_status wf_route_create(const struct wf_route_ops *ops, const struct wf_topo *topo,
                               const char *file, struct wf_route **out, struct wf_err *err)
{
    return wf_route_create_within(ops, topo, file, WF_VC_MAX, out, err);
}

enum wf_status wf_route_create_within(const struct wf_route_ops *ops,
                                      const struct wf_topo *topo, const char *file,
                                      uint32_t n_vcs, struct wf_route **out, struct wf_err *err)
{
    if (ops->create != NULL) {
        return ops->create(topo, file, out, err);
    }
    struct wf_route *route = wf_xcalloc(1, sizeof(*route));
    const struct wf_vc_needs needs = {ops->name, ops->is_free, ops->detour, n_vcs};

    route->ops = ops;
    enum wf_status status = wf_vc_plan_init(&route->vcs, topo, needs, err);
    if (status == WF_OK && ops->check != NULL) {
        status = ops->check(route, err);
    }
    if (status != WF_OK) {
        wf_route_free(route);
        return status;
    }
    *out = route;
    return WF_OK;
}

void wf_route_free(struct wf_route *route)
{
    if (route == NULL) {
        return;
    }
    if (route->ops->release != NULL) {
        route->ops->release(route);
    }
    wf_vc_plan_fini(&route->vcs);
    free(route);
}
