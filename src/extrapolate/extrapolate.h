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

#include "extrapolate/model.h"

struct wf_ext_options {
    uint32_t target; /* number of ranks */
};

/* Understands the traces that wf_ext_read() has added to model->input, and checks that the model
 * gives back each of them. The caller releases the model with wf_ext_model_fini(), on failure
 * too. */
WF_NODISCARD
enum wf_status wf_ext_understand(struct wf_ext_model *model,
                                 const struct wf_ext_options *options, struct wf_err *err);

/* The program at another number of ranks. The caller owns *out, which does not need the model. */
WF_NODISCARD
enum wf_status wf_ext_source(const struct wf_ext_model *model,
                             const struct wf_ext_options *options, struct wf_source **out,
                             struct wf_err *err);
