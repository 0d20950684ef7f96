/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Arguments of MPI functions that are wrong, for programs that handle errors. The generated
 * functions (bindings/generate.py) call wl_arguments_check() once an error handler of the rank
 * returns, and with --check. Without one, the implementations end the run with words where they notice the error,
 * and a call pays for one comparison.
 */

#include "mpi/lib/library.h"

enum wl_arg_kind {
    /* Handles: `handle`, or *place if `indirect`. */
    WL_ARG_COMM,
    WL_ARG_WIN,
    WL_ARG_FILE,
    WL_ARG_SESSION,
    WL_ARG_GROUP,
    WL_ARG_INFO,
    WL_ARG_TYPE,
    WL_ARG_OP, /* `count` is the datatype, if not 0 */
    WL_ARG_ERRHANDLER,
    WL_ARG_KEYVAL, /* `or_null`: the predefined ones are right, too */
    WL_ARG_REQUEST,
    WL_ARG_MESSAGE,
    WL_ARG_REQUESTS, /* `count` of them at `place`, which may be null handles */
    /* `count` elements of the datatype `handle` at `place`. */
    WL_ARG_DATA,
    WL_ARG_PLACE,   /* `place` is not MPI_IN_PLACE */
    WL_ARG_SWAPPED, /* `handle` is a datatype that MPI_Compare_and_swap() takes */
    WL_ARG_EPOCH,   /* the call fits the epochs of the window; `handle` is the target */
    WL_ARG_ALIAS,   /* `place` and `other` must differ if there are any elements (`count`) */
    /* `place` is not the rank's own part of `other`, if it has any elements (`count`). The part of a
     * rank is `each` elements of the datatype `handle`, or begins at its element of `displs` or
     * `wide_displs`. */
    WL_ARG_OWN_PART,
    WL_ARG_COUNT,  /* `count` is not negative; otherwise MPI_ERR_COUNT */
    WL_ARG_NUMBER, /* likewise MPI_ERR_ARG */
    WL_ARG_ROOT,   /* `handle` */
    WL_ARG_TARGET, /* `handle` is a rank of the window */
    WL_ARG_LIST,   /* `place` is not null if there are any elements (`count`) */
    WL_ARG_RESULT, /* `place` is not null; otherwise MPI_ERR_ARG */
    WL_ARG_KEY,    /* likewise MPI_ERR_INFO_KEY */
    WL_ARG_VALUE,  /* likewise MPI_ERR_INFO_VALUE */
    WL_ARG_KINDS,
};

/* Where a buffer may be MPI_IN_PLACE. */
enum wl_in_place { WL_IN_PLACE_NOWHERE, WL_IN_PLACE_AT_ROOT, WL_IN_PLACE_ANYWHERE };

struct wl_arg {
    enum wl_arg_kind kind;
    int handle;
    MPI_Count count;
    const void *place, *other;
    MPI_Count each;
    const int *displs;
    const MPI_Aint *wide_displs;
    bool indirect;
    bool own;     /* predefined handles are wrong */
    bool or_null; /* the null handle is right */
    bool at_root; /* means something at the root only */
    enum wl_in_place in_place;
};

/* MPI_SUCCESS if the call can go on. Otherwise the error handler of its communicator, window, file
 * or session has been called. */
int wl_arguments_check(struct wl_rank *rank, const struct wl_arg *args, uint32_t n);
