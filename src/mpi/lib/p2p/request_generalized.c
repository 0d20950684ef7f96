/* SPDX-License-Identifier: Apache-2.0 */
/* Generalized requests: the program completes them (MPI-3.1, 12.2). */
#include "mpi/lib/p2p/request.h"

#include "mpi/lib/memory.h"
#include "mpi/lib/threads/openmp.h"

struct generalized {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *release;
    MPI_Grequest_cancel_function *cancel;
    void *extra_state;
    bool complete;
    int64_t polled; /* simulated time that tests of the request have taken */
};

int wl_MPI_Grequest_start(struct wl_rank *rank, MPI_Grequest_query_function *query,
                          MPI_Grequest_free_function *release,
                          MPI_Grequest_cancel_function *cancel, void *extra_state,
                          MPI_Request *request)
{
    struct wl_request *created = wl_request_new(rank, WL_REQUEST_GENERALIZED, request);
    struct generalized *generalized = wl_malloc(sizeof(*generalized));

    *generalized = (struct generalized){query, release, cancel, extra_state, false, 0};
    created->own = generalized;
    return MPI_SUCCESS;
}

int wl_MPI_Grequest_complete(struct wl_rank *rank, MPI_Request request)
{
    struct wl_request *own = wl_request_of(rank, request);

    if (own->kind != WL_REQUEST_GENERALIZED) {
        wl_fatal(rank, "the request is not a generalized request");
    }
    ((struct generalized *)own->own)->complete = true;
    wl_omp_completes(rank);
    return MPI_SUCCESS;
}

/* A program may test the request until another thread has completed it, so such a test takes
 * time: more, the longer the request has been tested. */
bool wl_grequest_test(struct wl_rank *rank, const struct wl_request *request)
{
    enum { LEAST_PS = 100000, PART = 16 };
    struct generalized *generalized = request->own;

    if (!generalized->complete && wl_omp_is_active(rank)) {
        int64_t pause = generalized->polled / PART;
        pause = pause > LEAST_PS ? pause : LEAST_PS;
        generalized->polled += pause;
        wl_omp_sleep(rank, pause);
    }
    return generalized->complete;
}

bool wl_grequest_is_complete(const struct wl_request *request)
{
    return ((const struct generalized *)request->own)->complete;
}

int wl_grequest_finish(struct wl_request *request)
{
    const struct generalized *generalized = request->own;
    int code = MPI_SUCCESS;

    wl_status_set_empty(&request->status);
    if (generalized->query != NULL) {
        code = generalized->query(generalized->extra_state, &request->status);
    }
    if (generalized->release != NULL) {
        int released = generalized->release(generalized->extra_state);
        code = code != MPI_SUCCESS ? code : released;
    }
    return code;
}

int wl_grequest_cancel(const struct wl_request *request)
{
    const struct generalized *generalized = request->own;

    return generalized->cancel != NULL
               ? generalized->cancel(generalized->extra_state, generalized->complete)
               : MPI_SUCCESS;
}
