/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_LEVELS_H
#define WF_NET_LEVELS_H

#include "net/net.h"

/* For models with a latency and a bandwidth per level of a hierarchy: checks that there is a
 * topology with room for the nodes, and that each list has one value, or one per level. `model`
 * is its name in messages. */
WF_NODISCARD
enum wf_status wf_net_levels_check(const char *model, const struct wf_net_env *env,
                                   const struct wf_list *link_latency,
                                   const struct wf_list *bandwidth, struct wf_err *err);

#endif
