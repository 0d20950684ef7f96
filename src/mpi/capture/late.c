/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that load MPI while they run, such as Python with mpi4py. This library was loaded
 * before, when there was no MPI, so that its imports of MPI are bound to nothing.
 */
#include "base/imports.h"
#include "mpi/capture/inside.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* The library that defines MPI, with its symbols made visible for this one; null if there is none. */
static void *open_mpi(void)
{
    const struct link_map *map = dlopen(NULL, RTLD_LAZY);
    void *mpi = NULL;

    for (; map != NULL && mpi == NULL; map = map->l_next) {
        void *handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
        void *symbol = handle != NULL ? dlsym(handle, "PMPI_Init") : NULL;
        Dl_info info;
        if (symbol != NULL && dladdr(symbol, &info) != 0 &&
            strcmp(info.dli_fname, map->l_name) == 0) {
            mpi = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
        }
        if (handle != NULL) {
            (void)dlclose(handle);
        }
    }
    return mpi;
}

static int find_own(struct dl_phdr_info *object, size_t size, void *own)
{
    bool found = wf_address_in(wf_imports_range(object), (uintptr_t)wf_cap_need_mpi);

    (void)size;
    if (found) {
        *(struct dl_phdr_info *)own = *object;
    }
    return found;
}

static void bind(const char *name, uintptr_t *bound, void *mpi)
{
    if (*bound == 0) {
        *bound = (uintptr_t)dlsym(mpi, name);
    }
}

/* The loader must not be called by what dl_iterate_phdr() calls: another thread may be loading a
 * library, and each would wait for the other. */
void wf_cap_need_mpi(void)
{
    void *mpi = PMPI_Init == NULL ? open_mpi() : NULL;
    struct dl_phdr_info own;

    if (mpi != NULL && dl_iterate_phdr(find_own, &own) != 0) {
        wf_imports_visit(&own, bind, mpi);
    }
}
