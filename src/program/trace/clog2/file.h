/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A log of MPE in the format CLOG2: the records of all ranks by time, in blocks of equal
 * length. The first failure is kept in `err`; after it there are no more records.
 */

#include "program/trace/kit/infile.h"

enum wf_clog2_type {
    WF_CLOG2_ENDLOG,
    WF_CLOG2_ENDBLOCK,
    WF_CLOG2_STATEDEF,
    WF_CLOG2_EVENTDEF,
    WF_CLOG2_CONSTDEF,
    WF_CLOG2_BAREEVT,
    WF_CLOG2_CARGOEVT,
    WF_CLOG2_MSGEVT,
    WF_CLOG2_COLLEVT,
    WF_CLOG2_COMMEVT,
    WF_CLOG2_SRCLOC,
    WF_CLOG2_TIMESHIFT,
    WF_CLOG2_TYPES,
};

enum { WF_CLOG2_SEND = -101, WF_CLOG2_RECV = -102, WF_CLOG2_NAME_BYTES = 32 };

struct wf_clog2_record {
    double time;        /* seconds */
    int32_t comm, rank; /* the rank in that communicator */
    uint32_t type;
    int32_t values[5];                  /* its first numbers */
    char name[WF_CLOG2_NAME_BYTES + 1]; /* of a state */
};

struct wf_clog2_file {
    struct wf_infile in;
    uint64_t block_bytes, block_end;
    uint32_t n_ranks;
};

/* Opens a log, reads its preamble and goes to the first record. */
void wf_clog2_open(struct wf_clog2_file *file, const char *path, struct wf_err *err);
void wf_clog2_close(struct wf_clog2_file *file); /* zeroed is allowed */

/* Goes back to the first record. */
void wf_clog2_rewind(struct wf_clog2_file *file);

/* Reads the next record; false after the last. */
bool wf_clog2_next(struct wf_clog2_file *file, struct wf_clog2_record *record);
