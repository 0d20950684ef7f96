/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The communicators of this rank.
 *
 * All members of a communicator must give it the same id in the trace. Recording sends no
 * messages to agree on ids: a rank that is not recorded would be waited for forever. So the id
 * is computed from the members and from how many communicators of exactly these members exist
 * already, which all members know. An intercommunicator is recorded as one communicator of the
 * ranks of both sides; the side with the lowest rank comes first.
 */

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct wf_cap_comm {
    uint32_t number, id, size;
    uint32_t rank;   /* mine */
    uint32_t offset; /* to be added to a peer to get its rank in the recorded communicator */
    bool is_inter;
    bool in_use;     /* not freed */
    uint64_t digest; /* of the members */
    uint32_t copy;   /* how many of the same members there were before */
    uint32_t *members;
    /* Of a communicator with a topology. */
    uint32_t n_sources, n_destinations;
    uint32_t *sources, *destinations;
};

/* Adds MPI_COMM_WORLD and MPI_COMM_SELF. */
void wf_cap_comms_init(void);

/* Null if the communicator is not known. */
struct wf_cap_comm *wf_cap_comms_find(MPI_Comm comm);

/* Adds a communicator that is not MPI_COMM_NULL; returns null if it cannot be recorded. */
struct wf_cap_comm *wf_cap_comms_add(MPI_Comm comm);

/* Adds a communicator with the members of another, without calling MPI: MPI_Comm_idup has not
 * completed it yet. */
struct wf_cap_comm *wf_cap_comms_add_copy(MPI_Comm comm, const struct wf_cap_comm *like);

/* Removes the communicator with this handle; false if it was not known. */
bool wf_cap_comms_remove(uint64_t handle, uint32_t *number, uint32_t *size);

uint64_t wf_cap_comm_handle(MPI_Comm comm);
