/* SPDX-License-Identifier: Apache-2.0 */
#include "topo/topo.h"

#include "base/text.h"
#include "topo/torus.h"

#include <string.h>

/* The one place that lists topologies. */
static const struct wf_topo_ops *const topo_table[] = {
    &wf_torus_ops,
    NULL,
};

const struct wf_topo_ops *const *wf_topo_table(void)
{
    return topo_table;
}

static enum wf_status unknown(const char *spec, size_t name_len, struct wf_err *err)
{
    char name[WF_HINT_MAX];
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    if (name_len >= sizeof(name)) {
        name_len = sizeof(name) - 1;
    }
    memcpy(name, spec, name_len);
    name[name_len] = '\0';
    wf_nearest_begin(&nearest, name);
    for (const struct wf_topo_ops *const *ops = topo_table; *ops != NULL; ops++) {
        wf_nearest_add(&nearest, (*ops)->name);
    }
    return wf_err_set(err, WF_EINVAL, "unknown topology '%.64s'%s", name,
                      wf_nearest_hint(&nearest, hint));
}

enum wf_status wf_topo_create(const char *spec, struct wf_topo **out, struct wf_err *err)
{
    size_t name_len = strcspn(spec, ":");
    const char *args = spec[name_len] == ':' ? spec + name_len + 1 : "";

    for (const struct wf_topo_ops *const *ops = topo_table; *ops != NULL; ops++) {
        if (strlen((*ops)->name) == name_len && memcmp((*ops)->name, spec, name_len) == 0) {
            return (*ops)->create(args, out, err);
        }
    }
    return unknown(spec, name_len, err);
}

void wf_topo_free(struct wf_topo *topo)
{
    if (topo != NULL) {
        topo->ops->destroy(topo);
    }
}
