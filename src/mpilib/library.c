/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning and the end of everything, and what has to do with neither. */
#include "mpilib/communicator_registry.h"
#include "mpilib/interprocess.h"
#include "mpilib/memory.h"
#include "mpilib/properties.h"
#include "mpilib/request.h"
#include "mpilib/window.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wl_shared wl;

/* ---- for the simulator ---- */

static bool attach(const struct wf_port_simulator *port, uint32_t n_ranks)
{
    if (port->version != WF_PORT_VERSION) {
        return false;
    }
    wl = (struct wl_shared){.port = port,
                            .n_ranks = n_ranks,
                            .boxes = wl_mailboxes_new(n_ranks),
                            .known = wl_known_new(),
                            .world = wl_comm_new(0, n_ranks, NULL)};
    return true;
}

static void spread(const struct wf_port_processes *how)
{
    wl.spread = how;
}

static void rank_begins(struct wf_port_rank *self)
{
    struct wl_rank *rank = wl_calloc(1, sizeof(*rank));

    rank->self = self;
    self->lib = rank;
    wl_hosts_find(wl.world);
}

static void free_views(struct wl_rank *rank)
{
    for (uint32_t i = 0; i < rank->comms.n; i++) {
        if (rank->comms.items[i] != NULL) {
            wl_view_free(rank, rank->comms.items[i]);
        }
    }
}

static void free_items(struct wl_table *table)
{
    for (uint32_t i = 0; i < table->n; i++) {
        free(table->items[i]);
    }
    wl_table_fini(table);
}

/* The simulation may still ask for the communicators of its last ops: they stay. */
static void rank_ends(struct wf_port_rank *self)
{
    struct wl_rank *rank = self->lib;

    if (rank->at_end != NULL) {
        rank->at_end();
    }
    free_items(&rank->requests);
    free(rank->numbers_used);
    rank->numbers_used = NULL;
    rank->numbers_room = 0;
}

/* What programs leave behind. */
static void free_rest(struct wl_rank *rank)
{
    struct wl_table *const tables[] = {&rank->ops,      &rank->groups,  &rank->errhandlers,
                                       &rank->messages, &rank->keyvals, &rank->files};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        free_items(tables[i]);
    }
    for (uint32_t i = 0; i < rank->types.n; i++) {
        wl_type_release(rank->types.items[i]);
    }
    wl_table_fini(&rank->types);
    wl_table_fini(&rank->infos);
    wl_table_fini(&rank->wins);
    for (int i = 0; i < rank->n_own_errors; i++) {
        free(rank->own_errors[i]);
    }
    free(rank->own_errors);
    wl_extra_free(rank->world_extra);
    wl_type_extras_free(rank);
    wl_locks_free(rank);
}

static void rank_freed(struct wf_port_rank *self)
{
    struct wl_rank *rank = self->lib;

    if (rank != NULL) {
        free_views(rank);
        wl_table_fini(&rank->comms);
        free_items(&rank->requests);
        free_rest(rank);
        free(rank->numbers_used);
        free(rank);
        self->lib = NULL;
    }
}

static void detach(void)
{
    wl_mailboxes_free(wl.boxes, wl.n_ranks);
    if (wl.world != NULL) {
        wl.world->refs = 1;
        wl_comm_release(wl.world);
    }
    wl_known_free(wl.known);
    free(wl.identity);
    wl = (struct wl_shared){.port = NULL};
}

__attribute__((visibility("default"))) const struct wf_port_library weft_mpi_library = {
    .version = WF_PORT_VERSION,
    .attach = attach,
    .spread = spread,
    .rank_begins = rank_begins,
    .rank_ends = rank_ends,
    .rank_freed = rank_freed,
    .remote = wl_remote,
    .arrived = wl_arrived,
    .detach = detach,
};

/* ---- for the rest of the library ---- */

struct wl_rank *wl_enter(void)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    if (self == NULL) {
        (void)fprintf(stderr, "weft: this program runs under 'weft run -n <ranks> -- %s'\n",
                      "<program>");
        _exit(3);
    }
    wl.port->enter(self);
    return self->lib;
}

void wl_leave(struct wl_rank *rank)
{
    wl.port->leave(rank->self);
}

void wl_post(struct wl_rank *rank, const struct wf_op *op)
{
    if (rank->n_wins > 0) {
        (void)wl_call(rank, op);
    } else {
        wl.port->post(rank->self, op);
    }
}

const struct wf_port_answer *wl_call(struct wl_rank *rank, const struct wf_op *op)
{
    const struct wf_port_answer *answer = wl.port->call(rank->self, op);

    for (uint32_t i = 0; i < answer->n_matches; i++) {
        wl_recv_matched(rank, &answer->matches[i]);
    }
    return answer;
}

void wl_catch_up(struct wl_rank *rank)
{
    if (rank->initialized && !rank->finalized) {
        (void)wl_call(rank, &(struct wf_op){.kind = WF_OP_COMPUTE});
    }
}

_Noreturn void wl_fatal(const struct wl_rank *rank, const char *function, const char *fmt, ...)
{
    va_list ap;

    (void)fflush(stdout);
    (void)fprintf(stderr, "weft: rank %u: %s: ", rank->self->rank, function);
    va_start(ap, fmt);
    (void)vfprintf(stderr, fmt, ap);
    va_end(ap);
    (void)fputc('\n', stderr);
    wl.port->exit(rank->self, 1, true);
    abort();
}

/* ---- the program's ---- */

int MPI_Init(int *argc, char ***argv)
{
    struct wl_rank *rank = wl_enter();

    (void)argc;
    (void)argv;
    if (rank->initialized) {
        wl_fatal(rank, "MPI_Init", "it has been called before");
    }
    rank->initialized = true;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct wl_rank *rank = wl_enter();

    rank->thread_level = required < MPI_THREAD_FUNNELED ? required : MPI_THREAD_FUNNELED;
    *provided = rank->thread_level;
    wl_leave(rank);
    return MPI_Init(argc, argv);
}

int MPI_Finalize(void)
{
    struct wl_rank *rank = wl_enter();
    const struct wf_op op = {.kind = WF_OP_FINALIZE};

    if (rank->keyvals.n > 0) { /* programs learn of the end by an attribute of theirs */
        wl_attributes_delete(rank, MPI_COMM_SELF,
                             wl_comm_of(rank, MPI_COMM_SELF, "MPI_Finalize").extra);
    }
    wl_post(rank, &op);
    rank->finalized = true;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Initialized(int *flag)
{
    struct wl_rank *rank = wl_enter();

    *flag = rank->initialized;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Finalized(int *flag)
{
    struct wl_rank *rank = wl_enter();

    *flag = rank->finalized;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm comm, int code)
{
    struct wl_rank *rank = wl_enter();

    (void)comm;
    (void)fflush(stdout);
    wl.port->exit(rank->self, code, true);
    return MPI_SUCCESS;
}
