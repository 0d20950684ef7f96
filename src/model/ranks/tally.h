/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The sums of a run over its ranks: integers only, so that they do not depend on the order in
 * which threads and processes contribute. Sections of variable size follow the struct: the
 * network's statistics, the recording, the causes of the critical path, and each of several
 * jobs.
 */

#include "model/net/net.h"
#include "model/ranks/blocked.h"
#include "model/ranks/marks.h"

struct wf_path;
struct wf_recording;

enum {
    WF_TALLY_BLOCKED = 8, /* blocked ranks that are named */
    WF_TALLY_WAITS = 8,   /* ranks with the longest waits that are named */
};

/* A rank that did not reach its end, and why. */
struct wf_blocked {
    uint32_t rank;    /* rank of the run */
    uint32_t failure; /* enum wf_failure; if the rank did not fail, see `on` */
    uint32_t fail_peer, padding;
    struct wf_blocked_on on; /* the communicator is numbered as in the rank's job */
};

/* A rank that waited long. */
struct wf_waited {
    int64_t time;
    uint32_t rank, in; /* `in`: enum wf_rank_in */
};

/* A rank that did not receive a message, or did not call a collective that others called. */
struct wf_rank_leftover {
    uint32_t rank, padding; /* rank of the run */
    struct wf_leftover what;
};

/* What ranks read or wrote, and from when until when. Times before the first one are 0. */
struct wf_file_times {
    uint64_t bytes;
    int64_t first, last;
    uint64_t any; /* there was an operation */
};

struct wf_job_files {
    uint64_t n; /* operations on files */
    struct wf_file_times read, written;
};

/* What a server of files did, or the devices of all nodes together. */
struct wf_server_tally {
    uint64_t requests, read, written; /* bytes */
    int64_t busy_ps;                  /* of all its disks */
};

struct wf_job_tally {
    uint64_t messages, bytes;         /* totals sent; bytes saturate at UINT64_MAX */
    struct wf_stat finish;            /* picoseconds, for the ranks that reached their end */
    struct wf_stat compute;           /* likewise for all ranks; so are the next ones */
    struct wf_stat wait[WF_IN_KINDS]; /* time in which a rank only waited, by kind of call... */
    struct wf_stat waits;             /* ...and in total */
    struct wf_stat overhead;          /* CPU time spent on messages */
    struct wf_job_files files;
    struct wf_job_marks marks; /* of one job */
};

/* Offsets of the sections from the beginning of the tally, in bytes; 0 if a section is
 * absent. */
struct wf_tally_sections {
    uint64_t net_counters; /* struct wf_net_counters */
    uint64_t recording;    /* struct wf_recording */
    uint64_t path;         /* struct wf_path */
    uint64_t jobs;         /* struct wf_job_tally[n_jobs]; absent if there is one job */
    uint64_t n_jobs;
    uint64_t servers; /* struct wf_server_tally[n_servers] */
    uint64_t n_servers;
};

/* All zero means empty. */
struct wf_ranks_tally {
    uint64_t unreceived; /* messages that arrived and found no receive */
    uint64_t uncalled;   /* formula collectives that others called and a rank did not, counted
                               at each such rank */
    uint64_t unmatched;  /* receives of programs that run that found no message */
    uint64_t unfinished; /* ranks that did not reach their end */
    uint64_t failed;     /* ranks among them that made an error */
    uint64_t timeless;   /* ranks whose clock reached WF_TIME_MAX: all results are wrong */
    uint64_t longest_message; /* bytes; MPI programs only, and no more than UINT32_MAX */
    struct wf_stat latency;   /* latency of all messages that arrived: from the time at which
                             * the network got the message to the arrival of its last byte */
    uint64_t ends;            /* fingerprint of the ranks' final clocks */
    struct wf_net_totals net;
    struct wf_job_tally all; /* jobs together */
    struct wf_marks marks;
    uint32_t n_blocked, n_waits, n_leftover, padding; /* entries used */
    struct wf_blocked blocked[WF_TALLY_BLOCKED];      /* failed ranks first, then those whose
                                                         reason is known, then by number */
    struct wf_waited waits[WF_TALLY_WAITS];           /* the longest first, then by number */
    struct wf_rank_leftover leftover[1]; /* of the lowest rank; receives only if nothing else */
    struct wf_tally_sections at; /* set by each process that adds to a section or finishes */
};

/* How many entries the lists of a tally have. */
struct wf_tally_lists {
    uint32_t n_jobs, n_servers;
};

/* Lays out the sections of a tally after a struct of `size` bytes that begins with
 * a struct wf_ranks_tally. Returns the size of the whole tally. Tells the network where its
 * statistics are. `recording` and `path` are the sizes of these sections, or 0. */
size_t wf_tally_layout(struct wf_tally_sections *out, size_t size, struct wf_net *net,
                       size_t recording, size_t path, struct wf_tally_lists lists);

/* The sums of one job; those of all jobs if there is one, or nothing was added yet. */
const struct wf_job_tally *wf_tally_job(const struct wf_ranks_tally *tally, uint32_t number);
/* The same, to be changed; tally->at is set. */
struct wf_job_tally *wf_tally_edit_job(struct wf_ranks_tally *tally, uint32_t number);
/* A copy without the sections but the jobs; free() it. */
struct wf_ranks_tally *wf_tally_copy(const struct wf_ranks_tally *tally);
/* Makes the tally of a folded program that of the whole one. Sections are not changed. */
struct wf_fold;
void wf_tally_unfold(struct wf_ranks_tally *tally, const struct wf_fold *fold);

/* The sections; null if a section is absent. */
struct wf_net_counters *wf_tally_net_counters(struct wf_ranks_tally *tally);
struct wf_recording *wf_tally_recording(struct wf_ranks_tally *tally);
struct wf_path *wf_tally_path(struct wf_ranks_tally *tally);
struct wf_server_tally *wf_tally_servers(struct wf_ranks_tally *tally);
void wf_tally_server_merge(struct wf_server_tally *into, const struct wf_server_tally *from);
void wf_tally_files_merge(struct wf_job_files *into, const struct wf_job_files *from);

void wf_tally_merge(void *into, const void *from);     /* wf_merge_fn, without the sections */
void wf_tally_merge_all(void *into, const void *from); /* wf_merge_fn, with the sections */

/* A sorted list that keeps the first `max` of the entries added to it. */
struct wf_tally_list {
    void *entries;
    uint32_t *n, max;
    size_t size; /* size of an entry */
    bool (*is_before)(const void *a, const void *b);
};
void wf_tally_insert(const struct wf_tally_list *list, const void *entry);

void wf_tally_block(struct wf_ranks_tally *tally, const struct wf_blocked *blocked);
void wf_tally_wait(struct wf_ranks_tally *tally, const struct wf_waited *waited);
void wf_tally_leftover(struct wf_ranks_tally *tally, const struct wf_rank_leftover *leftover);
/* Adds the final clock of a rank or PE. */
void wf_tally_end(struct wf_ranks_tally *tally, uint32_t rank, int64_t clock);
/* Adds the latency of a message; `counters` are the network's statistics, or null. */
void wf_tally_latency(struct wf_ranks_tally *tally, struct wf_net_counters *counters,
                      int64_t latency);

/* The digest of the run: `events`, the digest of its events. If the network model keeps
 * totals, the fingerprint of the totals and of the ranks' final clocks instead. */
uint64_t wf_tally_digest(const struct wf_ranks_tally *tally, uint64_t events);
