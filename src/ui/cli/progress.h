/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The progress line: percent, simulated time, events per second, time left. It appears when a
 * run has taken a second, is redrawn in place and erased at the end. If the output is not a
 * terminal and progress was asked for, a new line is printed every second; if it was not, a run that
 * will take minutes says so once.
 */

#include "base/pass.h"
#include "base/points.h"
#include "run/execute/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Whether a person looks at what is written. Open MPI gives its processes terminals, whatever its own
 * output is. */
bool wf_cli_is_terminal(FILE *out);

enum wf_progress_mode { WF_PROGRESS_AUTO, WF_PROGRESS_ALWAYS, WF_PROGRESS_NEVER };

/* The names of enum wf_progress_mode, null-terminated. */
extern const char *const wf_progress_modes[];

struct wf_progress_line {
    FILE *out; /* null: silent */
    FILE *
        once; /* for a note that the run is long, if the line is silent on no terminal; or null */
    bool in_place;
    double began, drawn; /* seconds of the monotonic clock */
    bool shown;          /* on the terminal now */
    const char *what;    /* name of the things that wf_progress_points() counts */
    size_t before;       /* number of them done at the start */
    struct wf_progress_reading *reading; /* a file is being read; null: none */
};

void wf_progress_init(struct wf_progress_line *line, enum wf_progress_mode mode, FILE *out);
/* A callback for struct wf_sim_host; `line` is a struct wf_progress_line. */
void wf_progress_draw(void *line, const struct wf_sim_progress *progress);
void wf_progress_erase(struct wf_progress_line *line);
/* Shows "42 %  measuring  0:35 left" for something of which `fraction`, 0 to 1, is done. */
void wf_progress_share(struct wf_progress_line *line, const char *what, double fraction);
/* A host for a run of many points; `what` is their name in plural. `jobs` points run in
 * parallel, 0 means one per core. Ctrl-C ends the run. The line shows "3 of 18 loads  0:42
 * left" and must live as long as the host. */
struct wf_points_host wf_progress_points(struct wf_progress_line *line, const char *what,
                                         uint64_t jobs);

/* A listener to a pass over the ranks of a trace, which begins now. The line shows "42 %  writing
 * run.csv  12.3 M ops  4.10 M ops/s  0:07 left" and must live as long; `what` is the first words,
 * borrowed. */
struct wf_pass wf_progress_pass(struct wf_progress_line *line, const char *what);

/* Shows "fitting the rules  0:12", the time so far, from another thread, until
 * wf_progress_read_end(): for work of which nobody knows how long it takes. */
void wf_progress_busy_begin(struct wf_progress_line *line, const char *what);

/* Shows "42 %  reading run.weft  120 MiB  60.0 MiB/s  0:03 left" while the file or directory at
 * `path` is read, from another thread, until the end or the first progress of a simulation. Does
 * nothing if the line is silent or there is no such file. The line must not move meanwhile. */
void wf_progress_read_begin(struct wf_progress_line *line, const char *path);
void wf_progress_read_end(struct wf_progress_line *line); /* without a begin: nothing */

/* Parts of it (ui/cli/progress_reading.c), the first two for tests too. */
struct wf_progress_read {
    const char *name;
    uint64_t size, bytes; /* of the file, 0: no file; read so far, in all passes */
};
char *wf_progress_reading_text(const struct wf_progress_read *read, double elapsed, char *buf);
char *wf_progress_pass_text(const struct wf_pass_progress *pass, const char *what,
                            double elapsed, char *buf);
void wf_progress_clock(double seconds, char *buf, size_t size); /* "1:05:09" or "2:07" */
void wf_progress_restart(struct wf_progress_line *line);        /* another phase begins now */
void wf_progress_reading_draw(struct wf_progress_line *line,
                              const struct wf_progress_read *read);

/* Writes "  42 %  1.234 ms simulated ..." to `buf` of WF_PROGRESS_TEXT_MAX bytes, `elapsed`
 * seconds after the start; returns `buf`. */
enum { WF_PROGRESS_TEXT_MAX = 160 };
char *wf_progress_text(const struct wf_sim_progress *progress, double elapsed, char *buf);
