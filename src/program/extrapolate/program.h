/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The programs of all ranks of several traces, in the form in which extrapolation compares them.
 * Computing is an op at first; in a recorded trace, which has a little computing before most ops,
 * it becomes a property of the op after it. Requests are named by their position among the open
 * ones, communicators by the order in which the rank meets them, peers by their rank in the
 * program. The rest is the shape of an op, the same for all ranks and counts, and its values.
 */

#include "base/strings.h"
#include "program/extrapolate/grid.h"
#include "program/ops/source.h"

enum { WF_EXT_SLOTS = 2, WF_EXT_COUNTS_MAX = 16 };

/* Which requests an op means: program/extrapolate/requests.h. */
enum wf_ext_wait {
    WF_EXT_WAIT_NONE,
    WF_EXT_WAIT_ALL,
    WF_EXT_WAIT_RECEIVES,
    WF_EXT_WAIT_SENDS,
    WF_EXT_WAIT_OTHERS, /* nonblocking collectives */
    WF_EXT_WAIT_SORTS,  /* all of some sorts */
    WF_EXT_WAIT_OLDEST, /* by sort and position among those of the sort, the oldest first */
    WF_EXT_WAIT_NEWEST, /* the newest of a sort */
    WF_EXT_WAIT_OPEN,   /* one of several names, while traces are read */
};

#define WF_EXT_NO_TAG INT32_MIN

/* Compared byte by byte: keep padding zero. */
struct wf_ext_shape {
    uint32_t kind;
    uint32_t wait;       /* enum wf_ext_wait */
    uint32_t positions;  /* number in the table of sorts and positions, from 1; 0: none */
    uint32_t persistent; /* 1: the requests of `wait` are persistent ones, not active ones */
    uint32_t comm, new_comm;
    uint32_t name;   /* of a region or call, from 1; 0: none */
    uint32_t number; /* of a region or call without a name */
    uint32_t reduction;
    uint32_t any;          /* bit i: slot i is a wildcard */
    uint32_t arrays;       /* bit 0: counts, bit 1: recv_counts */
    int32_t tag, recv_tag; /* WF_EXT_NO_TAG: not a part of the shape */
};

struct wf_ext_op {
    uint32_t shape;
    uint32_t statement; /* set when programs are merged */
    uint32_t
        peer[WF_EXT_SLOTS]; /* ranks of the program; a root is a rank of its communicator */
    uint32_t
        set[WF_EXT_SLOTS]; /* symbols that explain the peer: program/extrapolate/vocabulary.h */
    int32_t tag[WF_EXT_SLOTS];
    uint64_t bytes[WF_EXT_SLOTS];
    int64_t compute; /* before the op, or of a compute op; -1: there is none */
    uint32_t site;
    uint32_t arrays; /* position of the elements in the words of the rank, counts first */
    uint32_t n_elements[2];
};

struct wf_ext_comm {
    uint32_t number; /* in the trace */
    uint32_t size, rank;
    uint32_t *members;
};

struct wf_ext_rank {
    struct wf_ext_op *ops;
    uint32_t n, capacity;
    struct wf_ext_comm *comms; /* the first is the world, without members */
    uint32_t n_comms, comms_capacity;
    uint64_t *words;
    uint32_t n_words, words_capacity;
    uint32_t
        kind; /* number of its program among those that differ: program/extrapolate/fold.h */
};

struct wf_ext_count {
    const char *path; /* borrowed */
    uint32_t n;
    struct wf_ext_grid grid;
    struct wf_ext_rank *ranks;
};

struct wf_ext_input {
    struct wf_ext_count *counts; /* by increasing n */
    uint32_t n_counts;
    struct wf_ext_shape *shapes;
    uint32_t n_shapes, shapes_capacity;
    struct wf_strings shape_table, positions, names;
    uint64_t n_tests;     /* tests that became waits, or were left out */
    uint64_t n_joined;    /* waits for some of a set that became part of a waitall */
    uint64_t n_neighbors; /* neighbour collectives that became messages */
    uint64_t n_corrected; /* compute times that the operating system had disturbed */
    uint64_t n_wildcards_forgotten;
    uint64_t left;      /* work that the trace which is being read may still ask for */
    uint32_t n_ops_max; /* of a rank of a trace */
    bool has_counters;
    bool attached; /* computing belongs to the op after it */
};

/* Reads a trace of ops as the next count; the order of counts is free. */
enum wf_status wf_ext_read(struct wf_ext_input *input, const char *path,
                           struct wf_source *source, struct wf_err *err);

/* Sorts the counts, decides how ops name requests, and takes tags that differ between counts out of
 * the shapes. Call it once after the last trace. Fails if two traces have the same number of ranks. */
enum wf_status wf_ext_read_end(struct wf_ext_input *input, struct wf_err *err);

/* Whether more than half of the other ops come after computing, and computing hardly ever comes
 * after computing. */
bool wf_ext_computes_everywhere(const struct wf_ext_input *input);
/* Makes computing a property of the op after it. */
void wf_ext_attach(struct wf_ext_input *input);

void wf_ext_input_fini(struct wf_ext_input *input);

/* The number of peers of an op of this shape. */
uint32_t wf_ext_slots(const struct wf_ext_shape *shape);
/* Whether slot 0 is the root of a collective. */
bool wf_ext_rooted(const struct wf_ext_shape *shape);

/* Gives all ops other shapes: to[i] instead of i. */
void wf_ext_remap(struct wf_ext_input *input, const uint32_t *to);

uint32_t wf_ext_shape_put(struct wf_ext_input *input, const struct wf_ext_shape *shape);
