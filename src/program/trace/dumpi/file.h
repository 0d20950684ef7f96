/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A rank's file of a DUMPI trace (the format of sst-dumpi): records of calls, one after the
 * other, and tables that an index at the end points to. The first failure is kept in `err`;
 * after it there are no more records.
 */

#include "base/buf.h"
#include "program/ops/op.h"
#include "program/trace/kit/infile.h"

enum {
    WF_DUMPI_FUNCTIONS = 293,
    WF_DUMPI_MAGIC_BYTES = 8,
    WF_DUMPI_VALUES_MAX = 12,
    WF_DUMPI_ARRAYS_MAX = 6,
};

extern const unsigned char wf_dumpi_magic[WF_DUMPI_MAGIC_BYTES];
extern const unsigned char wf_dumpi_magic_swapped[WF_DUMPI_MAGIC_BYTES];

struct wf_dumpi_step; /* program/trace/dumpi/walk.h */
typedef void wf_dumpi_handler(struct wf_dumpi_step *step);

/* A function of MPI: its arguments in the file, a letter each, and what becomes of the call. */
struct wf_dumpi_call {
    const char *name, *fields;
    enum wf_op_kind kind;
    wf_dumpi_handler *handle; /* null: it is WF_OP_CALL, with its time */
};

/* Null if there is no such function. */
const struct wf_dumpi_call *wf_dumpi_call(uint32_t function);

/* How to read the numbers that the arguments of a function begin with, of which most functions
 * have nothing else: a number is the 8 bytes at `at`, the most significant first, shifted to the
 * right with its sign, and of that what `keep` says. */
struct wf_dumpi_plan {
    const struct wf_dumpi_call *call; /* null: there is no such function */
    const char *rest;                 /* the fields after these numbers */
    bool skims;                       /* wf_dumpi_file_skim() reads only numbers */
    bool is_sized;                    /* the first two numbers are a count and a datatype */
    bool is_message;    /* its numbers are those of most sends and receives: ihiih or ihiihi */
    uint8_t n, n_bytes; /* of the numbers */
    uint8_t rank, root; /* which of them these are, or WF_DUMPI_VALUES_MAX */
    struct wf_dumpi_number {
        uint8_t at, shift;
        uint8_t keep;
    } numbers[WF_DUMPI_VALUES_MAX];
};

struct wf_dumpi_plans {
    struct wf_dumpi_plan of[WF_DUMPI_FUNCTIONS];
};

void wf_dumpi_plans_init(struct wf_dumpi_plans *plans, bool (*skims)(uint32_t function));

struct wf_dumpi_status {
    int32_t bytes, source, tag;
    bool cancelled;
};

struct wf_dumpi_array {
    const int32_t *items; /* whatever their width in the file */
    uint32_t n;
};

enum wf_dumpi_clock { WF_DUMPI_WALL, WF_DUMPI_CPU, WF_DUMPI_CLOCKS };

/* Pointers are valid until the next record is read. */
struct wf_dumpi_record {
    uint32_t function;
    bool has_time[WF_DUMPI_CLOCKS];
    int64_t begin[WF_DUMPI_CLOCKS], end[WF_DUMPI_CLOCKS]; /* nanoseconds */
    int16_t thread;
    /* The arguments: numbers, arrays, statuses, each in their order. What is there only at the
     * root is absent elsewhere. */
    uint32_t n_values, n_arrays;
    int64_t values[WF_DUMPI_VALUES_MAX];
    struct wf_dumpi_array arrays[WF_DUMPI_ARRAYS_MAX];
    const struct wf_dumpi_status *statuses;
    uint32_t n_statuses;
    bool at_root;
};

struct wf_dumpi_file {
    struct wf_infile in;
    const struct wf_dumpi_plans *plans;
    uint32_t version;     /* 0x010203 is 1.2.3 */
    uint64_t sections[4]; /* offsets of the other sections; 0: absent */
    uint64_t offset_of_body;
    int32_t *sizes; /* bytes of each datatype */
    uint32_t n_sizes;
    uint64_t n_ignored;               /* calls of the program that were not recorded */
    int64_t wrapped[WF_DUMPI_CLOCKS]; /* what is added, since seconds have 16 bits */
    int64_t latest[WF_DUMPI_CLOCKS];
    struct wf_buf numbers, statuses; /* of a record */
};

/* Opens the file of a rank, reads its tables and goes to the first record. */
void wf_dumpi_file_open(struct wf_dumpi_file *file, const char *path, uint32_t rank,
                        const struct wf_dumpi_plans *plans, struct wf_err *err);
void wf_dumpi_file_close(struct wf_dumpi_file *file); /* zeroed is allowed */

/* Goes back to the first record. */
void wf_dumpi_file_rewind(struct wf_dumpi_file *file);

/* Reads the next record; false if there is none. */
bool wf_dumpi_file_next(struct wf_dumpi_file *file, struct wf_dumpi_record *record);

/* The same, but skips the arrays, statuses and times of functions whose plan allows it: their
 * members of `values` are undefined, and has_time is set nevertheless. */
bool wf_dumpi_file_skim(struct wf_dumpi_file *file, struct wf_dumpi_record *record);
