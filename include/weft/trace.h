/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

/*
 * Traces op by op: for a tracer or a reader of one's own, and for programs that callbacks describe.
 *
 *     struct weft_trace_writer *writer;
 *     struct weft_op send = {.size = sizeof(send), .kind = weft_op_kind("send"), .peer = 1, .bytes = 4096};
 *     struct weft_op recv = {.size = sizeof(recv), .kind = weft_op_kind("recv"), .peer = 0, .bytes = 4096};
 *
 *     if (weft_trace_create("two.weft", 2, true, &writer, &error) == WEFT_OK) {
 *         if (weft_trace_add(writer, 0, &send, &error) == WEFT_OK &&
 *             weft_trace_add(writer, 1, &recv, &error) == WEFT_OK) {
 *             code = weft_trace_finish(writer, &error);
 *         } else {
 *             weft_trace_discard(writer);
 *         }
 *     }
 *
 * Each `error` may be null. The functions of one trace are called by one thread at a time.
 */

#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_ANY_SOURCE UINT32_C(0xffffffff) /* as a peer */
#define WEFT_PROC_NULL  UINT32_C(0xfffffffe)
#define WEFT_ANY_TAG    (-1)

/*
 * What a rank does next. Kinds have the names of MPI without MPI_, in lower case: "isend", "waitall",
 * "allreduce"; besides them there are "compute", "sleep", "region_begin", "region_end",
 * "iteration_begin", "iteration_end" and "call". docs/reference/trace-format.md tells which members
 * a kind uses; others are ignored.
 */
struct weft_op {
    size_t size; /* sizeof(struct weft_op) */
    int kind;    /* as weft_op_kind() returns it */
    uint32_t peer;
    int32_t tag;        /* of markers and calls: the number of their name */
    uint32_t comm;      /* 0: all ranks */
    uint32_t request;   /* of nonblocking calls: the new one; of wait and test: which one... */
    uint32_t count;     /* ...and how many from it on, if `requests` is null */
    uint32_t root;      /* of a collective */
    uint32_t reduction; /* as weft_op_reduction() returns it */
    uint32_t new_comm;  /* that the op makes */
    uint64_t bytes;
    int64_t duration_ps; /* of compute and sleep */
    uint32_t recv_peer;  /* of sendrecv: what is received */
    int32_t recv_tag;
    uint64_t recv_bytes;
    const uint32_t *requests;             /* a set of `count`; or null */
    const uint64_t *counts, *recv_counts; /* bytes for each rank, of collectives with a v */
};

/* The number of a kind of op; -1 if there is none of this name. And its name; null if there is none
 * of this number. Numbers never change. */
WEFT_API int weft_op_kind(const char *name);
WEFT_API const char *weft_op_name(int kind);
/* The number of a reduction: "sum", "max"; -1 if there is none of this name. */
WEFT_API int weft_op_reduction(const char *name);

/* What has names. */
enum weft_name { WEFT_NAME_REGION, WEFT_NAME_CALL, WEFT_NAME_COUNTER, WEFT_NAME_SITE };

/* ---- writing ---- */

struct weft_trace_writer;

/* Begins a trace of `ranks` ranks in the format of the extension of `path` (`weft help convert`). It
 * appears at `path` when it is finished; an existing one is replaced only with `force`. On WEFT_OK
 * the caller finishes or discards *out; otherwise *out is null. */
WEFT_API enum weft_code weft_trace_create(const char *path, uint32_t ranks, bool force,
                                          struct weft_trace_writer **out,
                                          struct weft_error *error);

/* Tells a name before the first op that uses its number. Formats without such names ignore it. */
WEFT_API enum weft_code weft_trace_name(struct weft_trace_writer *writer, enum weft_name kind,
                                        uint32_t number, const char *name,
                                        struct weft_error *error);

/* A communicator: ranks of the program in their order. */
struct weft_group {
    size_t size; /* sizeof(struct weft_group) */
    uint32_t id; /* the same for all members, and for no other communicator of theirs */
    uint32_t n;  /* how many... */
    const uint32_t *members; /* ...and which */
};

/* Tells which group number `comm` of a rank stands for, before the first op that uses it. */
WEFT_API enum weft_code weft_trace_group(struct weft_trace_writer *writer, uint32_t rank,
                                         uint32_t comm, const struct weft_group *group,
                                         struct weft_error *error);

/* Adds an op after the others of its rank. Ranks may come in any order. What makes no sense is
 * WEFT_INPUT. After a call that failed a writer refuses everything, and must still be discarded. */
WEFT_API enum weft_code weft_trace_add(struct weft_trace_writer *writer, uint32_t rank,
                                       const struct weft_op *op, struct weft_error *error);

/* Writes what is left, and frees the writer, also on failure; then no file is left. */
WEFT_API enum weft_code weft_trace_finish(struct weft_trace_writer *writer,
                                          struct weft_error *error);
/* Frees the writer and leaves no file. Null is allowed. */
WEFT_API void weft_trace_discard(struct weft_trace_writer *writer);

/* ---- reading ---- */

struct weft_trace;

/* Opens a trace of any format, or a generator ("gen:ring", with how->ranks). `how` may be null. On
 * WEFT_OK the caller closes *out; otherwise *out is null. */
WEFT_API enum weft_code weft_trace_open(const char *path, const struct weft_convert *how,
                                        struct weft_trace **out, struct weft_error *error);
WEFT_API uint32_t weft_trace_ranks(const struct weft_trace *trace);

/* Sets *op, whose size the caller has set, to the next op of a rank; false at its end, and if it cannot
 * be read (weft_trace_check()). Arrays are valid until the next call for this rank. */
WEFT_API bool weft_trace_next(struct weft_trace *trace, uint32_t rank, struct weft_op *op);

/* Whether everything could be read so far: a rank of a damaged trace ends early. */
WEFT_API enum weft_code weft_trace_check(const struct weft_trace *trace,
                                         struct weft_error *error);

/* The name of a number; null if it has none. Valid as long as the trace. */
WEFT_API const char *weft_trace_name_of(const struct weft_trace *trace, enum weft_name kind,
                                        uint32_t number);
WEFT_API void weft_trace_close(struct weft_trace *trace); /* null is allowed */

/* ---- a program of callbacks ---- */

/* A program that is written when it is needed, rank by rank. */
struct weft_program {
    size_t size; /* sizeof(struct weft_program) */
    uint32_t ranks;
    /* Adds all ops of a rank with weft_trace_add(), and leaves the writer open. Anything but WEFT_OK,
     * and an op that was refused, ends the call below, with the text of *error if it is set;
     * WEFT_INTERRUPTED says that nothing is wrong. */
    enum weft_code (*write)(void *arg, struct weft_trace_writer *writer, uint32_t rank,
                            struct weft_error *error);
    void *arg;
};

/* Makes such a program the source of a scenario. All ranks are written during the call, to a temporary
 * trace that the scenario keeps as long as it lives. */
WEFT_API enum weft_code weft_scenario_program(struct weft_scenario *scenario,
                                              const struct weft_program *program,
                                              struct weft_error *error);

#ifdef __cplusplus
}
#endif

#endif
