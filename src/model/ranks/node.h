/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The node process. Its state is the network's part for each of its interfaces, these
 * interfaces (model/ranks/nic.h), one rank slot for each rank on the node, and what the ranks share
 * (model/ranks/local.h, model/ranks/timeshare.h). Events of the network's kinds go to the network model, all
 * others to the handler of their kind. At the end of an event the node resumes the rank that it
 * has woken (model/ranks/resume.h). Private to ranks/.
 */

#include "model/ranks/run.h"

/* The handlers of the node, for a run that is complete except for this table. */
struct wf_process_ops wf_node_ops_of(const struct wf_ranks *ranks);

/* What the network calls; its `arg` is the struct wf_ranks. */
struct wf_net_user wf_node_net_user(struct wf_ranks *ranks);
