/* SPDX-License-Identifier: Apache-2.0 */
/* How ranks begin and end, and what all MPI functions share. */
#include "mpi/lib/bindings/fortran.h"
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/checker/orders.h"
#include "mpi/lib/comm/directory.h"
#include "mpi/lib/comm/properties.h"
#include "mpi/lib/comm/registry.h"
#include "mpi/lib/comm/spawn.h"
#include "mpi/lib/interprocess.h"
#include "mpi/lib/libc/interpose.h"
#include "mpi/lib/libc/output.h"
#include "mpi/lib/libc/spilled_memory.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/message_loan.h"
#include "mpi/lib/p2p/request.h"
#include "mpi/lib/rma/one_sided.h"
#include "mpi/lib/threads/openmp.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wl_shared wl;

/* ---- called by the simulator ---- */

static bool attach(const struct wf_port_simulator *port, uint32_t n_ranks)
{
    if (port->version != WF_PORT_VERSION) {
        return false;
    }
    wl = (struct wl_shared){.port = port,
                            .n_ranks = n_ranks,
                            .queues = wl_message_queues_new(n_ranks),
                            .registry = wl_comm_registry_new(),
                            .world = wl_comm_new(0, n_ranks, NULL),
                            .checked = port->checks_use ? wl_check_registry_new() : NULL};
    wl.orders = port->schedule != NULL && port->checks_use ? wl_orders_new() : NULL;
    return true;
}

static void set_processes(const struct wf_port_processes *processes)
{
    wl.processes = processes;
}

static void rank_begins(struct wf_port_rank *self)
{
    struct wl_rank *rank = wl_calloc(1, sizeof(*rank));

    rank->self = self;
    rank->stack_end = __builtin_frame_address(0);
    rank->checker = wl_checks() ? wl_checker_new() : NULL;
    rank->checks_arguments = wl_checks();
    self->lib = rank;
    wl_comm_find_processes(wl.world);
    if (wl.port->n_started < wl.n_ranks) {
        wl_spare_begin(rank);
    }
}

static void free_views(struct wl_rank *rank)
{
    for (uint32_t i = 0; i < wl_table_n(&rank->comms); i++) {
        if (wl_table_at(&rank->comms, i) != NULL) {
            wl_view_free(rank, wl_table_at(&rank->comms, i));
        }
    }
}

static void free_items(struct wl_table *table)
{
    for (uint32_t i = 0; i < wl_table_n(table); i++) {
        free(wl_table_at(table, i));
    }
    wl_table_fini(table);
}

/* Requests that the program has not completed. If it still has its memory, their data leaves
 * that. */
static void free_requests(struct wl_rank *rank, bool has_memory)
{
    for (uint32_t i = 0; i < wl_table_n(&rank->requests); i++) {
        struct wl_request *request = wl_table_at(&rank->requests, i);
        if (request != NULL) {
            wl_check_forget(rank, &request->uses);
        }
        if (request != NULL && request->loan != NULL && has_memory) {
            wl_loan_end(&request->loan);
        } else if (request != NULL && request->loan != NULL) {
            wl_message_free(request->loan);
        }
    }
    free_items(&rank->requests);
}

/* What the program has not freed. */
static void free_rest(struct wl_rank *rank)
{
    struct wl_table *const tables[] = {&rank->ops,      &rank->groups,  &rank->errhandlers,
                                       &rank->messages, &rank->keyvals, &rank->files,
                                       &rank->sessions};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        free_items(tables[i]);
    }
    for (uint32_t i = 0; i < wl_table_n(&rank->types); i++) {
        wl_type_release(wl_table_at(&rank->types, i));
    }
    wl_table_fini(&rank->types);
    wl_table_fini(&rank->infos);
    wl_table_fini(&rank->wins);
    for (int i = 0; i < rank->n_added_errors; i++) {
        free(rank->added_errors[i]);
    }
    free(rank->added_errors);
    wl_properties_free(rank->world_properties);
    wl_type_properties_free(rank);
    wl_locks_free(rank);
    wl_tool_free(rank);
    wl_datareps_free(rank);
    wl_directory_free(rank);
    wl_omp_free(rank);
}

static void rank_freed(struct wf_port_rank *self)
{
    struct wl_rank *rank = self->lib;

    if (rank != NULL) {
        wl_exit_handlers_free(rank);
        wl_streams_free(rank);
        free(rank->children);
        free_views(rank);
        wl_table_fini(&rank->comms);
        free_requests(rank, false);
        free_rest(rank);
        free(rank->numbers_used);
        free((void *)self->arguments);
        self->arguments = NULL;
        wl_checker_free(rank->checker);
        free(rank);
        self->lib = NULL;
    }
}

/* Communicators stay: the simulation may still ask for those of the last ops. So do windows, and
 * rank 0, which others ask for names and ports. Most ranks have none of these: nothing of
 * them is left. */
static void rank_ends(struct wf_port_rank *self)
{
    struct wl_rank *rank = self->lib;

    wl_spare_go(rank);
    self->has_left = rank->initialized && !rank->finalized;
    self->has_finalized = rank->finalized;
    wl_streams_free(rank);
    wl_recvs_forget(rank);
    free_requests(rank, true);
    free(rank->numbers_used);
    rank->numbers_used = NULL;
    rank->n_number_words = 0;
    if (wl_table_n(&rank->comms) == 0 && wl_table_n(&rank->wins) == 0 && self->rank != 0) {
        rank_freed(self);
    }
}

static void detach(void)
{
    wl_streams_restore();
    wl_message_queues_free(wl.queues, wl.n_ranks);
    if (wl.world != NULL) {
        wl.world->refs = 1;
        wl_comm_release(wl.world);
    }
    wl_comm_registry_free(wl.registry);
    wl_check_registry_free(wl.checked);
    wl_orders_free(wl.orders);
    free(wl.identity);
    wl_omp_left_free();
    wl = (struct wl_shared){.port = NULL};
}

__attribute__((visibility("default"))) const struct wf_port_library weft_mpi_library = {
    .version = WF_PORT_VERSION,
    .interpose = wl_interpose,
    .attach = attach,
    .set_processes = set_processes,
    .rank_begins = rank_begins,
    .rank_exits = wl_rank_exits,
    .rank_ends = rank_ends,
    .rank_freed = rank_freed,
    .remote = wl_rma_arrived,
    .tick = wl_omp_tick,
    .arrived = wl_interprocess_arrived,
    .left_over = wl_check_left_over,
    .detach = detach,
    .memory = wl_spill,
};

/* ---- called by the rest of the library ---- */

struct wl_rank *wl_enter_from(const void *site)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    if (self == NULL && wl.port != NULL) {
        wl.port->refuse("a thread that is no rank calls MPI; a library of the program has "
                        "created it");
    }
    if (self == NULL) {
        (void)fputs("weft: this program was built with weftcc; run it with "
                    "'weft run -n <ranks> -- <program>'\n",
                    stderr);
        _exit(3);
    }
    if (wl.in_child) {
        (void)dprintf(STDERR_FILENO,
                      "weft: rank %u: a child process of the program calls MPI; only the "
                      "process that called fork() is a rank\n",
                      self->rank);
        _exit(4);
    }
    wl.port->enter(self, site);
    return self->lib;
}

void weft_mpi_called_from(const void *site)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    if (self != NULL && self->lib != NULL) {
        ((struct wl_rank *)self->lib)->fortran_site = site;
    }
}

struct wl_rank *wl_enter(void)
{
    return wl_enter_from(NULL);
}

/* Names end at the end of the string or, with a * at their end, anywhere. */
static bool is_named(const char *function, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(names[i]);
        bool prefix = names[i][length - 1] == '*';
        if (prefix ? strncmp(function, names[i], length - 1) == 0
                   : strcmp(function, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* MPI-4.0, 11.4.1. MPI_Init() itself says that it has been called before. */
void wl_check_callable(const struct wl_rank *rank)
{
    static const char *const always[] = {
        "MPI_Init",        "MPI_Init_thread",  "MPI_Initialized",
        "MPI_Finalized",   "MPI_Get_version",  "MPI_Get_library_version",
        "MPI_Pcontrol",    "MPI_Info_*",       "MPI_Session_*",
        "MPI_T_*",         "MPI_Errhandler_*", "MPI_Error_*",
        "MPI_Add_error_*", "MPI_Abort",        "MPI_Get_address",
        "MPI_Aint_*",
    };

    if (wl_table_n(&rank->sessions) > 0 ||
        is_named(rank->function, always, sizeof(always) / sizeof(always[0]))) {
        return;
    }
    wl_fatal(rank, rank->finalized ? "the program calls it after MPI_Finalize"
                                   : "the program calls it before MPI_Init");
}

/* Counts how often the program looks at the clock without doing anything else: see
 * wl_clock_now(). A look for messages does not count as doing something. */
static void note_op(struct wl_rank *rank, const struct wf_op *op)
{
    bool looks =
        op->kind == WF_OP_IPROBE || (op->kind >= WF_OP_TEST && op->kind <= WF_OP_TESTSOME);

    rank->looks |= looks;
    if (!looks && op->kind != WF_OP_COMPUTE) {
        rank->same_times = 0;
        rank->looks = false;
        if (wl_orders()) {
            wl_order_goes_on(rank);
        }
    }
}

void wl_leave(struct wl_rank *rank)
{
    wl.port->leave(rank->self);
}

void wl_post(struct wl_rank *rank, const struct wf_op *op)
{
    if (rank->n_wins > 0 || wl_omp_is_active(rank)) {
        (void)wl_call(rank, op);
    } else {
        note_op(rank, op);
        wl.port->post(rank->self, op);
    }
}

const struct wf_port_answer *wl_call(struct wl_rank *rank, const struct wf_op *op)
{
    const struct wf_port_answer *answer =
        wl_omp_is_active(rank) ? wl_omp_call(rank, op) : wl_call_alone(rank, op);

    if (rank->checker != NULL) {
        wl_check_learns(rank->checker, op, answer->clock);
    }
    return answer;
}

const struct wf_port_answer *wl_call_alone(struct wl_rank *rank, const struct wf_op *op)
{
    note_op(rank, op);
    const struct wf_port_answer *answer = wl.port->call(rank->self, op);

    for (uint32_t i = 0; i < answer->n_matches; i++) {
        wl_recv_set_match(rank, &answer->matches[i]);
    }
    return answer;
}

void wl_catch_up(struct wl_rank *rank)
{
    if ((rank->initialized && !rank->finalized) || wl_table_n(&rank->sessions) > 0) {
        (void)wl_call(rank, &(struct wf_op){.kind = WF_OP_COMPUTE});
    }
}

MPI_Count *wl_widen(MPI_Count n, const int *list)
{
    MPI_Count *wide = wl_malloc((n > 0 ? (size_t)n : 0) * sizeof(MPI_Count));

    for (MPI_Count i = 0; i < n; i++) {
        wide[i] = list[i];
    }
    return wide;
}

int wl_narrow(MPI_Count value)
{
    return value <= INT_MAX && value >= INT_MIN ? (int)value : MPI_UNDEFINED;
}

bool wl_is_large(const struct wl_rank *rank)
{
    size_t length = rank->function != NULL ? strlen(rank->function) : 0;

    return length > 2 && strcmp(rank->function + length - 2, "_c") == 0;
}

_Noreturn void wl_fatal(const struct wl_rank *rank, const char *fmt, ...)
{
    va_list ap;

    (void)fflush(stdout);
    (void)dprintf(STDERR_FILENO, "weft: rank %u: %s: ", rank->self->rank,
                  rank->function != NULL ? rank->function : "program");
    va_start(ap, fmt);
    (void)vdprintf(STDERR_FILENO, fmt, ap);
    va_end(ap);
    (void)dprintf(STDERR_FILENO, "\n");
    wl.port->exit(rank->self, 1, true);
    abort();
}

_Noreturn int wl_missing(const struct wl_rank *rank)
{
    wl_fatal(rank, "weft does not have this function yet");
}
