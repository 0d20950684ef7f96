/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Long messages that are copied once. The message of a send uses the program's buffer until the
 * send is complete in the program: a loan. Whoever comes first ends it:
 *
 *   the receive completes     its rank copies the data from the sender's buffer
 *   the send completes        its rank copies the data to the buffer of the receive, if the
 *                             receive is posted and it is certain that it gets this message;
 *                             else to memory of the message
 *
 * Sender and receiver may run in different threads: the state of the message says who copies,
 * and the other one waits for the end of that copy. Which of them it is has no influence on
 * results.
 *
 * The variables of a program are in place only while their rank runs, so that data in them is
 * copied at once. So are short messages: programs that change a buffer too early work with other
 * MPI libraries as long as messages are short.
 */

#include "mpi/lib/p2p/request.h"

enum { WL_LOAN_MIN = 16 * 1024 }; /* bytes */

/* Whether `count` elements at `buffer` can be lent, or data may land there. */
bool wl_loan_is_possible(const struct wl_rank *rank, const struct wl_type *type,
                         const void *buffer, size_t count);

/* A message whose data is the sender's buffer. There are two holders: the queue and the caller,
 * who calls wl_loan_end(). */
struct wl_message *wl_loan_new(const void *buffer, size_t bytes, uint32_t to);

/* Before the program may use the buffer again: the data leaves it, and *loan becomes null. Null is
 * allowed. */
void wl_loan_end(struct wl_message **loan);

/* In the receiver: the data of a message that was taken goes to the buffer of its receive. */
void wl_loan_deliver(struct wl_message *message, const struct wl_recv *recv, size_t bytes);

/* Of a posted receive: waits until no sender writes to its buffer; and moves data that was
 * written there back to its message, since the receive was cancelled. */
void wl_landing_wait(const struct wl_recv *recv);
void wl_landing_undo(struct wl_recv *recv);
