/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Writes a log in MPE's format CLOG2, version 02.44, which Jumpshot shows: the records of all ranks
 * by time, in blocks of equal length. The numbers of a log are big-endian. All ranks are those of
 * the communicator 0, the world.
 */

#include "base/buf.h"
#include "program/trace/clog2/file.h"

#include <stdio.h>

struct wf_clog2_out {
    struct wf_buf body;      /* whole blocks, and the begun one */
    uint32_t n_ranks;        /* in the world */
    uint32_t n_known;        /* states of MPI: 0 to n_known - 1... */
    uint32_t n_user;         /* ...and of the program, after them */
    uint32_t n_states_begun; /* definitions so far */
};

/* Begins a log: its communicators. Release with wf_clog2_out_finish(). */
void wf_clog2_out_begin(struct wf_clog2_out *log, uint32_t n_ranks, uint32_t n_known,
                        uint32_t n_user);

/* A rank enters or leaves a state. Records come in the order of their times. */
void wf_clog2_out_state(struct wf_clog2_out *log, uint64_t ps, uint32_t rank, uint32_t state,
                        bool leaves);

/* One end of a message. */
struct wf_clog2_end {
    int32_t kind;  /* WF_CLOG2_SEND or WF_CLOG2_RECV */
    uint32_t peer; /* rank at the other end */
    uint32_t tag;
    uint64_t bytes;
};
void wf_clog2_out_message(struct wf_clog2_out *log, uint64_t ps, uint32_t rank,
                          const struct wf_clog2_end *end);

/* The next state is called this; long names are cut. */
void wf_clog2_out_define(struct wf_clog2_out *log, uint64_t ps, const char *name);

/* Writes the whole log to `out`. */
void wf_clog2_out_finish(struct wf_clog2_out *log, FILE *out);
