/* SPDX-License-Identifier: Apache-2.0 */
/* No congestion control: a window that never changes. Where packets are lost it is as large as
 * the round trip needs, else unlimited, unless the user gives one. */
#include "model/net/transport/model.h"

static void begin(const struct wf_transport_net *net, struct wf_transport_sender *flow)
{
    if (net->params.window != 0 || !net->is_lossless) {
        flow->window = wf_transport_window(net, flow);
    }
}

const struct wf_transport_control wf_transport_fixed = {
    .name = "fixed",
    .summary = "a window that never changes, and no congestion control",
    .full = WF_TRANSPORT_DROP,
    .repair = WF_TRANSPORT_SELECTIVE,
    .queue = 64,
    .begin = begin,
};
