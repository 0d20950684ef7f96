/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_INTERNAL_MESSAGES_H
#define WF_MPILIB_INTERNAL_MESSAGES_H

/* Messages of the library itself: on a communicator, but never seen by the receives of the
 * program. In simulated time they are messages as any other. */

#include "mpilib/communicator.h"

struct wl_bytes {
    const void *from;
    size_t n;
};

struct wl_room {
    void *to;
    size_t n;
};

/* To and from a member of the communicator, `bytes` of them; what is received has as many. */
void wl_hidden_send(struct wl_rank *rank, const struct wl_view *view, uint32_t to, int tag,
                    struct wl_bytes what);
void wl_hidden_recv(struct wl_rank *rank, const struct wl_view *view, uint32_t from, int tag,
                    struct wl_room room);

/* Whether there is one to receive. */
bool wl_hidden_there(struct wl_rank *rank, const struct wl_view *view, uint32_t from, int tag);

/* Ranks that make a communicator of their own, by messages on one that they all have. */
struct wl_agreement {
    uint32_t *members; /* allocated; taken */
    uint32_t n, place; /* how many, and which one this is */
    int tag;
};
MPI_Comm wl_comm_agree(struct wl_rank *rank, const struct wl_view *view,
                       const struct wl_agreement *what);

#endif
