/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The way of an op, from the event that resumes its rank to the messages that it sends:
 *
 *     node.c      an event resumes a rank
 *     resume.c    fetches the rank's next ops from its source, until one blocks
 *     execute.c   interprets an op
 *     p2p.c, request*.c, collective.c, one_sided.c   the MPI call (model/ranks/calls.h)
 *     protocol.c, rendezvous.c, formula.c            messages
 *     nic.c       hands a message to the network
 *
 * The way back begins in node.c as well, which all events and arrivals enter: protocol.c finds the
 * receive of a message, request.c completes it and continues the collective that it belongs to. None
 * of them resumes a rank. If its wait is over they note that in rank.due (wf_rank_wake()), and node.c
 * resumes it at the end of the event. Private to ranks/.
 */

#include "model/ranks/calls.h"

/* At the end of an event of the rank: does what is due (enum wf_rank_due), for example executes its
 * ops until one blocks. */
void wf_rank_go_on(const struct wf_caller *who);

/* Executes one op (model/ranks/execute.c). The position of the rank is still that before the op. */
enum wf_called wf_rank_execute(const struct wf_rank_program *program, const struct wf_op *op);

/* Records that the rank began the op at `from`. `called` is the outcome of wf_rank_execute(). */
void wf_rank_note_call(const struct wf_rank_program *program, const struct wf_op *op,
                       int64_t from, enum wf_called called);
