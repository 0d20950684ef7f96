/* SPDX-License-Identifier: Apache-2.0 */
/* Starting spare ranks: see spawn.h. Rank 0 hands them out (directory.h). */
#include "mpi/lib/comm/spawn.h"

#include "mpi/lib/comm/directory.h"
#include "mpi/lib/comm/intercommunicator.h"
#include "mpi/lib/comm/properties.h"
#include "mpi/lib/comm/registry.h"
#include "mpi/lib/errors.h"
#include "mpi/lib/libc/interpose.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/internal_messages.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Tags of internal messages: after those of ports. */
#define SPAWN_TAG 0x78000000

/* All start with the same number. Their worlds have no members in common. */
enum { WORLD_ID = 1 };

/* What a spare rank is told. Its arguments follow, each with its final zero, the program first. */
struct start {
    uint32_t root;        /* who has called MPI_Comm_spawn() */
    uint32_t first, size; /* of its world; size 0: it is dismissed */
    int32_t application;
    uint64_t bytes;
};

/* One program of a call. */
struct command {
    const char *program;
    char **arguments; /* null-terminated, or null */
    int n;
};

static struct wl_view all_ranks(struct wl_rank *rank)
{
    return wl_comm_of(rank, WL_COMM_ALL);
}

/* ---- the spare rank ---- */

static void join_world(struct wl_rank *rank, uint32_t first, uint32_t size)
{
    uint32_t *members = wl_malloc(size * sizeof(uint32_t));

    for (uint32_t i = 0; i < size; i++) {
        members[i] = first + i;
    }
    rank->comm_world = wl_comm_join(
        rank, &(struct wl_view){.comm = wl_comm_find_or_new(WORLD_ID, size, members),
                                .rank = rank->self->rank - first});
}

/* The list of arguments, in one block of memory. */
static char **unpack(const char *bytes, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < size; i++) {
        n += bytes[i] == '\0';
    }
    char **list = wl_malloc((n + 1) * sizeof(char *) + size);
    char *at = memcpy(list + n + 1, bytes, size);
    for (size_t i = 0; i < n; i++) {
        list[i] = at;
        at += strlen(at) + 1;
    }
    list[n] = NULL;
    return list;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;

    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Another program than the run's is loaded as a library of it. */
static void load_program(struct wl_rank *rank)
{
    const char *path = rank->self->arguments[0];

    if (is_same_file(path, wl.port->program)) {
        return;
    }
    void *handle = wl_libc_dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle != NULL ? dlsym(handle, "main") : NULL;
    if (symbol == NULL) {
        const char *why = handle == NULL ? wl_libc_dlerror() : NULL;
        rank->function = "MPI_Comm_spawn";
        wl_fatal(rank, "cannot run '%.300s': %s", path,
                 why != NULL ? why : "it was not built with weftcc, weftc++ or weftf90");
    }
    memcpy(&rank->self->main, &symbol, sizeof(symbol));
}

/* Waits until somebody starts the rank. */
static void wait_for_start(struct wl_rank *rank)
{
    struct wl_view all = all_ranks(rank);
    struct start start;

    rank->self->call = "MPI_Comm_spawn (as a spare rank that nobody has started)";
    uint32_t root = wl_internal_recv_any(rank, &all, SPAWN_TAG);
    wl_internal_recv(rank, &all, root, SPAWN_TAG, (struct wl_buffer){&start, sizeof(start)});
    rank->self->call = NULL;
    rank->self->is_unused = start.size == 0;
    if (rank->self->is_unused) {
        rank->has_gone = true;
        return;
    }
    char *bytes = wl_malloc(start.bytes);
    wl_internal_recv(rank, &all, root, SPAWN_TAG, (struct wl_buffer){bytes, start.bytes});
    rank->self->arguments = unpack(bytes, start.bytes);
    free(bytes);
    rank->application = start.application;
    join_world(rank, start.first, start.size);
    (void)wl_MPI_Intercomm_create(rank, MPI_COMM_WORLD, 0, WL_COMM_ALL, (int)start.root,
                                  SPAWN_TAG, &rank->parent);
    wl_set_name(wl_comm_properties(rank, rank->parent), "MPI_COMM_PARENT"); /* MPI-4.0, 7.8 */
    load_program(rank);
}

void wl_spare_begin(struct wl_rank *rank)
{
    wl.port->enter(rank->self, NULL);
    if (rank->self->rank < wl.port->n_started) {
        join_world(rank, 0, wl.port->n_started);
    } else {
        wait_for_start(rank);
    }
    wl.port->leave(rank->self);
}

static void tell(struct wl_rank *rank, const struct wl_view *all, uint32_t to,
                 const struct start *start, const char *arguments)
{
    const struct wl_bytes empty = {NULL, 0};

    wl_internal_send(rank, all, to, SPAWN_TAG, empty);
    wl_internal_send(rank, all, to, SPAWN_TAG, (struct wl_bytes){start, sizeof(*start)});
    if (start->size > 0) {
        wl_internal_send(rank, all, to, SPAWN_TAG, (struct wl_bytes){arguments, start->bytes});
    }
}

void wl_spare_go(struct wl_rank *rank)
{
    if (rank->has_gone || wl.port->n_started == wl.n_ranks) {
        return;
    }
    struct wl_question question = {.what = WL_ASK_GO};
    struct wl_answer answer = {.met = 0};
    struct wl_view all = all_ranks(rank);

    rank->has_gone = true;
    wl.port->enter(rank->self, NULL);
    wl_directory_ask(rank, &question, &answer);
    for (uint32_t i = answer.met; !answer.waits && i < wl.n_ranks; i++) {
        tell(rank, &all, i, &(struct start){.size = 0}, NULL);
    }
    wl.port->leave(rank->self);
}

/* ---- MPI_Comm_spawn() ---- */

static char *pack(const struct command *command, size_t *size)
{
    size_t n = 0, at = strlen(command->program) + 1;

    *size = at;
    for (; command->arguments != NULL && command->arguments[n] != NULL; n++) {
        *size += strlen(command->arguments[n]) + 1;
    }
    char *bytes = memcpy(wl_malloc(*size), command->program, at);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(command->arguments[i]) + 1;
        memcpy(bytes + at, command->arguments[i], length);
        at += length;
    }
    return bytes;
}

/* The path of a program as the shell would find it: itself if it has a slash or is not found. */
static char *find_program(const char *name)
{
    const char *path = getenv("PATH");
    size_t size = strlen(name) + (path != NULL ? strlen(path) : 0) + 2;
    char *file = wl_malloc(size);
    struct stat status;

    while (strchr(name, '/') == NULL && path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        (void)snprintf(file, size, "%.*s/%s", (int)length, path, name);
        if (stat(file, &status) == 0 && S_ISREG(status.st_mode)) {
            return file;
        }
        path += length + (path[length] == ':');
    }
    (void)snprintf(file, size, "%s", name);
    return file;
}

static void start_ranks(struct wl_rank *rank, const struct command *commands, int count,
                        uint32_t first, uint32_t size)
{
    struct wl_view all = all_ranks(rank);
    uint32_t next = first;

    for (int i = 0; i < count; i++) {
        char *program = find_program(commands[i].program);
        struct start start = {
            .root = rank->self->rank, .first = first, .size = size, .application = i};
        size_t bytes;
        char *packed = pack(
            &(struct command){.program = program, .arguments = commands[i].arguments}, &bytes);
        start.bytes = bytes;
        for (int k = 0; k < commands[i].n; k++) {
            tell(rank, &all, next++, &start, packed);
        }
        free(packed);
        free(program);
    }
}

static void set_codes(int *errcodes, uint32_t n, int code)
{
    for (uint32_t i = 0; i < n && errcodes != MPI_ERRCODES_IGNORE; i++) {
        errcodes[i] = code;
    }
}

/* The root's part. Returns the first rank that it has started; the error otherwise. */
static int take(struct wl_rank *rank, MPI_Comm comm, const struct command *commands, int count,
                uint32_t size, uint32_t *first)
{
    struct wl_question question = {.what = WL_ASK_SPARE, .port = size};
    struct wl_answer answer = {.port = 0};
    uint32_t spare = wl.n_ranks - wl.port->n_started;

    if (size == 0 || size > INT_MAX) {
        return wl_error(rank, comm, MPI_ERR_ARG, "the number of ranks to be started is %s",
                        size == 0 ? "0" : "negative");
    }
    if (spare == 0) {
        return wl_error(rank, comm, MPI_ERR_SPAWN,
                        "the program starts %u ranks of '%.64s', and the run has no spare "
                        "ranks; hold some back with --spare %u",
                        size, commands[0].program, size);
    }
    wl_directory_ask(rank, &question, &answer);
    if (answer.code != MPI_SUCCESS) {
        return wl_error(rank, comm, MPI_ERR_SPAWN,
                        "the program starts %u ranks of '%.64s', and %u of %u spare ranks are "
                        "left; hold back more with --spare",
                        size, commands[0].program, answer.port, spare);
    }
    *first = answer.met;
    return MPI_SUCCESS;
}

static int spawn(struct wl_rank *rank, const struct command *commands, int count, int root,
                 MPI_Comm comm, MPI_Comm *intercomm, int *errcodes)
{
    struct wl_view local = wl_comm_of(rank, comm);
    uint32_t size = 0, first = 0;

    if (root >= 0 && wl_own_rank(&local) == (uint32_t)root) {
        for (int i = 0; i < count; i++) {
            size += (uint32_t)commands[i].n;
        }
        int code = take(rank, comm, commands, count, size, &first);
        if (code != MPI_SUCCESS) {
            wl_intercomm_refuse(rank, comm, SPAWN_TAG, code);
            set_codes(errcodes, size, code);
            *intercomm = MPI_COMM_NULL;
            return code;
        }
        start_ranks(rank, commands, count, first, size);
    }
    int code = wl_MPI_Intercomm_create(rank, comm, root, WL_COMM_ALL, (int)first, SPAWN_TAG,
                                       intercomm);
    if (code != MPI_SUCCESS) {
        return wl_error(rank, comm, code, "the root of the call has started no ranks");
    }
    set_codes(errcodes, wl_comm_of(rank, *intercomm).n_peers, MPI_SUCCESS);
    return MPI_SUCCESS;
}

int wl_MPI_Comm_spawn(struct wl_rank *rank, const char *command, char **argv, int maxprocs,
                      MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm,
                      int *errcodes)
{
    const struct command one = {command, argv, maxprocs};

    return spawn(rank, &one, 1, root, comm, intercomm, errcodes);
}

int wl_MPI_Comm_spawn_multiple(struct wl_rank *rank, int count, char **commands, char ***argvs,
                               const int *maxprocs, const MPI_Info *infos, int root,
                               MPI_Comm comm, MPI_Comm *intercomm, int *errcodes)
{
    struct wl_view local = wl_comm_of(rank, comm);
    bool leads = root >= 0 && wl_own_rank(&local) == (uint32_t)root;
    int n = leads && count > 0 ? count : 0;
    struct command *list = wl_calloc((size_t)n + 1, sizeof(*list));

    for (int i = 0; i < n; i++) {
        list[i] = (struct command){commands[i], argvs != MPI_ARGVS_NULL ? argvs[i] : NULL,
                                   maxprocs[i]};
    }
    int code = spawn(rank, list, n, root, comm, intercomm, errcodes);
    free(list);
    return code;
}
