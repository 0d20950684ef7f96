/* SPDX-License-Identifier: Apache-2.0 */
/* Keyvals and attributes. The program's copy and delete functions get all arguments by
 * address. */
#include "mpi/lib/bindings/fortran.h"

#include <stdlib.h>

typedef void copy_function(const int *object, const int *keyval, const MPI_Aint *extra_state,
                           const MPI_Aint *value_in, MPI_Aint *value_out, int *flag,
                           int *ierror);
typedef void delete_function(const int *object, const int *keyval, const MPI_Aint *value,
                             const MPI_Aint *extra_state, int *ierror);
/* In MPI-1 attribute values are plain integers. */
typedef void short_copy_function(const int *object, const int *keyval, const int *extra_state,
                                 const int *value_in, int *value_out, int *flag, int *ierror);
typedef void short_delete_function(const int *object, const int *keyval, const int *value,
                                   const int *extra_state, int *ierror);

/* The extra state of the keyval in C. It is never freed: the keyval lives as long as its
 * rank. */
struct functions {
    copy_function *copy;
    delete_function *remove;
    short_copy_function *short_copy;
    short_delete_function *short_remove;
    MPI_Aint extra_state;
};

static int call_copy(int object, int keyval, void *extra_state, void *value_in, void *value_out,
                     int *flag)
{
    const struct functions *own = extra_state;
    MPI_Aint in = (MPI_Aint)value_in, out = 0;
    int truth = 0, code = MPI_SUCCESS;

    if (own->short_copy != NULL) {
        int extra = (int)own->extra_state, narrow_in = (int)in, narrow_out = 0;
        own->short_copy(&object, &keyval, &extra, &narrow_in, &narrow_out, &truth, &code);
        out = narrow_out;
    } else {
        own->copy(&object, &keyval, &own->extra_state, &in, &out, &truth, &code);
    }
    *(void **)value_out = (void *)out;
    *flag = truth != 0;
    return code;
}

static int call_delete(int object, int keyval, void *value, void *extra_state)
{
    const struct functions *own = extra_state;
    MPI_Aint wide = (MPI_Aint)value;
    int code = MPI_SUCCESS;

    if (own->short_remove != NULL) {
        int extra = (int)own->extra_state, narrow = (int)wide;
        own->short_remove(&object, &keyval, &narrow, &extra, &code);
    } else {
        own->remove(&object, &keyval, &wide, &own->extra_state, &code);
    }
    return code;
}

static struct functions *keep(struct functions functions)
{
    struct functions *own = malloc(sizeof(*own));

    if (own != NULL) {
        *own = functions;
    }
    return own;
}

#define CREATE(name, Name)                                                                  \
    void mpi_##name##_create_keyval_(copy_function *copy, delete_function *remove,          \
                                     int *keyval, const MPI_Aint *extra_state, int *ierror) \
    {                                                                                       \
        *ierror = MPI_##Name##_create_keyval(                                               \
            call_copy, call_delete, keyval,                                                 \
            keep((struct functions){                                                        \
                .copy = copy, .remove = remove, .extra_state = *extra_state}));             \
        weft_mpi_keyval_is_fortran(*keyval);                                                \
    }

CREATE(comm, Comm)
CREATE(type, Type)
CREATE(win, Win)

void mpi_keyval_create_(short_copy_function *copy, short_delete_function *remove, int *keyval,
                        const int *extra_state, int *ierror)
{
    *ierror = MPI_Comm_create_keyval(call_copy, call_delete, keyval,
                                     keep((struct functions){.short_copy = copy,
                                                             .short_remove = remove,
                                                             .extra_state = *extra_state}));
    weft_mpi_keyval_is_fortran(*keyval);
}

/* ---- attribute values ---- */

#define VALUES(name)                                                                         \
    void mpi_##name##_set_attr_(const int *object, const int *keyval, const MPI_Aint *value, \
                                int *ierror)                                                 \
    {                                                                                        \
        *ierror = weft_mpi_attribute_set(*object, *keyval, *value);                          \
    }                                                                                        \
    void mpi_##name##_get_attr_(const int *object, const int *keyval, MPI_Aint *value,       \
                                int *flag, int *ierror)                                      \
    {                                                                                        \
        *ierror = weft_mpi_attribute_get(*object, *keyval, value, flag);                     \
    }

VALUES(comm)
VALUES(type)
VALUES(win)

/* ---- predefined copy and delete functions ---- */

#define NOTHING_COPIED(name)                                                            \
    void name(const int *object, const int *keyval, const void *extra_state,            \
              const void *value_in, void *value_out, int *flag, int *ierror)            \
    {                                                                                   \
        (void)object, (void)keyval, (void)extra_state, (void)value_in, (void)value_out; \
        *flag = 0;                                                                      \
        *ierror = MPI_SUCCESS;                                                          \
    }

/* NOLINTBEGIN(bugprone-macro-parentheses): a type */
#define ALL_COPIED(name, type)                                               \
    void name(const int *object, const int *keyval, const type *extra_state, \
              const type *value_in, type *value_out, int *flag, int *ierror) \
    {                                                                        \
        (void)object, (void)keyval, (void)extra_state;                       \
        *value_out = *value_in;                                              \
        *flag = 1;                                                           \
        *ierror = MPI_SUCCESS;                                               \
    }

/* NOLINTEND(bugprone-macro-parentheses) */
#define NOTHING_DELETED(name)                                          \
    void name(const int *object, const int *keyval, const void *value, \
              const void *extra_state, int *ierror)                    \
    {                                                                  \
        (void)object, (void)keyval, (void)value, (void)extra_state;    \
        *ierror = MPI_SUCCESS;                                         \
    }

NOTHING_COPIED(mpi_comm_null_copy_fn_)
NOTHING_COPIED(mpi_type_null_copy_fn_)
NOTHING_COPIED(mpi_win_null_copy_fn_)
NOTHING_COPIED(mpi_null_copy_fn_)
ALL_COPIED(mpi_comm_dup_fn_, MPI_Aint)
ALL_COPIED(mpi_type_dup_fn_, MPI_Aint)
ALL_COPIED(mpi_win_dup_fn_, MPI_Aint)
ALL_COPIED(mpi_dup_fn_, int)
NOTHING_DELETED(mpi_comm_null_delete_fn_)
NOTHING_DELETED(mpi_type_null_delete_fn_)
NOTHING_DELETED(mpi_win_null_delete_fn_)
NOTHING_DELETED(mpi_null_delete_fn_)
