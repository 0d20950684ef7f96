/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes: values that the program attaches to objects (MPI-3.1, 6.7, "Caching"). */
#include "mpi/lib/bindings/fortran.h"
#include "mpi/lib/comm/properties.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/rma/window.h"

#include <stdlib.h>
#include <string.h>

struct keyval {
    MPI_Comm_copy_attr_function *copy;
    MPI_Comm_delete_attr_function *remove;
    void *extra_state;
    char kind;                        /* C, T or W: of communicators, datatypes or windows */
    bool fortran;                     /* the functions take and return integers, as pointers */
    const struct wl_adapter *adapter; /* calls the functions; null: they are called directly */
};

int weft_mpi_dup_fn(MPI_Comm old, int keyval, void *extra_state, void *value_in,
                    void *value_out, int *flag)
{
    *(void **)value_out = value_in;
    *flag = 1;
    return MPI_SUCCESS;
}

/* MPI_Comm_x, MPI_Type_x, MPI_Win_x; functions of MPI-1 without such a name are those of
 * communicators. */
static char kind_of(const struct wl_rank *rank)
{
    char kind = 'C';

    if (rank->function != NULL) {
        kind = rank->function[strlen("MPI_")];
    }
    if (kind != 'T' && kind != 'W') {
        kind = 'C';
    }
    return kind;
}

bool wl_keyval_is_for(const struct wl_rank *rank, int handle)
{
    const struct keyval *own = wl_table_get(&rank->keyvals, WL_KEYVAL, handle);

    return own != NULL && own->kind == kind_of(rank);
}

/* Keyvals are the same for all kinds of objects. */
int wl_MPI_Comm_create_keyval(struct wl_rank *rank, MPI_Comm_copy_attr_function *copy,
                              MPI_Comm_delete_attr_function *remove, int *keyval,
                              void *extra_state)
{
    struct keyval *created = wl_malloc(sizeof(*created));

    *created = (struct keyval){
        .copy = copy, .remove = remove, .extra_state = extra_state, .kind = kind_of(rank)};
    *keyval = wl_table_add(&rank->keyvals, WL_KEYVAL, created);
    return MPI_SUCCESS;
}

static const struct keyval *keyval_of(const struct wl_rank *rank, int keyval)
{
    const struct keyval *own = wl_table_get(&rank->keyvals, WL_KEYVAL, keyval);

    if (own == NULL) {
        wl_fatal(rank, "there is no keyval 0x%x", (unsigned)keyval);
    }
    return own;
}

const struct wl_adapter **wl_keyval_adapter(const struct wl_rank *rank, int handle)
{
    struct keyval *own = wl_table_get(&rank->keyvals, WL_KEYVAL, handle);

    return own != NULL ? &own->adapter : NULL;
}

/* The link that leads to the attribute; to null if the object does not have it. */
static struct wl_attribute **find_attribute(struct wl_properties *properties, int keyval)
{
    struct wl_attribute **at = &properties->attributes;

    while (*at != NULL && (*at)->keyval != keyval) {
        at = &(*at)->next;
    }
    return at;
}

static void add(struct wl_properties *properties, const struct wl_attribute *what)
{
    struct wl_attribute *attribute = wl_malloc(sizeof(*attribute));

    *attribute = *what;
    attribute->next = properties->attributes;
    properties->attributes = attribute;
}

/* The value as C sees it, and as Fortran does (MPI-4.0, 19.3.7). */
static void *value_in_c(struct wl_attribute *at)
{
    return at->integer ? &at->number : at->value;
}

static MPI_Aint value_in_fortran(const struct wl_attribute *at)
{
    return at->integer ? at->number : (MPI_Aint)at->value;
}

static void *value_for(const struct keyval *keyval, struct wl_attribute *at)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): how Fortran's integers travel */
    return keyval->fortran ? (void *)value_in_fortran(at) : value_in_c(at);
}

static int call_remove(const struct keyval *keyval, int object, struct wl_attribute *gone)
{
    void *value = value_for(keyval, gone);

    if (keyval->adapter != NULL) {
        return keyval->adapter->remove((wl_any_function *)keyval->remove, object, gone->keyval,
                                       (void *[]){value, keyval->extra_state});
    }
    return keyval->remove(object, gone->keyval, value, keyval->extra_state);
}

static int call_copy(const struct keyval *keyval, int from, struct wl_attribute *at,
                     void **value, int *flag)
{
    if (keyval->adapter != NULL) {
        return keyval->adapter->copy(
            (wl_any_function *)keyval->copy, from, at->keyval,
            (void *[]){keyval->extra_state, value_for(keyval, at), (void *)value}, flag);
    }
    return keyval->copy(from, at->keyval, keyval->extra_state, value_for(keyval, at),
                        (void *)value, flag);
}

/* The attribute stays if the program's delete function fails. */
static int delete_one(struct wl_rank *rank, int object, struct wl_attribute **at)
{
    struct wl_attribute *gone = *at;
    const struct keyval *keyval = keyval_of(rank, gone->keyval);
    int code = keyval->remove != NULL ? call_remove(keyval, object, gone) : MPI_SUCCESS;

    if (code == MPI_SUCCESS) {
        *at = gone->next;
        free(gone);
    }
    return code;
}

void wl_attributes_delete(struct wl_rank *rank, int handle,
                          struct wl_properties *const *properties)
{
    while (*properties != NULL && (*properties)->attributes != NULL &&
           delete_one(rank, handle, &(*properties)->attributes) == MPI_SUCCESS) {
    }
}

/* Recursion copies the oldest attribute first. */
static int copy_from(struct wl_rank *rank, int from, struct wl_attribute *at,
                     struct wl_properties **copy)
{
    if (at == NULL) {
        return MPI_SUCCESS;
    }
    int code = copy_from(rank, from, at->next, copy);
    const struct keyval *keyval = keyval_of(rank, at->keyval);
    void *value = NULL;
    int flag = 0;
    if (code == MPI_SUCCESS && keyval->copy == weft_mpi_dup_fn) {
        add(wl_properties_get(copy), at);
        return code;
    }
    if (code == MPI_SUCCESS && keyval->copy != NULL) {
        code = call_copy(keyval, from, at, &value, &flag);
    }
    if (code == MPI_SUCCESS && flag) {
        add(wl_properties_get(copy), &(struct wl_attribute){.keyval = at->keyval,
                                                            .value = value,
                                                            .integer = keyval->fortran,
                                                            .number = (MPI_Aint)value});
    }
    return code;
}

int wl_attributes_copy(struct wl_rank *rank, int from, struct wl_properties *const *old,
                       struct wl_properties **copy)
{
    return *old != NULL ? copy_from(rank, from, (*old)->attributes, copy) : MPI_SUCCESS;
}

/* ---- the functions of each kind of object ---- */

static int set(struct wl_rank *rank, int object, struct wl_properties **properties,
               const struct wl_attribute *what)
{
    struct wl_properties *own = wl_properties_get(properties);
    struct wl_attribute **at = find_attribute(own, what->keyval);

    (void)keyval_of(rank, what->keyval);
    if (*at != NULL) {
        int code = delete_one(rank, object, at);
        if (code != MPI_SUCCESS) {
            return code;
        }
    }
    add(own, what);
    return MPI_SUCCESS;
}

static bool get(struct wl_properties *properties, int keyval, void *value)
{
    struct wl_attribute *found =
        properties != NULL ? *find_attribute(properties, keyval) : NULL;

    if (found != NULL) {
        *(void **)value = value_in_c(found);
    }
    return found != NULL;
}

static int delete (struct wl_rank *rank, int object, struct wl_properties *properties,
                   int keyval)
{
    struct wl_attribute **at = properties != NULL ? find_attribute(properties, keyval) : NULL;

    return at != NULL && *at != NULL ? delete_one(rank, object, at) : MPI_ERR_KEYVAL;
}

/* The attributes that MPI itself gives to an object. False if the keyval is not one of them. */
static bool predefined_comm(struct wl_rank *rank, MPI_Comm comm, int keyval, void *value)
{
    static const int tag_ub = WL_TAG_LIMIT - 1, proc_null = MPI_PROC_NULL, any = MPI_ANY_SOURCE,
                     yes = 1, last = MPI_ERR_LASTCODE;
    const int *const values[] = {
        [MPI_TAG_UB] = &tag_ub,
        [MPI_HOST] = &proc_null,
        [MPI_IO] = &any,
        [MPI_WTIME_IS_GLOBAL] = &yes,
        [MPI_APPNUM] = &rank->application,
        [MPI_LASTUSEDCODE] = &last,
        [MPI_UNIVERSE_SIZE] = &rank->universe_size,
    };

    (void)wl_comm_of(rank, comm);
    if (keyval < 0 || (size_t)keyval >= sizeof(values) / sizeof(values[0]) ||
        values[keyval] == NULL) {
        return false;
    }
    rank->universe_size = (int)wl.n_ranks;
    *(const int **)value = values[keyval];
    return true;
}

static bool predefined_win(struct wl_rank *rank, MPI_Win handle, int keyval, void *value)
{
    const struct wl_win *win = wl_win_of(rank, handle);
    const void **out = value;

    switch (keyval) {
    case MPI_WIN_BASE:
        *out = win->own.base;
        return true;
    case MPI_WIN_SIZE:
        *out = &win->own.size;
        return true;
    case MPI_WIN_DISP_UNIT:
        *out = &win->own.unit;
        return true;
    case MPI_WIN_CREATE_FLAVOR:
        *out = &win->flavor;
        return true;
    case MPI_WIN_MODEL:
        *out = &win->model;
        return true;
    default:
        return false;
    }
}

static bool predefined_type(struct wl_rank *rank, MPI_Datatype type, int keyval, void *value)
{
    return false;
}

#define ATTRIBUTES(Object, object)                                                            \
    int wl_MPI_##Object##_set_attr(struct wl_rank *rank, int handle, int keyval, void *value) \
    {                                                                                         \
        return set(rank, handle, wl_##object##_properties(rank, handle),                      \
                   &(struct wl_attribute){.keyval = keyval, .value = value});                 \
    }                                                                                         \
    int wl_MPI_##Object##_get_attr(struct wl_rank *rank, int handle, int keyval, void *value, \
                                   int *flag)                                                 \
    {                                                                                         \
        *flag = predefined_##object(rank, handle, keyval, value) ||                           \
                get(*wl_##object##_properties(rank, handle), keyval, value);                  \
        return MPI_SUCCESS;                                                                   \
    }                                                                                         \
    int wl_MPI_##Object##_delete_attr(struct wl_rank *rank, int handle, int keyval)           \
    {                                                                                         \
        return delete (rank, handle, *wl_##object##_properties(rank, handle), keyval);        \
    }

ATTRIBUTES(Comm, comm)
ATTRIBUTES(Type, type)
ATTRIBUTES(Win, win)

/* ---- called by the Fortran interface ---- */

/* The properties of an object of any kind. */
static struct wl_properties **properties_of(struct wl_rank *rank, int object)
{
    uint32_t kind = (uint32_t)object >> WL_KIND_SHIFT;

    return kind == WL_WIN    ? wl_win_properties(rank, object)
           : kind == WL_TYPE ? wl_type_properties(rank, object)
                             : wl_comm_properties(rank, object);
}

void weft_mpi_keyval_is_fortran(int keyval)
{
    struct wl_rank *rank = wl_enter();
    struct keyval *own = wl_table_get(&rank->keyvals, WL_KEYVAL, keyval);

    if (own != NULL) {
        own->fortran = true;
    }
    wl_leave(rank);
}

int weft_mpi_attribute_set(int object, int keyval, MPI_Aint value)
{
    struct wl_call call = wl_call_begin("MPI_Comm_set_attr");

    return wl_call_end(
        call, set(call.rank, object, properties_of(call.rank, object),
                  &(struct wl_attribute){.keyval = keyval, .integer = true, .number = value}));
}

/* In C, most predefined attributes are pointers to integers. */
static MPI_Aint predefined_integer(int keyval, const void *value)
{
    return keyval == MPI_WIN_BASE                                  ? (MPI_Aint)value
           : keyval == MPI_WIN_SIZE || keyval == MPI_WIN_DISP_UNIT ? *(const MPI_Aint *)value
                                                                   : *(const int *)value;
}

int weft_mpi_attribute_get(int object, int keyval, MPI_Aint *value, int *flag)
{
    struct wl_call call = wl_call_begin("MPI_Comm_get_attr");
    uint32_t kind = (uint32_t)object >> WL_KIND_SHIFT;
    const void *predefined = NULL;

    if (kind == WL_WIN ? predefined_win(call.rank, object, keyval, (void *)&predefined)
                       : kind == WL_COMM &&
                             predefined_comm(call.rank, object, keyval, (void *)&predefined)) {
        *flag = 1;
        *value = predefined_integer(keyval, predefined);
        return wl_call_end(call, MPI_SUCCESS);
    }
    struct wl_properties *properties = *properties_of(call.rank, object);
    const struct wl_attribute *found =
        properties != NULL ? *find_attribute(properties, keyval) : NULL;
    *flag = found != NULL;
    *value = found != NULL ? value_in_fortran(found) : *value;
    return wl_call_end(call, MPI_SUCCESS);
}
