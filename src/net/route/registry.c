/* SPDX-License-Identifier: Apache-2.0 */
#include "net/route/route.h"

#include "base/lookup.h"

#include <string.h>

static const struct wf_route_ops *const route_table[] = {
#define WF_ROUTE_POLICY(name) &wf_route_##name##_ops,
#include "net/route/policies.def"
    NULL,
};

const struct wf_route_ops *const *wf_route_table(void)
{
    return route_table;
}

enum wf_status wf_route_find(const char *name, const struct wf_route_ops **out,
                             struct wf_err *err)
{
    *out = wf_lookup("routing policy", name, route_table, err);
    return *out != NULL ? WF_OK : WF_EUSAGE;
}

void wf_route_free(struct wf_route *route)
{
    if (route != NULL) {
        route->ops->destroy(route);
    }
}
