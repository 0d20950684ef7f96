/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The best way to divide a training step among devices: all combinations of some parameters are
 * checked; those that fit into the memory of a device, and do not compute for longer than the best
 * take, are ranked on a fast network model, and the best are simulated on the network of the scenario. The points are those of a study, so that its
 * tables serve.
 */

#include "ui/study/study.h"

enum wf_tune_state {
    WF_TUNE_IMPOSSIBLE, /* the generator refuses it */
    WF_TUNE_TOO_LARGE,  /* needs more memory than a device has */
    WF_TUNE_NEEDLESS,   /* recomputes although the same without fits */
    WF_TUNE_FITS,
    WF_TUNE_RANKED, /* on the fast model */
    WF_TUNE_SLOW, /* computes for longer than others take, so it was not ranked; counted only */
    WF_TUNE_STATES
};

enum { WF_TUNE_SHOWN = 10 }; /* the best that are printed */

struct wf_tune_options {
    const char *fast; /* network model of the ranking */
    size_t top;       /* points that are simulated in detail */
    const char *const
        *vary; /* further "key=value,value" to vary, null-terminated; may be null */
    struct wf_points_host checks, ranks, details;
};

struct wf_tune {
    const struct wf_scenario *base;
    struct wf_study study;
    uint8_t *state;    /* of each point, enum wf_tune_state */
    int64_t *least_ps; /* what it takes at least */
    int64_t *fast_ps;  /* its time on the fast model; 0: not run */
    size_t *order; /* points with a result, the best first; those in detail before the others */
    size_t n_order, n_detailed;
    size_t counts[WF_TUNE_STATES];
};

/* Tunes the scenario, which is kept. Values that it has are not varied. WF_EUSAGE if ranks or
 * gen.batch are missing, WF_EINVAL if no point fits. The caller frees *out, also on failure. */
enum wf_status wf_study_tune_run(const struct wf_scenario *base,
                                 const struct wf_tune_options *options, struct wf_tune **out,
                                 struct wf_err *err);
void wf_study_tune_free(struct wf_tune *tune); /* null is allowed */

/* Prints the best points, and how much longer the best one with another value of each parameter
 * takes, and why. */
void wf_study_tune_print(const struct wf_tune *tune, FILE *out);
/* Leaves only the points with a result in the study, in their order, for its tables. */
void wf_study_tune_keep_results(struct wf_tune *tune);
