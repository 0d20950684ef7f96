/* SPDX-License-Identifier: Apache-2.0 */
#include "net/net.h"

#include "base/text.h"
#include "net/alphabeta.h"
#include "net/latency.h"
#include "net/loggp.h"
#include "net/none.h"
#include "net/packet/packet.h"
#include "net/router/router.h"

#include <assert.h>
#include <string.h>

static const struct wf_net_ops *const net_table[] = {
#define WF_NET_MODEL(name) &wf_net_##name##_ops,
#include "net/models.def"
    NULL,
};

const struct wf_net_ops *const *wf_net_table(void)
{
    return net_table;
}

enum wf_status wf_net_find(const char *name, const struct wf_net_ops **out, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (const struct wf_net_ops *const *ops = net_table; *ops != NULL; ops++) {
        if (strcmp((*ops)->name, name) == 0) {
            *out = *ops;
            return WF_OK;
        }
        wf_nearest_add(&nearest, (*ops)->name);
    }
    return wf_err_set(err, WF_EUSAGE, "unknown network model '%.64s'%s", name,
                      wf_nearest_hint(&nearest, hint));
}

void wf_net_attach(struct wf_net *net, struct wf_engine *engine, uint32_t first_node,
                   const struct wf_net_user *user)
{
    assert(net->user.arrived == NULL && user->arrived != NULL);
    net->first_node = first_node;
    net->user = *user;
    net->ops->attach(net, engine);
}

void wf_net_free(struct wf_net *net)
{
    if (net != NULL) {
        net->ops->destroy(net);
    }
}
