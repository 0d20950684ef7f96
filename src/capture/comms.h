/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CAPTURE_COMMS_H
#define WF_CAPTURE_COMMS_H

/*
 * The communicators of this rank.
 *
 * A communicator has an id in the trace that all members must agree on, and recording sends no
 * messages for it: a rank that is not recorded, for whatever reason, would be waited for
 * forever. The id is made of the members and of how many communicators of exactly these members
 * there are already, which all members know alike. An intercommunicator is recorded as one
 * communicator of all ranks of both sides, those of the side with the lowest rank first.
 */

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct wf_cap_comm {
    uint32_t number, id, size;
    uint32_t rank;   /* mine */
    uint32_t offset; /* what makes a peer as the program calls it a rank of the recorded one */
    bool is_inter;
    bool in_use;     /* not freed */
    uint64_t digest; /* of the members */
    uint32_t copy;   /* how many of the same members there were */
    uint32_t *members;
    /* Of one with a topology. */
    uint32_t n_sources, n_destinations;
    uint32_t *sources, *destinations;
};

/* Learns MPI_COMM_WORLD and MPI_COMM_SELF. */
void wf_cap_comms_init(void);

/* Null if it is not known. */
struct wf_cap_comm *wf_cap_comms_find(MPI_Comm comm);

/* Learns a new communicator, not null; null if it cannot be recorded. */
struct wf_cap_comm *wf_cap_comms_add(MPI_Comm comm);

/* Likewise one of the members of another, without asking anything of it: it is not complete. */
struct wf_cap_comm *wf_cap_comms_add_copy(MPI_Comm comm, const struct wf_cap_comm *like);

/* The communicator with this handle is gone. False if it was not known. */
bool wf_cap_comms_remove(uint64_t handle, uint32_t *number, uint32_t *size);

uint64_t wf_cap_comm_handle(MPI_Comm comm);

#endif
