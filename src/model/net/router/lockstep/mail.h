/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What runs need whose messages are not all single packets (model/net/router/lockstep/messages.h). Hosts only. */

#include "model/net/router/lockstep/inside.h"

/* Whether a run needs this: otherwise every message is a packet that is injected at once or
 * dropped. */
bool wf_lockstep_mail_needed(const struct wf_lockstep *lock);

/* Sets the rules of net->mail, not its memory. */
void wf_lockstep_mail_set(struct wf_lockstep_net *net, const struct wf_lockstep *lock);

/* Memory on a host; the lists grow. The caller releases it. */
void wf_lockstep_mail_new(struct wf_lockstep_net *net);
void wf_lockstep_mail_free(struct wf_lockstep_net *net);
