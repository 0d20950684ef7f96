/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Processes that share the points of a study. They meet at the beginning and at the end; between, a
 * process claims a point by creating a file of the point's name in the directory of the results, which
 * only one can. A null world shares with nobody.
 */

#include "ui/study/study.h"

struct wf_comm;

struct wf_study_shares {
    struct wf_comm *world;
    const char *directory;
    char mark[48]; /* of this run, in the names of its claims; empty: one process */
};

/* Removes the claims of runs that were killed, and checks that all processes see the same
 * directory. All processes call it, with the status and error of what they did before; all get the
 * same. */
enum wf_status wf_study_shares_begin(struct wf_study_shares *shares, enum wf_status status,
                                     struct wf_err *err);

/* Gives every process the bytes of the first one. */
void wf_study_shares_copy(const struct wf_study_shares *shares, void *bytes, size_t size);

/* Whether this process is the one that runs the point called `name`. From any thread. */
bool wf_study_shares_claim(const struct wf_study_shares *shares, const char *name);

/* Passes the errors of points to the first process. True if all processes are `complete`. */
bool wf_study_shares_end(const struct wf_study_shares *shares, struct wf_study *study,
                         bool complete);
