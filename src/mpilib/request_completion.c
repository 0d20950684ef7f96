/* SPDX-License-Identifier: Apache-2.0 */
/* Waits and tests. */
#include "mpilib/memory.h"
#include "mpilib/request_generalized.h"

#include <stdlib.h>

static struct wl_request *request_of(struct wl_rank *rank, MPI_Request handle,
                                     const char *function)
{
    if (handle == MPI_REQUEST_NULL) {
        return NULL;
    }
    struct wl_request *request = wl_request_of(rank, handle, function);
    return request->active ? request : NULL;
}

/* What a request that needs no simulation has to say. */
static int conclude(struct wl_request *request, MPI_Status *status)
{
    int code = request->kind == WL_REQUEST_GENERAL ? wl_grequest_conclude(request) : 0;

    if (request->cancelled || request->kind == WL_REQUEST_SEND) {
        wl_status_empty(&request->status);
        request->status.weft_cancelled = request->cancelled;
    } else if (request->kind == WL_REQUEST_RECV) {
        wl_status_set(&request->status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    if (status != MPI_STATUS_IGNORE) {
        request->status.MPI_ERROR = status->MPI_ERROR;
        *status = request->status;
    }
    return code;
}

/* The simulation says that it is complete: hands out its data and forgets it. */
static int finish(struct wl_rank *rank, struct wl_request *request, MPI_Request *handle,
                  MPI_Status *status)
{
    int code = MPI_SUCCESS;

    if (request->nobody || request->kind >= WL_REQUEST_GENERAL) {
        code = conclude(request, status);
    } else if (request->kind == WL_REQUEST_RECV) {
        code = wl_recv_consume(rank, &request->recv, status);
    } else {
        wl_status_empty(status);
        if (request->kind == WL_REQUEST_COLL) {
            request->deliver(rank, request->own);
        }
    }
    request->active = false;
    if (!request->persistent) {
        wl_request_drop(rank, handle);
    } else if (request->cancelled) {
        request->cancelled = false;
        request->nobody = false;
    }
    return code;
}

/* Complete without anything that the simulation would have to say. */
static bool needs_nobody(const struct wl_request *request)
{
    return request->nobody || request->kind == WL_REQUEST_DONE ||
           request->kind == WL_REQUEST_GENERAL;
}

static bool has_data(const struct wl_request *request)
{
    return !needs_nobody(request) && request->kind != WL_REQUEST_SEND;
}

/* The active requests of an array: their places in it, and their numbers in ops. */
struct set {
    uint32_t n;
    uint32_t *numbers;
    int *places;
    struct wl_request **requests;
    bool any_data;
    bool stuck; /* there are some that only the program can complete, and has not yet */
    int code;   /* what came of those that were finished */
    int nobody; /* the place of one that is complete from the start; -1 if there is none */
};

static void collect(struct wl_rank *rank, int count, MPI_Request *handles, const char *function,
                    struct set *set)
{
    size_t n = count > 0 ? (size_t)count : 0;

    *set = (struct set){.numbers = wl_malloc(n * sizeof(uint32_t)),
                        .places = wl_malloc(n * sizeof(int)),
                        .requests = wl_malloc(n * sizeof(struct wl_request *)),
                        .nobody = -1};
    for (int i = 0; i < count; i++) {
        struct wl_request *request = request_of(rank, handles[i], function);
        if (request == NULL) {
            continue;
        }
        if (request->kind == WL_REQUEST_GENERAL && !wl_grequest_complete(request)) {
            set->stuck = true;
            continue;
        }
        if (needs_nobody(request)) {
            set->nobody = set->nobody < 0 ? i : set->nobody;
        }
        set->any_data |= has_data(request);
        set->numbers[set->n] = request->number;
        set->places[set->n] = i;
        set->requests[set->n++] = request;
    }
}

static void set_fini(struct set *set)
{
    free(set->numbers);
    free(set->places);
    free(set->requests);
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static struct wf_op op_of(const struct set *set, enum wf_op_kind kind)
{
    return (struct wf_op){.kind = kind, .requests = set->numbers, .count = set->n};
}

/* A rank that waits cannot complete anything itself. */
_Noreturn static void wait_forever(const struct wl_rank *rank, const char *function)
{
    wl_fatal(rank, function, "only the rank itself could complete what it waits for");
}

/* ---- one ---- */

int MPI_Wait(MPI_Request *handle, MPI_Status *status)
{
    struct wl_rank *rank = wl_enter();
    struct wl_request *request = request_of(rank, *handle, "MPI_Wait");
    int code = MPI_SUCCESS;

    if (request != NULL) {
        const struct wf_op op = {.kind = WF_OP_WAIT, .request = request->number, .count = 1};
        if (request->kind == WL_REQUEST_GENERAL && !wl_grequest_complete(request)) {
            wait_forever(rank, "MPI_Wait");
        }
        if (has_data(request)) {
            (void)wl_call(rank, &op);
        } else if (!needs_nobody(request)) {
            wl_post(rank, &op);
        }
        code = finish(rank, request, handle, status);
    } else {
        wl_status_empty(status);
    }
    wl_leave(rank);
    return code;
}

static bool is_complete(struct wl_rank *rank, const struct wl_request *request)
{
    const struct wf_op op = {.kind = WF_OP_TEST, .request = request->number, .count = 1};

    return request->kind == WL_REQUEST_GENERAL
               ? wl_grequest_complete(request)
               : needs_nobody(request) || wl_call(rank, &op)->found;
}

int MPI_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    struct wl_rank *rank = wl_enter();
    struct wl_request *request = request_of(rank, *handle, "MPI_Test");
    int code = MPI_SUCCESS;

    *flag = 1;
    if (request == NULL) {
        wl_status_empty(status);
    } else if (is_complete(rank, request)) {
        code = finish(rank, request, handle, status);
    } else {
        *flag = 0;
    }
    wl_leave(rank);
    return code;
}

/* Looks without taking: a request that is complete becomes one that was from the start. */
int MPI_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status)
{
    struct wl_rank *rank = wl_enter();
    struct wl_request *request = request_of(rank, handle, "MPI_Request_get_status");
    int code = MPI_SUCCESS;

    *flag = 1;
    wl_status_empty(status);
    if (request == NULL || !is_complete(rank, request)) {
        *flag = request == NULL;
    } else if (!needs_nobody(request)) {
        if (request->kind == WL_REQUEST_RECV) {
            code = wl_recv_consume(rank, &request->recv, &request->status);
        } else {
            wl_status_empty(&request->status);
        }
        if (request->kind == WL_REQUEST_COLL) {
            request->deliver(rank, request->own);
        }
        request->kind = WL_REQUEST_DONE;
    }
    if (*flag && request != NULL) {
        (void)conclude(request, status);
    }
    wl_leave(rank);
    return code;
}

/* ---- all ---- */

/* If one of them has failed, the statuses say which. */
static int finish_all(struct wl_rank *rank, const struct set *set, int count,
                      MPI_Request *handles, MPI_Status *statuses)
{
    int result = MPI_SUCCESS;

    for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; i++) {
        wl_status_empty(&statuses[i]);
    }
    for (uint32_t i = 0; i < set->n; i++) {
        MPI_Status *status = status_at(statuses, set->places[i]);
        int code = finish(rank, set->requests[i], &handles[set->places[i]], status);
        if (code != MPI_SUCCESS) {
            result = MPI_ERR_IN_STATUS;
            if (status != MPI_STATUS_IGNORE) {
                status->MPI_ERROR = code;
            }
        }
    }
    return result;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    struct wl_rank *rank = wl_enter();
    struct set set;

    collect(rank, count, requests, "MPI_Waitall", &set);
    const struct wf_op op = op_of(&set, WF_OP_WAITALL);
    if (set.stuck) {
        wait_forever(rank, "MPI_Waitall");
    }
    if (set.any_data) {
        (void)wl_call(rank, &op);
    } else if (set.n > 0) {
        wl_post(rank, &op);
    }
    int code = finish_all(rank, &set, count, requests, statuses);
    set_fini(&set);
    wl_leave(rank);
    return code;
}

int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    struct wl_rank *rank = wl_enter();
    struct set set;
    int code = MPI_SUCCESS;

    collect(rank, count, requests, "MPI_Testall", &set);
    const struct wf_op op = op_of(&set, WF_OP_TESTALL);
    *flag = !set.stuck && (set.n == 0 || wl_call(rank, &op)->found);
    if (*flag) {
        code = finish_all(rank, &set, count, requests, statuses);
    }
    set_fini(&set);
    wl_leave(rank);
    return code;
}

/* ---- any and some ---- */

static uint32_t index_of(const struct wl_rank *rank, const struct set *set, uint32_t number)
{
    for (uint32_t i = 0; i < set->n; i++) {
        if (set->numbers[i] == number) {
            return i;
        }
    }
    wl_fatal(rank, "wait", "request %u was not asked for", number);
}

/* Whether one of them is complete; that one is finished. */
static bool take_any(struct wl_rank *rank, struct set *set, enum wf_op_kind kind,
                     MPI_Request *handles, MPI_Status *status, int *place)
{
    uint32_t i;

    if (set->nobody >= 0) {
        *place = set->nobody;
        for (i = 0; set->places[i] != *place;) {
            i++;
        }
    } else {
        const struct wf_op op = op_of(set, kind);
        const struct wf_port_answer *answer = wl_call(rank, &op);
        if (answer->n_taken == 0) {
            return false;
        }
        i = index_of(rank, set, answer->taken[0]);
        *place = set->places[i];
    }
    set->code = finish(rank, set->requests[i], &handles[*place], status);
    return true;
}

int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    struct wl_rank *rank = wl_enter();
    struct set set;

    collect(rank, count, requests, "MPI_Waitany", &set);
    if (set.n == 0 && set.stuck) {
        wait_forever(rank, "MPI_Waitany");
    }
    if (set.n == 0 || !take_any(rank, &set, WF_OP_WAITANY, requests, status, index)) {
        *index = MPI_UNDEFINED;
        wl_status_empty(status);
    }
    set_fini(&set);
    wl_leave(rank);
    return set.code;
}

int MPI_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    struct wl_rank *rank = wl_enter();
    struct set set;

    collect(rank, count, requests, "MPI_Testany", &set);
    *index = MPI_UNDEFINED;
    if (set.n == 0) {
        *flag = !set.stuck;
        wl_status_empty(status);
    } else {
        *flag = take_any(rank, &set, WF_OP_TESTANY, requests, status, index);
    }
    set_fini(&set);
    wl_leave(rank);
    return set.code;
}

/* Finishes all that the simulation has taken, and those that were complete from the start. */
static int take_some(struct wl_rank *rank, struct set *set, enum wf_op_kind kind,
                     MPI_Request *handles, int *indices, MPI_Status *statuses)
{
    const struct wf_op op = op_of(set, set->nobody >= 0 ? WF_OP_TESTSOME : kind);
    const struct wf_port_answer *answer = wl_call(rank, &op);
    int n = 0;

    for (uint32_t i = 0; i < answer->n_taken; i++) {
        uint32_t at = index_of(rank, set, answer->taken[i]);
        int place = set->places[at];
        int code = finish(rank, set->requests[at], &handles[place], status_at(statuses, n));
        if (code != MPI_SUCCESS) {
            set->code = MPI_ERR_IN_STATUS;
            if (statuses != MPI_STATUSES_IGNORE) {
                statuses[n].MPI_ERROR = code;
            }
        }
        indices[n++] = place;
    }
    return n;
}

static int some(int count, MPI_Request *requests, int *outcount, int *indices,
                MPI_Status *statuses, enum wf_op_kind kind)
{
    struct wl_rank *rank = wl_enter();
    struct set set;

    collect(rank, count, requests, "MPI_Waitsome or MPI_Testsome", &set);
    if (set.n == 0 && set.stuck && kind == WF_OP_WAITSOME) {
        wait_forever(rank, "MPI_Waitsome");
    }
    *outcount = set.n > 0   ? take_some(rank, &set, kind, requests, indices, statuses)
                : set.stuck ? 0
                            : MPI_UNDEFINED;
    set_fini(&set);
    wl_leave(rank);
    return set.code;
}

int MPI_Waitsome(int incount, MPI_Request *requests, int *outcount, int *indices,
                 MPI_Status *statuses)
{
    return some(incount, requests, outcount, indices, statuses, WF_OP_WAITSOME);
}

int MPI_Testsome(int incount, MPI_Request *requests, int *outcount, int *indices,
                 MPI_Status *statuses)
{
    return some(incount, requests, outcount, indices, statuses, WF_OP_TESTSOME);
}
