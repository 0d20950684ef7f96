/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * How the library calls functions of a program that has the binary interface of another MPI: the
 * program's functions expect that MPI's handles. An adapter gets weft's handles, converts them
 * and calls the function. It belongs to an operation, a keyval or an error handler; without one,
 * the library calls the function itself.
 */

typedef void wl_any_function(void);

struct wl_adapter {
    void (*op)(wl_any_function *function, void *in, void *inout, int count, int type);
    void (*errhandler)(wl_any_function *function, int object, int code);
    int (*copy)(wl_any_function *function, int object, int keyval, void *const state[3],
                int *flag);
    int (*remove)(wl_any_function *function, int object, int keyval, void *const state[2]);
};

/* Gives the adapter to the operation, keyval or error handler of this handle. It must outlive the
 * run. */
void weft_mpi_adapt(int handle, const struct wl_adapter *adapter);
