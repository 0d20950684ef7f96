/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The progress line: percent, simulated time, events per second, time left. It appears when a
 * run has taken a second, is redrawn in place and erased at the end. If the output is not a
 * terminal and progress was asked for, a new line is printed every second.
 */

#include "base/points.h"
#include "sim/sim.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum wf_progress_mode { WF_PROGRESS_AUTO, WF_PROGRESS_ALWAYS, WF_PROGRESS_NEVER };

/* The names of enum wf_progress_mode, null-terminated. */
extern const char *const wf_progress_modes[];

struct wf_progress_line {
    FILE *out; /* null: silent */
    bool in_place;
    double began, drawn; /* seconds of the monotonic clock */
    bool shown;          /* on the terminal now */
    const char *what;    /* name of the things that wf_progress_points() counts */
    size_t before;       /* number of them done at the start */
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

/* Writes "  42 %  1.234 ms simulated ..." to `buf` of WF_PROGRESS_TEXT_MAX bytes, `elapsed`
 * seconds after the start; returns `buf`. */
enum { WF_PROGRESS_TEXT_MAX = 160 };
char *wf_progress_text(const struct wf_sim_progress *progress, double elapsed, char *buf);
