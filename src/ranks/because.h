/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_BECAUSE_H
#define WF_RANKS_BECAUSE_H

/* Telling why ranks go on (ranks/cause.h). Shared by the files of mpi/ alone. */

#include "ranks/request_record.h"

/* Tells the layer above, if it wants to know, why something of the rank goes on: the rest of
 * the cause. */
static inline void wf_cause_note(const struct wf_caller *who, struct wf_cause cause)
{
    if (who->mpi->because != NULL) {
        cause.rank = who->number;
        who->mpi->because(who->mpi->arg, who, &cause);
    }
}

/* Of what `track` waits for, a request that is done after or before its `clock`: adds to the
 * cause of all that one call waits for, which is zeroed before. Only the last matters, and how
 * many the CPU takes in. */
void wf_cause_add(const struct wf_caller *who, const struct wf_rank_request *req,
                  uint32_t track, int64_t clock, struct wf_cause *sum);
/* Tells that cause, if there is one. */
static inline void wf_cause_note_sum(const struct wf_caller *who, const struct wf_cause *sum)
{
    if (sum->until > 0 || sum->taken > 0) {
        wf_cause_note(who, *sum);
    }
}

#endif
