/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tally.h"

#include <string.h>

static bool goes_before(const struct wf_net_link_use *a, const struct wf_net_link_use *b)
{
    if (a->packets != b->packets) {
        return a->packets > b->packets;
    }
    return a->vertex != b->vertex ? a->vertex < b->vertex : a->port < b->port;
}

void wf_net_use_link(struct wf_net_use *use, struct wf_net_link_use link)
{
    uint32_t at = WF_NET_USE_LINKS;

    if (link.packets == 0) {
        return;
    }
    while (at > 0 && goes_before(&link, &use->busiest[at - 1])) {
        at--;
    }
    if (at < WF_NET_USE_LINKS) {
        memmove(&use->busiest[at + 1], &use->busiest[at],
                (WF_NET_USE_LINKS - 1 - at) * sizeof(link));
        use->busiest[at] = link;
    }
}

void wf_net_use_merge(struct wf_net_use *into, const struct wf_net_use *from)
{
    into->packets += from->packets;
    into->hops += from->hops;
    into->carried += from->carried;
    into->stuck += from->stuck;
    for (uint32_t i = 0; i < from->waits.n; i++) {
        wf_waits_add(&into->waits, &from->waits.at[i]);
    }
    into->injected += from->injected;
    into->waited += from->waited;
    into->links = from->links > into->links ? from->links : into->links;
    for (uint32_t i = 0; i < WF_NET_USE_LINKS; i++) {
        wf_net_use_link(into, from->busiest[i]);
    }
    for (uint32_t i = 0; i < WF_NET_USE_VCS; i++) {
        into->vcs[i] += from->vcs[i];
    }
}
