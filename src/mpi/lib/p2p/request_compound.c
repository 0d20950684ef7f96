/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that consist of several of the simulation, and MPI_Isendrecv(). */
#include "mpi/lib/p2p/request_compound.h"

#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/point_to_point.h"

#include <stdlib.h>

void wl_sub_post(struct wl_rank *rank, struct wl_request *request, struct wl_subrequest *sub,
                 struct wf_op *op)
{
    sub->posted = sub->open = true;
    request->compound->n_open++;
    op->request = sub->number;
    if (sub->receives) {
        sub->recv.number = sub->number;
        wl_recv_post(rank, &sub->recv);
    }
    wl_post(rank, op);
}

bool wl_compound_settle(struct wl_rank *rank, struct wl_request *request, uint32_t number)
{
    struct wl_compound *compound = request->compound;

    for (uint32_t i = 0; i < compound->n; i++) {
        struct wl_subrequest *sub = &compound->subs[i];
        if (sub->number == number && sub->open) {
            sub->open = false;
            compound->n_open--;
            int code =
                sub->receives ? wl_recv_complete(rank, &sub->recv, &sub->status) : MPI_SUCCESS;
            compound->code = compound->code != MPI_SUCCESS ? compound->code : code;
            break;
        }
    }
    if (compound->n_open > 0 || compound->n_missing > 0) {
        return false;
    }
    return compound->advance == NULL || !compound->advance(rank, request);
}

/* The numbers of the open subrequests. The caller frees the list. */
static uint32_t *open_numbers(const struct wl_compound *compound, uint32_t *n)
{
    uint32_t *numbers = wl_malloc(compound->n_open * sizeof(uint32_t));

    *n = 0;
    for (uint32_t i = 0; i < compound->n; i++) {
        if (compound->subs[i].open) {
            numbers[(*n)++] = compound->subs[i].number;
        }
    }
    return numbers;
}

/* Asks for all open subrequests at once. Sets *complete if the whole request is. Returns
 * false if they are not complete. */
static bool ask_stage(struct wl_rank *rank, struct wl_request *request, bool waits,
                      bool *complete)
{
    uint32_t n;
    uint32_t *numbers = open_numbers(request->compound, &n);
    const struct wf_op op = {
        .kind = waits ? WF_OP_WAITALL : WF_OP_TESTALL, .requests = numbers, .count = n};
    bool found = wl_call(rank, &op)->found || waits;

    for (uint32_t i = 0; i < n && found; i++) {
        *complete = wl_compound_settle(rank, request, numbers[i]);
    }
    free(numbers);
    return found;
}

bool wl_compound_wait(struct wl_rank *rank, struct wl_request *request)
{
    bool complete = request->compound->n_open == 0 && request->compound->n_missing == 0;

    while (!complete && request->compound->n_open > 0) {
        (void)ask_stage(rank, request, true, &complete);
    }
    return complete;
}

bool wl_compound_test(struct wl_rank *rank, struct wl_request *request)
{
    bool complete = request->compound->n_open == 0 && request->compound->n_missing == 0;

    while (!complete && request->compound->n_open > 0 &&
           ask_stage(rank, request, false, &complete)) {
    }
    return complete;
}

bool wl_compound_reach_last(struct wl_rank *rank, struct wl_request *request, bool waits)
{
    bool complete = false;

    while (request->compound->advance != NULL) {
        if (!ask_stage(rank, request, waits, &complete)) {
            return false;
        }
    }
    return true;
}

int wl_compound_finish(struct wl_rank *rank, struct wl_request *request)
{
    int code = request->compound->code;

    if (request->compound->finish != NULL) {
        request->compound->finish(rank, request);
    }
    request->compound->code = MPI_SUCCESS;
    return code;
}

void wl_compound_free(struct wl_rank *rank, struct wl_request *request)
{
    struct wl_compound *compound = request->compound;

    if (compound != NULL) {
        if (compound->release != NULL) {
            compound->release(rank, request);
        }
        for (uint32_t i = 0; i < compound->n; i++) {
            wl_number_free(rank, compound->subs[i].number);
        }
        free(compound->subs);
        free(compound);
    }
}

/* ---- MPI_Isendrecv() ---- */

static void finish_exchange(struct wl_rank *rank, struct wl_request *request)
{
    const struct wl_subrequest *in = &request->compound->subs[0];

    if (in->receives) {
        request->status = in->status;
    }
}

/* Data of one buffer is packed before the receive can overwrite it. */
int wl_isendrecv(struct wl_rank *rank, const struct wl_send_args *out,
                 const struct wl_recv_args *in, MPI_Request *handle)
{
    struct wf_op sent = {.kind = WF_OP_ISEND}, asked = {.kind = WF_OP_IRECV};
    struct wl_recv recv = {.next = NULL};
    bool to_null, from_null;
    int code = wl_recv_prepare(rank, in, &recv, &asked, &from_null);

    if (code == MPI_SUCCESS) {
        code = wl_send_message(rank, out, &sent, &to_null, NULL);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    struct wl_request *request = wl_request_new(rank, WL_REQUEST_COMPOUND, handle);
    struct wl_compound *compound = wl_calloc(1, sizeof(*compound));
    request->compound = compound;
    compound->subs = wl_calloc(2, sizeof(struct wl_subrequest));
    compound->finish = finish_exchange;
    wl_status_set(&request->status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    if (in->buffer != out->buffer) {
        wl_send_check(rank, out, &request->uses);
    }
    if (!from_null) {
        wl_recv_check(rank, &recv, &request->uses);
        struct wl_subrequest *sub = &compound->subs[compound->n++];
        *sub = (struct wl_subrequest){
            .number = wl_number_new(rank), .receives = true, .recv = recv};
        wl_sub_post(rank, request, sub, &asked);
    }
    if (!to_null) {
        struct wl_subrequest *sub = &compound->subs[compound->n++];
        *sub = (struct wl_subrequest){.number = wl_number_new(rank)};
        wl_sub_post(rank, request, sub, &sent);
    }
    return MPI_SUCCESS;
}
