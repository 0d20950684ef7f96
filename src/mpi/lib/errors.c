/* SPDX-License-Identifier: Apache-2.0 */
/* Error handlers and error codes. */
#include "mpi/lib/errors.h"

#include "mpi/lib/comm/properties.h"
#include "mpi/lib/memory.h"

#include <stdarg.h>
#include <stdio.h>

struct errhandler {
    MPI_Comm_errhandler_function *function;
    const struct wl_adapter *adapter; /* calls it; null: it is called directly */
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
    [MPI_ERR_SPAWN] = "no processes can be started",
    [MPI_ERR_PORT] = "invalid port",
    [MPI_ERR_SERVICE] = "unknown service",
    [MPI_ERR_NAME] = "unknown name of a service",
    [MPI_ERR_UNSUPPORTED_OPERATION] = "unsupported operation",
    [MPI_T_ERR_NOT_INITIALIZED] = "the tool interface is not initialized",
    [MPI_T_ERR_INVALID_INDEX] = "invalid index of a variable",
    [MPI_T_ERR_INVALID_HANDLE] = "invalid handle of a variable",
    [MPI_T_ERR_INVALID_SESSION] = "invalid session of the tool interface",
    [MPI_T_ERR_CVAR_SET_NEVER] = "the variable cannot be set",
    [MPI_T_ERR_PVAR_NO_STARTSTOP] = "the variable cannot be started or stopped",
    [MPI_T_ERR_PVAR_NO_WRITE] = "the variable cannot be written or reset",
    [MPI_T_ERR_INVALID_NAME] = "there is no variable of that name",
    [MPI_ERR_PROC_ABORTED] = "a process has aborted",
    [MPI_ERR_VALUE_TOO_LARGE] = "value too large for its variable",
    [MPI_ERR_SESSION] = "invalid session",
    [MPI_ERR_ERRHANDLER] = "invalid error handler",
};
enum { N_TEXTS = sizeof(texts) / sizeof(texts[0]) };

/* ---- calling error handlers ---- */

int wl_errhandler_call(const struct wl_rank *rank, MPI_Errhandler handle, int object, int code)
{
    const struct errhandler *own = wl_table_get(&rank->errhandlers, WL_ERRHANDLER, handle);

    if (own != NULL && own->adapter != NULL) {
        own->adapter->errhandler((wl_any_function *)own->function, object, code);
    } else if (own != NULL) {
        own->function(&object, &code);
    }
    return code;
}

/* Calls the program's handler. False if the error is fatal. */
static bool handled(struct wl_rank *rank, const struct wl_properties *properties, int object,
                    int code)
{
    MPI_Errhandler handle = properties != NULL ? properties->errhandler : 0;

    if (handle == MPI_ERRORS_RETURN) {
        return true;
    }
    (void)wl_errhandler_call(rank, handle, object, code);
    return wl_table_get(&rank->errhandlers, WL_ERRHANDLER, handle) != NULL;
}

int wl_error(struct wl_rank *rank, MPI_Comm comm, int code, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    if (comm != 0 && handled(rank, *wl_comm_properties(rank, comm), comm, code)) {
        return code;
    }
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    wl_fatal(rank, "%s", text);
}

/* The properties of a communicator, a window or a session. */
static struct wl_properties **properties_of(struct wl_rank *rank, int handle)
{
    uint32_t kind = (uint32_t)handle >> WL_KIND_SHIFT;

    return kind == WL_WIN       ? wl_win_properties(rank, handle)
           : kind == WL_SESSION ? wl_session_properties(rank, handle)
                                : wl_comm_properties(rank, handle);
}

/* Errors that belong to no object are those of MPI_COMM_SELF (MPI-4.0, 9.3). Many programs set only
 * the handler of MPI_COMM_WORLD, which counts then, as in MPI-3. */
static const struct wl_properties *default_properties(struct wl_rank *rank)
{
    const struct wl_properties *own =
        rank->comm_self != 0 ? *wl_comm_properties(rank, MPI_COMM_SELF) : NULL;

    return own != NULL && own->errhandler != 0 ? own
                                               : *wl_comm_properties(rank, MPI_COMM_WORLD);
}

bool wl_error_returns(struct wl_rank *rank, int object, int code)
{
    if ((uint32_t)object >> WL_KIND_SHIFT == WL_FILE || (object == 0 && code == MPI_ERR_FILE)) {
        MPI_Errhandler handler = wl_file_errhandler(rank, object);
        (void)wl_errhandler_call(rank, handler, object, code);
        return handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_ABORT;
    }
    return handled(rank, object != 0 ? *properties_of(rank, object) : default_properties(rank),
                   object != 0 ? object : MPI_COMM_WORLD, code);
}

bool wl_errors_return(struct wl_rank *rank, MPI_Comm comm)
{
    const struct wl_properties *properties = *wl_comm_properties(rank, comm);

    return properties != NULL && properties->errhandler != 0 &&
           properties->errhandler != MPI_ERRORS_ARE_FATAL &&
           properties->errhandler != MPI_ERRORS_ABORT;
}

/* ---- error handlers as objects ---- */

int wl_MPI_Comm_create_errhandler(struct wl_rank *rank, MPI_Comm_errhandler_function *function,
                                  MPI_Errhandler *errhandler)
{
    struct errhandler *created = wl_malloc(sizeof(*created));

    *created = (struct errhandler){.function = function};
    *errhandler = wl_table_add(&rank->errhandlers, WL_ERRHANDLER, created);
    return MPI_SUCCESS;
}

const struct wl_adapter **wl_errhandler_adapter(const struct wl_rank *rank, int handle)
{
    struct errhandler *own = wl_table_get(&rank->errhandlers, WL_ERRHANDLER, handle);

    return own != NULL ? &own->adapter : NULL;
}

int wl_MPI_Comm_set_errhandler(struct wl_rank *rank, MPI_Comm comm, MPI_Errhandler errhandler)
{
    wl_properties_get(properties_of(rank, comm))->errhandler = errhandler;
    rank->handles_errors = rank->checks_arguments = true;
    return MPI_SUCCESS;
}

int wl_MPI_Comm_get_errhandler(struct wl_rank *rank, MPI_Comm comm, MPI_Errhandler *errhandler)
{
    const struct wl_properties *properties = *properties_of(rank, comm);
    MPI_Errhandler own = properties != NULL ? properties->errhandler : 0;

    *errhandler = own != 0 ? own : MPI_ERRORS_ARE_FATAL;
    return MPI_SUCCESS;
}

int wl_MPI_Comm_call_errhandler(struct wl_rank *rank, MPI_Comm comm, int errorcode)
{
    if (!handled(rank, *properties_of(rank, comm), comm, errorcode)) {
        wl_fatal(rank, "error %d", errorcode);
    }
    return MPI_SUCCESS;
}

/* ---- error codes ---- */

/* An error class or code that the program has added. They are numbered from
 * MPI_ERR_LASTCODE + 1. */
struct wl_added_error {
    int error_class;
    char text[MPI_MAX_ERROR_STRING];
};

static struct wl_added_error *added_error(const struct wl_rank *rank, int code)
{
    int place = code - MPI_ERR_LASTCODE - 1;

    return place >= 0 && place < rank->n_added_errors ? rank->added_errors[place] : NULL;
}

static int add(struct wl_rank *rank, int error_class)
{
    struct wl_added_error *added = wl_calloc(1, sizeof(*added));
    int code = MPI_ERR_LASTCODE + 1 + rank->n_added_errors;

    added->error_class = error_class != 0 ? error_class : code;
    rank->added_errors = wl_realloc(rank->added_errors, (size_t)rank->n_added_errors + 1,
                                    sizeof(struct wl_added_error *));
    rank->added_errors[rank->n_added_errors++] = added;
    return code;
}

int wl_MPI_Add_error_class(struct wl_rank *rank, int *errorclass)
{
    *errorclass = add(rank, 0);
    return MPI_SUCCESS;
}

int wl_MPI_Add_error_code(struct wl_rank *rank, int errorclass, int *errorcode)
{
    *errorcode = add(rank, errorclass);
    return MPI_SUCCESS;
}

int wl_MPI_Add_error_string(struct wl_rank *rank, int errorcode, const char *string)
{
    struct wl_added_error *own = added_error(rank, errorcode);

    if (own == NULL) {
        wl_fatal(rank, "the program has not added an error code %d", errorcode);
    }
    (void)snprintf(own->text, sizeof(own->text), "%s", string);
    return MPI_SUCCESS;
}

int wl_MPI_Error_class(struct wl_rank *rank, int errorcode, int *errorclass)
{
    const struct wl_added_error *own = added_error(rank, errorcode);

    *errorclass = own != NULL ? own->error_class : errorcode;
    return MPI_SUCCESS;
}

int wl_MPI_Error_string(struct wl_rank *rank, int errorcode, char *string, int *length)
{
    const struct wl_added_error *own = added_error(rank, errorcode);
    const char *text = own != NULL ? own->text : NULL;

    if (own == NULL && errorcode >= 0 && errorcode < N_TEXTS) {
        text = texts[errorcode];
    }
    *length = text != NULL ? snprintf(string, MPI_MAX_ERROR_STRING, "%s", text)
                           : snprintf(string, MPI_MAX_ERROR_STRING, "error %d", errorcode);
    return MPI_SUCCESS;
}
