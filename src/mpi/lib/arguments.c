/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong arguments of MPI functions: see arguments.h. */
#include "mpi/lib/arguments.h"

#include "mpi/lib/checker/checker.h"
#include "mpi/lib/errors.h"
#include "mpi/lib/rma/window.h"

/* What the check of an argument knows of the call. */
struct call {
    struct wl_rank *rank;
    struct wl_view view; /* if it has a communicator or a window */
    bool has_view;
    const struct wl_arg *root; /* or null */
    const char *unnoticed;     /* what the implementation would not notice; or null */
};

static int handle_of(const struct wl_arg *arg)
{
    return arg->indirect ? *(const int *)arg->place : arg->handle;
}

/* ---- handles ---- */

/* The rows of wl_arg_kind that are handles: their objects in the rank, how many are predefined,
 * and the error class. */
static const struct {
    size_t table; /* in struct wl_rank */
    enum wl_kind kind;
    uint32_t n_predefined; /* places 1 to this */
    int code;
} handles[] = {
    [WL_ARG_COMM] = {offsetof(struct wl_rank, comms), WL_COMM, 2, MPI_ERR_COMM},
    [WL_ARG_WIN] = {offsetof(struct wl_rank, wins), WL_WIN, 0, MPI_ERR_WIN},
    [WL_ARG_FILE] = {offsetof(struct wl_rank, files), WL_FILE, 0, MPI_ERR_FILE},
    [WL_ARG_SESSION] = {offsetof(struct wl_rank, sessions), WL_SESSION, 0, MPI_ERR_SESSION},
    [WL_ARG_GROUP] = {offsetof(struct wl_rank, groups), WL_GROUP, 1, MPI_ERR_GROUP},
    [WL_ARG_INFO] = {offsetof(struct wl_rank, infos), WL_INFO, 1, MPI_ERR_INFO},
    [WL_ARG_TYPE] = {offsetof(struct wl_rank, types), WL_TYPE, WL_OBJECT_FIRST - 1,
                     MPI_ERR_TYPE},
    [WL_ARG_OP] = {offsetof(struct wl_rank, ops), WL_OP, WL_OBJECT_FIRST - 1, MPI_ERR_OP},
    [WL_ARG_ERRHANDLER] = {offsetof(struct wl_rank, errhandlers), WL_ERRHANDLER,
                           WL_OBJECT_FIRST - 1, MPI_ERR_ARG},
    [WL_ARG_KEYVAL] = {offsetof(struct wl_rank, keyvals), WL_KEYVAL, 0, MPI_ERR_KEYVAL},
    [WL_ARG_REQUEST] = {offsetof(struct wl_rank, requests), WL_REQUEST, 0, MPI_ERR_REQUEST},
    [WL_ARG_MESSAGE] = {offsetof(struct wl_rank, messages), WL_MESSAGE, 1, MPI_ERR_REQUEST},
};

static bool exists(const struct wl_rank *rank, enum wl_arg_kind kind, int handle, bool own)
{
    const struct wl_table *table = (const void *)((const char *)rank + handles[kind].table);
    uint32_t place = wl_handle_place(handle);

    return wl_table_get(table, handles[kind].kind, handle) != NULL ||
           (!own && (uint32_t)handle >> WL_KIND_SHIFT == handles[kind].kind && place > 0 &&
            place <= handles[kind].n_predefined);
}

static bool is_null(enum wl_arg_kind kind, int handle)
{
    return handle == wl_handle(handles[kind].kind, 0);
}

static int check_handle(struct call *call, const struct wl_arg *arg)
{
    if (arg->indirect && arg->place == NULL) {
        return MPI_ERR_ARG;
    }
    int handle = handle_of(arg);

    return exists(call->rank, arg->kind, handle, arg->own) ||
                   (arg->or_null && is_null(arg->kind, handle))
               ? MPI_SUCCESS
               : handles[arg->kind].code;
}

/* A keyval fits the objects of one kind, which the functions' names tell. */
static int check_keyval(struct call *call, const struct wl_arg *arg)
{
    if (arg->indirect && arg->place == NULL) {
        return MPI_ERR_ARG;
    }
    int handle = handle_of(arg);
    bool predefined = arg->or_null && handle > 0 && handle >> WL_KIND_SHIFT == 0;

    return predefined || wl_keyval_is_for(call->rank, handle) ? MPI_SUCCESS : MPI_ERR_KEYVAL;
}

static int check_requests(struct call *call, const struct wl_arg *arg)
{
    const MPI_Request *requests = arg->place;

    if (arg->count < 0) {
        return MPI_ERR_COUNT;
    }
    if (arg->count > 0 && requests == NULL) {
        return MPI_ERR_ARG;
    }
    for (MPI_Count i = 0; i < arg->count; i++) {
        if (requests[i] != MPI_REQUEST_NULL &&
            !exists(call->rank, WL_ARG_REQUEST, requests[i], false)) {
            return MPI_ERR_REQUEST;
        }
    }
    return MPI_SUCCESS;
}

/* ---- data ---- */

static bool is_root(const struct call *call)
{
    if (call->root == NULL || !call->has_view) {
        return true;
    }
    return call->view.inter ? call->root->handle == MPI_ROOT
                            : call->root->handle == (int)wl_own_rank(&call->view);
}

/* In an intercommunicator, most ranks have only the data of one side. */
static bool means_nothing(const struct call *call, const struct wl_arg *arg)
{
    return arg->place == MPI_IN_PLACE || (arg->at_root && !is_root(call)) ||
           (call->has_view && call->view.inter && call->root != NULL);
}

static bool is_misplaced(const struct call *call, const struct wl_arg *arg)
{
    return arg->place == MPI_IN_PLACE && !(call->has_view && call->view.inter) &&
           (arg->in_place == WL_IN_PLACE_NOWHERE ||
            (arg->in_place == WL_IN_PLACE_AT_ROOT && !is_root(call)));
}

static int check_data(struct call *call, const struct wl_arg *arg)
{
    if (is_misplaced(call, arg)) {
        call->unnoticed = arg->in_place == WL_IN_PLACE_AT_ROOT
                              ? "has MPI_IN_PLACE as a buffer at a rank that is not the root"
                              : "has MPI_IN_PLACE as a buffer that cannot be in place";
        return MPI_ERR_BUFFER;
    }
    if (means_nothing(call, arg)) {
        return MPI_SUCCESS;
    }
    if (arg->count < 0) {
        return MPI_ERR_COUNT;
    }
    if (arg->count == 0 && is_null(WL_ARG_TYPE, arg->handle)) {
        return MPI_SUCCESS;
    }
    if (!exists(call->rank, WL_ARG_TYPE, arg->handle, false)) {
        return MPI_ERR_TYPE;
    }
    const struct wl_type *type = wl_type_of(call->rank, arg->handle);
    if (!type->committed) {
        call->unnoticed = "uses a datatype that was never committed";
        return MPI_ERR_TYPE;
    }
    return arg->place == NULL && arg->count > 0 && type->predefined && type->size > 0
               ? MPI_ERR_BUFFER
               : MPI_SUCCESS;
}

static int check_alias(struct call *call, const struct wl_arg *arg)
{
    return !means_nothing(call, arg) && arg->count > 0 && arg->place == arg->other &&
                   arg->place != NULL
               ? MPI_ERR_BUFFER
               : MPI_SUCCESS;
}

static int check_own_part(struct call *call, const struct wl_arg *arg)
{
    if (means_nothing(call, arg) || arg->count <= 0 || arg->place == NULL || !call->has_view ||
        call->view.inter) {
        return MPI_SUCCESS;
    }
    uint32_t own = wl_own_rank(&call->view);
    MPI_Aint at = arg->wide_displs != NULL ? arg->wide_displs[own]
                  : arg->displs != NULL    ? arg->displs[own]
                                           : (MPI_Aint)own * arg->each;
    MPI_Aint bytes = at * wl_type_of(call->rank, arg->handle)->extent;

    return arg->place == (const char *)arg->other + bytes ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

static int check_place(struct call *call, const struct wl_arg *arg)
{
    return arg->place != MPI_IN_PLACE ? MPI_SUCCESS : MPI_ERR_BUFFER;
}

/* Integers, bytes and logical values, predefined. */
static int check_swapped(struct call *call, const struct wl_arg *arg)
{
    if (!exists(call->rank, WL_ARG_TYPE, arg->handle, false)) {
        return MPI_ERR_TYPE;
    }
    const struct wl_type *type = wl_type_of(call->rank, arg->handle);
    enum wl_basic basic = type->basic;

    return type->predefined && basic != WL_BASIC_NONE && basic != WL_BASIC_PAIR &&
                   (basic < WL_BASIC_F32 || basic > WL_BASIC_CLONG)
               ? MPI_SUCCESS
               : MPI_ERR_TYPE;
}

static int check_op(struct call *call, const struct wl_arg *arg)
{
    int code = check_handle(call, arg);
    const MPI_Datatype datatype = (MPI_Datatype)arg->count;

    if (code != MPI_SUCCESS || datatype == 0 ||
        !exists(call->rank, WL_ARG_TYPE, datatype, false)) {
        return code;
    }
    const struct wl_op *op = wl_op_of(call->rank, arg->handle);
    const struct wl_reduction what = {op, wl_type_of(call->rank, datatype), datatype, 1};

    return wl_op_is_user(op) || !what.type->predefined || wl_reduction_is_defined(&what)
               ? MPI_SUCCESS
               : MPI_ERR_OP;
}

/* ---- numbers and places ---- */

static int check_count(struct call *call, const struct wl_arg *arg)
{
    return arg->count >= 0 ? MPI_SUCCESS : MPI_ERR_COUNT;
}

static int check_number(struct call *call, const struct wl_arg *arg)
{
    return arg->count >= 0 ? MPI_SUCCESS : MPI_ERR_ARG;
}

static int check_root(struct call *call, const struct wl_arg *arg)
{
    bool special =
        call->view.inter && (arg->handle == MPI_ROOT || arg->handle == MPI_PROC_NULL);

    return !call->has_view || special ||
                   (arg->handle >= 0 && (uint32_t)arg->handle < call->view.n_peers)
               ? MPI_SUCCESS
               : MPI_ERR_ROOT;
}

static int check_target(struct call *call, const struct wl_arg *arg)
{
    return !call->has_view || arg->handle == MPI_PROC_NULL ||
                   (arg->handle >= 0 && (uint32_t)arg->handle < call->view.size)
               ? MPI_SUCCESS
               : MPI_ERR_RANK;
}

static int check_epoch(struct call *call, const struct wl_arg *arg)
{
    const struct wl_win *win = wl_table_get(&call->rank->wins, WL_WIN, (int)arg->count);

    return wl_epoch_fits(call->rank, win, arg->handle) ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

static int check_list(struct call *call, const struct wl_arg *arg)
{
    return arg->place != NULL || arg->count <= 0 ? MPI_SUCCESS : MPI_ERR_ARG;
}

static int check_result(struct call *call, const struct wl_arg *arg)
{
    return arg->place != NULL ? MPI_SUCCESS : MPI_ERR_ARG;
}

static int check_key(struct call *call, const struct wl_arg *arg)
{
    return arg->place != NULL ? MPI_SUCCESS : MPI_ERR_INFO_KEY;
}

static int check_value(struct call *call, const struct wl_arg *arg)
{
    return arg->place != NULL ? MPI_SUCCESS : MPI_ERR_INFO_VALUE;
}

static int (*const checks[WL_ARG_KINDS])(struct call *call, const struct wl_arg *arg) = {
    [WL_ARG_COMM] = check_handle,       [WL_ARG_WIN] = check_handle,
    [WL_ARG_FILE] = check_handle,       [WL_ARG_SESSION] = check_handle,
    [WL_ARG_GROUP] = check_handle,      [WL_ARG_INFO] = check_handle,
    [WL_ARG_TYPE] = check_handle,       [WL_ARG_OP] = check_op,
    [WL_ARG_KEYVAL] = check_keyval,     [WL_ARG_ERRHANDLER] = check_handle,
    [WL_ARG_REQUEST] = check_handle,    [WL_ARG_MESSAGE] = check_handle,
    [WL_ARG_REQUESTS] = check_requests, [WL_ARG_DATA] = check_data,
    [WL_ARG_ALIAS] = check_alias,       [WL_ARG_COUNT] = check_count,
    [WL_ARG_NUMBER] = check_number,     [WL_ARG_ROOT] = check_root,
    [WL_ARG_TARGET] = check_target,     [WL_ARG_RESULT] = check_result,
    [WL_ARG_KEY] = check_key,           [WL_ARG_VALUE] = check_value,
    [WL_ARG_LIST] = check_list,         [WL_ARG_PLACE] = check_place,
    [WL_ARG_SWAPPED] = check_swapped,   [WL_ARG_EPOCH] = check_epoch,
    [WL_ARG_OWN_PART] = check_own_part,
};

static bool is_object(enum wl_arg_kind kind)
{
    return kind == WL_ARG_COMM || kind == WL_ARG_WIN || kind == WL_ARG_FILE ||
           kind == WL_ARG_SESSION;
}

/* Sets *object to the one whose error handler is called; 0: none. */
static int check_objects(struct call *call, const struct wl_arg *args, uint32_t n, int *object)
{
    int code = MPI_SUCCESS;

    *object = 0;
    for (uint32_t i = 0; i < n && code == MPI_SUCCESS; i++) {
        call->root = args[i].kind == WL_ARG_ROOT ? &args[i] : call->root;
        code = is_object(args[i].kind) ? check_handle(call, &args[i]) : MPI_SUCCESS;
        if (code == MPI_SUCCESS && is_object(args[i].kind) && *object == 0 &&
            !is_null(args[i].kind, handle_of(&args[i]))) {
            *object = handle_of(&args[i]);
        }
    }
    uint32_t kind = (uint32_t)*object >> WL_KIND_SHIFT;
    if (code == MPI_SUCCESS && (kind == WL_COMM || kind == WL_WIN)) {
        call->view = wl_comm_of(
            call->rank, kind == WL_COMM ? *object : wl_win_of(call->rank, *object)->comm);
        call->has_view = true;
    }
    return code;
}

int wl_arguments_check(struct wl_rank *rank, const struct wl_arg *args, uint32_t n)
{
    struct call call = {.rank = rank};
    int object = 0, code = check_objects(&call, args, n, &object);

    for (uint32_t i = 0; i < n && code == MPI_SUCCESS; i++) {
        code = checks[args[i].kind](&call, &args[i]);
    }
    /* Null pointers and keyvals are looked at before the object, so that they are errors of none. */
    object = code == MPI_ERR_ARG || code == MPI_ERR_KEYVAL ? 0 : object;
    if (code != MPI_SUCCESS && wl_error_returns(rank, object, code)) {
        return code;
    }
    /* If the handler is fatal, the implementation says what is wrong. */
    if (call.unnoticed != NULL && rank->checker != NULL) {
        const struct wl_mark own = wl_mark_of(rank, wl_caller_of(rank));
        wl_report(WF_FINDING_FAILED_CALL, &own, NULL, "%s", call.unnoticed);
        if (code == MPI_ERR_BUFFER) { /* there is no such memory */
            wl_fatal(rank, "it %s", call.unnoticed);
        }
    }
    return MPI_SUCCESS;
}
