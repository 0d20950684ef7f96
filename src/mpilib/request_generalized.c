/* SPDX-License-Identifier: Apache-2.0 */
/* Generalized requests: the program completes them (MPI-3.1, 12.2). */
#include "mpilib/request.h"

#include "mpilib/memory.h"

struct generalized {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *release;
    MPI_Grequest_cancel_function *cancel;
    void *extra_state;
    bool complete;
};

int wl_MPI_Grequest_start(struct wl_rank *rank, MPI_Grequest_query_function *query,
                          MPI_Grequest_free_function *release,
                          MPI_Grequest_cancel_function *cancel, void *extra_state,
                          MPI_Request *request)
{
    struct wl_request *created = wl_request_new(rank, WL_REQUEST_GENERALIZED, request);
    struct generalized *generalized = wl_malloc(sizeof(*generalized));

    *generalized = (struct generalized){query, release, cancel, extra_state, false};
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
    return MPI_SUCCESS;
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
