/* SPDX-License-Identifier: Apache-2.0 */
/* Creating, starting and completing requests. */
#include "mpi/capture/inside.h"

static struct wf_cap_requests requests;

struct wf_cap_requests *wf_cap_requests(void)
{
    return &requests;
}

uint64_t wf_cap_request_handle(MPI_Request request)
{
    return request == MPI_REQUEST_NULL ? 0 : (uint64_t)(uintptr_t)request;
}

bool wf_cap_new_request(const MPI_Request *request, struct wf_cap_request *entry)
{
    entry->handle = wf_cap_request_handle(*request);
    if (entry->handle == 0) {
        return false;
    }
    if (!wf_cap_number_take(&requests, &entry->number) ||
        !wf_cap_requests_put(&requests, entry)) {
        wf_cap_give_up("out of memory");
        return false;
    }
    return true;
}

/* ---- before the call ---- */

/* Returns a status of our own if the program ignores it, but the recorder needs it. */
MPI_Status *wf_cap_on_status(struct wf_cap_call *call, bool wanted, MPI_Status *status)
{
    return wanted && status == MPI_STATUS_IGNORE ? call->small_statuses : status;
}

void wf_cap_on_keep(struct wf_cap_call *call, int n, const MPI_Request *list)
{
    call->n = n < 0 ? 0 : (uint32_t)n;
    call->handles = call->n <= WF_CALL_SMALL
                        ? call->small
                        : wf_cap_call_memory(call, call->n * sizeof(*call->handles));
    if (call->handles == NULL) {
        call->n = 0;
    }
    for (uint32_t i = 0; i < call->n; i++) {
        call->handles[i] = wf_cap_request_handle(list[i]);
    }
}

MPI_Status *wf_cap_on_statuses(struct wf_cap_call *call, MPI_Status *statuses,
                               MPI_Status *ignored)
{
    if (statuses != ignored || wf_cap.n_open == 0 || call->n == 0) {
        return statuses;
    }
    if (call->n <= WF_CALL_SMALL) {
        return call->small_statuses;
    }
    MPI_Status *own = wf_cap_call_memory(call, call->n * sizeof(*own));
    return own == NULL ? statuses : own;
}

/* ---- completion ---- */

/* Puts the entry of an incomplete request back into the table. */
static void put_back(const struct wf_cap_request *entry)
{
    if (!wf_cap_requests_put(&requests, entry)) {
        wf_cap_give_up("out of memory");
    }
}

static bool is_cancelled(const struct wf_cap_request *entry, const MPI_Status *status)
{
    int cancelled = 0;

    if (entry->kind == WF_REQUEST_CANCELLED && status != NULL && status != MPI_STATUS_IGNORE) {
        (void)PMPI_Test_cancelled(status, &cancelled);
    }
    return cancelled != 0;
}

/* Records the source of a wildcard receive. */
static void learn_source(const struct wf_cap_request *entry, const MPI_Status *status)
{
    if (status == NULL || status == MPI_STATUS_IGNORE) {
        wf_cap_stay_open(entry->staged);
        return;
    }
    if (is_cancelled(entry, status)) {
        wf_cap_cancel(entry->staged, entry->op);
    } else if (status->MPI_SOURCE < 0) {
        wf_cap_stay_open(entry->staged);
    } else {
        wf_cap_resolve(entry->staged, (uint32_t)status->MPI_SOURCE + entry->offset,
                       status->MPI_TAG);
    }
}

static void complete(struct wf_cap_request *entry, const MPI_Status *status)
{
    if (entry->staged != WF_NOT_STAGED) {
        wf_cap.n_open--;
        learn_source(entry, status);
        entry->staged = WF_NOT_STAGED;
    } else if (entry->kind == WF_REQUEST_CANCELLED) {
        wf_cap.n_open--;
        if (is_cancelled(entry, status)) {
            wf_cap_cancel(WF_NOT_STAGED, entry->op);
        }
    }
    if (entry->kind == WF_REQUEST_PERSISTENT) {
        put_back(entry);
    } else {
        wf_cap_number_give(&requests, entry->number);
    }
}

/* Returns whether ops mention the request. */
static bool is_in_ops(const struct wf_cap_request *entry)
{
    return entry->kind == WF_REQUEST_PLAIN || entry->kind == WF_REQUEST_PERSISTENT ||
           entry->kind == WF_REQUEST_CANCELLED;
}

/* The requests of a call. */
struct set {
    struct wf_cap_request *entries; /* by index in the call; handle 0: no request */
    uint32_t *numbers, *places;     /* those in ops, and the index of each entry in them */
    uint32_t n;
};

/* False if there is no memory. */
static bool take_set(struct wf_cap_call *call, struct set *set)
{
    size_t n = call->n;
    unsigned char *memory =
        wf_cap_call_memory(call, n * (sizeof(*set->entries) + 2 * sizeof(*set->numbers)));

    if (memory == NULL) {
        return false;
    }
    set->entries = (struct wf_cap_request *)(void *)memory;
    set->numbers = (uint32_t *)(void *)(memory + n * sizeof(*set->entries));
    set->places = set->numbers + n;
    set->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct wf_cap_request *entry = &set->entries[i];
        if (call->handles[i] == 0 ||
            !wf_cap_requests_take(&requests, call->handles[i], entry)) {
            entry->handle = 0;
            continue;
        }
        set->places[i] = set->n;
        if (is_in_ops(entry)) {
            set->numbers[set->n++] = entry->number;
        }
    }
    return true;
}

static void put_back_set(const struct wf_cap_call *call, const struct set *set)
{
    for (uint32_t i = 0; i < call->n; i++) {
        if (set->entries[i].handle != 0) {
            put_back(&set->entries[i]);
        }
    }
}

/* Completes a request of the set, and sets its handle to 0 so that it is not put back. */
static void finish(struct set *set, uint32_t place, const MPI_Status *status)
{
    struct wf_cap_request *entry = &set->entries[place];

    if (entry->handle != 0) {
        complete(entry, status);
        entry->handle = 0;
    }
}

static bool is_gone(const struct wf_cap_call *call, int at)
{
    return PMPI_Request_f2c(call->seen[at]) == MPI_REQUEST_NULL;
}

/* The index of the first request is 1 in Fortran, but 0 in mpi_f08 of some versions of MPICH.
 * The request that became null shows which; without one, the index is the same as last time. */
static int first_place(const struct wf_cap_call *call, const int *places, int n)
{
    static int known = 1;

    if (call->seen == NULL) {
        return call->first_index;
    }
    for (int i = 0; i < n; i++) {
        int before = places[i] - 1;
        if (before < 0 || (call->handles[before] != 0 && !is_gone(call, before) &&
                           places[i] < (int)call->n && is_gone(call, places[i]))) {
            known = 0;
        } else if (places[i] == (int)call->n || !is_gone(call, places[i])) {
            known = is_gone(call, before) ? 1 : known;
        }
    }
    return known;
}

static void set_requests(struct wf_op *op, const struct set *set)
{
    bool run = set->n > 0;

    for (uint32_t i = 1; i < set->n && run; i++) {
        run = set->numbers[i] == set->numbers[0] + i;
    }
    op->count = set->n;
    op->request = run ? set->numbers[0] : 0;
    op->requests = run || set->n == 0 ? NULL : set->numbers;
}

/* ---- one request ---- */

/* Records a wait, or a test whose result is `done`. */
static void on_one(struct wf_cap_call *call, struct wf_op op, bool done,
                   const MPI_Status *status)
{
    struct wf_cap_request entry;

    if (call->n == 0 || call->handles[0] == 0 ||
        !wf_cap_requests_take(&requests, call->handles[0], &entry)) {
        return;
    }
    op.request = entry.number;
    bool in_ops = is_in_ops(&entry);
    if (done) {
        complete(&entry, status);
    } else {
        put_back(&entry);
    }
    if (in_ops) {
        wf_cap_emit(&op, 0);
    }
}

void wf_cap_on_wait(struct wf_cap_call *call, const MPI_Status *status)
{
    on_one(call, (struct wf_op){.kind = WF_OP_WAIT}, true, status);
}

void wf_cap_on_test(struct wf_cap_call *call, const int *flag, const MPI_Status *status)
{
    const struct wf_op op = {.kind = WF_OP_TEST, .recorded = true, .outcome = *flag != 0};

    on_one(call, op, *flag != 0, status);
}

/* ---- several requests ---- */

static void emit_set(struct wf_op *op, const struct set *set)
{
    if (set->n > 0) {
        set_requests(op, set);
        wf_cap_emit(op, 0);
    }
}

/* Records a call on all its requests: a wait, a test whose result is `done`, or a start. */
static void on_all(struct wf_cap_call *call, struct wf_op op, bool done,
                   const MPI_Status *statuses)
{
    struct set set;

    if (!take_set(call, &set)) {
        return;
    }
    for (uint32_t i = 0; i < call->n && done; i++) {
        finish(&set, i, statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i]);
    }
    put_back_set(call, &set);
    emit_set(&op, &set);
}

void wf_cap_on_waitall(struct wf_cap_call *call, const MPI_Status *statuses)
{
    on_all(call, (struct wf_op){.kind = WF_OP_WAITALL}, true, statuses);
}

void wf_cap_on_testall(struct wf_cap_call *call, const int *flag, const MPI_Status *statuses)
{
    const struct wf_op op = {.kind = WF_OP_TESTALL, .recorded = true, .outcome = *flag != 0};

    on_all(call, op, *flag != 0, statuses);
}

void wf_cap_on_startall(struct wf_cap_call *call)
{
    on_all(call, (struct wf_op){.kind = WF_OP_STARTALL}, false, MPI_STATUSES_IGNORE);
}

void wf_cap_on_any(struct wf_cap_call *call, enum wf_op_kind kind, const int *place,
                   const int *flag, const MPI_Status *status)
{
    struct wf_op op = {.kind = kind, .recorded = true};
    struct set set;

    if (!take_set(call, &set)) {
        return;
    }
    bool found = (flag == NULL || *flag != 0) && *place != MPI_UNDEFINED;
    uint32_t at = found ? (uint32_t)(*place - first_place(call, place, 1)) : 0;
    found = found && at < call->n;
    bool in_ops = !found || (set.entries[at].handle != 0 && is_in_ops(&set.entries[at]));
    op.outcome = found ? set.places[at] : set.n;
    if (found) {
        finish(&set, at, status);
    }
    put_back_set(call, &set);
    if (in_ops) {
        emit_set(&op, &set);
    }
}

void wf_cap_on_some(struct wf_cap_call *call, enum wf_op_kind kind, const int *count,
                    const int *places, const MPI_Status *statuses)
{
    struct wf_op op = {.kind = kind, .recorded = true};
    uint32_t n = *count == MPI_UNDEFINED ? 0 : (uint32_t)*count;
    struct set set;

    uint32_t *outcomes = wf_cap_call_memory(call, ((size_t)n + 1) * sizeof(*outcomes));
    if (outcomes == NULL || !take_set(call, &set)) {
        return;
    }
    int first = first_place(call, places, (int)n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)(places[i] - first);
        if (at >= call->n) {
            continue;
        }
        if (set.entries[at].handle != 0 && is_in_ops(&set.entries[at])) {
            outcomes[op.outcome++] = set.places[at];
        }
        finish(&set, at, statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i]);
    }
    put_back_set(call, &set);
    op.outcomes = outcomes;
    emit_set(&op, &set);
}

/* ---- starting, freeing and cancelling requests ---- */

void wf_cap_on_start(struct wf_cap_call *call)
{
    struct wf_op op = {.kind = WF_OP_START};
    const struct wf_cap_request *entry =
        call->n > 0 ? wf_cap_requests_find(&requests, call->handles[0]) : NULL;

    if (entry != NULL && is_in_ops(entry)) {
        op.request = entry->number;
        wf_cap_emit(&op, 0);
    }
}

void wf_cap_on_request_free(struct wf_cap_call *call)
{
    struct wf_op op = {.kind = WF_OP_REQUEST_FREE};
    struct wf_cap_request entry;

    if (call->n == 0 || !wf_cap_requests_take(&requests, call->handles[0], &entry)) {
        return;
    }
    if (entry.kind == WF_REQUEST_CANCELLED) {
        /* The status will never be known. Assume success, as most cancelled receives match no
         * message. */
        wf_cap.n_open--;
        wf_cap_cancel(entry.staged, entry.op);
    } else if (entry.staged != WF_NOT_STAGED) {
        wf_cap.n_open--;
        wf_cap_stay_open(entry.staged);
    }
    if (is_in_ops(&entry)) {
        op.request = entry.number;
        wf_cap_emit(&op, 0);
    }
    wf_cap_number_give(&requests, entry.number);
}

/* A receive that MPI really cancelled, which its status shows later, becomes a receive from
 * WF_PROC_NULL. A cancelled send becomes detached; the model still sends its message. */
void wf_cap_on_cancel(struct wf_cap_call *call, uint32_t name)
{
    struct wf_cap_request *entry =
        call->n > 0 ? wf_cap_requests_find(&requests, call->handles[0]) : NULL;

    wf_cap_on_named(call, name);
    if (entry == NULL || entry->kind != WF_REQUEST_PLAIN) {
        return;
    }
    if (entry->staged != WF_NOT_STAGED || entry->op > 0) {
        /* n_open counts requests whose status is needed. */
        wf_cap.n_open += entry->staged == WF_NOT_STAGED ? 1 : 0;
        entry->kind = WF_REQUEST_CANCELLED;
    } else {
        const struct wf_op op = {.kind = WF_OP_REQUEST_FREE, .request = entry->number};
        wf_cap_emit(&op, 0);
        entry->kind = WF_REQUEST_SILENT;
    }
}
