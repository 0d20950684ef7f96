/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels with small records, for the host's back end. Numbers fit into the members of these
 * records if wf_lockstep_is_small(). */
#pragma GCC diagnostic ignored "-Wconversion"
#define WF_LOCKSTEP_TIGHT
#include "model/net/router/lockstep/kernels.c" /* NOLINT(bugprone-suspicious-include): compiled a second time */
