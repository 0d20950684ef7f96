/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_COLLECTIVE_H
#define WF_RANKS_COLLECTIVE_H

/* Collectives under way. Shared by the files of mpi/ alone. */

#include "ranks/request_record.h"

/* Which collective a message of one belongs to, by its tag: enum wf_coll_kind. */
uint32_t wf_collective_of_tag(int32_t tag);

/* Likewise its root, of which a tag has this many bits. */
uint32_t wf_collective_root_of_tag(int32_t tag);
enum { WF_COLLECTIVE_ROOT_BITS = 10 };

/* Likewise, if its bits tell it in a communicator of this size; else WF_BLOCKED_NO_ROOT
 * (ranks/blocked.c). */
uint32_t wf_blocked_root(int32_t tag, uint32_t comm_size);

/* Whether one tag is that of another collective in the place of that with the other tag: as
 * many were begun on the communicator before. */
bool wf_collective_replaces(int32_t tag, int32_t other);

/* The arguments and the communicator of the collective in this cell, which is not done. */
void wf_collective_recall(const struct wf_caller *who, uint32_t cell, struct wf_coll_args *args,
                          struct wf_rank_group *group);

/* Its track (ranks/cause.h). */
uint32_t wf_collective_track(const struct wf_caller *who, uint32_t cell);

/* Goes on with a collective, as far as that is possible now. */
void wf_collective_continue(const struct wf_caller *who, uint32_t cell);

#endif
