/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Programs that are run as virtual ranks: the source "run:<path>" and the scope "run". */

#include "base/param.h"
#include "base/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct wf_live_crash;
struct wf_source;
struct wf_value;

#define WF_PROGRAM_PREFIX "run:"

struct wf_program_params {
    char *args;     /* words as in a shell: quotes and backslashes keep blanks */
    int compute;    /* enum wf_vrank_compute */
    double rate;    /* instructions per second */
    uint64_t stack; /* bytes for each rank */
    uint64_t spare; /* ranks for MPI_Comm_spawn() */
    char *kernels;  /* file of functions that are not executed; empty: none */
    char *spill;    /* directory; empty: none */
    bool labels;
    bool no_payload, check;
    uint64_t payload_kept; /* with no_payload: data of more bytes does not arrive */
    bool check_use;
    bool all_orders;
    uint64_t orders_max;
    char *schedule; /* struct wf_schedule; empty: none */
    int clock;      /* 0: simulated, 1: the host's */
    bool robust;    /* correct measured times that the operating system disturbed */
};

extern const struct wf_param wf_program_params[]; /* over struct wf_program_params */

/* Whether errors in the use of MPI are looked for. */
bool wf_program_is_checked(const struct wf_program_params *params);

/*
 * Signal handlers and standard streams belong to the process: one run with a program takes place at a
 * time. Waits for its turn until *stop is not 0 (WF_EINTR); `stop` may be null. A call that is made within
 * another one of the library, which may have the turn itself, does not wait: WF_EUSAGE. Lack of memory ends the
 * process from here on (base/guard.h).
 */
enum wf_status wf_program_take_turn(const volatile sig_atomic_t *stop, struct wf_err *err);
void wf_program_end_turn(void);

/* How a program is run. */
struct wf_program_run {
    uint32_t n_ranks; /* without spare ones */
    uint32_t threads; /* of the host that run ranks at a time, at most */
    uint32_t cores;   /* of its node that the threads of a rank have; 0: as many as they are */
    double scale;     /* factor for its compute times */
    uint64_t seed;    /* of random times */
};

/* Loads the program. The arguments are borrowed. The caller owns *out. */
enum wf_status wf_program_open(const char *path, const struct wf_program_params *params,
                               const struct wf_program_run *run, struct wf_source **out,
                               struct wf_err *err);

/* Prints the shared libraries of a program: which have variables of their own for each rank, and
 * why others have not. */
enum wf_status wf_program_print_libraries(const char *path, FILE *out, struct wf_err *err);

/* Leaves the ranks that compute, for a run that is to end but does not; see
 * wf_vrank_crash_leave(). */
void wf_program_leave(void);

/* How crashes of programs are reported; see wf_vrank_crash_report_by(). */
void wf_program_report_crashes(void (*report)(const struct wf_live_crash *crash));

/* Describes a crash: in `err` in one sentence, and in the error document that it returns, which
 * the caller frees. Runs addr2line to find the source line. May be called by any thread but the
 * one that crashed. */
struct wf_value *wf_program_crash_document(const struct wf_live_crash *crash,
                                           struct wf_err *err);

/* Writes its backtrace. Allocates memory, so not in the thread that crashed. */
void wf_program_crash_backtrace(const struct wf_live_crash *crash, int fd);

/* Quotes one argument as a word of `args` and appends it. The caller frees the result, which
 * replaces `args` (may be null). */
char *wf_program_add_arg(char *args, const char *arg);

/* ---- places in the source of a program ---- */

enum { WF_SIM_PLACE_MAX = 256 };

/* Empty strings where something is not known. */
struct wf_sim_place {
    char function[WF_SIM_PLACE_MAX];
    char source[WF_SIM_PLACE_MAX]; /* file:line */
    bool
        is_of_runtime; /* the function is of the run-time library of C++ or Fortran, or unknown */
};

/* Finds `n` instructions of a program by their places in its file, of which 0 is unknown. Runs
 * addr2line, once for 64 instructions; without it nothing is known. Source lines are known of
 * programs that were built with -g. Does not fork(): a thread that has crashed may hold
 * locks. */
void wf_sim_places(const char *program, const uint64_t *instructions, size_t n,
                   struct wf_sim_place *out);
