/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Writes the program that a model understands, at a number of ranks, as a trace. */

#include "program/extrapolate/changes.h"
#include "program/extrapolate/model.h"
#include "program/trace/spool/spool.h"

/* Adds the ops of all ranks of the grid. The caller still owns the spool. */
enum wf_status wf_ext_write(const struct wf_ext_model *model, const struct wf_ext_grid *grid,
                            const struct wf_ext_changes *changes, struct wf_spool *spool,
                            struct wf_err *err);
