/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The parts of the program that `weft calibrate` runs under a real MPI (patterns.c): a job of some
 * ranks, what it measures, and the functions of its files. All ranks call functions together if
 * nothing else is said. The program is compiled by the compiler of the MPI, without weft.
 */

#include <mpi.h>

enum { WF_CAP_MEASURES_MAX = 512, WF_CAP_PAIRS_MAX = 8, WF_CAP_GROUPS_MAX = 32 };

enum wf_cap_kind {
    WF_CAP_PINGPONG,
    WF_CAP_ONEWAY,
    WF_CAP_EXCHANGE,
    WF_CAP_INCAST,
    WF_CAP_OUTCAST,
    WF_CAP_BISECTION,
    WF_CAP_ALLPAIRS,
    WF_CAP_BUTTERFLY,
    WF_CAP_KINDS
};

/* The measured times of all repetitions, in seconds. */
struct wf_cap_series {
    double *values;
    int n;
};

struct wf_cap_measure {
    int kind, pair, rounds, bytes;
    int members; /* ranks of a butterfly: a power of two */
    double late; /* seconds */
    struct wf_cap_series times;
};

struct wf_cap_pair {
    int first, second;
    MPI_Comm comm; /* MPI_COMM_NULL on ranks that are not in it */
};

struct wf_cap_job {
    int rank, n_ranks, n_measures, n_pairs;
    int largest;    /* bytes of a message */
    int copy_bytes; /* size at which copies are measured: sent eagerly */
    struct wf_cap_pair pairs[WF_CAP_PAIRS_MAX];
    MPI_Comm groups[WF_CAP_GROUPS_MAX]; /* of the first 2^i ranks */
    struct wf_cap_measure measures[WF_CAP_MEASURES_MAX];
    struct wf_cap_series one_send, one_take, one_of_stream, copy_send, copy_take, combined;
    char *data, *room;         /* what is sent, and where it is received: for all ranks */
    double began, budget;      /* when the job began, and how long it may take; seconds */
    double told;               /* when progress was printed */
    double lost;               /* part of the time that a computation did not get */
    double latency, byte_time; /* estimates; seconds */
};

/* ---- patterns_run.c ---- */

/* Returns the memory, or ends the program if it is null. */
void *wf_cap_must(void *memory);
void wf_cap_note(struct wf_cap_series *series, double seconds);
/* The value below which `part` of the series is, interpolated. Sorts the series. */
double wf_cap_quantile(struct wf_cap_series *series, double part);
/* Waits for all ranks, asleep. */
void wf_cap_meet(void);
/* Gives all ranks the bytes of rank 0. */
void wf_cap_tell(void *what, int bytes);
/* Computes for so long. */
void wf_cap_spin(double seconds);
/* Rank 0 prints how far it is, now and then. Any rank may call it. */
void wf_cap_show_progress(struct wf_cap_job *job, double fraction);

/* Whether two ranks take part in a pattern. */
int wf_cap_is_pair(int kind);
/* Steps of a round: each posts messages and waits for them. */
int wf_cap_steps(const struct wf_cap_measure *m);
/* Executes a pattern once; returns the time. */
double wf_cap_run(struct wf_cap_job *job, const struct wf_cap_measure *m);

/* ---- patterns_plan.c ---- */

/* Estimates latency and rate, so that the time of a plan is known. */
void wf_cap_estimate(struct wf_cap_job *job);
/* Chooses the measurements: the largest sizes for which there is time for a few rounds, and sizes
 * in between if there is time for more. */
void wf_cap_choose(struct wf_cap_job *job);
/* How long a measurement takes, as estimated; seconds. */
double wf_cap_cost(struct wf_cap_job *job, const struct wf_cap_measure *m);

/* ---- patterns_calls.c ---- */

/* Measures single calls: sends, receives, copies, combining data. */
void wf_cap_time_calls(struct wf_cap_job *job);
/* Finds the longest message up to `most` bytes whose send does not wait, first between two powers of
 * two, then to within 16 bytes, and how much of a longer one moves while its ranks compute. Prints
 * both. */
void wf_cap_find_eager(struct wf_cap_job *job, int most);
/* Measures how much of a computation the operating system gave to others, rank by rank. */
void wf_cap_watch_host(struct wf_cap_job *job);
