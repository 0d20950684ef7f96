/* SPDX-License-Identifier: Apache-2.0 */
#include "net/route/route.h"

#include "base/text.h"

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
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (const struct wf_route_ops *const *ops = route_table; *ops != NULL; ops++) {
        if (strcmp((*ops)->name, name) == 0) {
            *out = *ops;
            return WF_OK;
        }
        wf_nearest_add(&nearest, (*ops)->name);
    }
    return wf_err_set(err, WF_EUSAGE, "unknown routing policy '%.64s'%s", name,
                      wf_nearest_hint(&nearest, hint));
}

void wf_route_free(struct wf_route *route)
{
    if (route != NULL) {
        route->ops->destroy(route);
    }
}
