/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes: what the program hangs on objects. */
#include "mpilib/datatype.h"
#include "mpilib/memory.h"
#include "mpilib/properties.h"
#include "mpilib/window.h"

#include <stdlib.h>

struct keyval {
    MPI_Comm_copy_attr_function *copy;
    MPI_Comm_delete_attr_function *remove;
    void *extra_state;
};

int weft_mpi_dup_fn(MPI_Comm old, int keyval, void *extra_state, void *value_in,
                    void *value_out, int *flag)
{
    (void)old;
    (void)keyval;
    (void)extra_state;
    *(void **)value_out = value_in;
    *flag = 1;
    return MPI_SUCCESS;
}

static const struct keyval *keyval_of(const struct wl_rank *rank, int keyval,
                                      const char *function)
{
    const struct keyval *own = wl_table_get(&rank->keyvals, WL_KEYVAL, keyval);

    if (own == NULL) {
        wl_fatal(rank, function, "there is no keyval 0x%x", (unsigned)keyval);
    }
    return own;
}

static struct wl_attribute **find(struct wl_extra *extra, int keyval)
{
    struct wl_attribute **at = &extra->attributes;

    while (*at != NULL && (*at)->keyval != keyval) {
        at = &(*at)->next;
    }
    return at;
}

static int remove_one(struct wl_rank *rank, int object, struct wl_attribute **at,
                      const char *function)
{
    struct wl_attribute *gone = *at;
    const struct keyval *keyval = keyval_of(rank, gone->keyval, function);
    int code = keyval->remove != NULL
                   ? keyval->remove(object, gone->keyval, gone->value, keyval->extra_state)
                   : MPI_SUCCESS;

    if (code == MPI_SUCCESS) {
        *at = gone->next;
        free(gone);
    }
    return code;
}

void wl_attributes_delete(struct wl_rank *rank, int handle, struct wl_extra *const *extra)
{
    while (*extra != NULL && (*extra)->attributes != NULL &&
           remove_one(rank, handle, &(*extra)->attributes, "attribute") == MPI_SUCCESS) {
    }
}

/* Copies come in the order in which the originals were set. */
static int copy_from(struct wl_rank *rank, int from, const struct wl_attribute *at,
                     struct wl_extra **copy)
{
    if (at == NULL) {
        return MPI_SUCCESS;
    }
    int code = copy_from(rank, from, at->next, copy);
    const struct keyval *keyval = keyval_of(rank, at->keyval, "attribute");
    void *value = NULL;
    int flag = 0;
    if (code == MPI_SUCCESS && keyval->copy != NULL) {
        code = keyval->copy(from, at->keyval, keyval->extra_state, at->value, (void *)&value,
                            &flag);
    }
    if (code == MPI_SUCCESS && flag) {
        struct wl_attribute *made = wl_malloc(sizeof(*made));
        struct wl_extra *extra = wl_extra_of(copy);
        *made = (struct wl_attribute){extra->attributes, at->keyval, value};
        extra->attributes = made;
    }
    return code;
}

int wl_attributes_copy(struct wl_rank *rank, int from, struct wl_extra *const *old,
                       struct wl_extra **copy)
{
    return *old != NULL ? copy_from(rank, from, (*old)->attributes, copy) : MPI_SUCCESS;
}

static int create(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *remove,
                  int *keyval, void *extra_state)
{
    struct wl_rank *rank = wl_enter();
    struct keyval *made = wl_malloc(sizeof(*made));

    *made = (struct keyval){copy, remove, extra_state};
    *keyval = wl_table_add(&rank->keyvals, WL_KEYVAL, made);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* Attributes that have it keep it alive: it goes with the rank. */
static int forget(int *keyval)
{
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

static int set(struct wl_rank *rank, int object, struct wl_extra **extra, int keyval,
               void *value)
{
    struct wl_extra *own = wl_extra_of(extra);
    struct wl_attribute **at = find(own, keyval);

    (void)keyval_of(rank, keyval, "attribute");
    if (*at != NULL) {
        int code = remove_one(rank, object, at, "attribute");
        if (code != MPI_SUCCESS) {
            wl_leave(rank);
            return code;
        }
    }
    struct wl_attribute *made = wl_malloc(sizeof(*made));
    *made = (struct wl_attribute){own->attributes, keyval, value};
    own->attributes = made;
    wl_leave(rank);
    return MPI_SUCCESS;
}

static int get(struct wl_rank *rank, struct wl_extra *extra, int keyval, void *value, int *flag)
{
    const struct wl_attribute *found = extra != NULL ? *find(extra, keyval) : NULL;

    *flag = found != NULL;
    if (found != NULL) {
        *(void **)value = found->value;
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

static int take_away(struct wl_rank *rank, int object, struct wl_extra *extra, int keyval)
{
    struct wl_attribute **at = extra != NULL ? find(extra, keyval) : NULL;
    int code = MPI_ERR_KEYVAL;

    if (at != NULL && *at != NULL) {
        code = remove_one(rank, object, at, "attribute");
    }
    wl_leave(rank);
    return code;
}

/* ---- of communicators ---- */

/* What every communicator says; null if it is none of these. */
static const int *predefined(int keyval)
{
    static const int tag_ub = 0x3fffffff, proc_null = MPI_PROC_NULL, any = MPI_ANY_SOURCE,
                     yes = 1, zero = 0, last = MPI_ERR_LASTCODE;

    switch (keyval) {
    case MPI_TAG_UB:
        return &tag_ub;
    case MPI_HOST:
        return &proc_null;
    case MPI_IO:
        return &any;
    case MPI_WTIME_IS_GLOBAL:
        return &yes;
    case MPI_APPNUM:
        return &zero;
    case MPI_LASTUSEDCODE:
        return &last;
    default:
        return NULL;
    }
}

int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Comm_get_attr");
    const int *known = predefined(keyval);

    if (known == NULL && keyval != MPI_UNIVERSE_SIZE) {
        return get(rank, *view.extra, keyval, value, flag);
    }
    rank->universe = (int)wl.n_ranks;
    *(const int **)value = known != NULL ? known : &rank->universe;
    *flag = 1;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                           MPI_Comm_delete_attr_function *remove, int *keyval,
                           void *extra_state)
{
    return create(copy, remove, keyval, extra_state);
}

int MPI_Comm_free_keyval(int *keyval)
{
    return forget(keyval);
}

int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
    struct wl_rank *rank = wl_enter();

    return set(rank, comm, wl_comm_of(rank, comm, "MPI_Comm_set_attr").extra, keyval, value);
}

int MPI_Comm_delete_attr(MPI_Comm comm, int keyval)
{
    struct wl_rank *rank = wl_enter();

    return take_away(rank, comm, *wl_comm_of(rank, comm, "MPI_Comm_delete_attr").extra, keyval);
}

int MPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *remove, int *keyval,
                      void *extra_state)
{
    return create(copy, remove, keyval, extra_state);
}

int MPI_Keyval_free(int *keyval)
{
    return forget(keyval);
}

int MPI_Attr_put(MPI_Comm comm, int keyval, void *value)
{
    return MPI_Comm_set_attr(comm, keyval, value);
}

int MPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return MPI_Comm_get_attr(comm, keyval, value, flag);
}

int MPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return MPI_Comm_delete_attr(comm, keyval);
}

/* ---- of datatypes ---- */

int MPI_Type_create_keyval(MPI_Type_copy_attr_function *copy,
                           MPI_Type_delete_attr_function *remove, int *keyval,
                           void *extra_state)
{
    return create(copy, remove, keyval, extra_state);
}

int MPI_Type_free_keyval(int *keyval)
{
    return forget(keyval);
}

/* Predefined types are shared by all ranks; what few ranks have of them is their own. */
struct wl_type_extra {
    struct wl_type_extra *next;
    MPI_Datatype datatype;
    struct wl_extra *extra;
};

struct wl_extra **wl_type_extra(struct wl_rank *rank, MPI_Datatype datatype,
                                const char *function)
{
    struct wl_type *own = wl_table_get(&rank->types, WL_TYPE, datatype);

    if (own != NULL) {
        return &own->extra;
    }
    (void)wl_type_of(rank, datatype, function);
    struct wl_type_extra *at = rank->type_extras;
    while (at != NULL && at->datatype != datatype) {
        at = at->next;
    }
    if (at == NULL) {
        at = wl_malloc(sizeof(*at));
        *at = (struct wl_type_extra){rank->type_extras, datatype, NULL};
        rank->type_extras = at;
    }
    return &at->extra;
}

void wl_type_extras_free(struct wl_rank *rank)
{
    while (rank->type_extras != NULL) {
        struct wl_type_extra *next = rank->type_extras->next;
        wl_extra_free(rank->type_extras->extra);
        free(rank->type_extras);
        rank->type_extras = next;
    }
}

int MPI_Type_set_attr(MPI_Datatype datatype, int keyval, void *value)
{
    struct wl_rank *rank = wl_enter();

    return set(rank, datatype, wl_type_extra(rank, datatype, "MPI_Type_set_attr"), keyval,
               value);
}

int MPI_Type_get_attr(MPI_Datatype datatype, int keyval, void *value, int *flag)
{
    struct wl_rank *rank = wl_enter();

    return get(rank, *wl_type_extra(rank, datatype, "MPI_Type_get_attr"), keyval, value, flag);
}

int MPI_Type_delete_attr(MPI_Datatype datatype, int keyval)
{
    struct wl_rank *rank = wl_enter();

    return take_away(rank, datatype, *wl_type_extra(rank, datatype, "MPI_Type_delete_attr"),
                     keyval);
}

/* ---- of windows ---- */

int MPI_Win_create_keyval(MPI_Win_copy_attr_function *copy,
                          MPI_Win_delete_attr_function *remove, int *keyval, void *extra_state)
{
    return create(copy, remove, keyval, extra_state);
}

int MPI_Win_free_keyval(int *keyval)
{
    return forget(keyval);
}

int MPI_Win_set_attr(MPI_Win win, int keyval, void *value)
{
    struct wl_rank *rank = wl_enter();

    return set(rank, win, wl_win_extra(rank, win, "MPI_Win_set_attr"), keyval, value);
}

int MPI_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    struct wl_rank *rank = wl_enter();
    void *known;

    if (!wl_win_known(rank, win, keyval, &known)) {
        return get(rank, *wl_win_extra(rank, win, "MPI_Win_get_attr"), keyval, value, flag);
    }
    *(void **)value = known;
    *flag = 1;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_delete_attr(MPI_Win win, int keyval)
{
    struct wl_rank *rank = wl_enter();

    return take_away(rank, win, *wl_win_extra(rank, win, "MPI_Win_delete_attr"), keyval);
}
