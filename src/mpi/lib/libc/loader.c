/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen() and its like, as a rank sees them: each rank has its own variables of a library that it
 * loads, as it has of the program (mpi/vrank/program_modules.c). Loading takes no simulated time.
 * Libraries stay loaded until the end of the run.
 */
#include "mpi/lib/libc/interpose.h"
#include "mpi/lib/libc/interpose_table.h"
#include "mpi/lib/library.h"

#include <dlfcn.h>
#include <string.h>

static bool is_rank(void)
{
    const struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    return self != NULL && self->lib != NULL && !wl.in_child;
}

void *wl_libc_dlopen(const char *name, int flags)
{
    void *handle = NULL;
    char *why = NULL;

    if (!is_rank()) {
        return dlopen(name, flags);
    }
    struct wl_rank *rank = wl_enter();
    bool is_private = wl.port->load(rank->self, name, flags, &handle, &why);
    if (!is_private) {
        handle = dlopen(name, flags);
    }
    rank->load_failure = is_private && handle == NULL ? why : NULL;
    wl_leave(rank);
    return handle;
}

/* A library of the system, found by name, has functions that are replaced in programs. */
static void *replaced(const char *name, void *symbol)
{
    static const char private[] = "/proc/self/fd/";
    const struct wl_replacement *found = symbol != NULL ? wl_replacement_of(name) : NULL;
    Dl_info info;

    if (found != NULL && dladdr(symbol, &info) != 0 && info.dli_fname != NULL &&
        strncmp(info.dli_fname, private, strlen(private)) != 0) {
        memcpy(&symbol, &found->function, sizeof(symbol));
    }
    return symbol;
}

void *wl_libc_dlsym(void *handle, const char *name)
{
    void *symbol = NULL, *program = NULL;
    char *why;

    if (!is_rank()) {
        return dlsym(handle, name);
    }
    struct wl_rank *rank = wl_enter();
    if (handle == RTLD_DEFAULT && wl.port->load(rank->self, NULL, 0, &program, &why)) {
        symbol = dlsym(program, name);
    }
    if (symbol == NULL) {
        symbol = dlsym(handle, name);
    }
    rank->load_failure = NULL;
    wl_leave(rank);
    return replaced(name, symbol);
}

int wl_libc_dlclose(void *handle)
{
    return is_rank() ? 0 : dlclose(handle);
}

char *wl_libc_dlerror(void)
{
    if (!is_rank()) {
        return dlerror();
    }
    struct wl_rank *rank = wl_enter();
    char *why = rank->load_failure;

    rank->load_failure = NULL;
    wl_leave(rank);
    return why != NULL ? why : dlerror();
}
