/* SPDX-License-Identifier: Apache-2.0 */
/* Waits and tests: the completion of requests (MPI-3.1, 3.7.3 to 3.7.6). */
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/checker/orders.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/message_loan.h"
#include "mpi/lib/p2p/point_to_point.h"
#include "mpi/lib/p2p/request_compound.h"
#include "mpi/lib/threads/openmp.h"

#include <stdlib.h>

static struct wl_request *request_of(struct wl_rank *rank, MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL) {
        return NULL;
    }
    struct wl_request *request = wl_request_of(rank, handle);
    return request->active ? request : NULL;
}

/* Whether the request is complete whatever the simulation says. */
static bool is_complete_already(const struct wl_request *request)
{
    return request->proc_null || request->concluded || request->kind == WL_REQUEST_DONE ||
           request->kind == WL_REQUEST_GENERALIZED;
}

static void copy_status(struct wl_request *request, MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE) {
        request->status.MPI_ERROR = status->MPI_ERROR;
        *status = request->status;
    }
}

/* The status of a request that the simulation knows nothing about. */
static int conclude(struct wl_request *request, MPI_Status *status)
{
    int code = request->kind == WL_REQUEST_GENERALIZED ? wl_grequest_finish(request) : 0;

    if (request->concluded) {
        request->status.weft_cancelled = request->cancelled;
    } else if (request->cancelled || request->kind == WL_REQUEST_SEND) {
        wl_status_set_empty(&request->status);
        request->status.weft_cancelled = request->cancelled;
    } else if (request->kind == WL_REQUEST_RECV || request->kind == WL_REQUEST_COMPOUND) {
        wl_status_set(&request->status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    copy_status(request, status);
    return code;
}

/* The request is complete: delivers its data, and frees it if it is not persistent. */
static int finish(struct wl_rank *rank, struct wl_request *request, MPI_Request *handle,
                  MPI_Status *status)
{
    int code = MPI_SUCCESS;

    wl_check_release(rank, &request->uses);
    if (is_complete_already(request)) {
        code = conclude(request, status);
    } else if (request->kind == WL_REQUEST_RECV) {
        code = wl_recv_complete(rank, &request->recv, status);
    } else if (request->kind == WL_REQUEST_COMPOUND) {
        code = wl_compound_finish(rank, request);
        copy_status(request, status);
    } else {
        wl_status_set_empty(status);
        wl_loan_end(&request->loan);
        if (request->kind == WL_REQUEST_COLL) {
            code = request->deliver(rank, request->own);
        }
    }
    request->active = false;
    request->concluded = false;
    if (!request->persistent) {
        wl_request_free(rank, handle);
    } else if (request->cancelled) {
        request->cancelled = false;
        request->proc_null = false;
    }
    return code;
}

/* Whether the rank must wait in simulated time for it: its data arrives then, or leaves the
 * program's buffer. */
static bool has_data(const struct wl_request *request)
{
    return !is_complete_already(request) &&
           (request->kind != WL_REQUEST_SEND || request->loan != NULL);
}

/* The active requests of an array: their places in it, and their numbers in ops. A compound
 * request is in it once for each of its open subrequests. */
struct set {
    uint32_t n, capacity;
    uint32_t *numbers;
    int *places;
    struct wl_request **requests;
    bool any_data;
    bool incomplete; /* there are requests that the program itself has to complete... */
    const struct wl_request *generalized; /* ...such as this one; or null */
    int code;                             /* of the requests that were finished */
    int complete_at; /* the place of a request that is complete already; -1: there is none */
};

static void set_fini(struct set *set)
{
    free(set->numbers);
    free(set->places);
    free(set->requests);
}

static void set_add(struct set *set, struct wl_request *request, uint32_t number, int place)
{
    if (set->n == set->capacity) {
        set->capacity = set->capacity > 0 ? 2 * set->capacity : 4;
        set->numbers = wl_realloc(set->numbers, set->capacity, sizeof(uint32_t));
        set->places = wl_realloc(set->places, set->capacity, sizeof(int));
        set->requests = wl_realloc(set->requests, set->capacity, sizeof(struct wl_request *));
    }
    set->numbers[set->n] = number;
    set->places[set->n] = place;
    set->requests[set->n++] = request;
}

static void add_compound(struct set *set, struct wl_request *request, int place)
{
    const struct wl_compound *compound = request->compound;

    if (compound->n_missing > 0) {
        set->incomplete = true;
    }
    for (uint32_t i = 0; i < compound->n; i++) {
        if (compound->subs[i].open) {
            set_add(set, request, compound->subs[i].number, place);
        }
    }
    if (compound->n_missing == 0 && compound->n_open == 0) {
        set->complete_at = set->complete_at < 0 ? place : set->complete_at;
        set_add(set, request, request->number, place);
    }
    set->any_data = true;
}

static void collect(struct wl_rank *rank, int count, MPI_Request *handles, struct set *set)
{
    set_fini(set);
    *set = (struct set){.capacity = count > 0 ? (uint32_t)count : 1, .complete_at = -1};
    set->numbers = wl_malloc(set->capacity * sizeof(uint32_t));
    set->places = wl_malloc(set->capacity * sizeof(int));
    set->requests = wl_malloc(set->capacity * sizeof(struct wl_request *));
    for (int i = 0; i < count; i++) {
        struct wl_request *request = request_of(rank, handles[i]);
        if (request == NULL) {
            continue;
        }
        if (request->kind == WL_REQUEST_GENERALIZED && !wl_grequest_is_complete(request)) {
            set->incomplete = true;
            set->generalized = request;
            continue;
        }
        if (is_complete_already(request)) {
            set->complete_at = set->complete_at < 0 ? i : set->complete_at;
        } else if (request->kind == WL_REQUEST_COMPOUND) {
            add_compound(set, request, i);
            continue;
        }
        set->any_data |= has_data(request);
        set_add(set, request, request->number, i);
    }
}

/* For a test: other threads may complete what the next one finds. */
static void collect_tested(struct wl_rank *rank, int count, MPI_Request *handles,
                           struct set *set)
{
    collect(rank, count, handles, set);
    if (set->generalized != NULL && wl_grequest_test(rank, set->generalized)) {
        collect(rank, count, handles, set);
    }
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static struct wf_op op_of(const struct set *set, enum wf_op_kind kind)
{
    return (struct wf_op){.kind = kind, .requests = set->numbers, .count = set->n};
}

/* Waits until another thread has completed a generalized request or has made a partition ready.
 * A rank with one thread cannot do that while it waits. */
static void wait_for_thread(struct wl_rank *rank)
{
    if (wl_omp_wait_for_completion(rank)) {
        return;
    }
    wl_fatal(rank, "this would wait for ever: the rank waits for a generalized request, or for "
                   "a partition of a send, that only it could complete");
}

/* ---- one request ---- */

int wl_MPI_Wait(struct wl_rank *rank, MPI_Request *handle, MPI_Status *status)
{
    struct wl_request *request = request_of(rank, *handle);
    int code = MPI_SUCCESS;

    if (request != NULL) {
        const struct wf_op op = {.kind = WF_OP_WAIT, .request = request->number, .count = 1};
        while (request->kind == WL_REQUEST_GENERALIZED && !wl_grequest_is_complete(request)) {
            wait_for_thread(rank);
        }
        if (!is_complete_already(request) && request->kind == WL_REQUEST_COMPOUND) {
            while (!wl_compound_wait(rank, request)) {
                wait_for_thread(rank);
            }
        } else if (has_data(request)) {
            (void)wl_call(rank, &op);
        } else if (!is_complete_already(request)) {
            wl_post(rank, &op);
        }
        code = finish(rank, request, handle, status);
    } else {
        wl_status_set_empty(status);
    }
    return code;
}

/* A test as a decision (checker/orders.h). Returns what the schedule says. */
static int32_t test_decision(struct wl_rank *rank, const struct wl_request *request,
                             uint64_t key, struct wl_order_decision **decision)
{
    int32_t fixed = wl_orders() ? wl_order_requests(rank, WF_DECISION_TEST, key, decision)
                                : WF_DECISION_FREE;

    if (*decision != NULL) {
        wl_order_option(*decision, 0, request);
    }
    return fixed;
}

/* Asks whether requests are complete; with an outcome that is fixed, waits until they are. */
static bool ask(struct wl_rank *rank, const struct wf_op *test, int32_t fixed)
{
    struct wf_op op = *test;

    if (fixed >= 0) {
        op.kind = test->kind == WF_OP_TEST ? WF_OP_WAIT : WF_OP_WAITALL;
    }
    return fixed != WF_DECISION_NOTHING && (wl_call(rank, &op)->found || fixed >= 0);
}

static bool is_complete(struct wl_rank *rank, struct wl_request *request)
{
    const struct wf_op op = {.kind = WF_OP_TEST, .request = request->number, .count = 1};
    struct wl_order_decision *decision = NULL;
    bool found;

    if (request->kind == WL_REQUEST_GENERALIZED) {
        return wl_grequest_test(rank, request);
    }
    if (is_complete_already(request)) {
        return true;
    }
    int32_t fixed = test_decision(rank, request, request->number, &decision);
    if (request->kind != WL_REQUEST_COMPOUND) {
        found = ask(rank, &op, fixed);
    } else {
        found = fixed != WF_DECISION_NOTHING && (fixed >= 0 ? wl_compound_wait(rank, request)
                                                            : wl_compound_test(rank, request));
    }
    if (decision != NULL) {
        wl_order_decided(rank, decision, found ? 0 : WF_DECISION_NOTHING);
    }
    return found;
}

int wl_MPI_Test(struct wl_rank *rank, MPI_Request *handle, int *flag, MPI_Status *status)
{
    struct wl_request *request = request_of(rank, *handle);
    int code = MPI_SUCCESS;

    *flag = 1;
    if (request == NULL) {
        wl_status_set_empty(status);
    } else if (is_complete(rank, request)) {
        code = finish(rank, request, handle, status);
    } else {
        *flag = 0;
    }
    return code;
}

/* The request stays. If it is complete, it becomes one that is complete from the start. */
int wl_MPI_Request_get_status(struct wl_rank *rank, MPI_Request handle, int *flag,
                              MPI_Status *status)
{
    struct wl_request *request = request_of(rank, handle);
    int code = MPI_SUCCESS;

    *flag = 1;
    wl_status_set_empty(status);
    if (request == NULL || !is_complete(rank, request)) {
        *flag = request == NULL;
    } else if (!is_complete_already(request)) {
        wl_check_release(rank, &request->uses);
        if (request->kind == WL_REQUEST_RECV) {
            code = wl_recv_complete(rank, &request->recv, &request->status);
        } else if (request->kind == WL_REQUEST_COMPOUND) {
            code = wl_compound_finish(rank, request);
        } else {
            wl_status_set_empty(&request->status);
            wl_loan_end(&request->loan);
        }
        if (request->kind == WL_REQUEST_COLL) {
            code = request->deliver(rank, request->own);
        }
        request->concluded = true;
    }
    if (*flag && request != NULL) {
        (void)conclude(request, status);
    }
    return code;
}

/* ---- all of several ---- */

/* Brings partitioned receives to the stage in which their numbers are those of their data.
 * False if the rank does not wait and one of them is not there yet. */
static bool reach_last_stage(struct wl_rank *rank, int count, MPI_Request *handles, bool waits)
{
    bool all = true;

    for (int i = 0; i < count; i++) {
        struct wl_request *request = request_of(rank, handles[i]);
        if (request != NULL && request->kind == WL_REQUEST_COMPOUND &&
            !is_complete_already(request)) {
            all &= wl_compound_reach_last(rank, request, waits);
        }
    }
    return all;
}

/* Whether the request at this place of the set is complete, after its number was. */
static bool completes(struct wl_rank *rank, const struct set *set, uint32_t i)
{
    struct wl_request *request = set->requests[i];

    return is_complete_already(request) || request->kind != WL_REQUEST_COMPOUND ||
           wl_compound_settle(rank, request, set->numbers[i]);
}

/* If a request has failed, the statuses say which one. */
static int finish_all(struct wl_rank *rank, const struct set *set, int count,
                      MPI_Request *handles, MPI_Status *statuses)
{
    int result = MPI_SUCCESS;

    for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; i++) {
        wl_status_set_empty(&statuses[i]);
    }
    for (uint32_t i = 0; i < set->n; i++) {
        MPI_Status *status = status_at(statuses, set->places[i]);
        if (!completes(rank, set, i)) {
            continue;
        }
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

int wl_MPI_Waitall(struct wl_rank *rank, int count, MPI_Request *requests, MPI_Status *statuses)
{
    struct set set = {.n = 0};

    (void)reach_last_stage(rank, count, requests, true);
    collect(rank, count, requests, &set);
    while (set.incomplete) {
        wait_for_thread(rank);
        collect(rank, count, requests, &set);
    }
    const struct wf_op op = op_of(&set, WF_OP_WAITALL);
    if (set.any_data) {
        (void)wl_call(rank, &op);
    } else if (set.n > 0) {
        wl_post(rank, &op);
    }
    int code = finish_all(rank, &set, count, requests, statuses);
    set_fini(&set);
    return code;
}

static uint64_t key_of(const struct set *set)
{
    uint64_t key = set->n;

    for (uint32_t i = 0; i < set->n; i++) {
        key = key * UINT64_C(0x9e3779b97f4a7c15) + set->numbers[i];
    }
    return key;
}

int wl_MPI_Testall(struct wl_rank *rank, int count, MPI_Request *requests, int *flag,
                   MPI_Status *statuses)
{
    struct set set = {.n = 0};
    int code = MPI_SUCCESS;
    bool there = reach_last_stage(rank, count, requests, false);
    struct wl_order_decision *decision = NULL;
    int32_t fixed = WF_DECISION_FREE;

    collect_tested(rank, count, requests, &set);
    const struct wf_op op = op_of(&set, WF_OP_TESTALL);
    if (there && !set.incomplete && set.n > 0) {
        fixed = test_decision(rank, NULL, key_of(&set), &decision);
    }
    *flag = there && !set.incomplete && (set.n == 0 || ask(rank, &op, fixed));
    if (decision != NULL) {
        wl_order_decided(rank, decision, *flag ? 0 : WF_DECISION_NOTHING);
    }
    if (*flag) {
        code = finish_all(rank, &set, count, requests, statuses);
    }
    set_fini(&set);
    return code;
}

/* ---- any or some of several ---- */

/* The argument of such a function. */
struct array {
    int n;
    MPI_Request *requests;
};

static uint32_t index_of(const struct wl_rank *rank, const struct set *set, uint32_t number)
{
    for (uint32_t i = 0; i < set->n; i++) {
        if (set->numbers[i] == number) {
            return i;
        }
    }
    wl_fatal(
        rank,
        "the simulation completed request %u, which was not waited for; please report this",
        number);
}

/* Leaves only the request at one place of the array, if it is there. */
static void set_restrict(const struct wl_rank *rank, struct set *set, int place)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < set->n; i++) {
        if (set->places[i] == place) {
            set->numbers[n] = set->numbers[i];
            set->requests[n] = set->requests[i];
            set->places[n++] = place;
        }
    }
    if (n == 0) {
        wl_fatal(rank, "the schedule names request %d, which is not active", place);
    }
    set->n = n;
    set->complete_at = set->complete_at == place ? place : -1;
}

/* Finishes one request that is complete. False if there is none. */
static bool take_one(struct wl_rank *rank, struct set *set, enum wf_op_kind kind,
                     struct array array, MPI_Status *status, int *place,
                     struct wl_order_decision *decision, int32_t fixed)
{
    uint32_t i;

    for (;;) {
        if (fixed >= 0) {
            set_restrict(rank, set, fixed);
        }
        if (set->complete_at >= 0) {
            *place = set->complete_at;
            for (i = 0; set->places[i] != *place;) {
                i++;
            }
            break;
        }
        const struct wf_op op = op_of(set, kind);
        const struct wf_port_answer *answer = wl_call(rank, &op);
        if (answer->n_taken == 0) {
            return false;
        }
        i = index_of(rank, set, answer->taken[0]);
        *place = set->places[i];
        if (completes(rank, set, i)) {
            break;
        }
        collect(rank, array.n, array.requests, set);
        if (set->n == 0) {
            return false;
        }
    }
    if (decision != NULL) {
        wl_order_decided(rank, decision, *place);
    }
    set->code = finish(rank, set->requests[i], &array.requests[*place], status);
    return true;
}

/* Likewise; which one it is may be fixed. */
static bool take_any(struct wl_rank *rank, struct set *set, enum wf_op_kind kind,
                     struct array array, MPI_Status *status, int *place)
{
    struct wl_order_decision *decision = NULL;
    int32_t fixed = WF_DECISION_FREE;

    if (wl_orders()) {
        bool waits = kind == WF_OP_WAITANY;
        fixed = wl_order_requests(rank, waits ? WF_DECISION_WAIT : WF_DECISION_TEST,
                                  key_of(set), &decision);
        for (uint32_t i = 0; i < set->n && decision != NULL; i++) {
            wl_order_option(decision, set->places[i], set->requests[i]);
        }
        kind = fixed >= 0 ? WF_OP_WAITANY : kind;
    }
    bool took = fixed != WF_DECISION_NOTHING &&
                take_one(rank, set, kind, array, status, place, decision, fixed);
    if (decision != NULL && !took) {
        wl_order_decided(rank, decision, WF_DECISION_NOTHING);
    }
    return took;
}

int wl_MPI_Waitany(struct wl_rank *rank, int count, MPI_Request *requests, int *index,
                   MPI_Status *status)
{
    struct set set = {.n = 0};

    collect(rank, count, requests, &set);
    while (set.n == 0 && set.incomplete) {
        wait_for_thread(rank);
        collect(rank, count, requests, &set);
    }
    if (set.n == 0 ||
        !take_any(rank, &set, WF_OP_WAITANY, (struct array){count, requests}, status, index)) {
        *index = MPI_UNDEFINED;
        wl_status_set_empty(status);
    }
    set_fini(&set);
    return set.code;
}

int wl_MPI_Testany(struct wl_rank *rank, int count, MPI_Request *requests, int *index,
                   int *flag, MPI_Status *status)
{
    struct set set = {.n = 0};

    collect_tested(rank, count, requests, &set);
    *index = MPI_UNDEFINED;
    if (set.n == 0) {
        *flag = !set.incomplete;
        wl_status_set_empty(status);
    } else {
        *flag =
            take_any(rank, &set, WF_OP_TESTANY, (struct array){count, requests}, status, index);
    }
    set_fini(&set);
    return set.code;
}

/* If a request has failed, the statuses of the others say that they have not. */
static void note_failures(const struct set *set, const int *codes, int n, MPI_Status *statuses)
{
    for (int i = 0; i < n && set->code != MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE; i++) {
        statuses[i].MPI_ERROR = codes[i];
    }
}

/* Finishes all requests that are complete. Returns how many. */
static int take_some(struct wl_rank *rank, struct set *set, enum wf_op_kind kind,
                     MPI_Request *handles, int *indices, MPI_Status *statuses)
{
    const struct wf_op op = op_of(set, set->complete_at >= 0 ? WF_OP_TESTSOME : kind);
    const struct wf_port_answer *answer = wl_call(rank, &op);
    int n = 0, *codes = wl_malloc((answer->n_taken + (size_t)1) * sizeof(int));

    for (uint32_t i = 0; i < answer->n_taken; i++) {
        uint32_t at = index_of(rank, set, answer->taken[i]);
        int place = set->places[at];
        if (!completes(rank, set, at)) {
            continue;
        }
        codes[n] = finish(rank, set->requests[at], &handles[place], status_at(statuses, n));
        set->code = codes[n] != MPI_SUCCESS ? MPI_ERR_IN_STATUS : set->code;
        indices[n++] = place;
    }
    note_failures(set, codes, n, statuses);
    free(codes);
    return n;
}

int wl_complete_some(struct wl_rank *rank, int count, MPI_Request *requests, int *outcount,
                     int *indices, MPI_Status *statuses, enum wf_op_kind kind)
{
    struct set set = {.n = 0};

    do { /* parts of compound requests may be complete, and no whole request */
        collect_tested(rank, count, requests, &set);
        while (set.n == 0 && set.incomplete && kind == WF_OP_WAITSOME) {
            wait_for_thread(rank);
            collect(rank, count, requests, &set);
        }
        if (wl_orders() && set.n > 0) { /* one at a time */
            *outcount =
                take_any(rank, &set, kind == WF_OP_WAITSOME ? WF_OP_WAITANY : WF_OP_TESTANY,
                         (struct array){count, requests}, status_at(statuses, 0), indices);
            note_failures(&set, &set.code, *outcount, statuses);
            set.code = set.code != MPI_SUCCESS ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
            continue;
        }
        *outcount = set.n > 0        ? take_some(rank, &set, kind, requests, indices, statuses)
                    : set.incomplete ? 0
                                     : MPI_UNDEFINED;
    } while (*outcount == 0 && kind == WF_OP_WAITSOME);
    set_fini(&set);
    return set.code;
}
