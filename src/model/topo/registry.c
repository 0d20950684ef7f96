/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/topo.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct wf_topo_ops *const topo_table[] = {
#define WF_TOPOLOGY(name) &wf_topo_##name##_ops,
#include "model/topo/topologies.def"
    NULL,
};

struct wf_registry wf_topo_registry = WF_REGISTRY("topology", topo_table, .with = NULL);

const struct wf_topo_ops *const *wf_topo_table(void)
{
    return (const struct wf_topo_ops *const *)wf_registry_entries(&wf_topo_registry);
}

uint32_t wf_topo_minimal_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                               uint32_t *ports)
{
    if (topo->ops->minimal_ports != NULL) {
        return topo->ops->minimal_ports(topo, at, dst, ports);
    }
    if (topo->ops->one_path && at != dst) {
        ports[0] = topo->ops->next_port(topo, at, dst);
        return 1;
    }

    uint32_t left = topo->ops->distance(topo, at, dst), n = 0;
    uint32_t n_ports = wf_topo_ports(topo, at);
    for (uint32_t port = 0; port < n_ports && left > 0; port++) {
        uint32_t to = topo->ops->neighbor(topo, at, port);
        if (to != WF_TOPO_NO_VERTEX && topo->ops->distance(topo, to, dst) + 1 == left) {
            ports[n++] = port;
        }
    }
    return n;
}

struct wf_topo *wf_topo_keep(const void *built, size_t size)
{
    return memcpy(wf_xmalloc(size), built, size);
}

void wf_topo_free(struct wf_topo *topo)
{
    if (topo != NULL && topo->ops->destroy != NULL) {
        topo->ops->destroy(topo);
    } else {
        free(topo);
    }
}
