/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * One long job on a machine that fails: it works, writes checkpoints, loses what it did since the
 * last one at a failure, waits for nodes and restarts. Times are microseconds. Equations and
 * validity are in docs/models/failures.md.
 */

#include "model/failure/failure.h"

struct wf_goodput_config {
    const struct wf_failure_class *classes;
    size_t n_classes;
    int64_t work;     /* to be done; 0: as much as fits */
    int64_t horizon;  /* when the run ends at the latest; 0: when the work is done */
    int64_t interval; /* work between two checkpoints */
    int64_t cost;     /* for which a checkpoint stops the job */
    int64_t write;    /* after that, until the checkpoint can be used */
    int64_t detect, restart;
    uint64_t spares; /* nodes that replace failed ones */
};

/* Where the time went; the sum is `wall`. */
struct wf_goodput {
    int64_t wall, useful, lost, checkpoint, down, waiting;
    uint64_t failures;
};

/* Plays the failures of a seed. WF_ESIM if the work is not done within 100 times its time. */
enum wf_status wf_goodput_run(const struct wf_goodput_config *config, uint64_t seed,
                              struct wf_goodput *out, struct wf_err *err);

/* Young's and Daly's best interval for a mean time between failures and a cost of a checkpoint. */
double wf_goodput_young(double mtbf, double cost);
double wf_goodput_daly(double mtbf, double cost);
/* The share of useful time by Daly's complete model. */
double wf_goodput_expected(double mtbf, double interval, double cost, double restart);
