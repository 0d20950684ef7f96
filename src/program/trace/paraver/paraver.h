/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Paraver traces (.prv) with communications, as Extrae and weft write them. Calls of MPI are
 * events, whose names are in the .pcf file beside the trace. A communication tells when a
 * message was sent, and when its receive was posted and completed:
 *
 *     3:cpu:appl:task:thread:sent:left:cpu:appl:task:thread:posted:received:bytes:tag
 *
 * Records are sorted by their first time only, so that those of a task are collected and sorted
 * before they become ops.
 */

#include "base/map.h"
#include "base/strings.h"
#include "program/trace/kit/kit.h"
#include "program/trace/paraver/colls.h"
#include "program/trace/spool/spool.h"

#include <string.h>

enum { WF_PARAVER_P2P = 50000001 }; /* to WF_PARAVER_P2P + 2: events of calls */

enum wf_paraver_item_kind {
    WF_PARAVER_ITEM_END,  /* a call ends; it comes before what happens at the same time */
    WF_PARAVER_ITEM_CALL, /* a call begins */
    WF_PARAVER_ITEM_SEND,
    WF_PARAVER_ITEM_POST,
    WF_PARAVER_ITEM_ARRIVAL,
    WF_PARAVER_ITEM_RUN,   /* a span of computing, if there are no events of calls */
    WF_PARAVER_ITEM_FLUSH, /* a span in which Extrae writes its buffer to a file */
};

/* Something that happens in a task. */
struct wf_paraver_item {
    uint64_t time;
    uint32_t order; /* in the file, modulo 2^32 */
    uint8_t kind;
    uint32_t name;  /* of a call: its number */
    uint64_t value; /* message; collective of a call, or 0; the end of a span */
};

struct wf_paraver_message {
    uint32_t src, dst;
    int32_t tag;
    uint64_t bytes;
    uint32_t request; /* of the receive that was posted, or 0 */
};

struct wf_paraver_task {
    struct wf_paraver_item *items;
    uint64_t n, capacity;
    uint64_t coll, coll_time; /* the latest collective, or 0, and when it began */
    uint64_t begin, end; /* of the program: the end of MPI_Init, and of MPI_Finalize or 0 */
    uint64_t flush;      /* when a flush began, or 0 */
    uint32_t call;       /* the name of the latest call */
};

struct wf_paraver_reading {
    struct wf_intext file;
    uint64_t unit;     /* picoseconds */
    uint64_t recorded; /* how long the program ran, in this unit; 0 if it is not known */
    uint32_t n_ranks;
    struct wf_paraver_task *tasks;
    struct wf_paraver_message *messages;
    uint64_t n_messages, messages_capacity;
    struct wf_strings names; /* of calls */
    struct wf_map values;    /* of events: type << 32 | value -> name + 1 */
    bool has_calls;
    uint32_t order;
    uint64_t n_threads, n_nonblocking, n_applications, n_flushes, n_bursts;
    struct wf_paraver_colls colls;
    struct wf_spool *spool;
    struct wf_records *records;
    uint32_t record_names[4]; /* by the first number of a record */
    struct wf_err *err;
};

static inline bool wf_paraver_is_init(const char *name)
{
    return strcmp(name, "MPI_Init") == 0 || strcmp(name, "MPI_Init_thread") == 0;
}

static inline bool wf_paraver_is_finalize(const char *name)
{
    return strcmp(name, "MPI_Finalize") == 0;
}

/* names.c: the values of events that are calls, from the .pcf file beside the trace or, if there is
 * none, as Extrae numbers them. */
void wf_paraver_names_read(struct wf_paraver_reading *r, const char *path);

/* records.c: collects what happens in each task from all lines of the file. */
void wf_paraver_records_read(struct wf_paraver_reading *r, struct wf_trace *out);

/* ops.c: makes ops of what was collected, which it releases, and puts them into the spool. */
void wf_paraver_ops_write(struct wf_paraver_reading *r);
