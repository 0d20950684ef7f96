/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that load MPI while they run, such as Python with mpi4py. This library was loaded
 * before, when there was no MPI, so that its imports of MPI are bound to nothing.
 */
#include "base/imports.h"
#include "capture/inside.h"

#include <dlfcn.h>
#include <string.h>

/* The library that defines MPI: makes its symbols visible for this one. */
static int open_mpi(struct dl_phdr_info *object, size_t size, void *arg)
{
    void *handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = handle != NULL ? dlsym(handle, "PMPI_Init") : NULL;
    Dl_info info;

    (void)size;
    if (symbol != NULL && dladdr(symbol, &info) != 0 &&
        strcmp(info.dli_fname, object->dlpi_name) == 0) {
        *(void **)arg = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    }
    if (handle != NULL) {
        (void)dlclose(handle);
    }
    return *(void **)arg != NULL;
}

static void bind(const char *name, uintptr_t *bound, void *arg)
{
    if (*bound == 0) {
        *bound = (uintptr_t)dlsym(arg, name);
    }
}

static int bind_own(struct dl_phdr_info *object, size_t size, void *mpi)
{
    (void)size;
    if (!wf_address_in(wf_imports_range(object), (uintptr_t)wf_cap_need_mpi)) {
        return 0;
    }
    wf_imports_visit(object, bind, mpi);
    return 1;
}

void wf_cap_need_mpi(void)
{
    void *mpi = NULL;

    if (PMPI_Init == NULL && dl_iterate_phdr(open_mpi, &mpi) != 0) {
        (void)dl_iterate_phdr(bind_own, mpi);
    }
}
