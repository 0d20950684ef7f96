/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Finds errors in the use of MPI (weft run --check) and reports them to the simulator. The
 * checker changes nothing: not the data of the program, and not the ops that it posts. Whatever
 * it finds depends on the calls of the ranks and on simulated time only, so that findings are
 * the same under every scheduler.
 *
 * Without --check only the cheap checks are made: leaked requests, epochs of windows, and where
 * the ranks of a deadlock wait. The other functions must then not be called.
 */

#include "mpi/lib/library.h"
#include "mpi/lib/type/datatype.h"
#include "program/ops/finding.h"

struct wl_collective;
struct wl_comm;
struct wl_message;
struct wl_order_message;
struct wl_recv;
struct wl_request;
struct wl_use;
struct wl_view;
struct wl_win;

static inline bool wl_checks(void)
{
    return wl.port->checks_use;
}

/* The call that the rank is in. */
static inline struct wl_caller wl_caller_of(const struct wl_rank *rank)
{
    return (struct wl_caller){rank->function, rank->site};
}

/* A call in a form that all processes understand: the names of functions are at different
 * addresses in different processes. */
struct wl_mark {
    uint32_t rank;
    int32_t function; /* bytes from weft_mpi_library to its name */
    uint64_t site;
};
struct wl_mark wl_mark_of(const struct wl_rank *rank, struct wl_caller caller);
const char *wl_mark_function(const struct wl_mark *mark);
struct wf_finding_call wl_finding_call(const struct wl_mark *mark); /* null: no call */

/* Reports a finding. `other` may be null. */
void wl_report(enum wf_finding_kind kind, const struct wl_mark *own,
               const struct wl_mark *other, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* What a checked rank has; allocated when it begins. */
struct wl_checker *wl_checker_new(void);
void wl_checker_free(struct wl_checker *checker); /* null is allowed */

/* ---- datatypes: checker/types.c ---- */

/* The values of a message or of a buffer. */
struct wl_signature {
    enum wl_basic basic; /* of all values; WL_BASIC_NONE: several */
    bool any;            /* packed data, which fits everything */
    uint64_t bytes;
    uint64_t n, hash; /* of values of several types: how many, and the hash of their types */
};
struct wl_signature wl_signature_of(const struct wl_type *type, size_t count);
bool wl_signatures_equal(const struct wl_signature *one, const struct wl_signature *other);
/* Words for the values: "int32" or "several types". */
const char *wl_signature_text(const struct wl_signature *signature);

/* What a message tells its receiver when it is checked. */
struct wl_sent {
    struct wl_mark call;
    struct wl_signature signature;
    struct wl_order_message *order; /* or null */
};
struct wl_sent *wl_check_sent(const struct wl_rank *rank, const struct wl_type *type,
                              size_t count);
/* Likewise for a block of a collective; `to` need not be aligned. */
void wl_check_label(const struct wl_collective *coll, const struct wl_type *type, size_t count,
                    unsigned char *to);
/* A block has been received whose label is at `label`: its values must be those of the buffer. */
void wl_check_block(const struct wl_collective *coll, const struct wl_type *type, size_t count,
                    const unsigned char *label);
/* A message has been received: its values must be the first ones of the buffer. */
void wl_check_received(const struct wl_rank *rank, const struct wl_recv *recv,
                       const struct wl_message *message);

/* ---- buffers: checker/buffers.c ---- */

struct wl_buffer_use {
    const void *buffer;
    size_t count;
    const struct wl_type *type;
    bool writes; /* MPI writes to the buffer */
    bool brief;  /* until the call returns: the program cannot change it */
    bool done;   /* MPI has written all of it: the program must not change it either */
};
/* The call that the rank is in uses a buffer until it returns. */
void wl_check_use(struct wl_rank *rank, const struct wl_buffer_use *what);
/* Likewise until wl_check_release(), which also tells if the program has changed a buffer that
 * was only to be read. Adds to the list *uses. */
void wl_check_hold(struct wl_rank *rank, const struct wl_buffer_use *what,
                   struct wl_use **uses);
void wl_check_release(struct wl_rank *rank, struct wl_use **uses);
/* Likewise, but the buffers are not looked at: the program may have freed them. */
void wl_check_forget(struct wl_rank *rank, struct wl_use **uses);

/* ---- windows: checker/accesses.c ---- */

/* An access to memory of a window. Two accesses of different ranks are ordered if a rank could
 * have learned of the other one's before it made its own: what it learned by collectives of all
 * ranks is counted in epochs, by anything else it may have learned everything up to `learned`. */
struct wl_access_note {
    struct wl_mark call; /* of the origin */
    uint32_t id, first;  /* of the window's communicator */
    uint32_t fence; /* number of the fence before it, which all members count alike; or 0 */
    uint32_t is_checked;
    int32_t op;              /* of an accumulate; 0: a put, get, load or store */
    uint32_t is_local, lock; /* by the rank itself; the lock that it holds, or 0 */
    uint32_t epoch, flushes; /* of the origin, when it made the access */
    int64_t issued, learned; /* simulated times */
};

/* The note of an access that the rank makes to the window. */
struct wl_access_note wl_check_note(const struct wl_rank *rank, const struct wl_win *win,
                                    uint32_t target);
/* At the target: reports if other accesses that are not ordered must not go to the same bytes.
 * `what` is at the target; its type must be contiguous. */
void wl_check_accesses_free(struct wl_checker *checker);
void wl_check_access(struct wl_rank *rank, const struct wl_access_note *note,
                     const struct wl_buffer_use *what);
/* The rank itself uses memory, which may be that of its windows. Returns whether that is a conflict
 * that it has reported. */
bool wl_check_local(struct wl_rank *rank, const struct wl_buffer_use *what);
/* How many of these collectives the rank has called; 0 without --check. */
uint32_t wl_check_epoch(const struct wl_rank *rank);
/* The rank has created a window. */
void wl_check_window(const struct wl_rank *rank, struct wl_win *win);
/* The rank has a lock; it may have learned what those did who had it before. */
void wl_check_locked(struct wl_rank *rank, bool learns);
/* An op is complete: what the rank may have learned by it. */
void wl_check_learns(struct wl_checker *checker, const struct wf_op *op, int64_t clock);
/* A collective of which no member returns before all have called it is complete. */
void wl_check_synchronized(struct wl_rank *rank, const struct wl_comm *comm);
/* The accesses of the rank to the window are complete. */
void wl_check_flushed(struct wl_rank *rank, struct wl_win *win);

/* ---- collectives: checker/collectives.c ---- */

/* The rank calls a collective of the communicator. `coll` may be null: only the functions are
 * compared. */
void wl_check_collective(const struct wl_rank *rank, const struct wl_view *view,
                         const struct wl_collective *coll);
/* The buffers of a collective: until it returns, or until *uses is released. */
void wl_check_collective_buffers(struct wl_rank *rank, const struct wl_collective *coll,
                                 struct wl_use **uses);
/* From another process. */
void wl_check_notes_arrived(const unsigned char *bytes, size_t size);
/* Reports the collectives that not all members have called. */
void wl_check_collectives_end(void);
struct wl_check_registry *wl_check_registry_new(void);
void wl_check_registry_free(struct wl_check_registry *registry); /* null is allowed */

/* ---- the end: checker.c ---- */

/* The call that the rank is in has created a communicator, group, datatype, operation or file: it is
 * reported if the program never frees it, unless the library needs it for itself. */
void wl_check_created(struct wl_rank *rank, int handle);

/* The rank calls MPI_Finalize(). */
void wl_check_finalize(struct wl_rank *rank);
/* The run is over: struct wf_port_library.left_over. */
void wl_check_left_over(struct wf_port_rank *const *ranks, uint32_t n);
