/* SPDX-License-Identifier: Apache-2.0 */
#include "net/route/route.h"

#include "base/text.h"
#include "net/route/policies.h"

#include <string.h>

/* The one place that lists routing policies. */
static const struct wf_route_ops *const route_table[] = {
    &wf_route_minimal_ops, &wf_route_adaptive_ops,
    &wf_route_valiant_ops, &wf_route_ugal_l_ops,
    &wf_route_ugal_g_ops,  &wf_route_par_ops,
    &wf_route_ecmp_ops,    &wf_route_updown_ops,
    &wf_route_table_ops,   NULL,
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
