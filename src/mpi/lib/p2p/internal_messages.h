/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Messages that the library itself sends on a communicator, in a context of their own: receives
 * of the program never match them. In simulated time they are messages like any other. */

#include "mpi/lib/comm/communicator.h"

struct wl_bytes {
    const void *from;
    size_t n;
};

struct wl_buffer {
    void *to;
    size_t n;
};

/* To and from a member of the communicator. The receiver knows how many bytes there are. */
void wl_internal_send(struct wl_rank *rank, const struct wl_view *view, uint32_t to, int tag,
                      struct wl_bytes bytes);
void wl_internal_recv(struct wl_rank *rank, const struct wl_view *view, uint32_t from, int tag,
                      struct wl_buffer buffer);

/* Receives an empty message from any member, and returns the sender's rank of the program. */
uint32_t wl_internal_recv_any(struct wl_rank *rank, const struct wl_view *view, int tag);

/* The number in ops of the communicator that the simulation has for such messages. */
uint32_t wl_internal_number(struct wl_rank *rank, const struct wl_view *view);

/* Whether a message has arrived. */
bool wl_internal_probe(struct wl_rank *rank, const struct wl_view *view, uint32_t from,
                       int tag);
