/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * libweftmpi: the MPI library that programs are linked with to run as virtual ranks. This
 * header has what all its files share; mpi/port.h is the contract with the simulator.
 *
 * The functions that programs call, MPI_X(), are generated from bindings/functions.txt. They
 * enter the library and call wl_MPI_X(), which has the calling rank as its first parameter.
 * The folders that implement them (chapters of MPI-4.0):
 *
 *   p2p/      point-to-point (3), partitioned communication (4), requests (3, 13), statuses;
 *             messages that the library sends for itself
 *   type/     datatypes (5)
 *   coll/     collectives and reductions (6)
 *   comm/     groups, communicators, attributes (7), topologies (8), sessions and ports (11)
 *   rma/      one-sided communication (12)
 *   io/       files (14)
 *   .         environment and errors (9), infos (10), tools (15)
 *   bindings/ Fortran (19)
 *   checker/  weft run --check
 *   threads/  OpenMP and POSIX threads of a rank
 *   libc/     the C library as virtual ranks need it
 *
 * libc/wrappers.c, libc/process.c and libc/replacements/ make the C library safe for ranks that
 * share a process; libc/clocks.c gives them the simulated time (libc/interpose.h says how). Names
 * with wl_ are visible within the library, names with weft_mpi_ to programs as well.
 */

#include "mpi/lib/handle.h"
#include "mpi/lib/p2p/message_queue.h"
#include "mpi/port.h"

#include <weft/mpi.h>

#include <sys/types.h>

/* MPI prescribes parameters that mean nothing to this library: infos, assertions,
 * reordering. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct wl_added_error;
struct wl_check_registry;
struct wl_checker;
struct wl_comm;
struct wl_comm_registry;
struct wl_datarep;
struct wl_name;
struct wl_order_decision;
struct wl_orders;
struct wl_partitioned;
struct wl_exit_handler;
struct wl_lock;
struct wl_omp;
struct wl_predefined_type;
struct wl_directory;
struct wl_properties;
struct wl_request;
struct wl_streams;
struct wl_tool;

/* What all ranks of the process share. MPI functions have no argument that leads to it, so that
 * it is a global variable, the only one of the library. */
struct wl_shared {
    const struct wf_port_simulator *port;
    uint32_t n_ranks;
    struct wl_message_queue *queues; /* by rank */
    struct wl_comm *world;
    uint32_t *identity; /* 0, 1, 2, ...; allocated when it is first needed */
    struct wl_comm_registry *registry;
    const struct wf_port_processes *processes; /* null: all ranks run in this process */
    struct wl_check_registry *checked;         /* collectives of --check; null without it */
    struct wl_orders *orders;                  /* decisions (checker/orders.h); or null */
    struct wl_omp_left *_Atomic left;          /* threads on whose stacks ranks have ended */
    bool in_child; /* this process is a copy that fork() created: there are no ranks in it */
};
extern struct wl_shared wl;
extern const struct wf_port_library weft_mpi_library;

/* A call of the program. */
struct wl_caller {
    const char *function;
    const void *site; /* an address in the program, or null */
};

/* One rank. Zeroed when it begins. */
struct wl_rank {
    struct wf_port_rank *self;
    struct wl_table comms, types, ops, requests, groups, infos, errhandlers, wins, messages,
        keyvals, files, sessions;
    struct wl_recv *first_recv, *last_recv; /* posted and not complete, in order */
    struct wl_recv *next_match; /* of these, one that may be matched next; or null */
    bool has_taken;      /* some of these have taken their messages before they are complete */
    bool shows_receives; /* senders in other threads may look at them (message_loan.h) */
    uint64_t *numbers_used; /* a bit for each number of a request in ops */
    uint32_t n_number_words;
    uint32_t highest_id;                         /* of the communicators it has joined */
    uint32_t n_idups;                            /* calls of MPI_Comm_idup() */
    struct wl_predefined_type *predefined_types; /* their properties in this rank */
    MPI_Info info_env;                           /* MPI_INFO_ENV once it is used, or 0 */
    MPI_Comm comm_self;                          /* MPI_COMM_SELF once it is used, or 0 */
    MPI_Comm comm_world;     /* MPI_COMM_WORLD if there are spare ranks, or 0: all ranks */
    MPI_Comm parent;         /* to those who have started it, or 0 */
    int application;         /* MPI_APPNUM */
    bool has_gone;           /* it starts no other ranks any more */
    uint32_t world_sequence; /* of MPI_COMM_WORLD, as in struct wl_view: these three */
    uint32_t world_internal;
    struct wl_properties *world_properties;
    void *bsend_buffer;
    MPI_Count bsend_bytes;
    int thread_level;
    bool multiple;                  /* it has several threads, and all may call MPI at a time */
    int universe_size;              /* the attribute MPI_UNIVERSE_SIZE points to it */
    struct wl_directory *directory; /* names and ports; of rank 0, null until it is asked */
    uint32_t n_connects;            /* calls of MPI_Comm_connect() */
    struct wl_datarep *datareps;    /* data representations that the program has registered */
    uint64_t n_sent, n_sent_bytes;  /* messages of the program, for tools */
    struct wl_tool *tool;           /* null if the program does not use MPI_T */
    struct wl_partitioned *untold;  /* partitioned sends that were not started yet */
    uint32_t n_partitions;          /* of all its partitioned sends: the next one's first tag */
    struct wl_lock *locks;          /* of its windows, that ranks hold */
    uint32_t n_wins; /* while there are any, the rank must not run ahead of its time */
    int n_added_errors;
    struct wl_added_error **added_errors;
    bool handles_errors; /* an error handler was set: arguments are checked (arguments.h)... */
    bool checks_arguments;          /* ...as with --check */
    MPI_Errhandler file_errhandler; /* of MPI_FILE_NULL: for files that are opened; 0: return */
    struct wl_exit_handler *exit_handlers; /* of atexit() and the like, the last one first */
    bool destructed;                       /* the program's destructors have been called */
    pid_t *children;                       /* processes that fork() created */
    uint32_t n_children, max_children;
    bool initialized, finalized;
    bool callable; /* all functions of MPI may be called: initialized and not finalized */
    const char *function;       /* the MPI function that the program has called; or null */
    const void *fortran_site;   /* from where Fortran calls the next function; or null */
    const void *site;           /* the address in the program after its last call */
    struct wl_checker *checker; /* null without --check */
    uint32_t same_times;        /* readings of the clock in a row with nothing in between... */
    int64_t last_time;          /* ...and what the last one returned */
    const void *read_from;      /* the place in the program of the last MPI_Wtime(); or null */
    bool looks;            /* ...while the program looked for messages or requests in between */
    const void *stack_end; /* of its first thread: what the program has is below */
    struct wl_omp *omp;    /* once the program uses OpenMP; or null */
    int64_t slept;         /* picoseconds that the rank has slept */
    char *load_failure;    /* of the last dlopen(), for dlerror(); or null */
    struct wl_streams *streams; /* stdout and stderr, if it has redirected them; or null */
};

/* The rank that calls. Between wl_enter() and wl_leave() its simulated time stands still. */
struct wl_rank *wl_enter(void);
struct wl_rank *wl_enter_from(const void *site); /* an address in the program, or null */
void wl_leave(struct wl_rank *rank);

/* With MPI_THREAD_MULTIPLE: before a function of MPI, threads that are earlier go first (openmp.c). Within
 * one, another thread goes on only after an op: calls find messages and receives in the order of
 * ops. */
void wl_omp_enter(struct wl_rank *rank);

/* Ends the program if it calls a function that needs MPI_Init() before that, or after
 * MPI_Finalize(). */
void wl_check_callable(const struct wl_rank *rank);

/* Around the implementation of every MPI function. Calls nest: the program's own functions, of
 * reductions and attributes, call MPI too. */
struct wl_call {
    struct wl_rank *rank;
    const char *outer; /* the function within which this one is called; or null */
};

/* Inlined, so that the return address is the program's. */
__attribute__((always_inline)) static inline struct wl_call wl_call_begin(const char *function)
{
    struct wl_rank *rank = wl_enter_from(__builtin_return_address(0));
    const struct wl_call call = {rank, rank->function};

    rank->function = function;
    rank->site = rank->fortran_site != NULL ? rank->fortran_site : __builtin_return_address(0);
    rank->fortran_site = NULL;
    rank->self->call = function;
    if (!rank->callable) {
        wl_check_callable(rank);
    }
    if (rank->multiple && call.outer == NULL) {
        wl_omp_enter(rank);
        rank->self->call = function;
    }
    return call;
}

static inline int wl_call_end(struct wl_call call, int code)
{
    call.rank->function = call.outer;
    wl_leave(call.rank);
    return code;
}

/* Tells the simulation what the rank does next. The program goes on at once. */
void wl_post(struct wl_rank *rank, const struct wf_op *op);

/* Likewise, and waits until the op is complete in simulated time. The answer is valid until the
 * next call. Also records which messages have matched receives with wildcards. */
const struct wf_port_answer *wl_call(struct wl_rank *rank, const struct wf_op *op);

/* Likewise for a rank whose threads are not in a region (openmp.h). */
const struct wf_port_answer *wl_call_alone(struct wl_rank *rank, const struct wf_op *op);

/* Waits until everything that the rank has done so far is complete in simulated time. What
 * other ranks did before then, even to files, is done. */
void wl_catch_up(struct wl_rank *rank);

/* Ends the program with a message that names the rank and the MPI function it has called: what
 * an MPI implementation does with a fatal error. */
_Noreturn void wl_fatal(const struct wl_rank *rank, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Ends the program: it has called a function that the library does not implement. */
_Noreturn int wl_missing(const struct wl_rank *rank);

/* The program ends with this code: calls what it has registered for its end. Does not return in a
 * child process. */
void wl_rank_exits(struct wf_port_rank *self, int code);
void wl_exit_handlers_free(struct wl_rank *rank);

void wl_datareps_free(struct wl_rank *rank);
/* Frees what belongs to the tool interface. */
void wl_tool_free(struct wl_rank *rank);
/* Between MPI_T_init_thread() and MPI_T_finalize(). */
bool wl_tool_is_initialized(const struct wl_rank *rank);

/* The thread level that a program gets which asks for `required`. */
int wl_thread_level(int required);
/* The name of a thread level: "MPI_THREAD_SINGLE". */
const char *wl_thread_level_name(int level);

/* Between functions with counts of type int and those with large counts: a copy of a list,
 * which the caller frees, and a result, MPI_UNDEFINED if it does not fit. */
MPI_Count *wl_widen(MPI_Count n, const int *list);
int wl_narrow(MPI_Count value);
/* Whether the program has called a function with large counts, MPI_X_c(). */
bool wl_is_large(const struct wl_rank *rank);

/* A number for a request in ops: the lowest that is free. */
uint32_t wl_number_new(struct wl_rank *rank);
void wl_number_free(struct wl_rank *rank, uint32_t number);

/* Tags of the program are below this limit. */
#define WL_TAG_LIMIT 0x20000000

#include "generated/implementation.h"
