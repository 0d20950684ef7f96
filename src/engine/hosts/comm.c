/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/hosts/comm.h"

#include "base/clock.h"
#include "base/guard.h"
#include "base/install.h"
#include "engine/hosts/comm_ops.h"
#include "weft_version.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which launcher started this process ---- */

enum { NAME_MAX_BYTES = 64, PATH_SHOWN = 200 };

static const char *const mpis[] = {"mpich", "openmpi"};
enum { N_MPIS = sizeof(mpis) / sizeof(mpis[0]), ANY_MPI = N_MPIS };

/* Environment variables that launchers set, the most telling first. Those of Open MPI and of
 * PMI name the number of processes; PMIx names only the rank, and both MPIs may use it, Open
 * MPI most of the time. */
static const struct {
    const char *variable;
    bool is_size;
    int mpi;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", true, 1}, {"PMI_SIZE", true, 0},  {"MPI_LOCALNRANKS", true, 0},
    {"PMIX_RANK", false, 1},           {"PMI_RANK", false, 0}, {"MPI_SIZE", true, ANY_MPI},
};

struct launched {
    long n_processes; /* that the launcher reports; 0 without a launcher, 1 if it is unknown */
    int mpi;          /* index of mpis[], or ANY_MPI */
};

static struct launched find_launcher(void)
{
    struct launched found = {.mpi = ANY_MPI};

    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        const char *value = getenv(launchers[i].variable);

        if (value == NULL) {
            continue;
        }
        long n = launchers[i].is_size ? strtol(value, NULL, 10) : 1;
        if (n > 0 && found.mpi == ANY_MPI) {
            found.mpi = launchers[i].mpi;
        }
        found.n_processes = n > found.n_processes ? n : found.n_processes;
    }
    return found;
}

/* ---- loading ---- */

/* The library for this MPI; null if this build has none. To be freed. */
static char *path_of(const char *mpi)
{
    char name[NAME_MAX_BYTES];

    (void)snprintf(name, sizeof(name), "libweft-comm-%s.so", mpi);
    return wf_install_find(name);
}

/* UCX, below MPICH, takes signals that are ours and prints a page for each crash. */
static void quieten(void)
{
    (void)setenv("UCX_ERROR_SIGNALS", "", 0);
    (void)setenv("UCX_HANDLE_ERRORS", "none", 0);
    (void)setenv("OMPI_MCA_opal_signal", "", 0);
}

/* Null, and an error, if it cannot be loaded. */
static const struct wf_comm_ops *load(const char *path, struct wf_err *err)
{
    quieten();
    /* Global: Open MPI loads parts of itself that find their symbols there. Never closed: MPI
     * libraries do not survive that. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

    if (library == NULL) {
        (void)wf_err_set(err, WF_EIO, "%.*s: cannot be loaded: %s", PATH_SHOWN, path,
                         dlerror());
        return NULL;
    }
    const struct wf_comm_ops *ops = dlsym(library, WF_COMM_SYMBOL);
    if (ops == NULL || strcmp(ops->version, WEFT_VERSION) != 0) {
        (void)wf_err_set(err, WF_EIO, "%.*s belongs to another version of weft", PATH_SHOWN,
                         path);
        return NULL;
    }
    return ops;
}

static enum wf_status not_built(const struct launched *by, struct wf_err *err)
{
    const char *mpi = by->mpi == ANY_MPI ? "MPI" : mpis[by->mpi];

    return wf_err_set(err, WF_EUSAGE,
                      "started as one of %ld processes by a launcher of %s, but this build has "
                      "no support for it; rebuild weft where it is installed%s%s%s, or start "
                      "weft with the launcher of: %s",
                      by->n_processes, mpi, by->mpi == ANY_MPI ? "" : " (Debian: lib",
                      by->mpi == ANY_MPI ? "" : mpi, by->mpi == ANY_MPI ? "" : "-dev)",
                      wf_comm_library());
}

/* The library for the launcher; of any MPI that is there if the launcher's is unknown. */
static char *choose(const struct launched *by)
{
    char *path = by->mpi == ANY_MPI ? NULL : path_of(mpis[by->mpi]);

    for (size_t i = 0; path == NULL && i < N_MPIS && by->mpi == ANY_MPI; i++) {
        path = path_of(mpis[i]);
    }
    return path;
}

enum wf_status wf_comm_open(struct wf_comm **out, struct wf_err *err)
{
    const struct launched by = find_launcher();

    *out = NULL;
    if (by.n_processes == 0) {
        return WF_OK;
    }
    char *path = choose(&by);
    if (path == NULL) {
        return by.n_processes > 1 ? not_built(&by, err) : WF_OK;
    }
    const struct wf_comm_ops *ops = load(path, err);
    free(path);
    if (ops == NULL) {
        return err->status;
    }
    wf_guard_disarm(); /* the other processes would wait for ever */
    enum wf_status status = ops->open(out, err);
    if (status == WF_OK && (*out)->size == 1 && by.n_processes > 1) {
        ops->close(*out);
        *out = NULL;
        status = wf_err_set(err, WF_EUSAGE,
                            "started as one of %ld processes by a launcher that %s does not "
                            "understand; use the mpirun of: %s. If that is the one, this MPI "
                            "does not work with any program, as MPICH of Ubuntu 24.04: install "
                            "another",
                            by.n_processes, ops->library, wf_comm_library());
    }
    return status;
}

const char *wf_comm_library(void)
{
    static const char *const names[] = {"none", "MPICH", "Open MPI", "MPICH and Open MPI"};
    unsigned found = 0;

    for (unsigned i = 0; i < N_MPIS; i++) {
        char *path = path_of(mpis[i]);
        found |= path != NULL ? 1U << i : 0;
        free(path);
    }
    return names[found];
}

/* ---- the functions of the library ---- */

void wf_comm_close(struct wf_comm *comm)
{
    if (comm != NULL) {
        comm->ops->close(comm);
    }
}

uint32_t wf_comm_rank(const struct wf_comm *comm)
{
    return comm == NULL ? 0 : comm->rank;
}

uint32_t wf_comm_size(const struct wf_comm *comm)
{
    return comm == NULL ? 1 : comm->size;
}

uint32_t wf_comm_local_size(const struct wf_comm *comm)
{
    return comm == NULL ? 1 : comm->local_size;
}

uint32_t wf_comm_local_cores(const struct wf_comm *comm)
{
    size_t cores = wf_clock_cores();

    if (wf_comm_local_size(comm) > 1) {
        cores = comm->local_cores / comm->local_size;
    }
    return cores > 0 ? (uint32_t)cores : 1;
}

void wf_comm_tell_waits(struct wf_comm *comm, unsigned limit_s, wf_comm_tell_fn *tell,
                        void *arg)
{
    if (comm != NULL) {
        comm->wait_limit_s = limit_s;
        comm->tell = tell;
        comm->tell_arg = arg;
    }
}

void wf_comm_exchange(struct wf_comm *comm, const struct wf_buf *out, struct wf_buf *in)
{
    comm->ops->exchange(comm, out, in);
}

void wf_comm_post(struct wf_comm *comm, uint32_t to, const void *bytes, size_t size)
{
    comm->ops->post(comm, to, bytes, size);
}

bool wf_comm_poll(struct wf_comm *comm, struct wf_buf *in)
{
    return comm->ops->poll(comm, in);
}

int64_t wf_comm_in_flight(struct wf_comm *comm, int64_t also_add)
{
    return comm->ops->in_flight(comm, also_add);
}

void wf_comm_reduce(struct wf_comm *comm, enum wf_comm_op op, int64_t *values, size_t n)
{
    comm->ops->reduce(comm, op, values, n);
}

void wf_comm_collect(struct wf_comm *comm, const void *bytes, size_t size,
                     void (*take)(void *arg, const void *bytes), void *arg)
{
    comm->ops->collect(comm, bytes, size, take, arg);
}

void wf_comm_share(struct wf_comm *comm, void *bytes, size_t size)
{
    comm->ops->share(comm, bytes, size);
}
