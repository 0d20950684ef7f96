/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of another MPI that generate_abi.py cannot derive: those with functions of the program
 * as arguments, and a few whose results need more than a conversion. */
#include "mpi/lib/abi/abi.h"
#include "mpi/lib/abi/adapter.h"

#include <stdio.h>
#include <string.h>

/* Only programs call these functions: nothing declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#ifdef OPEN_MPI
#define ABI(name) weft_openmpi_##name
#define ABI_NAME  "Open MPI"
#else
#define ABI(name) weft_mpich_##name
#define ABI_NAME  "MPICH"
#endif

enum { KIND_SHIFT = 24, KIND_COMM = 0x41, KIND_TYPE = 0x42, KIND_WIN = 0x48, KIND_FILE = 0x4a };

/* The other MPI's handle of an object that has attributes or an error handler, as the word that
 * is passed to a function of the program. */
static uintptr_t object_out(int handle)
{
    switch ((unsigned)handle >> KIND_SHIFT) {
    case KIND_COMM:
        return (uintptr_t)wa_comm_out(handle);
    case KIND_TYPE:
        return (uintptr_t)wa_type_out(handle);
    case KIND_WIN:
        return (uintptr_t)wa_win_out(handle);
    case KIND_FILE:
        return (uintptr_t)wa_file_out(handle);
    default:
        return (uintptr_t)(unsigned)handle;
    }
}

/* ---- calls of the program's functions ---- */

static void call_op(wl_any_function *function, void *in, void *inout, int count, int type)
{
    MPI_Datatype theirs = wa_type_out(type);

    ((MPI_User_function *)function)(in, inout, &count, &theirs);
}

static void call_errhandler(wl_any_function *function, int object, int code)
{
    uintptr_t theirs = object_out(object);
    int converted = wa_code_out(code);

    ((void (*)(uintptr_t *, int *, ...))function)(&theirs, &converted);
}

static int call_copy(wl_any_function *function, int object, int keyval, void *const state[3],
                     int *flag)
{
    return ((int (*)(uintptr_t, int, void *, void *, void *, int *))function)(
        object_out(object), wa_keyval_out(keyval), state[0], state[1], state[2], flag);
}

static int call_remove(wl_any_function *function, int object, int keyval, void *const state[2])
{
    return ((int (*)(uintptr_t, int, void *, void *))function)(
        object_out(object), wa_keyval_out(keyval), state[0], state[1]);
}

static const struct wl_adapter adapter = {call_op, call_errhandler, call_copy, call_remove};

int ABI(MPI_Op_create)(MPI_User_function *function, int commute, MPI_Op *op)
{
    int created = WEFT_MPI_OP_NULL;
    int code = weft_MPI_Op_create((void *)function, commute, &created);

    weft_mpi_adapt(created, &adapter);
    *op = wa_op_out(created);
    return wa_code_out(code);
}

static int create_keyval(wl_any_function *copy, wl_any_function *remove, int *keyval,
                         void *extra_state)
{
    int code = weft_MPI_Comm_create_keyval((void *)copy, (void *)remove, keyval, extra_state);

    weft_mpi_adapt(*keyval, &adapter);
    return wa_code_out(code);
}

#define CREATE_KEYVAL(name)                                                            \
    int ABI(MPI_##name)(wl_any_function * copy, wl_any_function * remove, int *keyval, \
                        void *extra_state)                                             \
    {                                                                                  \
        return create_keyval(copy, remove, keyval, extra_state);                       \
    }
CREATE_KEYVAL(Comm_create_keyval)
CREATE_KEYVAL(Type_create_keyval)
CREATE_KEYVAL(Win_create_keyval)
CREATE_KEYVAL(Keyval_create)

#define CREATE_ERRHANDLER(name)                                                  \
    int ABI(MPI_##name)(wl_any_function * function, MPI_Errhandler * errhandler) \
    {                                                                            \
        int created = WEFT_MPI_ERRHANDLER_NULL;                                  \
        int code = weft_MPI_Comm_create_errhandler((void *)function, &created);  \
        weft_mpi_adapt(created, &adapter);                                       \
        *errhandler = wa_errhandler_out(created);                                \
        return wa_code_out(code);                                                \
    }
CREATE_ERRHANDLER(Comm_create_errhandler)
CREATE_ERRHANDLER(Win_create_errhandler)
CREATE_ERRHANDLER(File_create_errhandler)
CREATE_ERRHANDLER(Errhandler_create)

/* Functions of attributes that the other MPI provides. */
static int copy_nothing(uintptr_t object, int keyval, void *extra_state, void *value, void *out,
                        int *flag)
{
    (void)object, (void)keyval, (void)extra_state, (void)value, (void)out;
    *flag = 0;
    return 0;
}

static int copy_value(uintptr_t object, int keyval, void *extra_state, void *value, void *out,
                      int *flag)
{
    (void)object, (void)keyval, (void)extra_state;
    *(void **)out = value;
    *flag = 1;
    return 0;
}

static int remove_nothing(uintptr_t object, int keyval, void *value, void *extra_state)
{
    (void)object, (void)keyval, (void)value, (void)extra_state;
    return 0;
}

#define COPY(name, function)                                                               \
    int ABI(name)(uintptr_t object, int keyval, void *extra_state, void *value, void *out, \
                  int *flag)                                                               \
    {                                                                                      \
        return function(object, keyval, extra_state, value, out, flag);                    \
    }
#define REMOVE(name)                                                            \
    int ABI(name)(uintptr_t object, int keyval, void *value, void *extra_state) \
    {                                                                           \
        return remove_nothing(object, keyval, value, extra_state);              \
    }
#ifdef OPEN_MPI
COPY(OMPI_C_MPI_NULL_COPY_FN, copy_nothing)
COPY(OMPI_C_MPI_COMM_NULL_COPY_FN, copy_nothing)
COPY(OMPI_C_MPI_TYPE_NULL_COPY_FN, copy_nothing)
COPY(OMPI_C_MPI_WIN_NULL_COPY_FN, copy_nothing)
COPY(OMPI_C_MPI_DUP_FN, copy_value)
COPY(OMPI_C_MPI_COMM_DUP_FN, copy_value)
COPY(OMPI_C_MPI_TYPE_DUP_FN, copy_value)
COPY(OMPI_C_MPI_WIN_DUP_FN, copy_value)
REMOVE(OMPI_C_MPI_NULL_DELETE_FN)
REMOVE(OMPI_C_MPI_COMM_NULL_DELETE_FN)
REMOVE(OMPI_C_MPI_TYPE_NULL_DELETE_FN)
REMOVE(OMPI_C_MPI_WIN_NULL_DELETE_FN)
#else
COPY(MPIR_Dup_fn, copy_value)
#endif

/* ---- generalized requests ---- */

struct grequest {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra_state;
};

static int grequest_query(void *state, struct wa_status *status)
{
    const struct grequest *own = state;
    MPI_Status theirs;

    memset(&theirs, 0, sizeof(theirs));
    wa_status_out(status, &theirs);
    int code = own->query(own->extra_state, &theirs);
    (void)wa_status_in(&theirs, status);
    return wa_code_in(code);
}

static int grequest_free(void *state)
{
    struct grequest *own = state;
    int code = own->free(own->extra_state);

    free(own);
    return wa_code_in(code);
}

static int grequest_cancel(void *state, int complete)
{
    const struct grequest *own = state;

    return wa_code_in(own->cancel(own->extra_state, complete));
}

int ABI(MPI_Grequest_start)(MPI_Grequest_query_function *query,
                            MPI_Grequest_free_function *release,
                            MPI_Grequest_cancel_function *cancel, void *extra_state,
                            MPI_Request *request)
{
    struct grequest *own = malloc(sizeof(*own));
    int created = WEFT_MPI_REQUEST_NULL;

    *own = (struct grequest){query, release, cancel, extra_state};
    int code = weft_MPI_Grequest_start((void *)grequest_query, (void *)grequest_free,
                                       (void *)grequest_cancel, own, &created);
    *request = wa_request_out(created);
    return wa_code_out(code);
}

/* ---- attributes ---- */

/* Values of predefined attributes that are constants themselves. */
static void convert_attribute(int keyval, int **value)
{
    static int flavors[8], models[8], ranks[2];

    if (keyval == WEFT_MPI_WIN_CREATE_FLAVOR) {
        int *place = &flavors[**value & 7];
        *place = wa_flavor_out(**value);
        *value = place;
    } else if (keyval == WEFT_MPI_WIN_MODEL) {
        int *place = &models[**value & 7];
        *place = wa_model_out(**value);
        *value = place;
    } else if (keyval == WEFT_MPI_HOST || keyval == WEFT_MPI_IO) {
        int *place = &ranks[keyval == WEFT_MPI_IO];
        *place = wa_rank_out(**value);
        *value = place;
    }
}

static int get_attribute(int code, int keyval, void *value, const int *flag)
{
    if (code == 0 && *flag) {
        convert_attribute(keyval, value);
    }
    return wa_code_out(code);
}

#define GET_ATTRIBUTE(name, kind, handle)                                                    \
    int ABI(MPI_##name)(handle object, int keyval, void *value, int *flag)                   \
    {                                                                                        \
        int own = wa_keyval_in(keyval);                                                      \
        return get_attribute(weft_MPI_##name(wa_##kind##_in(object), own, value, flag), own, \
                             value, flag);                                                   \
    }
GET_ATTRIBUTE(Comm_get_attr, comm, MPI_Comm)
GET_ATTRIBUTE(Type_get_attr, type, MPI_Datatype)
GET_ATTRIBUTE(Win_get_attr, win, MPI_Win)
GET_ATTRIBUTE(Attr_get, comm, MPI_Comm)

/* ---- others ---- */

/* The library writes the new handle when the request is complete: to the lower half of an
 * address, which is then a handle, too. */
int ABI(MPI_Comm_idup)(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    int created = WEFT_MPI_REQUEST_NULL;

    memset(newcomm, 0, sizeof(*newcomm)); /* NOLINT(bugprone-sizeof-expression) */
    int code = weft_MPI_Comm_idup(wa_comm_in(comm), newcomm, &created);
    *request = wa_request_out(created);
    return wa_code_out(code);
}

int ABI(MPI_Comm_idup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
                                 MPI_Request *request)
{
    (void)info;
    return ABI(MPI_Comm_idup)(comm, newcomm, request);
}

/* In Fortran a status is the same words as in C. */
int ABI(MPI_Status_f2c)(const MPI_Fint *from, MPI_Status *to)
{
    memcpy(to, from, sizeof(*to));
    return 0;
}

int ABI(MPI_Status_c2f)(const MPI_Status *from, MPI_Fint *to)
{
    memcpy(to, from, sizeof(*from));
    return 0;
}

int ABI(MPI_Pcontrol)(const int level, ...)
{
    (void)level;
    return 0;
}

/* Libraries compare it with the version that they were compiled for. */
int ABI(MPI_Get_library_version)(char *version, int *length)
{
#ifdef OPEN_MPI
    *length = sprintf(version, "Open MPI v%d.%d.%d, in place of which weft works",
                      OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#else
    *length =
        sprintf(version, "MPICH Version:\t%s, in place of which weft works", MPICH_VERSION);
#endif
    return 0;
}

/* Takes the place of functions that weft does not have. */
void ABI(missing)(void)
{
    (void)fprintf(stderr,
                  "a library calls a function of " ABI_NAME " that weft does not have\n");
    (void)weft_MPI_Abort(WEFT_MPI_COMM_WORLD, 1);
}

#ifdef OPEN_MPI
/* ---- handles of Fortran: small numbers of predefined objects, and weft's handles ---- */

#define CONVERT(Name, kind, handle)                               \
    MPI_Fint ABI(MPI_##Name##_c2f)(handle object)                 \
    {                                                             \
        return wa_##kind##_to_fortran(wa_##kind##_in(object));    \
    }                                                             \
    handle ABI(MPI_##Name##_f2c)(MPI_Fint object)                 \
    {                                                             \
        return wa_##kind##_out(wa_##kind##_from_fortran(object)); \
    }
CONVERT(Comm, comm, MPI_Comm)
CONVERT(Type, type, MPI_Datatype)
CONVERT(Op, op, MPI_Op)
CONVERT(Request, request, MPI_Request)
CONVERT(Group, group, MPI_Group)
CONVERT(Info, info, MPI_Info)
CONVERT(Errhandler, errhandler, MPI_Errhandler)
CONVERT(Win, win, MPI_Win)
CONVERT(Message, message, MPI_Message)
CONVERT(File, file, MPI_File)
#else
MPI_Fint ABI(MPI_File_c2f)(MPI_File file)
{
    return (MPI_Fint)(uintptr_t)file;
}

MPI_File ABI(MPI_File_f2c)(MPI_Fint file)
{
    return (MPI_File)(uintptr_t)(unsigned)file;
}

/* Sentinels that are variables. */
static int unweighted, weights_empty;
int *const MPI_UNWEIGHTED = &unweighted;
int *const MPI_WEIGHTS_EMPTY = &weights_empty;
#endif
