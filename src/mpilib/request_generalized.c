/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/request_generalized.h"

#include "mpilib/memory.h"

struct general {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *release;
    MPI_Grequest_cancel_function *cancel;
    void *extra_state;
    bool complete;
};

int MPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *release,
                       MPI_Grequest_cancel_function *cancel, void *extra_state,
                       MPI_Request *request)
{
    struct wl_rank *rank = wl_enter();
    struct wl_request *made = wl_request_new(rank, WL_REQUEST_GENERAL, request);
    struct general *general = wl_malloc(sizeof(*general));

    *general = (struct general){query, release, cancel, extra_state, false};
    made->own = general;
    made->active = true;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Grequest_complete(MPI_Request request)
{
    struct wl_rank *rank = wl_enter();
    struct wl_request *own = wl_request_of(rank, request, "MPI_Grequest_complete");

    if (own->kind != WL_REQUEST_GENERAL) {
        wl_fatal(rank, "MPI_Grequest_complete", "it is no generalized request");
    }
    ((struct general *)own->own)->complete = true;
    wl_leave(rank);
    return MPI_SUCCESS;
}

bool wl_grequest_complete(const struct wl_request *request)
{
    return ((const struct general *)request->own)->complete;
}

int wl_grequest_conclude(struct wl_request *request)
{
    const struct general *general = request->own;
    int code = MPI_SUCCESS;

    wl_status_empty(&request->status);
    if (general->query != NULL) {
        code = general->query(general->extra_state, &request->status);
    }
    if (general->release != NULL) {
        int released = general->release(general->extra_state);
        code = code != MPI_SUCCESS ? code : released;
    }
    return code;
}

int wl_grequest_cancel(const struct wl_request *request)
{
    const struct general *general = request->own;

    return general->cancel != NULL ? general->cancel(general->extra_state, general->complete)
                                   : MPI_SUCCESS;
}
