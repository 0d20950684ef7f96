/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/capture/settings.h"

enum { ROUNDS = 32, TAG = 1 };

/* Rank 0 answers with its time. The shortest round trip gives the best estimate (Cristian,
 * "Probabilistic clock synchronization", Distributed Computing 3, 1989). */
static void ask(MPI_Comm comm, struct wf_cap_clock_difference *out)
{
    uint64_t shortest = UINT64_MAX;

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t theirs = 0, before = wf_cap_clock_monotonic();

        (void)PMPI_Sendrecv(&before, 1, MPI_UINT64_T, 0, TAG, &theirs, 1, MPI_UINT64_T, 0, TAG,
                            comm, MPI_STATUS_IGNORE);
        uint64_t after = wf_cap_clock_monotonic();
        if (after - before < shortest) {
            shortest = after - before;
            out->offset = (int64_t)(before + shortest / 2 - theirs);
            out->doubt = shortest / 2;
        }
    }
}

static void answer(MPI_Comm comm, int who)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t asked = 0;

        (void)PMPI_Recv(&asked, 1, MPI_UINT64_T, who, TAG, comm, MPI_STATUS_IGNORE);
        uint64_t now = wf_cap_clock_monotonic();
        (void)PMPI_Send(&now, 1, MPI_UINT64_T, who, TAG, comm);
    }
}

void wf_cap_clock_compare(struct wf_cap_clock_difference *out)
{
    MPI_Comm comm = MPI_COMM_NULL;

    if (PMPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) {
        return;
    }
    for (int who = 1; who < (int)wf_cap.n_ranks; who++) {
        if (wf_cap.rank == 0) {
            answer(comm, who);
        } else if (wf_cap.rank == (uint32_t)who) {
            ask(comm, out);
        }
    }
    (void)PMPI_Comm_free(&comm);
}
