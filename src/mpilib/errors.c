/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/errors.h"

#include "mpilib/memory.h"
#include "mpilib/properties.h"
#include "mpilib/window.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct errhandler {
    MPI_Comm_errhandler_function *function;
};

static const char *const texts[] = {
    [MPI_SUCCESS] = "no error",
    [MPI_ERR_BUFFER] = "invalid buffer",
    [MPI_ERR_COUNT] = "invalid count",
    [MPI_ERR_TYPE] = "invalid datatype",
    [MPI_ERR_TAG] = "invalid tag",
    [MPI_ERR_COMM] = "invalid communicator",
    [MPI_ERR_RANK] = "invalid rank",
    [MPI_ERR_REQUEST] = "invalid request",
    [MPI_ERR_ROOT] = "invalid root",
    [MPI_ERR_GROUP] = "invalid group",
    [MPI_ERR_OP] = "invalid operation",
    [MPI_ERR_TOPOLOGY] = "invalid topology",
    [MPI_ERR_DIMS] = "invalid dimensions",
    [MPI_ERR_ARG] = "invalid argument",
    [MPI_ERR_UNKNOWN] = "unknown error",
    [MPI_ERR_TRUNCATE] = "message longer than its buffer",
    [MPI_ERR_OTHER] = "another error",
    [MPI_ERR_INTERN] = "internal error",
    [MPI_ERR_IN_STATUS] = "the statuses say what failed",
    [MPI_ERR_PENDING] = "pending request",
    [MPI_ERR_KEYVAL] = "invalid keyval",
    [MPI_ERR_NO_MEM] = "no memory",
    [MPI_ERR_INFO] = "invalid info",
    [MPI_ERR_INFO_KEY] = "invalid key of an info",
    [MPI_ERR_INFO_VALUE] = "invalid value of an info",
    [MPI_ERR_INFO_NOKEY] = "no such key of an info",
    [MPI_ERR_WIN] = "invalid window",
    [MPI_ERR_FILE] = "invalid file",
    [MPI_ERR_IO] = "input or output failed",
};
enum { N_TEXTS = sizeof(texts) / sizeof(texts[0]) };

/* ---- what happens ---- */

/* Calls the program's function, or says that nobody wants to hear of it. */
static bool handled(struct wl_rank *rank, MPI_Errhandler handle, int object, int code)
{
    if (handle == MPI_ERRORS_RETURN) {
        return true;
    }
    const struct errhandler *own = wl_table_get(&rank->errhandlers, WL_ERRHANDLER, handle);
    if (own != NULL) {
        own->function(&object, &code);
    }
    return own != NULL;
}

int wl_error(struct wl_rank *rank, MPI_Comm comm, int code, const char *function,
             const char *fmt, ...)
{
    char text[256];
    va_list ap;

    if (comm != 0) {
        struct wl_view view = wl_comm_of(rank, comm, function);
        if (*view.extra != NULL && handled(rank, (*view.extra)->errhandler, comm, code)) {
            return code;
        }
    }
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    wl_fatal(rank, function, "%s", text);
}

bool wl_errors_return(struct wl_rank *rank, MPI_Comm comm)
{
    struct wl_view view = wl_comm_of(rank, comm, "errors");

    return *view.extra != NULL && (*view.extra)->errhandler != 0 &&
           (*view.extra)->errhandler != MPI_ERRORS_ARE_FATAL;
}

/* ---- error handlers ---- */

static int create(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
    struct wl_rank *rank = wl_enter();
    struct errhandler *made = wl_malloc(sizeof(*made));

    made->function = function;
    *errhandler = wl_table_add(&rank->errhandlers, WL_ERRHANDLER, made);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function,
                               MPI_Errhandler *errhandler)
{
    return create(function, errhandler);
}

int MPI_Win_create_errhandler(MPI_Win_errhandler_function *function, MPI_Errhandler *errhandler)
{
    return create(function, errhandler);
}

int MPI_File_create_errhandler(MPI_File_errhandler_function *function,
                               MPI_Errhandler *errhandler)
{
    return create(function, errhandler);
}

int MPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)
{
    return create(function, errhandler);
}

/* Objects that use it may go on doing so: it is freed with the rank. */
int MPI_Errhandler_free(MPI_Errhandler *errhandler)
{
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

/* Where an object has its handler. */
static struct wl_extra **extra_of(struct wl_rank *rank, int handle, const char *function)
{
    return (uint32_t)handle >> WL_KIND_SHIFT == WL_WIN
               ? wl_win_extra(rank, handle, function)
               : wl_comm_of(rank, handle, function).extra;
}

static int set(int object, MPI_Errhandler errhandler, const char *function)
{
    struct wl_rank *rank = wl_enter();

    wl_extra_of(extra_of(rank, object, function))->errhandler = errhandler;
    wl_leave(rank);
    return MPI_SUCCESS;
}

static int get(int object, MPI_Errhandler *errhandler, const char *function)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_extra *extra = *extra_of(rank, object, function);

    *errhandler =
        extra != NULL && extra->errhandler != 0 ? extra->errhandler : MPI_ERRORS_ARE_FATAL;
    wl_leave(rank);
    return MPI_SUCCESS;
}

static int call(int object, int errorcode, const char *function)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_extra *extra = *extra_of(rank, object, function);

    if (extra == NULL || !handled(rank, extra->errhandler, object, errorcode)) {
        wl_fatal(rank, function, "error %d", errorcode);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return set(comm, errhandler, "MPI_Comm_set_errhandler");
}

int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return get(comm, errhandler, "MPI_Comm_get_errhandler");
}

int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    return call(comm, errorcode, "MPI_Comm_call_errhandler");
}

int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return set(comm, errhandler, "MPI_Errhandler_set");
}

int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return get(comm, errhandler, "MPI_Errhandler_get");
}

int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
    return set(win, errhandler, "MPI_Win_set_errhandler");
}

int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
    return get(win, errhandler, "MPI_Win_get_errhandler");
}

int MPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
    return call(win, errorcode, "MPI_Win_call_errhandler");
}

/* ---- codes ---- */

/* Classes, codes and texts of the program, behind ours. */
struct wl_own_error {
    int error_class;
    char text[MPI_MAX_ERROR_STRING];
};

static struct wl_own_error *own_error(const struct wl_rank *rank, int code)
{
    int place = code - MPI_ERR_LASTCODE - 1;

    return place >= 0 && place < rank->n_own_errors ? rank->own_errors[place] : NULL;
}

static int add(int error_class)
{
    struct wl_rank *rank = wl_enter();
    struct wl_own_error *made = wl_calloc(1, sizeof(*made));
    int code = MPI_ERR_LASTCODE + 1 + rank->n_own_errors;

    made->error_class = error_class != 0 ? error_class : code;
    rank->own_errors = wl_realloc(rank->own_errors, (size_t)rank->n_own_errors + 1,
                                  sizeof(struct wl_own_error *));
    rank->own_errors[rank->n_own_errors++] = made;
    wl_leave(rank);
    return code;
}

int MPI_Add_error_class(int *errorclass)
{
    *errorclass = add(0);
    return MPI_SUCCESS;
}

int MPI_Add_error_code(int errorclass, int *errorcode)
{
    *errorcode = add(errorclass);
    return MPI_SUCCESS;
}

int MPI_Add_error_string(int errorcode, const char *string)
{
    struct wl_rank *rank = wl_enter();
    struct wl_own_error *own = own_error(rank, errorcode);

    if (own == NULL) {
        wl_fatal(rank, "MPI_Add_error_string", "%d is no code of the program", errorcode);
    }
    (void)snprintf(own->text, sizeof(own->text), "%s", string);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Error_class(int errorcode, int *errorclass)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_own_error *own = own_error(rank, errorcode);

    *errorclass = own != NULL ? own->error_class : errorcode;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Error_string(int errorcode, char *string, int *length)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_own_error *own = own_error(rank, errorcode);
    const char *text = own != NULL ? own->text : NULL;

    if (own == NULL && errorcode >= 0 && errorcode < N_TEXTS) {
        text = texts[errorcode];
    }
    *length = text != NULL ? snprintf(string, MPI_MAX_ERROR_STRING, "%s", text)
                           : snprintf(string, MPI_MAX_ERROR_STRING, "error %d", errorcode);
    wl_leave(rank);
    return MPI_SUCCESS;
}
