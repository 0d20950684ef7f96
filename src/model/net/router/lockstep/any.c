/* SPDX-License-Identifier: Apache-2.0 */
/* Lock step on cores for all networks. */
#include "model/net/router/lockstep/cycle.h"
#include "model/net/router/lockstep/form.h"
#include "model/net/router/lockstep/place.h"

static uint64_t place(struct wf_lockstep_net *net, void *base)
{
    return wf_lockstep_place(net, base);
}

static void begin(const struct wf_lockstep_net *net, struct wf_lockstep_share share)
{
    for (uint32_t r = share.first; r < share.end && r < net->n_nodes; r++) {
        wf_lockstep_begin_traffic(net, r);
    }
}

static void cycle_all(const struct wf_lockstep_net *net, struct wf_lockstep_share share,
                      uint32_t cycle, struct wf_lockstep_work *work)
{
    for (uint32_t r = share.first; r < share.end; r++) {
        wf_lockstep_cycle(net, r, cycle, work);
    }
}

static void look(const struct wf_lockstep_net *net, struct wf_lockstep_share share,
                 uint32_t cycle, uint32_t *ports)
{
    for (uint32_t r = share.first; r < share.end; r++) {
        wf_lockstep_look(net, r, cycle, ports);
    }
}

const struct wf_lockstep_form wf_lockstep_any = {
    .place = place,
    .begin = begin,
    .cycle = cycle_all,
    .look = look,
    .packets = wf_lockstep_form_packets,
    .is_blocked = wf_lockstep_form_is_blocked,
};
