/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * From traces of one program at several numbers of ranks to the program at another number
 * (docs/models/extrapolation.md). In this order:
 *
 *     program.h     reads traces in a form in which ranks can be compared
 *     vocabulary.h  finds the grid, and peers as functions of rank and grid
 *     fold.h        finds loops, and ranks with equal programs
 *     merge.h       merges the programs of all ranks into one
 *     model.h       finds which ranks execute what, and how sizes and times grow
 *     play.h        plays the program at any number of ranks
 */

#include "program/extrapolate/changes.h"
#include "program/extrapolate/model.h"

struct wf_ext_options {
    uint32_t target;               /* number of ranks */
    struct wf_ext_changes changes; /* zeroed: none */
};

/* The source "extrapolate:<trace>,<trace>,...". */
#define WF_EXT_PREFIX "extrapolate:"

/* Understands the traces that wf_ext_read() has added to model->input, and checks that the model
 * gives back each of them. The caller releases the model with wf_ext_model_fini(), on failure
 * too. */
enum wf_status wf_ext_understand(struct wf_ext_model *model,
                                 const struct wf_ext_options *options, struct wf_err *err);

/* The program at another number of ranks. The caller owns *out, which does not need the model. */
enum wf_status wf_ext_source(const struct wf_ext_model *model,
                             const struct wf_ext_options *options, struct wf_source **out,
                             struct wf_err *err);

/* Opens the traces of a list with commas, understands them, and gives the program at another
 * number of ranks. */
enum wf_status wf_ext_open(const char *list, const struct wf_ext_options *options,
                           struct wf_source **out, struct wf_err *err);

/* How two traces of one program differ. */
struct wf_ext_difference {
    uint64_t n_ops, n_other; /* without computing */
    bool same;               /* kinds, peers, tags and communicators are the same */
    uint32_t rank;           /* otherwise: where they differ first */
    uint64_t op;
    uint64_t bytes, other_bytes;    /* sums */
    uint64_t n_sizes, n_same_sizes; /* ops with a size; of which with the same */
    double compute, other_compute;  /* picoseconds, of all ranks */
    double worst_compute;           /* of a rank: largest relative difference */
};

/* Compares the ops of two sources of the same number of ranks. */
enum wf_status wf_ext_compare(const struct wf_source *one, const struct wf_source *other,
                              struct wf_ext_difference *out, struct wf_err *err);
